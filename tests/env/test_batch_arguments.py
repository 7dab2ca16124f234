"""What a batch says to arguments of any kind, and to what cannot be."""

import numpy as np
import pytest

import kille_env
from env.batches import batch, shown
from kille_env.errors import IllegalActionError, KilleError, RulesError

# Words, and what cannot be


def test_rules_of_another_game_are_refused():
    """Kungsholmskille and Femkortskille have presets and switches of the same names."""
    rules = kille_env.spec("kungsholmskille").resolve(deals=3)
    message = "rules of kungsholmskille, expected rules of femkortskille"
    with pytest.raises(RulesError, match=message):
        kille_env.make_batch("femkortskille", rules=rules)


@pytest.mark.parametrize("start", [[], [1], "pot", 0])
def test_a_start_that_names_nothing_is_refused(start, game):
    tables = kille_env.make_batch(game, seed=7)
    with pytest.raises(RulesError, match="expected how a match stands, by name"):
        tables.reset(start=start)
    assert tables.tables["matches"][0] == 0


def test_actions_have_texts_whoever_acts(game):
    tables = kille_env.make_batch(game, seed=7, episode="deal", restart=False)
    last = tables.spec.num_actions - 1
    tables.reset()
    for action in (-1, last + 1):
        with pytest.raises(IllegalActionError, match=f"no action {action}; expected 0 to {last}"):
            tables.action_text(action)
    while not tables.over[0]:
        tables.step(tables.mask.argmax(axis=1))
    assert [tables.action_text(a) for a in range(last + 1)] == list(tables.spec.actions)


@pytest.mark.parametrize(
    "look",
    [
        lambda tables: tables.step([0] * 4),
        lambda tables: tables.apply([0] * 4),
        lambda tables: tables.deal(),
        lambda tables: tables.observe(0),
        lambda tables: tables.legal_actions(0),
        lambda tables: tables.information_state(),
        lambda tables: tables.full_state(),
        lambda tables: tables.describe(),
    ],
)
def test_before_the_first_reset_there_is_nothing_to_see_or_to_play(look):
    with pytest.raises(KilleError, match=r"call reset\(\) first"):
        look(batch())


def test_a_hand_that_was_not_played_has_no_result():
    tables = batch()
    for _ in range(2):
        with pytest.raises(KilleError, match="no hand has been played at table 1"):
            tables.result(1)
        tables.reset(deal=False)


def test_where_nobody_acts_seats_are_to_be_named():
    tables = batch(2, 3)
    tables.reset(deal=False)
    for look in (tables.information_state, tables.full_state):
        with pytest.raises(RulesError, match="nobody is to act at table 0: name the seats"):
            look()
        assert look(0).shape == look([0, 1]).shape


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


REFUSED = {  # more that is refused, and in which words
    "reset": ([[1, 2, 3], [1, -3], [0.5] * 2, [[1]] * 2], "seed"),
    "reset_deck": ([{0: "L1"}, "L1 L2"], "a deck is a list of card codes, got "),
    "reset_dealer": ([3, "1", [0, 3], [[0]] * 2], "dealers are 0 to 2"),
    "reset_which": ([np.array([True]), np.ones((1, 2), bool), ["x"] * 2], r"which is \[2\] bool"),
    "step": ([[0], [0] * 5, 0, [True] * 2, ["stand"] * 2], r"whole numbers of shape \(2,\)"),
    "step_which": ([np.array([True])], r"which is \[2\] bool"),
    "outside": ([10, 2**40, -(2**40)], r"action -?\d+ is not legal"),
    "num_tables": ([0, "3"], "^num_tables is .*, expected a whole number"),
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
    more, words = REFUSED.get(call, ([], "."))
    odd = [value for name, value in ODD.items() if name not in TAKEN.get(call, ())]
    for number, value in enumerate(odd + more):
        with pytest.raises(KilleError, match=words if number >= len(odd) else ".") as error:
            CALLS[call](tables, value)
        assert len(str(error.value)) < 600
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
