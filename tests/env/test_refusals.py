"""What a batch and its kernels refuse: in our words, before a kernel runs, and without a change."""

import dataclasses
import sys
import types
from pathlib import Path

import numpy as np
import pytest

import kille_env
from env.batches import batch, shown, step
from kille_env import registry
from kille_env.core.batch import Batch
from kille_env.core.floats import reading as reading_at
from kille_env.core.game import Game
from kille_env.core.jit import kernel
from kille_env.core.table import OVER, new_deal, table_dtype
from kille_env.play.decisions import Decisions, History
from kille_env.testing.guards import check_guards
from refusals import refused

DOCS = Path(__file__).parents[2] / "docs"


def begun(num_tables=4, num_players=3, **options):
    tables = batch(num_tables, num_players, **options)
    tables.reset()
    return tables


def waiting(*sizes):
    tables = batch(*sizes)
    tables.reset(deal=False)
    return tables


def over():
    tables = begun(episode="deal", restart=False)
    while not tables.over.all():
        tables.step(tables.mask.argmax(axis=1))
    return tables


def reading(kind, num_players):
    return reading_at(kind, kille_env.spec("byteskille"), num_players)


def remembering(tables):
    history = History(tables)
    history.note(tables.mask.argmax(axis=1))
    tables.step(tables.mask.argmax(axis=1))
    return Decisions(tables, [0, 1], [1, 2], history)


# Kungsholmskille and Femkortskille have presets and switches of the same names.
OTHER_RULES = kille_env.spec("kungsholmskille").resolve(deals=3)

REFUSED = [
    (lambda t: History(t).note(np.full(4, 10**9)), "action 1000000000 is not legal"),
    (lambda t: History(t).note([0]), r"shape \(4,\)"),
    (lambda t: History(t).note(t.mask.argmax(axis=1), [0]), "which"),
    (lambda t: History(t).forget([0]), r"which is \[4\] bool"),
    (lambda t: Decisions(t, [4], [1]), "tables are 0 to 3"),
    (lambda t: Decisions(t, [-1], [1]), "tables are 0 to 3"),
    (lambda t: Decisions(t, [0, 1], [1]), "each of 2 decisions"),
    (lambda t: Decisions(t, [0], [-1]), "each of 1 decisions"),
    (lambda _: Decisions(over(), [1], [1]), "nobody is to act at table 1"),
    (lambda t: remembering(t).weigh(-1, None), "number is -1"),
    (lambda t: Decisions(t, [0], [1]).history(), "no history is kept"),
    (lambda t: remembering(t).draw_with_past(0), "number is 0"),
    (
        lambda t: Decisions(t, [0, 1], [1, 2]).draw_chosen(np.zeros((3, 1), int)),
        r"are \[2, K\] whole numbers from 0",
    ),
    (lambda t: Decisions(t, [0], [1]).draw(0), "number is 0"),
    (
        lambda t: reading("float", 8)(t.observation),
        r"of observations of \d+ features, got the shape \(4, \d+\)",
    ),
    (lambda t: reading("seats", 8)(t.observation), "make it for the number of seats"),
    (lambda _: reading("seats", 3)(np.uint8(1)), r"got the shape \(\)"),
    (
        lambda _: kille_env.make_batch("femkortskille", rules=OTHER_RULES),
        "RulesError: .*rules of kungsholmskille, expected rules of femkortskille",
    ),
    (lambda _: batch().result(1), "no hand has been played at table 1"),
    (lambda _: waiting().result(1), "no hand has been played at table 1"),
    (lambda _: waiting().information_state(), "RulesError: nobody .* at table 0: name the seats"),
    (lambda _: waiting().full_state(), "RulesError: nobody .* at table 0: name the seats"),
]


@pytest.mark.parametrize(("call", "words"), REFUSED)
def test_a_kernel_is_not_reached_with_arguments_that_do_not_fit(call, words):
    refused(call, words, begun())


def test_what_was_refused_is_not_remembered():
    tables = begun()
    remembered = History(tables)
    actions = tables.mask.argmax(axis=1)
    actions[2] = 10**9
    refused(remembered.note, "table 2", actions)
    assert len(remembered.decisions(np.arange(4), np.full(4, -1))[0]) == 0


@pytest.mark.parametrize("start", [[], [1], "pot", 0])
def test_a_start_that_names_nothing_is_refused(start, game):
    tables = kille_env.make_batch(game, seed=7)
    refused(lambda: tables.reset(start=start), "RulesError: .*expected how a match stands, by name")
    assert tables.tables["matches"][0] == 0


