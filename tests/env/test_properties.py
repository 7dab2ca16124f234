"""What always holds, whatever the rules, the seats, the cards and the decisions.

That money is conserved, test_view.py says; that it goes to whom it belongs, test_twins.py.
"""

import random
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import kille_env
from env.counted import cards_of
from env.tables import EVENTS, seats
from env.test_twins import random_rules
from kille_env.cards.sets import members
from kille_env.core.batch import Batch
from kille_env.core.spec import Rules
from kille_env.games.byteskille import SPEC
from kille_env.games.byteskille.rules import MAX_EVENTS, UNDONE

# Every game


def test_every_card_lies_in_one_place(game, scale):
    spec, turns, rng = kille_env.spec(game), random.Random(5), np.random.default_rng(5)
    for number in range(scale(40, 3)):
        players = turns.randint(spec.min_players, spec.max_players)
        rules = random_rules(spec, turns, players)
        batch = kille_env.make_batch(game, 1, players, rules=rules, seed=number, restart=False)
        batch.reset()
        for _ in range(STEPS):
            if game != "byteskille" or not batch.tables["redeal"][0]:
                assert sorted(lying(batch)) == list(range(spec.pack.size))
            if batch.over[0]:
                break
            # Exchanges are long in coming if every word is as likely as any other.
            wishes = rng.random(batch.mask.shape) * (1 + np.arange(batch.mask.shape[1]) / 8)
            batch.step(np.where(batch.mask, wishes, -1.0).argmax(axis=1))


def lying(batch: Batch) -> list[int]:
    """Return the cards of a table: in hands, played, thrown away, in the talon, left out."""
    table, names = batch.tables[0], set(batch.tables.dtype.names)
    cards = [card for hand in table["hand"] for card in cards_of(hand)]
    cards += [*table["deck"][table["drawn"] :].tolist(), *batch.spec.left_out(batch.rules)]
    for field in {"played", "turn_up"} & names:
        cards += [card for card in table[field].ravel().tolist() if card >= 0]
    if "laid_aside" in names:
        cards += table["laid_aside"][: table["num_laid_aside"]].tolist()
    if "discarded" in names:
        cards += [card for thrown in table["discarded"] for card in members(thrown)]
    return cards


# Byteskille, by Hypothesis


NUMBERS = {"stake": (2, 4, 10), "max_redeals": (0, 1, 16), "pots": (1, 2), "max_deals": (1, 4, 200)}
VALUES = {switch.name: switch.values or NUMBERS[switch.name] for switch in SPEC.switches}
EAGER = [code for code in SPEC.pack.codes if code[0] != "L" or code in ("L1", "L12")]
STEPS = 120
GOK = SPEC.pack.codes.index("GO")
AT_TURN, MATADORS = SPEC.phases.index("turn"), range(30, 40)


class Case(NamedTuple):
    """A match to be played: the same case is the same match."""

    rules: Rules
    num_players: int
    seed: int
    deck: tuple[str, ...]

    def batch(self, num_tables: int = 1, **options: Any) -> Batch:
        """Begin it."""
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
    """Play at random and stops at every position."""
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        yield
        if batch.over.all():
            return
        batch.step(random_actions(batch, rng))
    yield


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
def test_somebody_always_stays_and_goks_are_counted(case):
    batch = case.batch(restart=False)
    table = batch.tables[0]
    for _ in play(batch, case.seed):
        assert table["redeal"] or table["goks"] == sum(table["hand"] >> 1 == GOK)
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
