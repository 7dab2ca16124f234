"""Results of a measurement, and their text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import PlainSerializer, PlainValidator, TypeAdapter, ValidationError

from kille_env.errors import ConfigError
from kille_env.registry import Table, spec
from kille_env.words.text import counted
from kille_training.evaluation.duplicate import DETERMINISTIC, Play, Row
from kille_training.labels import (
    BEYOND_MEAN,
    EARNED,
    OWN_REWARD,
    episode_noun,
    measure_of,
    plural_of,
    position_names,
)
from kille_training.results import Result, TextTable

if TYPE_CHECKING:
    import pandas as pd

    PlainTable = Table
else:  # `Any`, because pydantic cannot check a table
    PlainTable = Annotated[Any, PlainValidator(Table.read), PlainSerializer(Table.as_dict)]

MOST_POSITIONS = 5  # maximum number of seats with a column for each position


@dataclass(frozen=True, repr=False)
class ExactNashConv(Result):
    """NashConv of a policy in all seats, in units per deal or match; `float` gives `nash_conv`.

    Attributes:
        policy: The measured policy.
        play: "greedy" (the most likely action), "sampled" (an action drawn from the probabilities),
            or "deterministic" if the two are the same.
        nash_conv: The sum of `improvement`; 0 in an equilibrium.
        improvement: [P] gain of each seat's best response, forehand first.
        value: [P] earnings of each seat, minus the table's mean if rewards do not sum to zero.
        stake: Units that a seat puts in at the beginning; 1 if no rule sets it.
        table: The table.
        transferred: The home table of a transferred policy, else "".
    """

    policy: str
    play: Play
    nash_conv: float
    improvement: tuple[float, ...]
    value: tuple[float, ...]
    stake: int
    table: PlainTable
    transferred: str | None = None

    @property
    def stakes(self) -> float:
        """NashConv in stakes, comparable across tables with different stakes."""
        return self.nash_conv / self.stake

    def __float__(self) -> float:
        return self.nash_conv

    def as_dict(self) -> dict[str, Any]:
        """Return the table, the score and the results as JSON values."""
        results = {name: getattr(self, name) for name in ExactNashConv.__dataclass_fields__}
        results.pop("table")
        return {
            **self.table.as_dict(),
            "score": exact_score_of(self.table.game),
            **results,
            "stakes": self.stakes,
        }

    def parts(self) -> list[str | TextTable]:
        """Return the table, and the earnings and possible gain of each seat."""
        home = [f"transferred from {self.transferred}"] if self.transferred else []
        return [f"{self.policy} at {self.table}", *home, exact_table([self])]


def exact_table(rows: Sequence[ExactNashConv]) -> TextTable:
    """Return the text of NashConv, two lines per way of play."""
    cells, totals = [], 2 if "stake" in rows[0].table.rules.as_dict() else 1
    for row in rows:
        gains = (f"{max(gain, 0.0):.5f}" for gain in row.improvement)
        values = (f"{round(value, 5) + 0.0:+.5f}" for value in row.value)  # never -0.00000
        total = [f"{row.nash_conv:.5f}", f"{row.stakes:.5f}"][:totals]
        cells.append((row.play, "earns", *values, *("" for _ in total)))
        cells.append(("", "could gain", *gains, *total))
    names = [f">{name}" for name in position_names(len(rows[0].value))]
    unit = episode_noun(rows[0].table.rules["episode"])
    head = ["play", "each seat", *names, *[">NashConv", ">in stakes"][:totals]]
    score = exact_score_of(rows[0].table.game)
    beyond = "" if score == EARNED else f" {score}"
    return TextTable(f"Units per {unit}{beyond}, exactly", head, cells)


def exact_score_of(game: str) -> str:
    """Return the score of a tree: units, minus the table's mean in games that are not zero-sum."""
    return EARNED if spec(game).zero_sum else BEYOND_MEAN


@dataclass(frozen=True)
class Loss:
    """Loss of a policy in one information set.

    Attributes:
        seat: The position that decides, 0 is forehand.
        granted: Number of questions granted before this hand.
        seen: Text of the information set.
        plays: Probability of each legal action.
        best: The action of the best response.
        reach: Probability of this information set under the policy.
        loss: Cost of the choice, in units per deal. The losses of a seat sum to the gain of its
            best response.
    """

    seat: int
    granted: int
    seen: str
    plays: dict[str, float]
    best: str
    reach: float
    loss: float


def loss_table(losses: Sequence[Loss], num_players: int) -> TextTable:
    """Return the text of the information sets with the largest losses."""
    names = position_names(num_players)
    rows = []
    for one in losses:
        plays = ", ".join(f"{a} {100 * c:.0f}%" for a, c in one.plays.items() if c > 0)
        seat, often = names[one.seat], f"{100 * one.reach:.3f}%"
        if one.granted:
            seat += f" after {counted(one.granted, 'granted question', 'granted questions')}"
        rows.append((f"{one.loss:.5f}", often, seat, one.seen, plays, one.best))
    head = [">units per deal", ">comes up", "seat", "sees", "plays", "best"]
    return TextTable("Largest losses", head, rows)


