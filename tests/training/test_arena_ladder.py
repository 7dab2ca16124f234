"""Ladders: rounds, submissions, tests, and the command `kille ladder`."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import kille_training as kt
from kille_env.errors import ConfigError, KilleError
from kille_env.records import read_records, replay
from kille_training.arena.executors.processes import HereExecutor, LocalExecutor
from kille_training.arena.ladder import api
from kille_training.arena.ladder.api import submit
from kille_training.arena.ladder.challenges import FAILED
from kille_training.arena.ladder.ladder import Ladder
from kille_training.arena.ladder.result import LadderResult
from kille_training.arena.ladder.settings import LadderFolder, LadderSettings
from kille_training.arena.ladder.submissions import Submission
from kille_training.arena.store import Store
from kille_training.reports.ladder import leader, write_ladder_page
from kille_training.reports.report import report
from kille_training.statistics.sequential import ABOVE, BELOW, GOING, UNDECIDED

FIELD = ("rule_of_thumb", "uniform", "byteskille/tipsy", "byteskille/maniac", "byteskille/caller")


class Watcher:
    """Writes down what happens on a ladder."""

    def __init__(self):
        self.events = []

    def entered(self, name):
        self.events.append(("entered", name))

    def refused(self, refusal):
        self.events.append(("refused", refusal.name, refusal.reason))

    def out(self, name, reason):
        self.events.append(("out", name, reason))

    def decided(self, challenge):
        self.events.append(("decided", challenge.number, challenge.verdict))

    def played(self, rounds):
        self.events.append(("played", rounds))


class Interrupted:
    """An executor that is interrupted after some units, before the next is kept."""

    def __init__(self, units):
        self.left = units

    def run(self, units):
        for outcome in HereExecutor().run(units):
            if self.left == 0:
                raise KeyboardInterrupt
            self.left -= 1
            yield outcome


def begin(path, *players, **values):
    folder = LadderFolder(path)
    folder.create(LadderSettings(**{"workers": 0, "deals": 10, "test_deals": 60, **values}))
    for name in players:
        folder.submissions.add(Submission(name, name))
    return folder


def play(folder, rounds, executor=None):
    watcher = Watcher()
    with Ladder(folder) as ladder:
        ladder.play(executor or HereExecutor(), watcher, lambda: ladder.rounds >= rounds)
    return watcher.events


def kept(folder):
    """Everything that follows from what was played, as bytes or JSON; the same for equal plays."""
    with Store(folder.results, readonly=True) as store:
        meta, tally = store.meta(), store.tallies()[folder.ladder_settings().num_players]
    for test in meta["tests"]:
        del test["source"]  # says when it was submitted
    return tally.to_bytes(), json.dumps(meta, sort_keys=True)


def asked(folder):
    """Asks for two tests, and returns the folder."""
    folder.submissions.add(Submission("byteskille/tipsy", against="uniform", by=0.1))
    folder.submissions.add(Submission("byteskille/caller", against="rule_of_thumb", by=0.3))
    return folder


def test_a_ladder_is_the_same_however_often_it_is_interrupted(tmp_path):
    whole, parts = (asked(begin(tmp_path / name, *FIELD, batch_tables=25)) for name in "ab")
    play(whole, 6)
    interruptions = 0
    while True:
        try:
            play(parts, 6, Interrupted(6))
            break
        except KeyboardInterrupt:
            interruptions += 1
    assert interruptions > 5
    assert kept(parts) == kept(whole)


def test_a_ladder_is_the_same_in_other_units_and_processes(tmp_path):
    whole, small, several = (
        asked(begin(tmp_path / str(tables), *FIELD, batch_tables=tables))
        for tables in (16_384, 9, 50)
    )
    play(whole, 4)
    play(small, 4)
    with LocalExecutor(2, 60.0) as executor:
        play(several, 4, executor)
    assert kept(whole) == kept(small) == kept(several)


def test_every_round_plays_its_own_deals_and_is_written_down_before(tmp_path):
    folder = begin(tmp_path / "a", *FIELD)
    with pytest.raises(KeyboardInterrupt):
        play(folder, 6, Interrupted(len(FIELD) + 2))
    with Store(folder.results, readonly=True) as store:
        begun = store.meta()["round"]
    assert begun["number"] == 2 and len(begun["tables"]) == 2
    play(folder, 6)
    with Store(folder.results, readonly=True) as store:
        results = list(store.results())
    spans = [(each.block.first_deal, each.block.deals) for each in results]
    assert spans == [(10 * number, 10) for number in range(6)]
    third = {tuple(sorted(row)) for row in results[2].members[0].tolist()}
    assert third == {tuple(sorted(table)) for table in begun["tables"]}


def test_the_order_of_submissions_means_nothing(tmp_path):
    rungs = []
    for name, players in (("a", FIELD), ("b", FIELD[::-1])):
        folder = begin(tmp_path / name, *players)
        play(folder, 5)
        rungs.append(LadderResult.of(folder).rungs)
    assert [each.name for each in rungs[0]] == [each.name for each in rungs[1]]
    for one, other in zip(*rungs, strict=True):
        assert one.observations == other.observations
        assert one.rating == pytest.approx(other.rating)


def test_a_newcomer_enters_between_rounds_while_another_process_plays(tmp_path):
    folder = begin(tmp_path / "a", *FIELD[:4])
    play(folder, 4)
    with Ladder(folder) as ladder:
        with pytest.raises(KilleError, match="is being played"):
            Ladder(folder)
        submit(LadderFolder(folder.path), Submission("late", "rule_of_thumb"))
        ladder.play(HereExecutor(), Watcher(), lambda: ladder.rounds >= 5)
    assert not folder.submissions.waiting()
    found = {rung.name: rung for rung in LadderResult.of(folder).rungs}
    assert found["late"].observations >= 10 and found["late"].new
    assert not found["uniform"].new


def test_paths_are_those_of_who_submits(tmp_path, monkeypatch):
    folder = begin(tmp_path / "a")
    (tmp_path / "elsewhere" / "mine").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "elsewhere")
    monkeypatch.setattr(api, "check_in", lambda *_, **__: None)
    written = submit(folder, Submission("mine", "mine"))
    assert folder.submissions.read(written).player == str(tmp_path / "elsewhere" / "mine")


def test_what_cannot_enter_is_refused_with_the_reason_and_stops_nobody(tmp_path):
    folder = begin(tmp_path / "a", *FIELD[:3])
    play(folder, 1)
    add = folder.submissions.add
    add(Submission("bad", "training.bad_players:Raises"))
    add(Submission("nobody", "no_such_player"))
    add(Submission("uniform", "rule_of_thumb"))
    add(Submission("tester", "rule_of_thumb", against="nobody"))
    (folder.submissions.folder / "broken.yaml").write_text("name: [")
    (folder.submissions.folder / "odd.yaml").write_text("title: odd\nplayer: uniform\n")
    add(Submission("good", "rule_of_thumb"))
    events = play(folder, 2)
    assert [each[1] for each in events if each[0] == "entered"] == ["good"]
    refused = {refusal.name: refusal.reason for refusal in folder.submissions.refused()}
    assert "cannot play at 3 seats: RuntimeError: no idea" in refused["bad"]
    assert "there is no player 'no_such_player'" in refused["nobody"]
    assert "'uniform' has changed" in refused["uniform"]
    assert "'nobody' is not on the ladder" in refused["tester"]
    assert "not valid YAML" in refused["broken.yaml"]
    assert "title is an unknown key" in refused["odd.yaml"]
    assert not folder.submissions.waiting() and len(refused) == 6
    assert {e.name for e in LadderResult.of(folder).entrants} == {*FIELD[:3], "good"}
    page = write_ladder_page(LadderResult.of(folder)).read_text()
    assert "RuntimeError: no idea" in page


def test_whoever_fails_is_out_and_the_others_play_on(tmp_path, monkeypatch):
    (tmp_path / "fickle.py").write_text(
        "calls = 0\n\n\ndef player(observation, mask):\n"
        "    global calls\n    calls += 1\n    assert calls < 40, 'had enough'\n"
        "    return mask / mask.sum(axis=1, keepdims=True)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    folder = begin(tmp_path / "a", *FIELD[:3])
    folder.submissions.add(Submission("fickle", "fickle:player", against="uniform"))
    events = play(folder, 8)
    assert ("out", "fickle", "AssertionError: had enough") in events
    result = LadderResult.of(folder)
    assert result.rounds == 8 and result.rungs[-1].out == "AssertionError: had enough"
    assert result.tests[0].verdict == FAILED and "fickle is out" in result.tests[0].answer
    assert result.rungs[-1].place is None and result.rungs[2].place == 3


def test_a_player_whose_files_have_changed_is_out(tmp_path, monkeypatch):
    code = "def player(observation, mask):\n    return mask / mask.sum(axis=1, keepdims=True)\n"
    (tmp_path / "mutable.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    folder = begin(tmp_path / "a", *FIELD[:3], "mutable:player")
    play(folder, 1)
    (tmp_path / "mutable.py").write_text(code + "\n")
    ((_, who, why),) = (each for each in play(folder, 2) if each[0] == "out")
    assert who == "mutable:player" and "has changed since it entered" in why
    folder.submissions.add(Submission("again", "mutable:player"))
    play(folder, 3)
    assert "the module mutable has changed" in folder.submissions.refused()[0].reason


def test_with_too_few_players_it_waits_and_tests_go_on(tmp_path):
    folder = begin(tmp_path / "a", "rule_of_thumb", "uniform")
    folder.submissions.add(Submission("rule_of_thumb", against="uniform", by=0.1))
    asked = []

    def wait():
        asked.append(1)
        if len(asked) == 2:
            folder.submissions.add(Submission("third", "uniform"))
        return True

    watcher = Watcher()
    with Ladder(folder) as ladder:
        ladder.play(HereExecutor(), watcher, lambda: ladder.rounds >= 1, wait)
        assert len(asked) == 2
    assert ("decided", 1, ABOVE) in watcher.events and watcher.events[-1] == ("played", 1)


@pytest.mark.parametrize(
    ("new", "old", "by", "most", "verdict"),
    [
        ("rule_of_thumb", "uniform", 0.2, 0, ABOVE),
        ("uniform", "rule_of_thumb", 0.2, 0, BELOW),
        ("rule_of_thumb", "byteskille/caller", 0.001, 90, UNDECIDED),
    ],
)
def test_the_verdict_is_that_of_the_test_on_the_kept_scores(tmp_path, new, old, by, most, verdict):
    folder = begin(tmp_path / "a", new, old)
    folder.submissions.add(Submission(new, against=old, by=by, most=most))
    play(folder, 0)
    with Ladder(folder) as ladder:
        ladder.play(HereExecutor(), Watcher(), lambda: not ladder.challenges.going)
        (found,) = LadderResult.of(folder, ladder.store).tests
    assert found.verdict == verdict and found.deals % 60 in (0, 30)
    with Store(folder.tests / "1", readonly=True) as store:
        numbers = {each.name: each.number for each in store.entrants()}
        (panel,) = {result.block.panel.number for result in store.results()}
        scores = np.concatenate(list(store.scores(panel, 0, numbers[new])))
    assert len(scores) == (found.deals if verdict != UNDECIDED else 90)
    if verdict == UNDECIDED:
        assert found.deals == 90
    assert found.mean == pytest.approx(scores[: found.deals].mean())


def test_tests_wait_for_their_turn(tmp_path):
    folder = begin(tmp_path / "a", *FIELD, tests_at_once=2)
    for old in FIELD[1:]:
        folder.submissions.add(Submission("rule_of_thumb", against=old, by=0.001))
    play(folder, 2)
    tests = LadderResult.of(folder).tests
    assert [test.old for test in tests] == list(FIELD[1:])
    running = [test for test in tests if test.verdict == GOING and test.deals]
    ended = [test for test in tests if test.verdict != GOING]
    assert len(running) <= 2 and 2 <= len(running) + len(ended) < 4


def test_settings_that_belong_to_the_results_do_not_change(tmp_path):
    folder = begin(tmp_path / "a", *FIELD)
    play(folder, 1)
    text = folder.config.read_text()
    folder.config.write_text(text.replace("deals: 10", "deals: 11"))
    with pytest.raises(ConfigError, match="whose deals is 10, not 11"):
        play(folder, 2)
    folder.config.write_text(text.replace("batch_tables: 16384", "batch_tables: 50"))
    play(folder, 2)
    with pytest.raises(ConfigError, match="is there already"):
        folder.create(LadderSettings())


def test_the_page_is_a_function_of_the_results(tmp_path):
    folder = begin(tmp_path / "a", *FIELD)
    empty = write_ladder_page(LadderResult.of(folder)).read_text()
    assert "Nobody has entered yet" in empty and "5 submissions waiting" in empty
    play(asked(folder), 6)
    result = LadderResult.of(folder)
    page = report(folder.path).read_bytes()
    assert write_ladder_page(result).read_bytes() == page
    assert (folder.tests / "1" / "report.html").is_file() and b"tests/1/report.html" in page
    ended = next(test for test in result.tests if test.decided_after)
    assert ended.decided_after != ended.deals  # the mean beside it is that of all deals
    assert f'<td class="number">{ended.deals:,}</td>' in page.decode()
    text = page.decode()
    for name in FIELD:
        assert name in text
    assert leader(result).split(",")[0][:20] in text and "among copies of" in text.lower()
    assert result.rungs[0].place == 1 and result.rungs[-1].name == "byteskille/maniac"


def test_cells_link_to_matches_that_can_be_replayed(tmp_path):
    folder = begin(tmp_path / "a", *FIELD)
    play(folder, 6)
    assert "records/" not in report(folder.path).read_text()
    page = report(folder.path, records=True).read_text()
    result = LadderResult.of(folder)
    met = result.played.met.sum(axis=0)
    links = set(re.findall(r'href="(records/[^"]+)"', page))
    assert page.count('href="records/') == np.count_nonzero(met)
    for link in links:
        text = (folder.path / link).read_text()
        records = read_records(folder.path / link.replace(".html", ".jsonl"))
        assert len(records) == 3 and "Match 3: byteskille" in text
        for record in records:
            assert not replay(record).differences and set(record["names"]) <= set(FIELD)


def test_the_command_keeps_a_ladder(kille, answer, refused):
    assert "9 bots waiting" in kille(
        "ladder", "new", "l", "--players", 2, "--deals", 10, "--workers", 0,
        "--population", "train", "--test-deals", 50,
    ).out  # fmt: skip
    kille("ladder", "submit", "l", "chance", "uniform", "--against", "byteskille/caller")
    assert len(answer("ladder", "status", "l")["waiting"]) == 10
    played = kille("ladder", "play", "l", "--rounds", 2)
    assert "2 seats, 2 rounds" in played.out and "chance was taken in" in played.err
    found = answer("ladder", "play", "l", "--decided")
    assert found["tests"][0]["verdict"] == BELOW and found["rounds"] >= 2
    assert [rung["name"] for rung in found["standings"] if rung["place"] is None] == []
    assert Path("l/report.html").is_file()
    kille("ladder", "test", "l", "byteskille/caller", "chance", "--by", 0.2)
    assert answer("ladder", "play", "l", "--decided")["tests"][1]["verdict"] == ABOVE


def test_a_ladder_from_python(tmp_path):
    first = kt.ladder(tmp_path / "l", num_players=2, deals=10, test_deals=50, workers=0)
    first.submit("rule", "rule_of_thumb").submit("chance", "uniform", against="rule", by=0.2)
    played = first.play(decided=True)
    assert played.tests[0].verdict == BELOW and played.rungs[0].name == "rule"
    second = kt.ladder(tmp_path / "l", deals=10)
    assert second.test("rule", "chance", by=0.2).result().waiting
    again = second.play(rounds=2)
    assert again.rounds == played.rounds + 2 and again.tests[1].deals == 100
    assert "  rule " in str(again) and again.tests[1].answer in str(again)
    assert second.play(decided=True).tests[1].verdict == ABOVE
    with pytest.raises(ConfigError, match="whose num_players is 2, not 3"):
        kt.ladder(tmp_path / "l", num_players=3)
    with pytest.raises(ConfigError, match="goes on for ever"):
        second.play()
    with pytest.raises(ConfigError, match="'mine' is submitted as a Python object"):
        second.submit("mine", lambda observation, mask: mask)  # type: ignore[arg-type]


def test_it_says_that_players_are_missing_and_who_was_refused(kille, tmp_path):
    ladder = kt.ladder(tmp_path / "l", num_players=3, workers=0).submit("a", "uniform")
    ladder.submit("a", "rule_of_thumb")
    shown = kille("ladder", "status", tmp_path / "l").out, str(ladder.play(rounds=1))
    assert all("No table can be filled: it has 3 seats, and the ladder " in text for text in shown)
    assert "2 submissions waiting" in shown[0] and "a was refused: " in shown[1]
    ladder.submit("b", "uniform").submit("c", "uniform")
    assert "No table" not in str(ladder.play(rounds=1))


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("new", "l"), "is there already"),
        (("new", "m", "--players", 30), "30"),
        (("status", "nowhere"), "kille ladder new nowhere"),
        (("play", "nowhere"), "kille ladder new nowhere"),
        (("submit", "l", "x", "no_such"), "there is no player 'no_such'"),
        (("submit", "l", "a,b", "uniform"), "without commas"),
        (("submit", "l", "x", "uniform", "--against", "y"), "'y' is not on the ladder"),
        (("submit", "l", "x", "uniform", "--against", "x"), "tested against itself"),
        (("test", "l", "x", "y"), "is not on the ladder"),
        (("submit", "l", "x", "uniform", "--against", "c", "--by", 0), "by is 0.0"),
        (("submit", "l", "x", "uniform", "--against", "c", "--most", 1), "most is 1"),
        (("submit", "l", "c", "uniform"), None),
        (("play", "l", "--readmit", "c"), "'c' is not out"),
    ],
)
def test_the_command_says_what_is_wrong(kille, refused, words, why):
    kille("ladder", "new", "l", "--workers", 0)
    kille("ladder", "submit", "l", "c", "rule_of_thumb")
    if why is None:  # the name waits, and is refused when its turn comes
        kille("ladder", *words)
    else:
        assert why in refused("ladder", *words)
