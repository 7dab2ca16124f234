"""Doors of kernels: each call is refused in these words, before a kernel runs."""

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
from kille_env.core.floats import READINGS
from kille_env.core.game import Game
from kille_env.core.jit import kernel
from kille_env.core.table import OVER, new_deal, table_dtype
from kille_env.errors import KilleError
from kille_env.play.decisions import Decisions, History
from kille_env.testing.guards import check_guards

DOCS = Path(__file__).parents[2] / "docs"


def _begun(num_tables=4, num_players=3, **options):
    tables = batch(num_tables, num_players, **options)
    tables.reset()
    return tables


def _over():
    tables = _begun(episode="deal", restart=False)
    while not tables.over.all():
        tables.step(tables.mask.argmax(axis=1))
    return tables


def _reading(kind, num_players):
    return READINGS[kind](kille_env.spec("byteskille"), num_players)


def _remembering(tables):
    history_ = History(tables)
    history_.note(tables.mask.argmax(axis=1))
    tables.step(tables.mask.argmax(axis=1))
    return Decisions(tables, [0, 1], [1, 2], history_)


REFUSED = {
    "noted_action_is_none": (
        lambda tables: History(tables).note(np.full(4, 10**9)),
        "action 1000000000 is not legal",
    ),
    "noted_actions_too_few": (lambda tables: History(tables).note([0]), r"shape \(4,\)"),
    "noted_which": (lambda tables: History(tables).note(tables.mask.argmax(axis=1), [0]), "which"),
    "forgotten_which": (lambda tables: History(tables).forget([0]), r"which is \[4\] bool"),
    "row_beyond": (lambda tables: Decisions(tables, [4], [1]), "tables are 0 to 3"),
    "row_negative": (lambda tables: Decisions(tables, [-1], [1]), "tables are 0 to 3"),
    "too_few_keys": (lambda tables: Decisions(tables, [0, 1], [1]), "each of 2 decisions"),
    "key_negative": (lambda tables: Decisions(tables, [0], [-1]), "each of 1 decisions"),
    "nobody_acts": (lambda _: Decisions(_over(), [1], [1]), "nobody is to act at table 1"),
    "weighed": (lambda tables: _remembering(tables).weigh(-1, None), "number is -1"),
    "unweighed_history": (
        lambda tables: Decisions(tables, [0], [1]).history(),
        "no history is kept",
    ),
    "drawn_with_past": (lambda tables: _remembering(tables).draw_with_past(0), "number is 0"),
    "drawn_numbers": (
        lambda tables: Decisions(tables, [0, 1], [1, 2]).draw_chosen(np.zeros((3, 1), int)),
        r"are \[2, K\] whole numbers from 0",
    ),
    "drawn": (lambda tables: Decisions(tables, [0], [1]).draw(0), "number is 0"),
    "float_of_other_seats": (
        lambda tables: _reading("float", 8)(tables.observation),
        r"of observations of \d+ features, got the shape \(4, \d+\)",
    ),
    "seats_of_other_seats": (
        lambda tables: _reading("seats", 8)(tables.observation),
        "make it for the number of seats",
    ),
    "reading_of_a_number": (lambda _: _reading("seats", 3)(np.uint8(1)), r"got the shape \(\)"),
}


@pytest.mark.parametrize("call", REFUSED)
def test_a_kernel_is_not_reached_with_arrays_that_do_not_fit(call):
    tables = _begun()
    refused, words = REFUSED[call]
    with pytest.raises(KilleError, match=words):
        refused(tables)


def test_what_was_refused_is_not_remembered():
    tables = _begun()
    remembered = History(tables)
    actions = tables.mask.argmax(axis=1)
    actions[2] = 10**9
    with pytest.raises(KilleError, match="table 2"):
        remembered.note(actions)
    assert len(remembered.decisions(np.arange(4), np.full(4, -1))[0]) == 0


KEPT = (
    *("game", "spec", "rules", "num_players", "num_tables"),
    *("tables", "seat", "observation", "mask", "reward", "terminated", "truncated"),
)


@pytest.mark.parametrize("name", KEPT)
def test_what_kernels_rely_on_cannot_be_replaced(name):
    tables = _begun()
    with pytest.raises(AttributeError, match=f"Batch.{name} cannot be replaced"):
        setattr(tables, name, None)
    assert getattr(tables, name) is not None


# Rules that change


LOOKS = {
    "step": lambda tables: tables.step(tables.mask.argmax(axis=1)),
    "apply": lambda tables: tables.apply(tables.mask.argmax(axis=1)),
    "deal": lambda tables: tables.deal(),
    "resample": lambda tables: tables.resample(0, [1, 2, 3, 4]),
    "observe": lambda tables: tables.observe(0),
    "legal_actions": lambda tables: tables.legal_actions(0),
    "information_state": lambda tables: tables.information_state(0),
    "full_state": lambda tables: tables.full_state(0),
    "read": lambda tables: tables.read(),
    "describe": lambda tables: tables.describe(),
    "result": lambda tables: tables.result(),
}


# Threads


def test_a_second_thread_is_refused():
    tables = _begun()
    before = shown(tables)
    calls = {**LOOKS, "reset": lambda t: t.reset(), "seed": lambda t: t.seed(1)}
    calls |= {"clone": lambda t: t.clone(), "place": lambda t: t.place(t.tables)}
    for name in ("read", "describe", "result"):  # they show arrays as they are, or one table
        del calls[name]
    with tables.arrays:  # as if a kernel ran
        for call in calls.values():
            with pytest.raises(KilleError, match="another thread is using this batch"):
                call(tables)
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


def _table(seats, cards, *fields):
    return table_dtype(seats, cards, fields)


CONTRADICTIONS = {
    "seats": ({"max_players": 7}, "'reward' of the table is .*, expected .* for 7 seats"),
    "cards": ({"table": _table(6, 36)}, "'deck' of the table is .*, expected .* and 42 cards"),
    "no_table": ({"table": np.dtype([("pot", np.int64)])}, "'seed' of the table is no such field"),
    "secret": ({"secret_actions": (2,)}, "secret_actions are 0 to 1, got 2"),
    "phase": ({"secret_phases": (-1,)}, "secret_phases are 0 to 2, got -1"),
}


@pytest.mark.parametrize("contradiction", CONTRADICTIONS)
def test_a_game_whose_spec_contradicts_its_record_is_refused(hogkort, contradiction):
    changes, words = CONTRADICTIONS[contradiction]
    with pytest.raises(KilleError, match=words):
        Game(hogkort("hogkort_bent", **changes))


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
    with pytest.raises(KilleError, match="no seat has had a decision in 10000 matches"):
        tables.reset()
    waiting = Batch(Game(module), 2, 3, seed=1, restart=False)
    waiting.reset()
    assert waiting.over.all()


def test_a_finished_match_takes_no_determinization():
    tables = _over()
    before = tables.tables["deck"].copy()
    assert (tables.tables["phase"] == OVER).all()
    tables.resample(0, [1, 2, 3, 4])
    assert np.array_equal(before, tables.tables["deck"])