def test_actions_have_texts_at_every_decision_and_after_the_end(game):
    tables = kille_env.make_batch(game, seed=7, episode="deal", restart=False)
    last = tables.spec.num_actions - 1
    tables.reset()
    for action in (-1, last + 1):
        words = f"IllegalActionError: .*no action {action}; expected 0 to {last}"
        refused(tables.action_text, words, action)
    while not tables.over[0]:
        tables.step(tables.mask.argmax(axis=1))
    assert [tables.action_text(a) for a in range(last + 1)] == list(tables.spec.actions)


def test_where_no_seat_acts_states_of_named_seats_are_there():
    for look in (waiting(2, 3).information_state, waiting(2, 3).full_state):
        assert look(0).shape == look([0, 1]).shape


KEPT = (
    *("game", "spec", "rules", "num_players", "num_tables"),
    *("tables", "seat", "observation", "mask", "reward", "terminated", "truncated"),
)


@pytest.mark.parametrize("name", KEPT)
def test_what_kernels_rely_on_cannot_be_replaced(name):
    tables = begun()
    with pytest.raises(AttributeError, match=f"Batch.{name} cannot be replaced"):
        setattr(tables, name, None)
    assert getattr(tables, name) is not None


# Too early, and from another thread

USES = {
    "step": lambda tables: tables.step([0] * 4),
    "apply": lambda tables: tables.apply([0] * 4),
    "deal": lambda tables: tables.deal(),
    "observe": lambda tables: tables.observe(0),
    "legal_actions": lambda tables: tables.legal_actions(0),
    "information_state": lambda tables: tables.information_state(0),
    "full_state": lambda tables: tables.full_state(0),
    "resample": lambda tables: tables.resample(0, [1, 2, 3, 4]),
}
LONE = {  # of one table
    "describe": lambda tables: tables.describe(),
    "state_of_who_acts": lambda tables: tables.information_state(),
}
ALWAYS = {  # also before the first reset
    "reset": lambda tables: tables.reset(),
    "seed": lambda tables: tables.seed(1),
    "clone": lambda tables: tables.clone(),
    "place": lambda tables: tables.place(tables.tables),
}


@pytest.mark.parametrize("use", USES | LONE)
def test_before_the_first_reset_there_is_nothing_to_see_or_to_play(use):
    refused((USES | LONE)[use], r"call reset\(\) first", batch())


def test_a_second_thread_is_refused():
    tables = begun()
    before = shown(tables)
    with tables.arrays:  # as if a kernel ran
        for use in (USES | ALWAYS).values():
            refused(use, "another thread is using this batch", tables)
    assert shown(tables) == before
    step(tables, 0)


# Games that contradict themselves


@pytest.fixture
def hogkort(monkeypatch):
    """The example game of the docs under another name, with a spec that is bent."""
    monkeypatch.syspath_prepend(str(DOCS))
    import hogkort

    def bend(name, **changes):
        own = vars(hogkort) | {"SPEC": dataclasses.replace(hogkort.SPEC, name=name, **changes)}
        module = types.ModuleType(name)
        vars(module).update({key: value for key, value in own.items() if key[:2] != "__"})
        monkeypatch.setitem(sys.modules, name, module)
        return module

    return bend


CONTRADICTIONS = {
    "seats": ({"max_players": 7}, "'reward' of the table is .*, expected .* for 7 seats"),
    "cards": ({"table": table_dtype(6, 36, ())}, "'deck' of the table .* and 42 cards"),
    "no_table": ({"table": np.dtype([("pot", np.int64)])}, "'seed' of the table is no such field"),
    "secret": ({"secret_actions": (2,)}, "secret_actions are 0 to 1, got 2"),
    "phase": ({"secret_phases": (-1,)}, "secret_phases are 0 to 2, got -1"),
}


@pytest.mark.parametrize("contradiction", CONTRADICTIONS)
def test_a_game_whose_spec_contradicts_its_record_is_refused(hogkort, contradiction):
    changes, words = CONTRADICTIONS[contradiction]
    refused(lambda: Game(hogkort("hogkort_bent", **changes)), words)


