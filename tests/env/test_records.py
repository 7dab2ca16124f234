import copy
import json
import random

import numpy as np
import pytest

import kille_env
from env.record_examples import example
from kille_env.errors import CardError, IllegalActionError, KilleError, RecordError
from kille_env.records import (
    Difference,
    Record,
    Recorder,
    describe,
    format_record,
    parse_record,
    read_records,
    replay,
    write_records,
)


def bare() -> dict:
    """The same with nothing that may be missing."""
    record = example()
    for key in ("rules", "names", "seed", "start", "returns", "truncated"):
        del record[key]
    for deal in record["deals"]:
        del deal["result"]
    return record


def random_records(number, num_players=4, rules=None, seed=0) -> list[Record]:
    batch = kille_env.make_batch("byteskille", number, num_players, rules=rules, restart=False)
    recorder = Recorder(batch, [f"p{seat}" for seat in range(num_players)])
    recorder.reset(seed=list(range(seed, seed + number)))
    rng = np.random.default_rng(seed)
    while (batch.seat >= 0).any():
        recorder.step((rng.random(batch.mask.shape) * batch.mask).argmax(axis=1))
    return [recorder.record(table) for table in range(number)]


# Reading, replaying, writing


def test_the_example_of_the_notation_replays_without_a_difference():
    game = replay(example())
    assert game.differences == []
    assert game.returns == [-2, -2, -2, 6]
    assert game.truncated is False
    assert [len(game.steps), len(game.results)] == [7, 2]
    first = game.steps[0]
    assert (first.deal, first.seat, first.phase) == (0, 0, "turn")
    assert (first.legal, first.action) == (["stand", "swap"], "swap")
    assert game.steps[4].phase == "buyin"
    assert game.steps[5].deal == 1


def test_a_result_has_the_listed_keys_in_their_order():
    assert list(replay(example()).results[0].items()) == [
        ("turns", [0, 1, 2, 3]),
        ("reveals", []),
        ("undone", 0),
        ("chopped", []),
        ("low_kille", []),
        ("out", [1]),
        ("left", [0, 2, 3]),
        ("final", ["L9", "L2", "L7", "L5"]),
        ("redeal", None),
        ("pot", 8),
        ("next_dealer", 0),
        ("winner", None),
    ]


def test_the_last_result_names_the_winner_and_the_pot_before_it_is_paid():
    result = replay(example()).results[1]
    assert (result["winner"], result["pot"], result["final"]) == (3, 8, ["L5", None, "L8", "HU"])


@pytest.mark.parametrize("null", [False, True])
def test_what_may_be_missing_may_be_null_too(null):
    record = bare()
    if null:
        record |= dict.fromkeys(("rules", "names", "seed", "start", "returns", "truncated"))
        record["deals"][0]["result"] = None
    game = replay(record)
    assert game.returns == [-2, -2, -2, 6]
    assert game.differences == []


def test_rules_may_leave_switches_out():
    record = bare() | {"rules": {"stake": 4}}
    assert replay(record).returns == [-4, -4, -4, 12]
    assert replay(record).rules["preset"] == "svensk"


def test_a_record_lists_every_switch_and_the_keys_in_order():
    (record,) = random_records(1)
    assert record["rules"] == kille_env.spec("byteskille").resolve().as_dict()
    line = json.loads(format_record(record))
    assert list(line) == list(example())
    assert list(line["deals"][0]) == ["deck", "actions", "result"]


def test_a_written_line_is_canonical_whatever_the_order_of_the_keys():
    shuffled = dict(reversed(example().items()))
    shuffled["deals"] = [dict(reversed(deal.items())) for deal in shuffled["deals"]]
    assert format_record(shuffled) == format_record(example())
    assert "Åsa" in format_record(example() | {"names": ["Åsa", "b", "c", "d"]})


def test_the_seed_of_a_record_deals_its_cards_at_a_single_table():
    for record in random_records(5, 3, seed=40):
        batch = kille_env.make_batch("byteskille", 1, 3, restart=False)
        batch.reset(seed=record["seed"])
        assert batch.tables["dealer"][0] == record["first_dealer"]
        for deal in record["deals"]:
            hand = batch.tables["deck"][0, : batch.tables["drawn"][0]]
            codes = [batch.spec.pack.code(card) for card in hand]
            assert codes == deal["deck"][: len(codes)]
            for _, action in deal["actions"]:
                batch.step([batch.spec.actions.index(action)])


def test_the_deck_may_go_on_to_the_end_of_the_pack():
    record = example()
    for deal in record["deals"]:
        pack = [code for code in kille_env.spec("byteskille").pack.codes for _ in range(2)]
        for code in deal["deck"]:
            pack.remove(code)
        deal["deck"] += pack
    assert replay(record).differences == []


