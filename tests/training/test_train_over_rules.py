"""Training over a rule space: every method, told the rules or not, and its measurement."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import kille_env
import kille_training as kt
from kille_agents import as_policy
from kille_agents.network import load_network
from kille_env.adapters.sb3_models import scores
from kille_env.core.rules_part import rules_features
from kille_env.errors import ConfigError, KilleError, PolicyError, RulesError
from kille_env.play.by_rules import told
from kille_env.play.decisions import Decisions
from kille_env.play.policy import ToldRules, resolve
from kille_env.registry import Table
from kille_env.rule_spaces import SpaceTable
from kille_env.sb3 import SeatPPO, SelfPlayVecEnv, save, settings
from kille_training.learn.method import method_named, save_policy, settings_of
from kille_training.learn.page import in_percent
from kille_training.learn.settings import TrainSettings, load_settings
from kille_training.learn.training import learner_of
from kille_training.settings import build, recipes
from kille_training.tables import seat

NAME, GAME = "krypkille-scores", "krypkille"
SMALL = {"tables": 32, "layers": [8]}
METHODS = {
    "dqn": {**SMALL, "minibatch": 64},
    "maskable_ppo": {"num_tables": 8, "n_steps": 8, "batch_size": 64, "layers": [8]},
    "mmd": SMALL,
    "monte_carlo": SMALL,
    "nfsp": {**SMALL, "minibatch": 64},
    "population": SMALL,
    "ppo": SMALL,
    "psro": {**SMALL, "oracle": 2},
}


def run_of(rules: str, method: str = "ppo", **more: Any) -> TrainSettings:
    """Return the settings of a short run over the space."""
    content = {
        "name": "over", "table": {"game": GAME, "num_players": 2}, "method": method,
        "space": {"name": NAME, "rules": rules, "measured": "tune"},
        "learner": {"decisions": 400, **METHODS[method]},
        "measure": {"every": 0, "final_deals": 4, "baselines": ["uniform"]}, **more,
    }  # fmt: skip
    return build(TrainSettings, content, "")


def answers(policy: Any, rules: Any) -> np.ndarray:
    """Return the probabilities of a policy at the beginning of some matches by some rules."""
    batch = kille_env.make_batch(GAME, 32, 2, rules=rules, seed=3)
    batch.reset()
    seated = resolve(policy, GAME, 2, rules)
    return seated.probabilities(batch.observation, batch.mask)


@pytest.mark.parametrize("rules", ["told", "untold"])
@pytest.mark.parametrize("method", METHODS)
def test_a_method_learns_over_a_space_and_plays_by_any_of_its_rules(
    method: str, rules: str, tmp_path: Path
) -> None:
    learner = learner_of(run_of(rules, method))
    for left in (1.0, 0.5):
        learner.update(lambda left=left: left)
    save_policy(learner.policy("over"), tmp_path)
    one, other = kille_env.rule_space(NAME).rules("test")[:2]
    first, second = (answers(tmp_path, each) for each in (one, other))
    assert np.array_equal(first, second) == (rules == "untold")
    state = learner.state()
    again = learner_of(run_of(rules, method))
    again.load(state)
    assert np.array_equal(answers(again.policy("over"), one), answers(learner.policy("over"), one))
    again.update(lambda: 0.5)
    assert again.decisions > learner.decisions


def test_a_told_policy_plays_by_rules_as_the_network_that_reads_them() -> None:
    learner: Any = learner_of(run_of("told"))
    space = kille_env.rule_space(NAME)
    assert {space.region_of(rules) for rules in learner.batch.rule_sets} == {"train"}
    batch = kille_env.make_batch(GAME, 64, 2, rules=space, observe_rules=True, seed=1)
    batch.reset()
    read = learner.actor.player()(batch.observation, batch.mask)
    plain = batch.observation[:, : kille_env.make_batch(GAME, 1, 2).observation.shape[1]]
    policy = learner.policy("over")
    many = resolve(policy, GAME, 2, batch.rules)
    assert isinstance(many, ToldRules)  # one network for all tables, asked once
    rows = np.arange(len(read))
    assert many.decide(Decisions(batch, rows, rows)) == pytest.approx(read, abs=1e-5)
    for row in range(8):
        seated = resolve(policy, GAME, 2, batch.rules_at(row))
        one = slice(row, row + 1)
        assert seated.probabilities(plain[one], batch.mask[one]) == pytest.approx(
            read[one], abs=1e-5
        )


def test_a_run_resumes_and_is_measured_at_rules_that_it_never_drew(tmp_path: Path) -> None:
    settings, folder = run_of("told", checkpoint_seconds=1e-9), tmp_path / "run"

    class Killed(Exception):
        pass

    def kill(job: str, parts: int, total: int) -> None:
        if job == "training" and parts:
            raise Killed

    with pytest.raises(Killed):
        kt.train(settings, out=folder, progress=kill)
    assert not (folder / "evaluation.json").exists()
    run = kt.train(folder)
    found = run.as_dict()["held_out"]
    space = kille_env.rule_space(NAME)
    assert found["tables"] == f"{NAME}/tune" and len(found["rows"]) == 16
    assert "rules that training never draws" in str(run)
    table = Table.of(GAME, 2, space.rules("tune")[0])
    again = kt.nash_conv(folder, tables=[table])
    assert again.share[0] == pytest.approx(found["rows"][0]["share"])
    assert kt.evaluate(folder, deals=4, rules=table.rules).exact
    outside = Table.of(GAME, 2, table.rules.as_dict() | {"hand": 3})
    with pytest.raises(PolicyError, match="has rules outside of it"):
        kt.nash_conv(folder, tables=[outside])


OWN = (
    "{game: krypkille, seats: [2], base: tiny, vary: {right_declarer: [0, 5], wrong_lowest: [0, "
    "5]}, held_out: {test: [{right_declarer: [5], wrong_lowest: [5]}], none: [{right_declarer: "
    "[5], wrong_lowest: [5]}]}}"
)


def test_a_space_that_holds_not_what_it_begins_from_is_learned_and_measured(tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    file.write_text(OWN[:-1] + ", dull: [{right_declarer: [0], wrong_lowest: [0]}]}")
    space = kille_env.rule_space(file)
    assert space.region_of(space.base) is None
    measure = {"every": 200, "deals": 4, "final_deals": 4, "baselines": ["uniform"]}
    settings = run_of("told", space={"name": str(file), "measured": "test"}, measure=measure)
    run = kt.train(settings, out=tmp_path / "run")
    for rules in (None, {}):  # as Python and the command line leave them out
        assert space.region_of(seat([run.folder], rules=rules).table.rules) == "train"
    assert run.as_dict()["held_out"]["rows"]


def test_a_share_of_random_play_is_plain_digits() -> None:
    shares = (-0.1, 0.00123, 0.0999, 0.1, 0.94, 0.9996, 1.2)
    words = ["0%", "0.12%", "10%", "10%", "94%", "100%", "120%"]
    assert list(map(in_percent, shares)) == words


def test_a_space_of_a_file_measures_at_tables_of_its_region(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own.yaml").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    run = kt.train(run_of("told", space={"name": "own.yaml"}), out=tmp_path / "run")
    (row,) = run.as_dict()["held_out"]["rows"]
    assert row["rules"]["right_declarer"] == row["rules"]["wrong_lowest"] == 5
    assert row["share"] > 0.0
    monkeypatch.chdir("/")  # where no such file is
    assert kt.train(tmp_path / "run").as_dict() == run.as_dict()
    found = kt.nash_conv(tmp_path / "run", tables=[Table.of(GAME, 2, row["rules"])])
    assert found.share[0] == pytest.approx(row["share"])


@pytest.mark.parametrize("kind", ["folder", "model"])
def test_a_told_policy_plays_in_tournaments_as_it_is_measured(kind: str, tmp_path: Path) -> None:
    space, path = kille_env.rule_space(NAME), tmp_path / "policy"
    rules = space.rules("test")[0]
    if kind == "folder":
        save_policy(learner_of(run_of("told")).policy("over"), path)
        ask = load_network(path).logits
    else:
        venv = SelfPlayVecEnv(
            GAME, 8, 2, rules=space, observe_rules=True, observation="box", seed=1
        )
        model = SeatPPO(**settings(venv))
        path, ask = save(model, path), partial(scores, model)
    features = kille_env.spec(GAME).rules_features(rules)[0]
    by_hand = as_policy(
        lambda seen, mask: ask(told(seen, features)), GAME, 2, rules, observation="box",
        returns="logits",
    )  # fmt: skip
    here: dict[str, Any] = {"num_players": 2, "rules": rules.as_dict(), "trust": True}

    def play(one: Any, **more: Any) -> Any:
        field = {"mine": one, "chance": "uniform"}
        return kt.play_tournament(field, GAME, deals=30, **{**here, **more}).frame()["mean"]

    def compare(one: Any, **more: Any) -> Any:
        return kt.compare(one, "uniform", GAME, by=0.5, most=100, **{**here, **more}).mean

    def evaluate(one: Any) -> Any:
        return kt.evaluate(one, GAME, baselines=["uniform"], deals=30, **here).rows[0].estimate

    for measure in (play, compare, evaluate):
        assert str(measure(str(path))) == str(measure(by_hand))
    exact = (float(kt.nash_conv(one, GAME, **here)) for one in (str(path), by_hand))
    assert next(exact) == pytest.approx(next(exact), abs=1e-5)
    for measure in (play, compare):
        with pytest.raises(KilleError, match=r"does not fit this table.*transfer=True"):
            measure(str(path), rules={"preset": "tiny", "limit": 33})


def test_a_region_that_measures_nothing_is_refused_before_training(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(OWN)
    settings = run_of("told", space={"name": str(tmp_path / "own.yaml"), "measured": "none"})
    with pytest.raises(RulesError, match=r"region 'none' of .*own.yaml is empty"):
        kt.train(settings, out=tmp_path / "run")
    assert not list((tmp_path / "run").glob("*.csv"))


def test_rules_of_another_game_or_number_of_seats_are_a_difference() -> None:
    space = kille_env.rule_space(NAME)
    home = Table.of(GAME, 2, space)
    inside = Table.of(GAME, 2, space.rules("test")[0])
    assert home.differences(inside) == []
    assert "3 seats instead of 2" in home.differences(Table.of(GAME, 3, inside.rules))[0]
    assert home.differences(Table.of("knack", 2)) == ["knack instead of krypkille"]
    assert home.differences(Table.of(GAME, 2))  # its pack and hands are others
    assert str(home) == "krypkille, 2 seats, the space krypkille-scores"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"table": {"game": "knack", "num_players": 2}}, "a space of krypkille, and table.game"),
        (
            {"table": {"game": GAME, "num_players": 2, "rules": {"hand": 2}}},
            "leave out table.rules",
        ),
        ({"table": {"game": GAME, "num_players": 5}}, "tables of 2 or 3 seats"),
        ({"space": {"name": "krypkile-scores"}}, "Did you mean 'krypkille-scores'"),
        ({"space": {"name": NAME, "rules": "shown"}}, "rules is 'shown', expected"),
        ({"space": {"name": NAME, "measured": "tests"}}, "has no region 'tests'. Did you mean"),
        ({"space": {"rules": "untold"}}, "rules is 'untold', and no space is named"),
    ],
)
def test_settings_that_contradict_each_other_are_named(
    content: dict[str, Any], message: str
) -> None:
    with pytest.raises(KilleError, match=message):
        run_of("told", **content)


def test_a_method_or_network_of_one_table_is_refused() -> None:
    home = run_of("told").home()
    with pytest.raises(ConfigError, match=r"mccfr learns one table.*choose another method"):
        method_named("mccfr").Learner(home, 1, settings_of("mccfr", {}))
    sizes = {"table_sizes": [2, 3], "num_tables": 8}
    with pytest.raises(ConfigError, match=r"learner\.table_sizes and the space"):
        method_named("maskable_ppo").Learner(home, 1, settings_of("maskable_ppo", sizes))


def test_a_policy_of_one_rule_set_is_measured_at_others_only_by_saying_so(tmp_path: Path) -> None:
    learner = learner_of(run_of("default"))
    save_policy(learner.policy("default"), tmp_path)
    tables = [Table.of(GAME, 2, kille_env.rule_space(NAME).rules("tune")[0])]
    with pytest.raises(PolicyError, match="transfer=True"):
        kt.nash_conv(tmp_path, tables=tables)
    assert kt.nash_conv(tmp_path, tables=tables, transfer=True).share[0] > 0.0


def test_a_policy_of_a_space_that_has_changed_is_refused(tmp_path: Path) -> None:
    file, text = tmp_path / "own.yaml", f"game: {GAME}\nseats: [2]\nvary: {{hand: [2, 3]}}\n"
    file.write_text(text + "base: tiny\n")
    save_policy(
        learner_of(run_of("told", space={"name": str(file), "measured": "train"})).policy("own"),
        tmp_path,
    )
    assert kt.nash_conv(tmp_path).table == Table.of(GAME, 2, "tiny")
    for changed in ("base: {preset: tiny, right_declarer: 5}", "held_out: {test: [{hand: [3]}]}"):
        file.write_text(f"{text}{'' if 'base' in changed else 'base: tiny'}\n{changed}\n")
        with pytest.raises(PolicyError, match="another than the policy was made for"):
            kt.nash_conv(tmp_path)


def test_the_command_of_a_newcomer_trains_over_the_space() -> None:
    from kille_training.cli.train import over

    settings = load_settings(recipes("train")[GAME], over(NAME))
    assert (settings.name, settings.table.num_players, settings.space.rules) == (NAME, 2, "told")
    assert isinstance(settings.home(), SpaceTable)
    assert learner_of(settings).decisions_per_update == 16_384


def test_rewards_are_in_spreads_of_the_rules_that_a_match_was_played_by() -> None:
    table = SpaceTable.over(kille_env.rule_space(NAME), 2, told=True)
    scaled, plain = (
        method_named("ppo").Learner(table, 3, settings_of("ppo", {"tables": 256, "scaled": scaled}))
        for scaled in (True, False)
    )
    spreads = scaled.spreads
    played, units = (each.collect(each.actor.player()) for each in (scaled, plain))
    switches, sets = kille_env.spec(GAME).switches, table.space.rules()
    by_features = {
        rules_features(switches, rules).tobytes(): spread
        for rules, spread in zip(sets, spreads, strict=True)
    }
    size = len(next(iter(by_features)))
    here = [by_features[seen[-size:].tobytes()] for seen in units.observation]
    assert np.allclose(played.reward * here, units.reward, rtol=1e-12, atol=0.0)
    assert units.reward.any()
    assert len(np.unique(here)) > 100


def test_rewards_over_a_space_are_scaled_unless_a_method_plays_for_units() -> None:
    table, alone = run_of("told").home(), run_of("default").home()
    scaled = method_named("ppo").Learner(table, 3, settings_of("ppo", SMALL))
    assert len(scaled.spreads) == len(kille_env.rule_space(NAME).rules())
    assert method_named("ppo").Learner(alone, 3, settings_of("ppo", SMALL)).spreads is None
    small = METHODS["maskable_ppo"]
    rewards = []
    for more in ({}, {"scaled": False}):
        settings = settings_of("maskable_ppo", {**small, **more})
        venv = method_named("maskable_ppo").Learner(table, 3, settings).env
        rewards.append([venv.play(venv.action_masks().argmax(axis=1)).rewards for _ in range(60)])
    shown, units = np.array(rewards)
    assert np.array_equal(shown != 0, units != 0)
    assert len(np.unique(np.round(units[units != 0] / shown[shown != 0], 9))) > 4
    for method, more in (("psro", {}), ("maskable_ppo", {"form": "seats"})):
        learner = method_named(method).Learner(
            table, 3, settings_of(method, {**METHODS[method], **more})
        )
        learner.update(lambda: 1.0)
        with pytest.raises(ConfigError, match=r"scaled is true, and .*: leave it out"):
            settings_of(method, {**METHODS[method], **more, "scaled": True})
