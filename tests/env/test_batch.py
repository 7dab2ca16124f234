"""Many tables at once: the same games whatever the size, exact copies, errors that help."""

import copy
import pickle

import numpy as np
import pytest

import kille_env
from env.batches import FIELDS, STAND, SWAP, batch, history, shown, step
from kille_env.core.batch import Batch
from kille_env.errors import CardError, IllegalActionError, KilleError


def test_tables_that_are_not_chosen_stand_still():
    tables, chosen = batch(3), np.array([True, False, True])
    tables.reset()
    before = tables.tables[1].tobytes(), shown(tables, 1)[:3]
    tables.step([int(mask.argmax()) for mask in tables.mask[:1]] + [-9] + [SWAP], which=chosen)
    assert (tables.tables[1].tobytes(), shown(tables, 1)[:3]) == before
    assert not tables.reward[1].any()
    assert tables.reward[0].any()  # the antes


def test_a_hand_that_goes_on_has_no_result():
    tables = batch(1)
    tables.reset()
    with pytest.raises(KilleError, match="still going on"):
        tables.result()


# The same games for the same seed


def test_seed_at_reset_is_the_seed_at_the_start():
    late, early = batch(seed=1), batch(seed=7)
    early.reset()
    late.reset()
    history(late, 5)
    late.reset(seed=7)
    assert history(late, 20) == history(early, 20)


def test_a_second_reset_without_a_seed_goes_on_with_new_cards():
    tables = batch()
    tables.reset()
    first = tables.tables["hand"].copy()
    tables.reset()
    assert (first != tables.tables["hand"]).any()


def test_one_seed_a_table_plays_what_the_first_table_of_that_seed_plays():
    tables = batch(3)
    tables.reset(seed=np.array([5, 6, 5]))
    assert shown(tables, 0) == shown(tables, 2)
    for table, seed in ((0, 5), (1, 6)):
        alone = batch(1)
        alone.reset(seed=seed)
        assert alone.tables["hand"][0].tobytes() == tables.tables["hand"][table].tobytes()


def test_without_a_seed_no_two_batches_are_alike():
    one, other = batch(8, 6, seed=None), batch(8, 6, seed=None)
    for tables in (one, other):
        tables.reset()
    assert one.tables["hand"].tobytes() != other.tables["hand"].tobytes()


def test_the_cards_of_a_deal_do_not_depend_on_what_was_played_before():
    """Deal d of match m has the same cards, up to who is still in."""
    lively, calm = batch(6, 4, rules={"reentry": "none"}), batch(6, 4, rules={"reentry": "none"})
    packs = []
    for tables, preferred in ((lively, SWAP), (calm, STAND)):
        tables.reset()
        cards = {}
        for _ in range(60):
            for table in tables.tables:
                key = (int(table["seed"]), int(table["matches"]), int(table["deals"]))
                dealt = table["dealt"][table["order"][: table["num_players_dealt"]]]
                cards.setdefault(key, dealt.tolist())
            legal = tables.mask.argmax(axis=1)
            tables.step(np.where(tables.mask[:, preferred] == 1, preferred, legal))
        packs.append(cards)
    shared = packs[0].keys() & packs[1].keys()
    assert any(key[2] > 1 for key in shared)
    assert any(key[1] > 1 for key in shared)
    for key in shared:
        both = zip(packs[0][key], packs[1][key], strict=False)
        assert all(mine == theirs for mine, theirs in both), key


# Stepping


def test_an_illegal_action_names_table_seat_action_and_what_is_legal():
    tables = batch(3, 4, rules={"gok_call": "off"})
    tables.reset(dealer=1, deck=["L5", "L6", "L7", "L8"])
    with pytest.raises(IllegalActionError) as error:
        tables.step([0, 0, 8])
    text = str(error.value)
    for part in ("table 2", "seat 2", "8 (buy)", "0 (stand), 1 (swap)"):
        assert part in text
    assert "wait" not in text


@pytest.mark.parametrize("name", [*FIELDS, "tables"])
def test_what_it_shows_is_read_only(name):
    tables = batch()
    tables.reset()
    with pytest.raises(ValueError, match="read-only"):
        getattr(tables, name)[0] = 0


def test_fresh_arrays_are_the_callers():
    tables = batch()
    tables.reset()
    for make in (tables.observe, tables.legal_actions, tables.information_state, tables.full_state):
        one = make(0)
        one[:] = 9
        assert (make(0) != 9).any()


def test_dtypes_and_shapes():
    tables = batch(4, 3)
    tables.reset()
    size = kille_env.spec("byteskille").observation(3)[-1]
    kinds = {name: (getattr(tables, name).dtype, getattr(tables, name).shape) for name in FIELDS}
    assert kinds == {
        "seat": (np.int8, (4,)),
        "observation": (np.uint8, (4, size.offset + size.size)),
        "mask": (np.int8, (4, 10)),
        "reward": (np.float64, (4, 3)),
        "terminated": (np.bool_, (4,)),
        "truncated": (np.bool_, (4,)),
    }


# Restart