def test_a_hand_that_is_dealt_again_is_a_deal_of_its_own():
    record = bare() | {"rules": {"preset": "wikipedia"}, "num_players": 2, "first_dealer": 1}
    record["deals"] = [{"deck": ["KI", "L3"], "actions": []}, {"deck": ["GO", "L3"], "actions": []}]
    again, last = replay(record).results
    assert again["redeal"] == "kille"
    assert (again["out"], again["left"], again["next_dealer"]) == ([], [0, 1], 1)
    assert again["final"] == [None, None]
    assert (last["redeal"], last["winner"]) == (None, 0)


def test_returns_of_a_single_deal_may_be_shares():
    record = bare() | {"rules": {"episode": "deal"}, "returns": [2 / 3, -2, 2 / 3, 0.666666666667]}
    record["deals"] = record["deals"][:1]
    del record["deals"][0]["actions"][-1]
    game = replay(record)
    assert game.differences == []
    assert game.returns == [2 / 3, -2, 2 / 3, 2 / 3]
    assert (game.results[0]["next_dealer"], game.results[0]["pot"]) == (0, 0)


# Records that stop


@pytest.mark.parametrize(
    ("num_players", "rules"),
    [
        (2, "wikipedia"),
        (4, {"preset": "wikipedia", "pots": 2, "max_deals": 5}),
        (6, {"preset": "wikipedia", "reentry": "wiki2", "gok_call": "any_time", "max_deals": 3}),
        (20, {"preset": "svensk", "pig_scope": "all", "dealer_after_inn": True, "max_deals": 1}),
    ],
)
def test_a_record_may_stop_anywhere(num_players, rules):
    (record,) = random_records(1, num_players, rules, seed=3)
    whole = replay(record)
    for deals in range(len(record["deals"])):
        for actions in range(len(record["deals"][deals]["actions"])):
            part = copy.deepcopy(record)
            del part["deals"][deals + 1 :], part["deals"][deals]["actions"][actions:]
            del part["deals"][deals]["result"], part["returns"], part["truncated"]
            game = replay(part)
            done = len(game.steps) - 1
            asked = whole.steps[done]
            assert game.steps[:-1] == whole.steps[:done]
            assert game.steps[-1].action is None
            assert (game.steps[-1].seat, game.steps[-1].legal) == (asked.seat, asked.legal)
            assert (game.returns, game.truncated) == (None, False)
            assert game.results == whole.results[:deals]
            assert game.differences == []


@pytest.mark.parametrize("deals", [0, 1])
def test_between_deals_nobody_is_to_decide(deals):
    record = bare()
    del record["deals"][deals:]
    game = replay(record)
    assert all(step.action for step in game.steps)
    assert (game.returns, game.truncated, len(game.results)) == (None, False, deals)


def test_an_unfinished_match_can_be_recorded():
    batch = kille_env.make_batch("byteskille", 1, 4, restart=False)
    recorder = Recorder(batch)
    recorder.reset(deck=["L2", "L9", "L5", "L7"], dealer=3)
    recorder.step([1])
    record = recorder.record()
    assert record["deals"] == [{"deck": ["L2", "L9", "L5", "L7"], "actions": [[0, "swap"]]}]
    assert (record["returns"], record["truncated"], record["seed"]) == (None, None, None)
    assert replay(parse_record(format_record(record))).steps[-1].seat == 1


# Differences


def test_every_difference_is_reported():
    record = example()
    record["deals"][0]["result"] |= {"out": [2], "undone": False}
    record["deals"][1]["result"]["winner"] = None
    record |= {"returns": [-2, -2, -2, 5], "truncated": True}
    game = replay(record)
    assert game.differences == [
        Difference(0, "out", [2], [1]),
        Difference(0, "undone", False, 0),
        Difference(1, "winner", None, 3),
        Difference(None, "returns", [-2, -2, -2, 5], [-2, -2, -2, 6]),
        Difference(None, "truncated", True, False),
    ]
    assert str(game.differences[0]) == "deal 0: 'out' is recorded as [2], but the replay gives [1]"
    assert str(game.differences[4]).startswith("'truncated' is recorded as true")


def test_what_is_recorded_beyond_the_end_is_a_difference():
    record = example()
    del record["deals"][1]["actions"][1]
    game = replay(record)
    assert [(d.deal, d.key) for d in game.differences] == [(1, "result"), (None, "returns")]


# Refusals


