"""Tables at which one seat is the outside's, and the others are played here.

The seat's consecutive decisions form its stream: whatever it earns before its next decision, or
before the end, belongs to its last one. What it earns before its first decision of a match (its
ante, say) is added to that one's, so that the rewards of a match sum to the seat's net result.

A match that ends before the seat had anything to decide has no decision to reward. It is passed
over, the next one begins, and `skipped` counts it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kille_env.adapters.opponents import Seating, ask
from kille_env.core import arguments
from kille_env.core.batch import Batch
from kille_env.core.determinization import History
from kille_env.core.keys import mix as scramble
from kille_env.core.rng import GOLDEN
from kille_env.core.spec import Rules
from kille_env.errors import CardError, KilleError, RulesError
from kille_env.policy import PlayerLike
from kille_env.policy import pick_actions as pick
from kille_env.records import Logbook
from kille_env.registry import load_game

SEATS = ("rotate", "random")
MOST_SKIPPED = 10_000
_FOR_SEATS, _FOR_PLAY, _FOR_WORLDS = np.uint64(0x5EA7), np.uint64(0x9147), np.uint64(0x3047)


def illegal_rows(mask: np.ndarray, actions: np.ndarray) -> np.ndarray:
    """Returns where an action is not legal, [N] bool."""
    inside = (actions >= 0) & (actions < mask.shape[1])
    legal = mask[np.arange(len(mask)), np.where(inside, actions, 0)] != 0
    return ~(inside & legal)


class SeatTables:
    """N tables with one seat of the outside at each.

    Attributes:
        batch: The tables.
        log: Logbook of the match, None where there are many tables.
        own: [N] the outside's seat.
        over: [N] bool, which matches have ended and wait for `begin`.
        reward: [N] float64, what the seat has earned by its last decision.
        terminated: [N] bool, whether the last step ended the match by the rules (or an illegal
            action did).
        truncated: [N] bool, whether a cap did.
        forfeited: [N] bool, which matches an illegal action ended.
        returns: [N, P] float64, what each seat has earned in this match so far.
        decisions: [N] the seat's decisions in this match so far.
        skipped: [N] matches that were passed over since the last `begin` or `step`.
    """

    def __init__(
        self,
        game: str,
        num_tables: int,
        num_players: int | None,
        *,
        rules: Rules | Mapping[str, Any] | str | None = None,
        episode: str | None = None,
        opponents: PlayerLike | Sequence[PlayerLike] = "uniform",
        seat: int | str = "rotate",
        illegal: str = "raise",
        illegal_reward: float = -1.0,
        seed: int | None = None,
        threads: int = 1,
    ) -> None:
        """Sets up the tables; call `begin` first.

        Args:
            game: Name of the game.
            num_tables: N.
            num_players: P, the game's default for None.
            rules: Preset's name, mapping of switches, or resolved rules.
            episode: "match" or "deal".
            opponents: One player for all other seats, or P - 1 of them, clockwise from the left
                neighbour: see `kille_env.adapters.opponents.resolve`.
            seat: The outside's seat: a number; "rotate", one further each match; "random".
            illegal: "raise", or "lose": the match ends for the seat with `illegal_reward`.
            illegal_reward: See `illegal`.
            seed: Seed of the tables and of the opponents' choices.
            threads: Threads that step the tables.

        Raises:
            RulesError: An option, switch or number of seats that does not exist.
            PolicyError: A player that does not exist or does not fit.
        """
        loaded = load_game(game)
        resolved = loaded.spec.resolve(rules, episode=episode)
        self.batch = Batch(loaded, num_tables, num_players, resolved, seed, threads, restart=False)
        # A table by itself can write its match down; many would keep every action since a reset.
        self.log = Logbook(self.batch) if num_tables == 1 else None
        self._play = self.log or self.batch
        self.num_tables, self.num_players = num_tables, self.batch.num_players
        self.rules = resolved
        self.seat = self._check_seat(seat)
        if illegal not in ("raise", "lose"):
            raise RulesError(f"illegal is {illegal!r}, expected 'raise' or 'lose'")
        self.illegal, self.illegal_reward = illegal, float(illegal_reward)
        self.seating = Seating(opponents, game, self.num_players, resolved)
        self._history = History(self.batch) if self.seating.remember else None
        n = num_tables
        self.own = np.zeros(n, dtype=np.int64)
        self.over, self.forfeited = np.ones(n, dtype=np.bool_), np.zeros(n, dtype=np.bool_)
        self.terminated, self.truncated = np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.bool_)
        self.reward, self.pending = np.zeros(n), np.zeros(n)
        self.returns = np.zeros((n, self.num_players))
        self.decisions = np.zeros(n, dtype=np.int64)
        self.skipped = np.zeros(n, dtype=np.int64)
        self._noise = np.zeros(n, dtype=np.uint64)
        self._rows = np.arange(n)

    def _check_seat(self, seat: int | str) -> int | str:
        whole = isinstance(seat, (int, np.integer)) and not isinstance(seat, bool)
        if seat in SEATS if isinstance(seat, str) else whole and 0 <= seat < self.num_players:
            return seat
        raise RulesError(
            f"seat is {seat!r}, expected 0 to {self.num_players - 1}, 'rotate' or 'random'"
        )

    def begin(
        self,
        seed: int | Sequence[int] | None = None,
        which: np.ndarray | None = None,
        deck: Any = None,
        dealer: Any = None,
        start: Any = None,
        seat: int | None = None,
    ) -> None:
        """Begins matches and plays each to the seat's first decision.

        Args:
            seed: Seed of the tables, or [N] seeds, each as if its table were alone; None goes on.
            which: [N] bool; None is all of them.
            deck: As in `Batch.reset`.
            dealer: As in `Batch.reset`.
            start: As in `Batch.reset`.
            seat: The outside's seat in these matches; None is as the tables were made.

        Raises:
            CardError: A deck that is not possible, or with which a match ends before its seat has
                anything to decide.
        """
        chosen = np.ones(self.num_tables, np.bool_) if which is None else which.astype(np.bool_)
        seat = None if seat is None else int(self._check_seat(seat))
        self._play.reset(seed, deck=deck, dealer=dealer, start=start, which=chosen)
        self.skipped[chosen] = 0
        if self._history is not None:
            self._history.forget(chosen)
        for _ in range(MOST_SKIPPED):
            self._sit_down(chosen, seat)
            self._play_others()
            passed = chosen & (self.batch.seat < 0)
            if not passed.any():
                return
            if deck is not None:
                raise CardError(
                    f"with the given deck seat {self.own[passed][0]} has nothing to decide; give "
                    "it another seat, dealer or deck"
                )
            self.skipped[passed] += 1
            self._play.reset(which=passed)
            chosen = passed
        raise KilleError(f"no seat has had a decision in {MOST_SKIPPED} matches")

    def _sit_down(self, chosen: np.ndarray, seat: int | None) -> None:
        """Fixes the outside's seat and the opponents' luck for new matches."""
        tables = self.batch._tables
        keys = tables["match_key"]
        if seat is None and self.seat == "rotate":
            first = scramble(tables["seed"] ^ _FOR_SEATS) % np.uint64(self.num_players)
            own = (first.astype(np.int64) + tables["matches"]) % self.num_players
        elif seat is None and self.seat == "random":
            own = (scramble(keys ^ _FOR_SEATS) % np.uint64(self.num_players)).astype(np.int64)
        else:
            own = np.full(self.num_tables, self.seat if seat is None else seat)
        self.own[chosen] = own[chosen]
        self._noise[chosen] = scramble(keys[chosen] ^ _FOR_PLAY)
        self.pending[chosen] = 0.0
        self.returns[chosen] = 0.0
        self.decisions[chosen] = 0
        self.over[chosen] = self.forfeited[chosen] = False
        self.terminated[chosen] = self.truncated[chosen] = False

    def step(self, actions: Any, which: np.ndarray | None = None) -> None:
        """Plays the seat's action at each table, and on to its next decision or the end.

        Args:
            actions: [N] whole numbers.
            which: [N] bool, the tables to play at; None is all of them.

        Raises:
            IllegalActionError: An action is not legal (with `illegal="raise"`); nothing has been
                played.
            KilleError: A match is over and has not been begun again.
        """
        chosen = np.ones(self.num_tables, np.bool_) if which is None else which
        actions = arguments.actions(actions, self.batch.num_tables)
        if (chosen & self.over).any():
            table = int(np.argmax(chosen & self.over))
            raise KilleError(f"the match at table {table} is over: begin another one, reset()")
        wrong = chosen & illegal_rows(self.batch.mask, actions)
        if wrong.any() and self.illegal == "raise":
            table = int(np.argmax(wrong))
            self.batch.refuse(table, int(actions[table]))
        self.reward[:] = 0.0
        self.terminated[:] = self.truncated[:] = False
        self.skipped[:] = 0
        self.decisions[chosen] += 1
        played = chosen & ~wrong
        self._step(actions, played)
        self._play_others()
        self.reward[played] = self.pending[played]
        self.pending[played] = 0.0
        ended = played & (self.batch.seat < 0)
        self.terminated |= ended & self.batch.terminated
        self.truncated |= ended & self.batch.truncated
        self.over |= ended
        if wrong.any():
            self.over |= wrong
            self.forfeited |= wrong
            self.terminated |= wrong
            self.reward[wrong] = self.illegal_reward

    def observation(self) -> np.ndarray:
        """Returns what the seat sees at each table, fresh, [N, F] uint8; after the end too."""
        seen = self.batch.observation.copy()
        ended = self.batch.seat < 0
        if ended.any():
            seen[ended] = self.batch.observe(self.own)[ended]
        return seen

    def mask(self) -> np.ndarray:
        """Returns what the seat may do at each table, fresh, [N, A] int8; zeros after the end."""
        mask = self.batch.mask.copy()
        mask[self.over] = 0
        return mask

    def state(self) -> dict[str, np.ndarray]:
        """Returns everything that `load_state` needs, as arrays.

        Raises:
            KilleError: An opponent remembers what has been decided in the deals.
        """
        if self._history is not None:
            raise KilleError("tables with opponents who remember the deal cannot be saved")
        kept = {name: getattr(self, name).copy() for name in _KEPT}
        return {"tables": np.frombuffer(self.batch.save(), dtype=np.uint8).copy(), **kept}

    def load_state(self, state: Mapping[str, np.ndarray]) -> None:
        """Goes on where `state` was taken, exactly.

        Raises:
            KilleError: The state is of other tables.
        """
        self.batch.restore(state["tables"].tobytes())
        for name in _KEPT:
            getattr(self, name)[...] = state[name]

    def _play_others(self) -> None:
        """Plays until the outside's seat is to act at every table, or its match is over."""
        batch = self.batch
        while True:
            others = (batch.seat >= 0) & (batch.seat != self.own)
            if not others.any():
                return
            self._step(self._choose(others), others)

    def _choose(self, others: np.ndarray) -> np.ndarray:
        """Returns the opponents' actions, [N]; each player is asked once."""
        batch, seating = self.batch, self.seating
        actions = np.zeros(self.num_tables, dtype=np.int64)
        rows = np.flatnonzero(others)
        who = seating.at[(batch.seat[rows] - self.own[rows]) % self.num_players]
        self._noise[rows] += GOLDEN
        for number, player in enumerate(seating.players):
            at = rows[who == number]
            if len(at):
                wanted = ask(
                    player, batch, at, scramble(self._noise[at] ^ _FOR_WORLDS), self._history
                )
                chance = (scramble(self._noise[at]) >> np.uint64(32)) / 2.0**32
                actions[at] = pick(wanted, chance)
        return actions

    def _step(self, actions: np.ndarray, which: np.ndarray) -> None:
        """Steps some of the tables; the others stand still."""
        if not which.any():
            return
        if self._history is not None:
            self._history.note(actions, which)
        self._play.step(actions, which)
        earned = self.batch.reward
        self.pending += earned[self._rows, self.own]
        self.returns += earned


_KEPT = (
    "own",
    "over",
    "forfeited",
    "terminated",
    "truncated",
    "reward",
    "pending",
    "returns",
    "decisions",
    "skipped",
    "_noise",
)