def play_out(tables, steps=300):
    """Step until every table is over (or some steps) and return the summed rewards."""
    returns = np.zeros(tables.reward.shape)
    for number in range(steps):
        if tables.over.all():
            break
        step(tables, number)
        returns += tables.reward
    return returns


def test_the_antes_of_a_match_are_paid_by_its_first_step():
    tables = batch(1, 4, rules={"gok_call": "off"})
    tables.reset(deck=["L5", "L6", "L7", "L8"])
    assert tables.reward.tolist() == [[0] * 4]
    assert tables.tables["pot"][0] == 8
    tables.step([STAND])
    assert tables.reward.tolist() == [[-2] * 4]
    tables.step([STAND])
    assert tables.reward.tolist() == [[0] * 4]


def test_the_last_step_pays_the_pot_and_the_next_match_begins_in_it():
    tables = batch(1, 2, rules={"fraga": "off"})
    tables.reset(deck=["L5", "L6"], dealer=1)
    tables.step([STAND])
    tables.step([STAND])
    assert tables.terminated.tolist() == [True]
    assert tables.reward.tolist() == [[0, 4]]  # their ante came with the first step
    assert tables.seat[0] >= 0
    assert tables.tables["matches"][0] == 2
    step(tables, 0)
    assert tables.terminated.tolist() == [False]
    assert tables.reward.tolist() == [[-2, -2]] or tables.terminated[0]


def test_without_restart_a_finished_table_waits_and_shows_its_end():
    tables = batch(2, 2, restart=False, rules={"fraga": "off", "gok_call": "off"})
    tables.reset(deck=[["L5", "L6"], ["L5", "L5"]], dealer=1)
    for _ in range(2):
        tables.step([STAND, STAND])
    assert tables.over.tolist() == [True, False]
    assert tables.seat[0] == -1
    assert not tables.mask[0].any()
    assert not tables.observation[0].any()
    assert tables.terminated.tolist() == [True, False]
    assert tables.reward[0].tolist() == [0, 4]
    state = tables.tables[0].tobytes()
    tables.step([99, STAND])  # its number does not matter
    assert tables.tables[0].tobytes() == state
    assert tables.reward[0].tolist() == [0, 0]
    assert tables.terminated.tolist() == [True, False]


@pytest.mark.parametrize("seed", [None, 99])
def test_a_reset_of_some_tables_keeps_the_others_generators_and_last_rewards(seed):
    tables, alone = batch(3, restart=False), batch(3, restart=False)
    for each in (tables, alone):
        each.reset()
        for number in range(500):
            if each.terminated[1]:
                break
            step(each, number)
        assert each.reward[1].any()
    some = np.array([True, False, False])
    before = shown(tables, slice(1, 3))
    kept, first = tables.tables[1:].tobytes(), shown(tables, 0)
    tables.reset(seed=seed, which=some)
    assert shown(tables, slice(1, 3)) == before and tables.tables[1:].tobytes() == kept
    assert shown(tables, 0) != first and tables.tables["deals"][0] == 1
    assert tables.tables["seed"][1:].tolist() == alone.tables["seed"][1:].tolist()
    given = alone if seed is None else batch(1, seed=seed)
    assert tables.tables["seed"][0] == given.tables["seed"][0]


def test_tables_not_begun_wait():
    tables = batch(2)
    tables.reset(which=np.array([True, False]))
    tables.step([int(tables.mask[0].argmax()), 0])
    assert tables.seat[1] == -1
    assert not tables.reward[1].any()


def test_a_cap_is_a_truncation():
    tables = batch(1, 4, restart=False, rules={"max_deals": 1, "reentry": "none"})
    tables.reset(deck=["L5", "L6", "L7", "L8"])
    for _ in range(4):
        tables.step([STAND])
    assert (tables.terminated[0], tables.truncated[0]) == (False, True)


def test_a_match_that_the_given_cards_decide_is_skipped():
    """Two players by the English article: a gok that is dealt ends the hand, and the match."""
    tables = batch(1, 2, rules="wikipedia")
    tables.reset(deck=["GO", "L5"], dealer=1)
    assert tables.seat[0] >= 0
    assert tables.tables["dealer"][0] == 1
    assert tables.tables["matches"][0] == 2


def test_without_restart_it_is_over_at_once_and_the_next_step_pays():
    tables = batch(1, 2, rules="wikipedia", restart=False)
    tables.reset(deck=["GO", "L5"], dealer=1)
    assert tables.over[0]
    assert tables.terminated[0]
    tables.step([0])
    assert tables.reward.tolist() == [[2, -2]]
    tables.step([0])
    assert tables.reward.tolist() == [[0, 0]]


# Chance nodes


def test_reset_without_dealing_stands_at_a_chance_node():
    tables = batch(2, 3)
    tables.reset(deal=False)
    assert tables.at_chance.all()
    assert (tables.seat == -1).all()
    tables.deal()
    assert not tables.at_chance.any()
    assert (tables.seat >= 0).all()