@pytest.mark.parametrize("kind", ["observation", "information_state", "full_state"])
def test_a_kernel_that_writes_beyond_what_its_spec_declares_is_noticed(hogkort, kind):
    name = f"hogkort_short_{kind}"
    whole = getattr(hogkort(name).SPEC, kind)
    module = hogkort(name, **{kind: lambda num_players: whole(num_players)[:-1]})
    kille_env.registry.register(name, name)
    try:
        with pytest.raises(AssertionError, match="a kernel writes beyond"):
            check_guards(name, 3, module.SPEC.resolve(), 10, 0)
    finally:
        registry._modules.pop(name)
        registry._versions.pop(name)


@kernel
def _decided_by_the_cards(table, rules):
    new_deal(table)
    table["phase"] = OVER


def test_a_game_in_which_nobody_decides_is_refused(hogkort):
    module = hogkort("hogkort_decided")
    module.deal = _decided_by_the_cards
    tables = Batch(Game(module), 2, 3, seed=1)
    refused(tables.reset, "no seat has had a decision in 10000 matches")
    later = Batch(Game(module), 2, 3, seed=1, restart=False)
    later.reset()
    assert later.over.all()


def test_a_finished_match_takes_no_determinization():
    tables = over()
    before = tables.tables["deck"].copy()
    assert (tables.tables["phase"] == OVER).all()
    tables.resample(0, [1, 2, 3, 4])
    assert np.array_equal(before, tables.tables["deck"])


# Arguments of any kind

ODD = {
    "None": None,
    "true": True,
    "minus_one": -1,
    "fraction": 1.5,
    "text": "x",
    "empty_text": "",
    "list": [],
    "mapping": {},
    "set": {1},
    "long": [0, 1, 2],
    "ragged": [[1], [1, 2]],
    "nested": [[1], [2]],
    "fractions": [0.5, 1.5],
    "array_of_fractions": np.array([0.0, 1.0]),
    "masked": np.ma.masked_array([0, 0], [True, False]),
    "matrix": np.zeros((2, 2), dtype=np.int64),
    "large": 2**63,
    "of_5000_digits": 10**5000,
    "nan": float("nan"),
    "function": len,
}


CALLS = {
    "seed": lambda tables, odd: tables.seed(odd),
    "seed_which": lambda tables, odd: tables.seed(1, odd),
    "reset": lambda tables, odd: tables.reset(odd),
    "reset_deck": lambda tables, odd: tables.reset(5, deck=odd),
    "reset_decks": lambda tables, odd: tables.reset(5, deck=[["L5"], odd]),
    "reset_dealer": lambda tables, odd: tables.reset(5, dealer=odd),
    "reset_start": lambda tables, odd: tables.reset(5, start=odd),
    "reset_pot": lambda tables, odd: kille_env.make_batch("femkortskille").reset(
        5, start={"pot": odd}
    ),
    "reset_which": lambda tables, odd: tables.reset(5, which=odd),
    "step": lambda tables, odd: tables.step(odd),
    "step_which": lambda tables, odd: tables.step(tables.mask.argmax(axis=1), odd),
    "outside": lambda tables, odd: tables.step([int(tables.mask[0].argmax()), odd]),
    "apply": lambda tables, odd: tables.apply(odd),
    "observe": lambda tables, odd: tables.observe(odd),
    "legal_actions": lambda tables, odd: tables.legal_actions(odd),
    "information_state": lambda tables, odd: tables.information_state(odd),
    "full_state": lambda tables, odd: tables.full_state(odd),
    "legal_texts": lambda tables, odd: tables.legal_texts(odd),
    "action_text": lambda tables, odd: tables.action_text(odd),
    "action_text_table": lambda tables, odd: tables.action_text(0, odd),
    "find_action": lambda tables, odd: tables.find_action(odd),
    "find_action_table": lambda tables, odd: tables.find_action("stand", odd),
    "result": lambda tables, odd: tables.result(odd),
    "drawn_cards": lambda tables, odd: tables.drawn_cards(odd),
    "describe": lambda tables, odd: tables.describe(odd),
    "describe_seat": lambda tables, odd: tables.describe(0, odd),
    "take": lambda tables, odd: tables.take(odd),
    "resample": lambda tables, odd: tables.resample(odd, [1, 2]),
    "resample_keys": lambda tables, odd: tables.resample(0, odd),
    "game": lambda tables, odd: kille_env.make_batch(odd),
    "num_tables": lambda tables, odd: kille_env.make_batch("knack", odd),
    "num_players": lambda tables, odd: kille_env.make_batch("knack", 1, odd),
    "restart": lambda tables, odd: kille_env.make_batch("knack", restart=odd),
    "rules": lambda tables, odd: kille_env.make_batch("knack", rules=odd),
    "preset": lambda tables, odd: kille_env.make_batch("knack", rules={"preset": odd}),
    "episode": lambda tables, odd: kille_env.make_batch("knack", episode=odd),
    "switch": lambda tables, odd: kille_env.make_batch("knack", rules={"sequence": odd}),
}