def change(path, value):
    """Return a function that puts `value` at `path`; leaves it out for `...`."""

    def changed(record):
        inner = record
        for key in path[:-1]:
            inner = inner[key]
        if value is ...:
            del inner[path[-1]]
        else:
            inner[path[-1]] = value

    return changed


DEEP: list = []


for _ in range(5000):
    DEEP = [DEEP]


REFUSED = {
    "another format": (["format"], "kille-record/2", RecordError, "'kille-record/1'"),
    "no format": (["format"], ..., RecordError, "'format' is missing"),
    "no game": (["game"], ..., RecordError, "'game' is missing"),
    "no deals": (["deals"], ..., RecordError, "'deals' is missing"),
    "a foreign game": (["game"], "bytskille", RecordError, "Did you mean 'byteskille'"),
    "a game that is no text": (["game"], ["byteskille"], RecordError, "there is no game"),
    "an unknown key": (["dealer"], 1, RecordError, "no key 'dealer'. Did you mean 'deals'"),
    "another game's key": (["remainder_to"], 1, RecordError, "'remainder_to'"),
    "an unknown switch": (["rules", "gok_cal"], "off", RecordError, "Did you mean 'gok_call'"),
    "an impossible switch": (["rules", "stake"], 3, RecordError, "even whole number"),
    "rules that are a text": (["rules"], "svensk", RecordError, "an object of switches"),
    "one player": (["num_players"], 1, RecordError, "2 to 20"),
    "no number of players": (["num_players"], None, RecordError, "num_players"),
    "half a player": (["num_players"], 4.5, RecordError, "2 to 20"),
    "too few names": (["names"], ["a"], RecordError, "4 texts"),
    "a name without end": (["names"], ["x" * 101, "b", "c", "d"], RecordError, "up to 100 char"),
    "half a character": (["names"], ["\ud800", "b", "c", "d"], RecordError, "4 texts"),
    "a seed below 0": (["seed"], -1, RecordError, "whole number from 0"),
    "a dealer who is not there": (["first_dealer"], 4, RecordError, "from 0 to 3"),
    "a dealer who is no number": (["first_dealer"], True, RecordError, "from 0 to 3"),
    "a start": (["start"], {"pot": 6}, RecordError, "expected {}"),
    "a start that is a list": (["start"], [], RecordError, "expected {}"),
    "deals that are no list": (["deals"], {}, RecordError, "a list of deals"),
    "a deal that is a list": (["deals", 1], [], RecordError, "deal 1: .*a deal as an object"),
    "an unknown key of a deal": (["deals", 1, "cards"], [], RecordError, "deal 1: .*'cards'"),
    "a deal without a deck": (["deals", 0, "deck"], ..., RecordError, "deal 0: 'deck' is missing"),
    "a deck that is a text": (["deals", 0, "deck"], "L2", RecordError, "list of card codes"),
    "an unknown card": (["deals", 1, "deck", 2], "L13", CardError, "deal 1: 'L13' is not a card"),
    "a card of another pack": (["deals", 0, "deck", 0], "7H", CardError, "deal 0: '7H'"),
    "a card too often": (["deals", 0, "deck"], ["L2"] * 3, CardError, "deal 0: .*one L2 too many"),
    "no card for the dealer": (["deals", 0, "deck"], ["L2"] * 2, CardError, "deal 0: .*at least 4"),
    "an action that is a text": (["deals", 0, "actions", 0], "swap", RecordError, "deal 0, step 0"),
    "an action without a seat": (["deals", 0, "actions", 0], ["swap"], RecordError, "seat, text"),
    "a seat that is not there": (["deals", 0, "actions", 0, 0], 4, RecordError, "from 0 to 3"),
    "an unknown action": (["deals", 0, "actions", 2, 1], "swop", RecordError, "step 2: .*'swap'"),
    "an illegal action": (
        ["deals", 0, "actions", 3, 1],
        "call",
        IllegalActionError,
        "deal 0, step 3: 'call' is not legal for seat 3; expected one of stand, swap from seat 3",
    ),
    "another seat": (
        ["deals", 1, "actions", 0, 0],
        3,
        IllegalActionError,
        "deal 1, step 0: seat 3 is not to act .*expected one of stand, swap, ask from seat 2",
    ),
    "an action left over": (
        ["deals", 1, "actions"],
        [[2, "swap"], [0, "stand"], [3, "stand"]],
        RecordError,
        "deal 1, step 2: .*left over.*expected no action",
    ),
    "actions that stop": (
        ["deals", 0, "actions", 4],
        ...,
        RecordError,
        "deal 0, step 4: the actions stop, but seat 1 is to decide; expected one of buy, decline",
    ),
    "an unknown key of a result": (
        ["deals", 0, "result"],
        {"trump": "S"},
        RecordError,
        "deal 0: .*'trump'",
    ),
    "a result that is a list": (["deals", 0, "result"], [], RecordError, "deal 0"),
    "returns of too few": (["returns"], [0], RecordError, "4 numbers"),
    "returns that are texts": (["returns"], ["1", "2", "3", "4"], RecordError, "4 numbers"),
    "endless returns": (["returns"], [float("inf"), 0, 0, 0], RecordError, "4 numbers"),
    "huge returns": (["returns"], [10**400, 0, 0, 0], RecordError, "4 numbers"),
    "a huge result": (["deals", 0, "result", "out"], 10**400, RecordError, "deal 0: .*too large"),
    "an endless result": (
        ["deals", 0, "result", "out"],
        float("inf"),
        RecordError,
        "deal 0: .*too large",
    ),
    "a deep result": (["deals", 0, "result", "out"], DEEP, RecordError, "deal 0: .*too deeply"),
    "a deep start": (["start"], {"pot": DEEP}, RecordError, "'start' is nested too deeply"),
    "deep names": (["names"], [DEEP] * 4, RecordError, "4 texts"),
    "a huge seed": (["seed"], -(10**5000), RecordError, "whole number from 0"),
    "a huge dealer": (["first_dealer"], 10**5000, RecordError, "from 0 to 3"),
    "a huge switch": (["rules", "stake"], 10**5000, RecordError, "even whole number"),
    "truncated as a number": (["truncated"], 0, RecordError, "true or false"),
}


