"""Every game against its slow twin: random matches over all switches and table sizes."""

import importlib
import random

import numba
import pytest

import kille_env
from kille_env.core.spec import PackSwitch

GAMES = kille_env.list_games()
FEW = numba.config.DISABLE_JIT or numba.config.BOUNDSCHECK  # ways of running for other faults
MATCHES = [300 if FEW else 500, pytest.param(1500, marks=pytest.mark.slow)]
DECISIONS = 15_000  # enough for every value of every switch, which the test asserts
NUMBERS = {
    "stake": (2, 4, 10),
    "max_redeals": (0, 1, 2, 16),
    "pots": (1, 2),
    "max_deals": (1, 3, 8, 40, 200),
    "deals": (None, 1, 2, 5),
    "unit": (1, 2, 5),
    "ante": (1, 3),
    "limit": (1, 20, 50),
}
AMOUNTS = (0, 1, 7, 10, 50)  # of the switches that are amounts of a score table


def random_value(switch, rng):
    """A value of a switch; packs hold a few types of cards, or most."""
    if isinstance(switch, PackSwitch):
        codes = switch.pack.codes
        return "+".join(rng.sample(codes, rng.randint(len(codes) // 4, len(codes))))
    small = range(switch.minimum, switch.maximum + 1) if switch.maximum < 10 else None
    return rng.choice(switch.values or small or NUMBERS.get(switch.name, AMOUNTS))


def random_rules(spec, rng, num_players=None):
    """A preset, with a few switches turned at random, that so many can play."""
    given = {"preset": rng.choice(spec.presets), "episode": rng.choice(("match", "match", "deal"))}
    for switch in spec.switches:
        if rng.random() < 0.25:
            given[switch.name] = random_value(switch, rng)
    rules = spec.resolve(given)
    fits = spec.most_players(rules) >= (num_players or spec.min_players)
    return rules if fits else random_rules(spec, rng, num_players)


def random_start(game, num_players, rules, rng):
    """How a match that is under way may stand; mostly the game's own beginning."""
    start = {}
    if game == "knack" and rules["remainder"] == "draw":
        start["remainder_to"] = rng.randrange(num_players)
    if rng.random() < 0.7:
        return start
    if game == "kungsholmskille":
        return {"pot": rng.randrange(9), "owed": [rng.randrange(4) for _ in range(num_players)]}
    if game == "krypkille":
        limit = rules["limit"]
        scores = [rng.randrange(2 * limit) for _ in range(num_players)]
        return {"scores": scores} if sum(score < limit for score in scores) >= 2 else {}
    if game == "knack":
        bets = [3 * rules["unit"] * rng.randint(1, 5) for _ in range(rng.randrange(5))]
        start["bets"] = sorted(bets)
    return start


def shuffled(spec, rules, rng):
    """Codes of the rules' pack in random order; some orders put the matadors and killes on top."""
    pack, left_out = spec.pack, spec.left_out(rules)
    codes = pack.codes_without(left_out)
    rng.shuffle(codes)
    if rng.random() < 0.5:
        eager = set(rng.sample(pack.codes, 7)) | set(rng.sample(pack.codes[-6:], 3))
        codes.sort(key=lambda code: code not in eager or rng.random() < 0.3)
    return codes


class Pair:
    """A kernel's table and its twin, played side by side."""

    def __init__(self, game, num_players, rules, first_dealer, next_deck, start=None):
        """Begin the same match twice."""
        twin = importlib.import_module(f"reference.{game}").Match
        more = {"start": start} if start else {}
        self.decks = []
        self.next_deck = next_deck
        self.twin = twin(num_players, rules.as_dict(), first_dealer, self.deck, **more)
        self.batch = kille_env.make_batch(game, 1, num_players, rules=rules, seed=0, restart=False)
        self.batch.reset(dealer=first_dealer, start=start, deal=False)
        self.returns = [0.0] * num_players
        self.dealt = 0
        self.results = []
        self.catch_up()

    def deck(self):
        """Deals the twin's hand and keeps the deck for the kernel."""
        self.decks.append(self.next_deck())
        return self.decks[-1]

    def catch_up(self):
        """Deals the kernel's table the hands that the twin has been dealt."""
        while self.batch.at_chance[0]:
            assert self.dealt < len(self.decks), "the twin was dealt fewer hands"
            self.batch.deal(self.decks[self.dealt])
            self.dealt += 1
            self.note_result()
        assert self.dealt == len(self.decks), "the twin was dealt more hands"
        moved = self.batch.arrays.tables["reward"][0]
        for seat in range(len(self.returns)):
            self.returns[seat] += moved[seat]
        moved[:] = 0

    def note_result(self):
        """Keep the result of a hand that has just ended."""
        if self.batch.at_chance[0] or self.batch.over[0]:
            self.results.append(self.batch.result())

    def play(self, text):
        """Play an action on both."""
        self.batch.apply([self.batch.find_action(text)])
        self.twin.play(text)
        self.note_result()
        self.catch_up()

    def check(self):
        """Compare what both say about the position."""
        table, twin = self.batch.tables[0], self.twin
        assert bool(self.batch.over[0]) == twin.over
        assert self.returns == pytest.approx([float(value) for value in twin.returns], abs=1e-9)
        assert bool(table["truncated"]) == twin.truncated
        assert table["deals"] == twin.deals
        assert self.results == twin.results
        if not twin.over:
            assert table["seat"] == twin.seat
            assert self.batch.spec.phases[table["phase"]] == twin.phase
            assert self.batch.legal_texts() == twin.legal()
            if "pot" in table.dtype.names:
                assert table["pot"] == twin.pot


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("matches", MATCHES)
def test_random_matches_agree(game, matches):
    """Decisions, legal actions, money and results are the same at every step."""
    spec = kille_env.spec(game)
    rng = random.Random(20)
    decisions, seen = 0, set()
    for number in range(matches):
        if decisions > DECISIONS:
            break
        rules = random_rules(spec, rng)
        seen.update((switch.name, rules[switch.name]) for switch in spec.switches)
        num_players = rng.choice((2, 2, 3, 3, 4, 5, rng.randint(2, spec.max_players)))
        num_players = min(num_players, spec.most_players(rules))
        dealer = rng.randrange(num_players)
        start = random_start(game, num_players, rules, rng)

        def deck(rules=rules):
            return shuffled(spec, rules, rng)

        pair = Pair(game, num_players, rules, dealer, deck, start)
        try:
            pair.check()
            while not pair.twin.over:
                pair.play(rng.choice(pair.twin.legal()))
                pair.check()
                decisions += 1
        except AssertionError as error:
            where = f"match {number}, {num_players} seats, start {start}, {rules.as_dict()}"
            raise AssertionError(f"{where}: {error}") from error
    assert {(switch.name, value) for switch in spec.switches for value in switch.values} <= seen


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize(
    "num_players", (2, 4, *(pytest.param(n, marks=pytest.mark.slow) for n in (3, 7)))
)
def test_information_states_are_what_the_twin_says_a_seat_may_know(game, num_players):
    """Two situations have one information state exactly if the twin's view of them is one."""
    spec = kille_env.spec(game)
    rng = random.Random(num_players)
    for preset in spec.presets:
        seats = min(num_players, spec.most_players(spec.resolve(preset)))
        for episode in ("deal", "match"):
            cap = "max_deals" if "max_deals" in spec.rules_dtype.names else "deals"
            rules = spec.resolve({"preset": preset, "episode": episode, cap: 3})
            state_of, view_of, looks = {}, {}, 0
            # A few cards trade places and most choices are habits, so that positions meet often.
            base, habits = shuffled(spec, rules, rng), [rng.random() for _ in range(500)]

            def deck(base=base, seats=seats):
                codes = list(base)
                for _ in range(rng.randint(0, 2)):
                    reach = rng.choice((1, 5)) * seats + 3
                    i, j = rng.sample(range(min(len(codes), reach)), 2)
                    codes[i], codes[j] = codes[j], codes[i]
                return codes

            def choose(legal, step, habits=habits):
                chance = habits[step % 500] if rng.random() < 0.95 else rng.random()
                return legal[int(chance * len(legal))]

            for _ in range(20 if FEW else 100):
                pair, step = Pair(game, seats, rules, rng.randrange(2), deck), 0
                while not pair.twin.over:
                    for seat in range(seats):
                        looks += 1
                        view = (seat, pair.twin.view(seat))
                        state = (seat, pair.batch.information_state(seat)[0].tobytes())
                        assert state_of.setdefault(view, state) == state, f"leak: {view}"
                        assert view_of.setdefault(state, view) == view, f"forgotten: {view}"
                    pair.play(choose(pair.twin.legal(), step))
                    step += 1
            # The test says something only if seats often meet a situation again on another path.
            assert len(state_of) < 0.8 * looks or FEW