TAKEN = {  # what is an argument after all, by call
    "seed": ["None", "large"],
    "outside": ["true"],  # beside a number it is one
    "seed_which": ["None"],
    "reset": ["None", "large"],
    "reset_deck": ["None", "list"],
    "reset_decks": ["list"],
    "reset_dealer": ["None"],
    "reset_start": ["None", "mapping"],
    "reset_which": ["None"],
    "step_which": ["None"],
    "information_state": ["None"],
    "full_state": ["None"],
    "describe_seat": ["None"],
    "num_players": ["None"],
    "restart": ["true"],
    "rules": ["None", "mapping"],
    "preset": ["None"],
    "episode": ["None"],
}


MORE = {  # more that is refused, and in which words
    "reset": ([[1, 2, 3], [1, -3], [0.5] * 2, [[1]] * 2], "seed"),
    "reset_deck": ([{0: "L1"}, "L1 L2"], "a deck is a list of card codes, got "),
    "reset_dealer": ([3, "1", [0, 3], [[0]] * 2], "dealers are 0 to 2"),
    "reset_which": ([np.array([True]), np.ones((1, 2), bool), ["x"] * 2], r"which is \[2\] bool"),
    "step": ([[0], [0] * 5, 0, [True] * 2, ["stand"] * 2], r"whole numbers of shape \(2,\)"),
    "step_which": ([np.array([True])], r"which is \[2\] bool"),
    "outside": ([10, 2**40, -(2**40)], r"action -?\d+ is not legal"),
    "num_tables": ([0, "3"], ": num_tables is .*, expected a whole number"),
    "observe": ([3, 256, 1.0, [0] * 3, [[0]] * 2], "seats are 0 to 2"),
    "legal_actions": ([3], "seats are 0 to 2"),
    "information_state": ([3], "seats are 0 to 2"),
    "full_state": ([3], "seats are 0 to 2"),
    "resample": ([3, [0, 1, 2]], "seats are 0 to 2"),
    "resample_keys": (
        [[1], [1, 2, 3], [1, -1], [1, 2**64], [True] * 2],
        r"keys are whole numbers .* one for each of 2 tables",
    ),
    "describe": ([2], "tables are 0 to 1, got 2"),
    "describe_seat": ([3], "seats are 0 to 2, got 3"),
    "restart": ([0, 1, "no", []], "restart is .*, expected True or False"),
}


@pytest.mark.parametrize("call", CALLS)
def test_odd_arguments_are_refused_in_our_words_and_change_nothing(call):
    tables = batch(2, 3)
    tables.reset()
    before, seen = tables.tables.tobytes(), shown(tables)
    more, words = MORE.get(call, ([], "."))
    odd = [value for name, value in ODD.items() if name not in TAKEN.get(call, ())]
    for number, value in enumerate(odd + more):
        wanted = words if number >= len(odd) else "."
        assert len(refused(CALLS[call], wanted, tables, value)) < 600
        assert (tables.tables.tobytes(), shown(tables)) == (before, seen)


def test_read_only_arrays_and_views_need_no_other_kernels():
    """Compiled anew, the step alone would take many seconds."""
    tables = batch(4)
    tables.reset()
    kernels = tables.game.step, tables.game.begin, tables.game.show, tables.game.resample
    tables.resample(0, [1, 2, 3, 4])
    before = [len(getattr(kernel, "signatures", ())) for kernel in kernels]
    for which in (~tables.terminated, np.repeat(~tables.terminated, 2)[::2]):
        for array in (which, actions := np.repeat(tables.mask.argmax(axis=1), 2)[::2]):
            array.flags.writeable = False
        tables.step(actions, which)
        tables.reset(which=which)
        keys = np.arange(8, dtype=np.uint64)[::2]
        keys.flags.writeable = False
        tables.resample(0, keys)
    assert [len(getattr(kernel, "signatures", ())) for kernel in kernels] == before