def test_apply_stops_before_cards_are_dealt_and_keeps_the_money():
    tables = batch(1, 2, rules={"fraga": "off", "gok_call": "off"})
    tables.reset(deck=["L5", "L5"], dealer=1, deal=False)
    tables.deal(["L5", "L5"])
    tables.apply([STAND])
    tables.apply([STAND])
    assert tables.at_chance[0]
    assert tables.tables["reward"][0, :2].tolist() == [-2, -2]
    tables.deal(["L6", "L7"])
    assert tables.tables["deals"][0] == 2


# Given cards


def test_a_deck_of_a_few_cards_names_the_first_ones_and_leaves_the_rest_to_chance():
    tables = batch(40, 6)
    tables.reset(deck=["L5", "L6"], dealer=5)
    code = kille_env.spec("byteskille").pack.code
    hands = [[code(card) for card in row[:6]] for row in tables.tables["hand"]]
    assert {(hand[0], hand[1]) for hand in hands} == {("L5", "L6")}
    assert len({tuple(hand) for hand in hands}) == 40


def test_a_deck_a_table():
    tables = batch(2, 2)
    tables.reset(deck=[["L5", "L6"], ["KI"]], dealer=1)
    code = kille_env.spec("byteskille").pack.code
    assert [code(card) for card in tables.tables["hand"][0, :2]] == ["L5", "L6"]
    assert code(tables.tables["hand"][1, 0]) == "KI"


def test_a_given_deck_serves_one_hand():
    tables = batch(30, 2, rules={"fraga": "off", "gok_call": "off", "max_deals": 2})
    tables.reset(deck=["L5", "L5"], dealer=1)
    for _ in range(2):
        tables.step([STAND] * 30)
    assert len({row.tobytes() for row in tables.tables["hand"]}) > 20


def test_also_when_that_hand_is_dealt_again_by_itself():
    tables = batch(20, 2, rules="wikipedia", restart=False)
    tables.reset(deck=["KI", "L5"], dealer=1)
    assert (tables.tables["deals"] > 1).all()
    assert not tables.truncated.any()
    assert len({row.tobytes() for row in tables.tables["hand"]}) > 10


@pytest.mark.parametrize(
    ("deck", "message"),
    [
        (["L5", "L5", "L5"], "card 2 of the deck is one L5 too many"),
        (["L5", "L13"], "'L13' is not a card. Did you mean 'L"),
        (["L5", "xx"], "Choose one of"),
        ("L5 L6", "a list of card codes"),
        ([1, 2], "1 is not a card"),
        ([["L5"], ["L6"], ["L7"]], "3 decks for 4 tables"),
        ([["L5"], ["L6"], ["L7"], ["KI"] * 3], "one KI too many"),
    ],
)
def test_impossible_decks_are_refused_and_nothing_changes(deck, message):
    tables = batch(4)
    tables.reset()
    before = tables.tables.tobytes()
    with pytest.raises(CardError, match=message):
        tables.reset(deck=deck, seed=5)
    assert tables.tables.tobytes() == before


def test_the_dealer_can_be_given_one_for_all_or_one_a_table():
    tables = batch(4, 5)
    tables.reset(dealer=3)
    assert tables.tables["dealer"].tolist() == [3] * 4
    tables.reset(dealer=[0, 1, 2, 4])
    assert tables.tables["dealer"].tolist() == [0, 1, 2, 4]


# Size


def test_a_table_takes_at_most_a_kibibyte(game):
    assert kille_env.spec(game).table.itemsize <= 1024


# Copies


def plays_on_alike(one, other, steps=40):
    """Whether two batches show the same from here on."""
    assert shown(one) == shown(other)
    assert one.tables.tobytes() == other.tables.tobytes()
    assert history(one, steps) == history(other, steps)
    return True


def under_way(**options):
    tables = batch(5, 4, **options)
    tables.reset()
    for number in range(23):
        step(tables, number)
    return tables


COPIES = {
    "clone": Batch.clone,
    "pickle": lambda tables: pickle.loads(pickle.dumps(tables)),
    "deepcopy": copy.deepcopy,
}


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("restart", [True, False])
def test_a_copy_plays_on_exactly(way, restart):
    tables = under_way(restart=restart)
    assert plays_on_alike(COPIES[way](tables), tables)


@pytest.mark.parametrize("way", COPIES)
def test_a_copy_is_its_own(way):
    tables = under_way()
    twin = COPIES[way](tables)
    before = shown(tables), tables.tables.tobytes()
    history(twin, 10)
    twin.reset(seed=99)
    assert (shown(tables), tables.tables.tobytes()) == before


@pytest.mark.parametrize("way", COPIES)
def test_a_copy_of_a_batch_that_was_never_reset_is_as_good_as_new(way):
    tables = batch()
    twin = COPIES[way](tables)
    for one in (tables, twin):
        one.reset()
    assert plays_on_alike(tables, twin, 10)


def test_a_copy_in_mid_hand_with_a_stacked_deck_draws_the_given_cards():
    tables = batch(1, 4)
    tables.reset(deck=["L5", "L6", "L7", "L2", "L9"], dealer=3)
    twin = tables.clone()
    for one in (tables, twin):
        for action in (STAND, STAND, STAND, SWAP):
            one.apply([action])
        assert kille_env.spec("byteskille").pack.code(one.tables["hand"][0, 3]) == "L9"