@pytest.mark.parametrize(("path", "value", "error", "message"), REFUSED.values(), ids=REFUSED)
def test_refused(path, value, error, message):
    record = example()
    change(path, value)(record)
    with pytest.raises(error, match=message):
        replay(record)


def test_a_deal_left_over_is_refused():
    record = bare()
    record["deals"].append({"deck": ["L1"] * 2, "actions": []})
    with pytest.raises(RecordError, match="deal 2: the match is over after deal 1"):
        replay(record)


def test_a_missing_deal_is_refused():
    record = bare()
    del record["deals"][0]
    with pytest.raises(CardError, match="deal 0: the deck ends after 3 cards; expected at least 4"):
        replay(record)


def test_a_card_drawn_beyond_the_deck_is_an_error_at_its_step():
    record = bare()
    record["deals"][1]["actions"][1] = [0, "swap"]
    with pytest.raises(CardError, match=r"deal 1, step 1: the deck ends after 3 .* at least 4"):
        replay(record)


LINES = {
    "rubbish": ("rubbish", "line 2: it is not JSON"),
    "an empty line": ("", "line 2: it is not JSON"),
    "a list": ("[]", r"line 2: it is \[\]; expected a record"),
    "a number": ("17", "line 2: it is"),
    "a key twice": ('{"format": 1, "format": 2}', "line 2: the key 'format' stands twice"),
    "no number": ('{"returns": [NaN]}', "line 2: 'NaN' is no number"),
    "nested deeply": ("[" * 100_000, "line 2: it is"),
    "a number of 400 digits": ('{"seed": ' + "9" * 400 + "}", "line 2: '9+.*far too large"),
    "a number of 5,000 digits": ('{"seed": ' + "9" * 5000 + "}", "line 2: .*far too large"),
    "a number beyond all": ('{"returns": [1e999]}', "line 2: .*far too large"),
    "a bad deck": (format_record(example()).replace("L9", "L13"), "line 2, deal 0: 'L13'"),
    "a foreign game": (format_record(example()).replace("teskille", "teskalle"), "line 2: there"),
    "something behind it": (format_record(example()) + " {}", "line 2: it is not JSON.*Extra data"),
}


@pytest.mark.parametrize(("line", "message"), LINES.values(), ids=LINES)
def test_a_file_with_a_bad_line_is_refused_whole(line, message, tmp_path):
    path = tmp_path / "match.jsonl"
    good = format_record(example())
    path.write_text(f"{good}\n{line}\n{good}\n", encoding="utf-8")
    with pytest.raises(KilleError, match=rf"match.jsonl, {message}"):
        read_records(path)


def test_a_line_that_is_not_utf_8_is_refused(tmp_path):
    path = tmp_path / "match.jsonl"
    path.write_bytes(format_record(example()).replace("ppo", "pp\xf6").encode("latin-1"))
    with pytest.raises(RecordError, match="line 1: it is not UTF-8"):
        read_records(path)


