"""What somebody orders who makes a table, read from the message of a page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kille_agents.catalog import players_of
from kille_env.core.spec import GameSpec, Rules, is_whole
from kille_env.errors import did_you_mean, shortened
from kille_env.registry import list_games, spec
from kille_env.words.text import listed
from kille_training.web.limits import Refusal

KEYS = (
    "game", "players", "yours", "people", "opponents", "rules", "seed", "practice", "hints", "name",
)  # fmt: skip
"""What the message may hold; only "game" has to be there."""
LARGEST_SEED = 2**53 - 1
"""The largest whole number that every page can say exactly."""


@dataclass(frozen=True)
class Order:
    """A table as it was ordered.

    Attributes:
        game: The game's name.
        num_players: P, seats of the table.
        yours: Seats of whoever makes it.
        people: Further seats that are left free for people.
        opponents: [P - people] names of the players in the other seats, by seat.
        rules: The rules.
        seed: Seed of the first match, None for one that the server draws.
        practice: Whether a person who plays alone may take back decisions and ask for hints.
        hints: Whether people may ask for hints in any case.
        advisers: Names of the players who give hints; if none is named, those of `advisers_at`.
    """

    game: str
    num_players: int
    yours: tuple[int, ...]
    people: tuple[int, ...]
    opponents: tuple[str, ...]
    rules: Rules
    seed: int | None = None
    practice: bool = False
    hints: bool = False
    advisers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Checks what people may get wrong.

        Raises:
            Refusal: There is no such seat, nobody would play, or a seed would tell the cards.
        """
        seats = (*self.yours, *self.people)
        if not seats:
            raise Refusal("a table needs a seat for a person; choose yours", 400)
        for seat in seats:
            if not 0 <= seat < self.num_players or seats.count(seat) > 1:
                last = self.num_players - 1
                raise Refusal(f"the seats are {listed([*map(str, seats)])}; expected each once, "
                              f"from 0 to {last}", 400)  # fmt: skip
        if len(self.opponents) != self.num_players - len(seats):
            raise Refusal(
                f"{len(self.opponents)} players are named for {self.num_players - len(seats)} "
                "seats; name one for all of them, or one each",
                400,
            )
        if self.practice and self.people:
            raise Refusal("practice is for one person alone; leave no seats free for others", 400)


def known_players(game: str) -> list[str]:
    """Returns the players that a page may name: those of the suite, never a file or a module."""
    return players_of(game)


def place_people(num_players: int, yours: Sequence[int], people: int) -> tuple[int, ...]:
    """Returns the seats left free for people: the first ones that are not yours."""
    return tuple([seat for seat in range(num_players) if seat not in yours][:people])


def for_all(opponents: Sequence[str], places: int) -> tuple[str, ...]:
    """Returns the players by seat where one name may stand for all of them."""
    return tuple(opponents) * max(places, 0) if len(opponents) == 1 else tuple(opponents)


def order_for(
    game: str,
    num_players: int,
    yours: Sequence[int],
    people: int,
    opponents: str,
    rules: Rules,
    *,
    advisers: str | None = None,
    **more: Any,
) -> Order:
    """Returns an order from the words of a command line.

    Args:
        game: The game.
        num_players: Seats.
        yours: The person's seats.
        people: Further seats for people.
        opponents: Names or paths with commas between them: one for all seats, or one each.
        rules: The rules.
        advisers: Names of advisers with commas between them; None is the usual ones.
        **more: Other attributes of `Order`.

    Raises:
        Refusal: As `Order`.
    """
    places = num_players - len(yours) - people
    return Order(
        game,
        num_players,
        tuple(yours),
        place_people(num_players, yours, people),
        for_all(_words(opponents), places),
        rules,
        advisers=() if advisers is None else tuple(_words(advisers)),
        **more,
    )


def _words(names: str) -> list[str]:
    return [word.strip() for word in names.split(",")]


def read_order(said: Mapping[str, Any]) -> Order:
    """Returns the order in a message.

    Raises:
        Refusal: Something in it does not exist or has the wrong form.
        RulesError: The game has no such switch, value or number of seats.
    """
    for key in said:
        if key not in KEYS:
            raise Refusal(f"an order has no {shortened(key, 40)}. {did_you_mean(key, KEYS)}", 400)
    game = said.get("game")
    if game not in list_games():
        raise Refusal(f"there is no game {shortened(game, 40)}. "
                      f"{did_you_mean(game, list_games())}", 400)  # fmt: skip
    facts = spec(str(game))
    players = facts.check_players(said.get("players"))
    yours = tuple(_whole(seat, "a seat") for seat in _list(said, "yours", [0]))
    people = place_people(players, yours, _whole(said.get("people", 0), "people"))
    rules = said.get("rules", {})
    if not isinstance(rules, dict):
        raise Refusal("the rules are no object of switches and values", 400)
    seed = said.get("seed")
    if seed is not None and (len(yours) != 1 or people):
        raise Refusal("a seed tells the cards, so it is for tables with one person", 400)
    return Order(
        game=facts.name,
        num_players=players,
        yours=yours,
        people=people,
        opponents=_opponents(facts, said, players - len(yours) - len(people)),
        rules=facts.resolve(rules),
        seed=None if seed is None else _whole(seed, "a seed", LARGEST_SEED),
        practice=_flag(said, "practice"),
        hints=_flag(said, "hints"),
    )


def _opponents(facts: GameSpec, said: Mapping[str, Any], places: int) -> tuple[str, ...]:
    known = known_players(facts.name)
    named = _list(said, "opponents", ["rule_of_thumb" if "rule_of_thumb" in known else "uniform"])
    for name in named:
        if name not in known:
            raise Refusal(f"there is no player {shortened(name, 40)} for {facts.name} on this "
                          f"page. {did_you_mean(name, known)}", 400)  # fmt: skip
    return for_all(named, places)


def _list(said: Mapping[str, Any], key: str, usual: list[Any]) -> list[Any]:
    value = said.get(key, usual)
    if not isinstance(value, list):
        raise Refusal(f"{key} is {shortened(value, 40)}, expected a list", 400)
    return value


def _flag(said: Mapping[str, Any], key: str) -> bool:
    value = said.get(key, False)
    if not isinstance(value, bool):
        raise Refusal(f"{key} is {shortened(value, 40)}, expected true or false", 400)
    return value


def _whole(value: Any, what: str, most: int = 1000) -> int:
    if not is_whole(value) or not 0 <= value <= most:
        raise Refusal(f"{what} is {shortened(value, 40)}, expected a whole number up to "
                      f"{most:,}", 400)  # fmt: skip
    return int(value)
