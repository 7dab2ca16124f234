"""What always holds, whatever the rules, the seats, the cards and the decisions.

That money is conserved, test_view.py says; that it goes to whom it belongs, test_twins.py.
"""

import random
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import kille_env
from env.counted import cards_of
from env.tables import EVENTS, seats
from env.test_twins import random_rules, shuffled
from kille_env.cards.sets import members
from kille_env.core.batch import Batch
from kille_env.core.spec import Rules
from kille_env.games.byteskille import SPEC
from kille_env.games.byteskille.rules import MAX_EVENTS, UNDONE

GOK = SPEC.pack.codes.index("GO")
AT_TURN, MATADORS = SPEC.phases.index("turn"), range(30, 40)


def match(game: str, turns: random.Random, rules: Rules | None = None) -> Iterator[Batch]:
    """Play a match at random, with matadors and killes early in its packs; stop everywhere."""
    spec, rng = kille_env.spec(game), np.random.default_rng(turns.randrange(2**32))
    players = turns.choice((2, 3, turns.randint(spec.min_players, spec.max_players)))
    rules = rules or random_rules(spec, turns, players)
    seed = turns.randrange(2**32)
    batch = kille_env.make_batch(game, 1, players, rules=rules, seed=seed, restart=False)
    batch.reset(deck=shuffled(spec, rules, turns))
    for _ in range(120):
        yield batch
        if batch.over[0]:
            return
        # Exchanges are long in coming if every word is as likely as any other.
        wishes = rng.random(batch.mask.shape) * (1 + np.arange(batch.mask.shape[1]) / 8)
        batch.step(np.where(batch.mask, wishes, -1.0).argmax(axis=1))


def test_every_card_lies_in_one_place(game: str, scale: Callable[..., int]) -> None:
    turns = random.Random(5)
    for _ in range(scale(40, 3)):
        for batch in match(game, turns):
            if game != "byteskille" or not batch.tables["redeal"][0]:
                assert sorted(lying(batch)) == list(range(batch.spec.pack.size))


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


# Byteskille


def test_turns_goks_stayers_and_events_are_as_they_must_be(scale: Callable[..., int]) -> None:
    turns = random.Random(6)
    for _ in range(scale(200, 5)):
        for batch in match("byteskille", turns):
            table, rules = batch.tables[0], batch.rules
            if table["phase"] == AT_TURN and not rules["dealer_after_inn"]:
                card = int(table["hand"][batch.seat[0]])  # who was challenged has lost its turn
                assert not (card in MATADORS and int(table["shown"]) >> card & 1)
            assert table["redeal"] or table["goks"] == sum(table["hand"] >> 1 == GOK)
            assert seats(table["in_pot"])
            if table["showdown"]:
                out, left, players = (seats(table[name]) for name in ("out", "left", "players"))
                assert left == players - out and left
            assert table["num_events"] <= MAX_EVENTS
            assert table["num_laid_aside"] <= 6
            assert table["deals"] <= rules["max_deals"]


ORDINARY = [SPEC.resolve(), SPEC.resolve({"preset": "wikipedia", "two_player": "ordinary"})]


def test_a_svin_annuls_exactly_the_last_exchanges(scale: Callable[..., int]) -> None:
    """And every other card in them is the dealt card of its holder; nobody is chopped twice."""
    turns, annulments = random.Random(7), 0
    for number in range(scale(200, 10)):
        annulments += check_svin(match("byteskille", turns, ORDINARY[number % 2]))
    assert annulments


def check_svin(positions: Iterator[Batch]) -> int:
    """Check the annulments of a match, and return how many exchanges there were in them."""
    hand, told, annulled, found = 0, 0, set[int](), 0
    for batch in positions:
        table = batch.tables[0]
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
        told, annulled, found = len(events), annulled | now, found + len(now)
    return found


# No hand has more decisions than its game announces


TABLES, STEPS = 40, 80
SEATS = (2, 3, 4, 7)
CASES = [
    (game, preset, seats)
    for game, spec in ((game, kille_env.spec(game)) for game in kille_env.list_games())
    for preset in spec.presets
    for seats in sorted({min(seats, spec.most_players(spec.resolve(preset))) for seats in SEATS})
]


@pytest.mark.compiled
@pytest.mark.parametrize(("game", "preset", "seats"), CASES)
def test_no_hand_is_longer_than_announced_whichever_action_is_preferred(game, preset, seats):
    rules = {"preset": preset, "episode": "deal"}
    batch = kille_env.make_batch(game, TABLES, seats, rules=rules, seed=1)
    rng = np.random.default_rng(1)
    most, actions = batch.spec.max_decisions(batch.rules, seats), batch.spec.num_actions
    longest = 0
    for preferred in range(min(actions, 10)):  # each action, then play at random
        batch.reset()
        decisions = np.zeros(TABLES, dtype=np.int64)
        for _ in range(STEPS):
            hands = batch.tables[["matches", "deals"]].copy()
            worth = rng.random(batch.mask.shape) + 3 * (np.arange(actions) == preferred)
            batch.step(np.where(batch.mask > 0, worth, -1).argmax(axis=1))
            decisions += 1
            longest = max(longest, int(decisions.max()))
            decisions[hands != batch.tables[["matches", "deals"]]] = 0
    assert seats <= longest <= most