def test_a_file_that_is_cut_off_in_mid_line_is_refused_whole(tmp_path):
    path = tmp_path / "match.jsonl"
    whole = (format_record(example()) + "\n").encode() * 2
    first = len(whole) // 2
    for size in range(first + 1, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(RecordError, match=r"match.jsonl, line 2: it is"):
            read_records(path)
    path.write_bytes(whole[:-1])
    assert len(read_records(path)) == 2
    path.write_bytes(b"")
    assert read_records(path) == []


def test_errors_of_a_replay_name_the_line(tmp_path):
    path = tmp_path / "match.jsonl"
    bad = example()
    bad["deals"][0]["actions"][0] = [1, "swap"]
    write_records([example(), bad], path)
    with pytest.raises(IllegalActionError, match=r"match.jsonl, line 2, deal 0, step 0: seat 1"):
        for record in read_records(path):
            replay(record)


def test_no_line_however_damaged_does_anything_but_raise_an_error_of_ours(scale):
    rng = random.Random(5)
    good = format_record(random_records(1, 3, seed=8)[0])
    pieces = ['"', "[", "]", "{", "}", ",", "null", "true", "-1", "9", "KI", "swap", "1e999", "\\"]
    for _ in range(scale(3000, least=50)):
        line = good
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(len(line))
            line = line[:at] + rng.choice(pieces) + line[at + rng.randint(0, 4) :]
        try:
            replay(parse_record(line))
        except KilleError as error:
            assert str(error)


# Writing


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    path = tmp_path / "match.jsonl"
    path.write_text("what was there", encoding="utf-8")

    def failing():
        yield example()
        raise RuntimeError("out of cards")

    with pytest.raises(RuntimeError, match="out of cards"):
        write_records(failing(), path)
    assert [one.name for one in tmp_path.iterdir()] == ["match.jsonl"]
    assert path.read_text(encoding="utf-8") == "what was there"
    with pytest.raises(RecordError, match="'format' is missing"):
        write_records([{}], path)
    assert path.read_text(encoding="utf-8") == "what was there"


# Watching and telling


def test_a_replay_shows_the_table_before_the_first_deal_and_after_every_deal_and_action():
    seen: list[tuple[int, int | None]] = []
    replay(example(), lambda batch, action: seen.append((int(batch.tables["deals"][0]), action)))
    assert seen == [(0, None), *((1, a) for a in (1, 0, 1, 0, 9, None)), (2, 1), (2, 0), (2, None)]


def test_control_characters_of_names_do_not_reach_the_text():
    record = example()
    record["names"] = ["\x1b]0;renamed\x07", "\u202eflipped", "a\nb", "Åsa"]
    text = "\n".join(describe(record)[1])
    assert r"\x1b]0;renamed\x07" in text
    assert r"\u202eflipped" in text
    assert r"a\nb" in text
    assert "Åsa" in text
    assert all(line.isprintable() for line in text.split("\n"))


def test_nor_do_those_of_a_result_or_of_a_files_name(tmp_path):
    record = example()
    record["deals"][1]["result"]["winner"] = "\u202e\x1b"
    (difference,) = replay(record).differences
    assert str(difference).isprintable()
    path = tmp_path / "\x1b[2J.jsonl"
    path.write_text("rubbish")
    with pytest.raises(RecordError) as error:
        read_records(path)
    assert str(error.value).isprintable()


def test_a_match_is_told_with_names_and_calls():
    game, lines = describe(example())
    assert game.differences == []
    assert "uniform 3's hussar strikes uniform 2: “Husar hugger!” (the hussar strikes)" in lines
    assert lines[-1] == "uniform 3 wins the pot of 8 chips."


@pytest.mark.parametrize("kind", ["box", "float", "seats", "dict"])
def test_a_step_shows_what_the_environment_showed_there(kind: str) -> None:
    env = kille_env.make("knack", 3, observation=kind, episode="match", rules={"deals": 2})
    env.reset(seed=5)
    rng, shown = np.random.default_rng(1), []
    for _ in env.agent_iter():
        seen, _, terminated, truncated, info = env.last()
        if terminated or truncated:
            break
        action = int(rng.choice(np.flatnonzero(info["action_mask"])))
        shown.append((seen, info["action_mask"], action))
        env.step(action)
    steps = replay(env.record(), observation=kind).steps
    for step, (seen, mask, action) in zip(steps, shown, strict=True):
        assert step.chosen == action and np.array_equal(step.mask, mask)
        np.testing.assert_equal(step.observation, seen)
    with pytest.raises(KilleError, match=r"observation is 'boxes'. Did you mean 'box'"):
        replay(env.record(), observation="boxes")