@dataclass(frozen=True, repr=False)
class Evaluation(Result):
    """Earnings of a player, and its distance from an equilibrium.

    Attributes:
        game: The game.
        num_players: Seats of the table.
        rules: Every switch with its value.
        version: The version of the game.
        score: Kind of score, see `kille_training.labels`.
        deals: Deals of each row.
        seed: Their seed.
        rows: The payoff table.
        exact: NashConv for each way of play; None if it was not computed.
        losses: The largest losses, largest first: of sampled play, or of greedy play if only that
            was measured.
        transferred: Home tables of transferred players, by name.
        profile: Whether the rows are the seats of one table.
    """

    game: str
    num_players: int
    rules: Mapping[str, Any]
    version: int
    score: str
    deals: int
    seed: int
    rows: tuple[Row, ...]
    exact: tuple[ExactNashConv, ...] | None
    losses: tuple[Loss, ...] = ()
    transferred: Mapping[str, str] = field(default_factory=dict)
    profile: bool = False

    @property
    def table(self) -> Table:
        """The table of the measurement."""
        return Table.read(
            {name: getattr(self, name) for name in ("game", "num_players", "rules", "version")}
        )

    def parts(self) -> list[str | TextTable]:
        """Return the earnings, the distance from an equilibrium, and the largest losses."""
        head, earned, notes = self._by_seat() if self.profile else self._by_opponent()
        return [
            f"{head} at {self.table}",
            *(f"{name} is transferred from {home}" for name, home in self.transferred.items()),
            earned,
            *notes,
            *([exact_table(self.exact)] if self.exact else []),
            *([loss_table(self.losses, self.num_players)] if self.losses else []),
        ]

    def _by_opponent(self) -> tuple[str, TextTable, list[str]]:
        """Return the policy, its earnings against each baseline, and notes."""
        episode = str(self.rules["episode"])
        measure, unit = measure_of(self.game, episode), episode_noun(episode)
        measure = f"reward per {unit}" if self.score == OWN_REWARD else measure
        seats = position_names(self.num_players) if self.num_players <= MOST_POSITIONS else []
        head = [measure, *seats, plural_of(unit)]
        rows = [
            (
                row.against, row.play, str(row.estimate),
                *(f"{part.mean:+.4f}" for part in row.by_position[: len(seats)]),
                f"{row.estimate.groups:,}",
            )
            for row in self.rows
        ]  # fmt: skip
        title, notes = f"{measure.capitalize()}, {self.score}, 95% interval", []
        if any(row.play == DETERMINISTIC for row in self.rows):
            notes.append(f"{DETERMINISTIC}: greedy and sampled play are the same")
        lost = [row.play for row in self.rows if row.against == "uniform" and row.estimate.high < 0]
        if lost and self.score != OWN_REWARD:  # which says nothing of uniform play's own
            notes.append(
                f"{' and '.join(lost)}: worse than uniform play; if this was trained, try "
                "another seed, a longer run, or the game's settings"
            )
        table = TextTable(title, ["against", "play", *(f">{name}" for name in head)], rows)
        return self.rows[0].policy, table, notes

    def _by_seat(self) -> tuple[str, TextTable, list[str]]:
        """Return the earnings of each seat of a profile, without notes."""
        unit = episode_noun(str(self.rules["episode"]))
        names = position_names(self.num_players) * (len(self.rows) // self.num_players)
        rows = [
            (name, row.policy, row.play, str(row.estimate), f"{row.estimate.groups:,}")
            for name, row in zip(names, self.rows, strict=True)
        ]
        earned = "reward" if self.score == OWN_REWARD else "units"
        head = ["seat", "policy", "play", f">{earned} per {unit}", f">{plural_of(unit)}"]
        title = f"{earned.capitalize()} per {unit}, {self.score}, 95% interval"
        return "A profile", TextTable(title, head, rows), []

    def frame(self) -> "pd.DataFrame":
        """Return the payoff table as a data frame, one line per opponent and way to play."""
        import pandas as pd

        return pd.DataFrame(
            [
                {
                    "policy": row.policy, "against": row.against, "play": row.play,
                    "mean": row.estimate.mean, "low": row.estimate.low, "high": row.estimate.high,
                    "groups": row.estimate.groups,
                }
                for row in self.rows
            ]
        )  # fmt: skip

    def as_dict(self) -> dict[str, Any]:
        """Return all results as JSON values."""
        return _PLAIN.dump_python(self, mode="json")

    @classmethod
    def read(cls, path: Path) -> "Evaluation":
        """Read a JSON file of `as_dict`."""
        try:
            return _PLAIN.validate_json(path.read_bytes())
        except ValidationError as error:
            wrong = error.errors()[0]
            where = ".".join(map(str, wrong["loc"])) or "its content"
            raise ConfigError(
                f"{path} cannot be read: {where}: {wrong['msg']}. Delete it; the next "
                f"kille train {path.parent} measures again"
            ) from None


_PLAIN = TypeAdapter(Evaluation)  # converts a measurement to plain values and back
