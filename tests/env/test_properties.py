"""What always holds, whatever the rules, the seats, the cards and the decisions (Hypothesis)."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kille_env
from env.tables import EVENTS, seats
from kille_env.core.batch import Batch
from kille_env.core.spec import Rules
from kille_env.games.byteskille import SPEC
from kille_env.games.byteskille.rules import MAX_EVENTS, UNDONE

NUMBERS = {"stake": (2, 4, 10), "max_redeals": (0, 1, 16), "pots": (1, 2), "max_deals": (1, 4, 200)}
VALUES = {switch.name: switch.values or NUMBERS[switch.name] for switch in SPEC.switches}
EAGER = [code for code in SPEC.pack.codes if code[0] != "L" or code in ("L1", "L12")]
STEPS = 120
AT_TURN, MATADORS = SPEC.phases.index("turn"), range(30, 40)


class Case(NamedTuple):
    """A match to be played: the same case is the same match."""

    rules: Rules
    num_players: int
    seed: int
    deck: tuple[str, ...]

    def batch(self, num_tables: int = 1, **options: Any) -> Batch:
        """Begins it."""
        batch = kille_env.make_batch(
            "byteskille", num_tables, self.num_players, rules=self.rules, seed=self.seed, **options
        )
        batch.reset(deck=self.deck)
        return batch


@st.composite
def rule_sets(draw: st.DrawFn) -> Rules:
    """A preset with some switches turned."""
    given_rules: dict[str, Any] = {
        "preset": draw(st.sampled_from(SPEC.presets)),
        "episode": draw(st.sampled_from(["match", "match", "deal"])),
    }
    for name in draw(st.lists(st.sampled_from(list(VALUES)), max_size=6, unique=True)):
        given_rules[name] = draw(st.sampled_from(VALUES[name]))
    return SPEC.resolve(given_rules)


@st.composite
def cases(draw: st.DrawFn, rules: st.SearchStrategy[Rules] | None = None) -> Case:
    """A match; its first hand is rich in matadors and killes."""
    deck = draw(st.lists(st.sampled_from(EAGER * 2), max_size=24))
    return Case(
        draw(rule_sets() if rules is None else rules),
        draw(st.sampled_from([2, 2, 3, 3, 4, 5, 7, 13, 20])),
        draw(st.integers(0, 2**32)),
        tuple(code for place, code in enumerate(deck) if deck[:place].count(code) < 2),
    )


def random_actions(batch: Batch, rng: np.random.Generator) -> np.ndarray:
    """A legal action for each table; exchanges are likelier than they are equal."""
    weights = rng.random(batch.mask.shape) * (1 + (np.arange(batch.mask.shape[1]) == 1))
    return (batch.mask * (weights + 1e-9)).argmax(axis=1)


def play(batch: Batch, seed: int, steps: int = STEPS) -> Iterator[None]:
    """Plays at random and stops at every position."""
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        yield
        if batch.over.all():
            return
        batch.step(random_actions(batch, rng))
    yield


@given(cases())
def test_money_is_conserved(case):
    batch = case.batch(restart=False)
    table, returns = batch.tables[0], np.zeros(case.num_players)
    for _ in play(batch, case.seed):
        returns += batch.reward[0]
        unpaid = table["reward"][: case.num_players]
        total = (returns + unpaid).sum() + table["pot"] + table["left_on_table"]
        assert total == pytest.approx(0, abs=1e-6)
        assert table["pot"] >= 0
        if batch.over[0]:
            assert table["pot"] == 0
            assert not unpaid.any() or table["deals"] >= 1
    assert 0 <= table["left_on_table"] < case.num_players


@given(cases())
def test_cards_are_conserved(case):
    batch = case.batch(restart=False)
    table = batch.tables[0]
    for _ in play(batch, case.seed):
        if table["redeal"]:
            continue
        in_hands = [int(card) for card in table["hand"][: case.num_players] if card >= 0]
        aside = table["laid_aside"][: table["num_laid_aside"]].tolist()
        talon = table["deck"][table["drawn"] :].tolist()
        assert sorted(in_hands + aside + talon) == list(range(42))
        assert len(in_hands) == len(seats(table["players"])) == table["num_players_dealt"]
        assert table["goks"] == sum(card in (38, 39) for card in in_hands)


@given(cases())
def test_nobody_acts_on_an_open_matador(case):
    """Whoever was challenged has lost their turn (but for the dealer under `dealer_after_inn`)."""
    if case.rules["dealer_after_inn"]:
        return
    batch = case.batch(restart=False)
    table = batch.tables[0]
    for _ in play(batch, case.seed):
        if table["phase"] == AT_TURN:
            card = int(table["hand"][batch.seat[0]])
            assert not (card in MATADORS and int(table["shown"]) >> card & 1)


@given(cases())
def test_somebody_always_stays(case):
    batch = case.batch(restart=False)
    table = batch.tables[0]
    for _ in play(batch, case.seed):
        assert seats(table["in_pot"])
        if table["showdown"]:
            out, left, players = (seats(table[name]) for name in ("out", "left", "players"))
            assert left == players - out
            assert left


@given(cases())
def test_a_hand_fits_its_events_and_its_decisions(case):
    batch = case.batch(restart=False)
    table, hand, decisions = batch.tables[0], 0, 0
    most = SPEC.max_decisions(case.rules, case.num_players)
    for _ in play(batch, case.seed):
        assert table["num_events"] <= MAX_EVENTS
        assert table["num_laid_aside"] <= 6
        assert table["deals"] <= case.rules["max_deals"]
        decisions = decisions + 1 if table["deals"] == hand else 1
        hand = int(table["deals"])
        assert decisions <= most + 1


ORDINARY = [SPEC.resolve(), SPEC.resolve({"preset": "wikipedia", "two_player": "ordinary"})]


@given(cases(st.sampled_from(ORDINARY)))
def test_a_svin_annuls_exactly_the_last_exchanges(case):
    """And every other card in them is the dealt card of its holder; nobody is chopped twice."""
    batch = case.batch(restart=False)
    table, hand, told, annulled = batch.tables[0], 0, 0, set()
    for _ in play(batch, case.seed):
        if table["deals"] != hand:
            hand, told, annulled = int(table["deals"]), 0, set()
        events = [(EVENTS[row[0]], row.tolist()) for row in table["events"][: table["num_events"]]]
        chops = [kind for kind, _ in events if kind.endswith(("husar", "svin"))]
        assert len(chops) == len(seats(table["chopped"]))
        exchanges = {place: row for place, (kind, row) in enumerate(events) if kind == "exchange"}
        now = {place for place, row in exchanges.items() if row[5] & UNDONE} - annulled
        if now:
            standing = sorted(set(exchanges) - annulled)
            assert sorted(now) == standing[-len(now) :]
            chopped = next(row[3] for kind, row in events[told:] if kind.endswith("svin"))
            for place in now:
                _, one, other, *cards, _ = exchanges[place]
                assert chopped in cards
                assert table["hand"][one] == table["dealt"][one]
                assert table["hand"][other] == table["dealt"][other]
        for kind, row in events[told:]:
            if kind.endswith("svin"):
                left = [exchanges[place] for place in set(exchanges) - annulled - now]
                assert not any(row[3] in exchange[3:5] for exchange in left)
        told, annulled = len(events), annulled | now
