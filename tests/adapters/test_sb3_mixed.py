"""Stable-Baselines3: tables of several sizes side by side, and a network that reads them all."""

from typing import Any

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

import kille_env
from adapters.sb3_tables import self_play
from adapters.spies import random_legal
from kille_env.adapters.sb3_extractor import SeatExtractor
from kille_env.adapters.sb3_policy import SB3Policy
from kille_env.errors import KilleError, RulesError
from kille_env.play.policy import let_transfer, resolve
from kille_env.registry import spec
from kille_env.sb3 import SeatPPO, SelfPlayVecEnv

SIZES = (2, 3, 6)


def mixed(spreads: tuple[float, ...] | None = None, **options: Any) -> SelfPlayVecEnv:
    options = {"observation": "seats", "episode": "deal", "seed": 1, **options}
    return SelfPlayVecEnv("byteskille", 12, SIZES, spreads=spreads, **options)


def test_each_table_plays_as_it_does_among_its_like() -> None:
    venv, rng = mixed(), np.random.default_rng(1)
    seeds = np.random.SeedSequence(1).generate_state(3).tolist()
    alone = [
        self_play(4, seats, observation="seats", episode="deal", seed=seed)
        for seats, seed in zip(SIZES, seeds, strict=True)
    ]
    seen = venv.reset()
    assert np.array_equal(seen, np.concatenate([part.reset() for part in alone]))
    ended = 0
    for _ in range(40):
        actions = random_legal(venv.action_masks(), rng)
        seats, rewards, dones, infos = venv.play(actions)
        for number, (part, own) in enumerate(
            zip(alone, np.split(actions, len(alone)), strict=True)
        ):
            theirs, here = part.play(own), slice(4 * number, 4 * number + 4)
            assert np.array_equal(theirs.seats, seats[here])
            assert np.array_equal(theirs.rewards, rewards[here, : part.num_players])
            assert np.array_equal(theirs.ended, dones[here])
            assert np.array_equal(part.observe(), venv.observe()[here])
        assert (seats[:4] < 2).all()
        assert rewards.shape == (12, 6)
        assert not rewards[:4, 2:].any()
        ended += dones.sum()
        assert [bool(info) for info in infos] == dones.tolist()
    assert ended


def test_rewards_are_divided_by_the_spreads_and_returns_are_not() -> None:
    plain, divided, rng = mixed(), mixed((2.0, 0.5, 8.0)), np.random.default_rng(1)
    assert np.array_equal(plain.reset(), divided.reset())
    by_table = np.repeat([2.0, 0.5, 8.0], 4)
    returns = 0
    for _ in range(40):
        actions = random_legal(plain.action_masks(), rng)
        (_, rewards, _, infos), (_, smaller, _, same) = plain.play(actions), divided.play(actions)
        assert np.array_equal(rewards / by_table[:, None], smaller)
        for info, equal in zip(infos, same, strict=True):
            assert np.array_equal(info.get("returns", []), equal.get("returns", []))
            returns += "returns" in info
    assert returns


def test_deals_and_matches_share_the_tables() -> None:
    venv = SelfPlayVecEnv("byteskille", 8, 3, observation="box", episode=("deal", "match"), seed=1)
    assert [table.rules["episode"] for table in venv.kinds] == ["deal", "match"]
    rng, ended = np.random.default_rng(1), np.zeros(8)
    venv.reset()
    for _ in range(30):
        ended += venv.play(random_legal(venv.action_masks(), rng)).ended
    assert ended[:4].min() > ended[4:].max()


def test_an_illegal_action_is_played_nowhere() -> None:
    venv = mixed()
    seen = venv.reset()
    actions = venv.action_masks().argmax(axis=1)
    actions[-1] = venv.action_masks()[-1].argmin()
    with pytest.raises(KilleError, match="not legal"):
        venv.play(actions)
    assert np.array_equal(venv.observe(), seen)


def test_each_rule_set_has_its_own_spread() -> None:
    space = kille_env.rule_space("krypkille-scores")
    spreads = np.arange(1.0, 1.0 + len(space.rules()))
    plain, divided = (
        SelfPlayVecEnv("krypkille", 64, 2, rules=space, seed=5, spreads=given)
        for given in (None, [spreads])
    )
    plain.reset()
    divided.reset()
    finished = 0
    for _ in range(40):
        by = spreads[plain.batch.tables["rules"]]
        actions = plain.action_masks().argmax(axis=1)
        one, other = plain.play(actions), divided.play(actions)
        assert np.allclose(one.rewards, other.rewards * by[:, None], rtol=1e-12, atol=0.0)
        finished += one.ended.sum()
    assert finished > 64
    with pytest.raises(KilleError, match="or an array, one for each of its rule sets"):
        SelfPlayVecEnv("krypkille", 64, 2, rules=space, spreads=[spreads[1:]])


def test_what_cannot_be_mixed_is_refused() -> None:
    for options, words in (
        ({"num_players": ()}, "one value or several, got none"),
        ({"num_players": (2, 3), "num_tables": 5}, "num_tables is 5, expected a multiple of 2"),
        ({"num_players": (2, 3)}, 'with 2 and 3 seats show .*those of observation="seats" have'),
    ):
        with pytest.raises(KilleError, match=words):
            SelfPlayVecEnv("byteskille", **{"num_tables": 4, **options})  # type: ignore[arg-type]
    odd: tuple[Any, ...] = ((1.0,), (1.0, 0.0, 1.0), (1.0, np.inf, 1.0), 2.0, ("a", 1, 1))
    for spreads in odd:
        with pytest.raises(KilleError, match="spreads are 3 numbers above 0, one for each kind"):
            mixed(spreads)
    with pytest.raises(RulesError, match="the observation 'seats' of byteskille has shape"):
        SeatExtractor(self_play(4, 3).observation_space, "byteskille")  # type: ignore[arg-type]


def test_a_model_learns_at_all_tables_and_plays_at_any() -> None:
    venv = mixed()
    model = SeatPPO(
        "MlpPolicy",
        venv,
        policy_kwargs={
            "features_extractor_class": SeatExtractor,
            "features_extractor_kwargs": {"game": "byteskille", "units": 16, "near_seats": 4},
            "net_arch": [8],
        },
        n_steps=8, batch_size=48, n_epochs=1, seed=1, device="cpu",
    )  # fmt: skip
    before = [values.detach().clone() for values in model.policy.parameters()]
    model.learn(192)
    after = list(model.policy.parameters())
    assert all((one != other).any() for one, other in zip(before, after, strict=True))
    for seats in (2, 5, 20):
        table = self_play(4, seats, episode="deal", seed=1)
        table.reset()
        seen, mask = table.batch.observation.copy(), table.batch.mask.copy()
        player: Any = resolve(let_transfer(SB3Policy(model)), "byteskille", seats, table.rules)
        tensor, _ = model.policy.obs_to_tensor(table.batch.read("seats"))
        wanted = model.policy.get_distribution(tensor, action_masks=mask).distribution.probs
        assert player.probabilities(seen, mask) == pytest.approx(wanted.detach().numpy(), abs=1e-6)
    assert spec("byteskille").max_players == 20
