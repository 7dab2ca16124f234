"""The generator, against SplitMix64 in plain Python numbers, and whether it is fair."""

import numpy as np
import pytest

import kille_env
from kille_env.cards.pack import draw, take_pack
from kille_env.core import rng
from kille_env.core.jit import kernel
from kille_env.games.byteskille import SPEC

MASK = 2**64 - 1


def splitmix(state):
    """One step of SplitMix64 (Steele, Lea and Flood 2014): the new state and the number drawn."""
    state = (state + 0x9E3779B97F4A7C15) & MASK
    word = state
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & MASK
    return state, word ^ (word >> 31)


def mixed(word):
    """The scrambling alone: a step from the state before."""
    return splitmix((word - 0x9E3779B97F4A7C15) & MASK)[1]


def one_table(word):
    table = np.zeros(1, dtype=SPEC.table)
    table["rng"][0] = word
    return table


def test_the_reference_gives_the_published_numbers():
    # the first outputs for seed 1234567, as in the reference implementation's test vectors
    state, words = 1234567, []
    for _ in range(3):
        state, word = splitmix(state)
        words.append(word)
    assert words == [6457827717110365317, 3203168211198807973, 9817491932198370423]


@pytest.mark.parametrize("seed", [0, 1, 1234567, 2**63, MASK])
def test_numbers_are_those_of_splitmix64(seed):
    table, state = one_table(seed), seed
    for bound in (1, 2, 42, 1000, 2**31):
        state, word = splitmix(state)
        assert rng.below(table[0], bound) == ((word >> 32) * bound) >> 32
        assert int(table["rng"][0]) == state


def test_streams_are_derived_by_scrambling_twice():
    for key in (0, 5, MASK):
        for number in (0, 1, 200, 2**31 - 1):
            word = (mixed(key) + 0x9E3779B97F4A7C15 * (number + 1)) & MASK
            assert int(rng.derive(np.uint64(key), number)) == mixed(word)


def test_a_table_plays_the_cards_that_the_documented_streams_say():
    """Seed, match key, deal key, then a partial Fisher and Yates shuffle, drawn as it is needed."""
    batch = kille_env.make_batch("byteskille", 3, 5, seed=11)
    batch.reset()
    for index in range(3):
        seed = mixed((mixed(11) + (index + 1) * 0x9E3779B97F4A7C15) & MASK)
        match = mixed((mixed(seed) + 0x9E3779B97F4A7C15 * 2) & MASK)
        _, word = splitmix(match)
        assert batch.tables["dealer"][index] == ((word >> 32) * 5) >> 32
        state = mixed((mixed(match) + 0x9E3779B97F4A7C15 * 2) & MASK)
        pack = list(range(42))
        for position in range(5):
            state, word = splitmix(state)
            other = position + (((word >> 32) * (42 - position)) >> 32)
            pack[position], pack[other] = pack[other], pack[position]
        table = batch.tables[index]
        assert table["dealt"][table["order"][:5]].tolist() == pack[:5]


def chi_square(counts):
    """The statistic and its number of degrees of freedom, for equal expectations."""
    counts = np.asarray(counts, dtype=float)
    expected = counts.sum() / counts.size
    return ((counts - expected) ** 2 / expected).sum(), counts.size - 1


def is_fair(counts):
    """Whether counts look uniform: the statistic within four deviations of its mean."""
    statistic, freedom = chi_square(counts)
    return abs(statistic - freedom) < 4 * np.sqrt(2 * freedom)


@kernel
def _counts_below(table, bound, counts):
    for _ in range(2000 * bound):
        counts[rng.below(table, bound)] += 1


@pytest.mark.compiled
@pytest.mark.parametrize("bound", [2, 3, 7, 42])
def test_below_is_uniform(bound):
    counts = np.zeros(bound, dtype=np.int64)
    _counts_below(one_table(bound)[0], bound, counts)
    assert counts.sum() == 2000 * bound
    assert is_fair(counts)


@kernel
def _count_draws(table, packs, draws, counts):
    for _ in range(packs):
        take_pack(table)
        for position in range(draws):
            counts[position, draw(table)] += 1


@pytest.mark.compiled
def test_every_card_is_as_likely_at_every_place():
    table = one_table(3)
    counts = np.zeros((42, 42), dtype=np.int64)
    _count_draws(table[0], 20000, 42, counts)
    for position in range(42):
        assert is_fair(counts[position]), position
    statistic, _ = chi_square(counts)
    freedom = 41 * 41
    assert abs(statistic - freedom) < 4 * np.sqrt(2 * freedom)


@pytest.mark.compiled
def test_first_cards_of_neighbouring_tables_seeds_and_matches_are_unrelated():
    """Pairs (card here, card there), by type, are as frequent as independence says."""
    batch = kille_env.make_batch("byteskille", 8000, 2, seed=0)

    def first_types():
        return (batch.tables["dealt"][np.arange(8000), batch.tables["order"][:, 0]] >> 1).astype(
            int
        )

    batch.reset()
    tables = first_types()
    batch.reset()
    matches = first_types()
    batch.reset(seed=1)
    seeds = first_types()
    for one, other in ((tables[:-1], tables[1:]), (tables, matches), (tables, seeds)):
        pairs = np.bincount(one * 21 + other, minlength=441)
        assert is_fair(pairs)


@pytest.mark.compiled
def test_the_drawn_dealer_is_fair():
    batch = kille_env.make_batch("byteskille", 7000, 7, seed=2)
    batch.reset()
    assert is_fair(np.bincount(batch.tables["dealer"], minlength=7))
