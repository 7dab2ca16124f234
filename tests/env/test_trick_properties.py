"""What always holds in the trick games, whatever rules, seats, cards and decisions (Hypothesis)."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import kille_env
from kille_env.cards.sets import members
from kille_env.core.batch import Batch
from kille_env.core.spec import PackSwitch, Rules

GAMES = ("kungsholmskille", "krypkille", "knack", "femkortskille")
STEPS = 150


class Case(NamedTuple):
    """A match to be played: the same case is the same match."""

    game: str
    rules: Rules
    num_players: int
    seed: int

    def positions(self) -> Iterator[Batch]:
        """Plays it at random and gives every position; the same batch each time."""
        batch = kille_env.make_batch(
            self.game, 1, self.num_players, rules=self.rules, seed=self.seed, restart=False
        )
        batch.reset()
        rng = np.random.default_rng(self.seed)
        for _ in range(STEPS):
            yield batch
            if batch.over[0]:
                return
            # Exchanges and sheets are long in coming if every word is as likely as any other.
            wishes = rng.random(batch.mask.shape) * (1 + np.arange(batch.mask.shape[1]) / 8)
            batch.step(np.where(batch.mask, wishes, -1.0).argmax(axis=1))


@st.composite
def cases(draw: st.DrawFn, games: tuple[str, ...] = GAMES) -> Case:
    """A match with some switches turned."""
    spec = kille_env.spec(draw(st.sampled_from(games)))
    turned: dict[str, Any] = {
        "preset": draw(st.sampled_from(spec.presets)),
        "episode": draw(st.sampled_from(["match", "match", "deal"])),
    }
    for switch in draw(
        st.lists(st.sampled_from(spec.switches), max_size=5, unique_by=lambda each: each.name)
    ):
        least = switch.minimum
        most = least + 12 if switch.maximum is None else switch.maximum
        numbers = st.integers(least, most)
        known = st.sampled_from(switch.values) if switch.values else numbers
        if isinstance(switch, PackSwitch):
            codes = st.sampled_from(switch.pack.codes)
            known = st.lists(codes, min_size=5, unique=True).map("+".join)
        turned[switch.name] = draw(known)
    rules = spec.resolve(turned)
    most = spec.most_players(rules)
    assume(most)
    seats = draw(st.integers(spec.min_players, most))
    return Case(spec.name, rules, seats, draw(st.integers(0, 2**32)))


@given(cases())
def test_cards_are_conserved(case):
    for batch in case.positions():
        table, names = batch.tables[0], batch.tables.dtype.names
        cards = [card for hand in table["hand"] for card in members(hand)]
        cards += [card for card in table["played"].ravel().tolist() if card >= 0]
        cards += table["deck"][table["drawn"] :].tolist()
        cards += batch.spec.left_out(batch.rules)
        if "turn_up" in names:
            cards.append(int(table["turn_up"]))
        if "discarded" in names:
            back = int(table["shuffled_in"]) if "shuffled_in" in names else 0
            cards += [
                card for thrown in table["discarded"] for card in members(int(thrown) & ~back)
            ]
        if "again" in names:
            used = max(0, int(table["drawn"]) - len(table["deck"]))
            cards += table["again"][used : table["again_end"]].tolist()
        assert sorted(cards) == list(range(batch.spec.pack.size))


@given(cases(tuple(game for game in GAMES if game != "krypkille")))
def test_money_is_conserved(case):
    returns = np.zeros(case.num_players)
    for batch in case.positions():
        table = batch.tables[0]
        returns += batch.reward[0]
        if case.game != "knack":
            on_table = int(table["pot"])
        elif batch.over[0]:
            on_table = 0  # the last bets stay readable, but they have been shared
        else:  # sizes are counted in the smallest bet, three units
            sizes, counts = (
                table[name][: table["num_sizes"]] for name in ("bet_sizes", "bet_counts")
            )
            on_table = 3 * case.rules["unit"] * int((sizes * counts).sum())
        unpaid = table["reward"][: case.num_players].sum()
        assert returns.sum() + unpaid + on_table + table["left_on_table"] == pytest.approx(0)
        assert on_table >= 0
        assert table["left_on_table"] >= 0
        if batch.over[0]:
            assert on_table == 0


@given(cases(("krypkille",)))
def test_a_sheet_only_grows_and_one_is_won_in_all(case):
    sheet, returns = np.zeros(case.num_players), np.zeros(case.num_players)
    for batch in case.positions():
        scores = batch.tables[0]["scores"][: case.num_players]
        assert (scores >= sheet).all()
        sheet = scores.copy()
        returns += batch.reward[0]
        if not batch.over[0]:
            assert not returns.any()
        elif case.rules["episode"] == "match":
            assert returns.sum() == pytest.approx(1.0)
            assert (returns >= 0).all()
        else:
            assert returns.tolist() == [-score for score in scores]
