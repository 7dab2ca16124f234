"""Cards of players: what one is, how he was made and how strong he is, in words.

Nothing is measured here. A figure is one that was measured before and lies in a file: beside a
trained network, beside a solved table, or, for the players that come with the suite, in the package
(`docs/players.py --measure` writes it).
"""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from inspect import getdoc
from pathlib import Path
from typing import Any

from kille_agents.about import NOT_MEASURED, About
from kille_agents.catalog import BASELINES, RULES_OF_THUMB, SEARCHERS
from kille_agents.entry_point import find_object, is_entry_point
from kille_agents.network import policy_folder, read_network
from kille_agents.population import ROSTER, population
from kille_agents.tabular import BROKEN, TABLE, read_card, table_file
from kille_env.core.text import counted, listed
from kille_env.errors import PolicyError, did_you_mean

MEASURED = Path(str(files("kille_agents.population"))) / "measured.json"
"""What the players that come with the suite have earned."""
EVALUATION, SOLUTION = "evaluation.json", "solution.json"

LOOKS_AHEAD = {
    "search": "tries every action in worlds that agree with what he knows, in which the rule of "
    "thumb plays on for everybody; does what the rule of thumb does unless another action earns "
    "clearly more",
    "ismcts": "searches a tree of what he would know, over worlds that agree with what he knows, "
    "against others who play the rule of thumb",
}
"""What the players do who look ahead."""
BY_SEARCH = "by hand: nothing is learnt, he thinks anew at every decision"


def describe_player(name_or_path: str | Path, game: str | None = None) -> About:
    """Returns the card of a player.

    Args:
        name_or_path: As for `load_policy`. An entry point ("module:object") is imported, which runs
            its module's code; it says what it is with an attribute `about` (an `About`, or a
            sentence) or its docstring.
        game: The game; only the baselines, who play every game, need to be told.

    Raises:
        PolicyError: There is no such player, or a file of his is broken.
    """
    name, path = str(name_or_path), Path(name_or_path)
    if name in ROSTER:
        bot = ROSTER[name]
        if game not in (None, bot.game):
            raise PolicyError(f"{name} plays {bot.game}, not {game}")
        return About(name, bot.what, bot.made, _measured(name, bot.game))
    if name in SEARCHERS:
        return About(name, LOOKS_AHEAD[name], BY_SEARCH)
    if name in BASELINES:
        return _baseline(name, game)
    if path.suffix == ".zip" and path.is_file():
        return _library_model(path)
    if (table := table_file(path)) is not None:
        return _table(name, table)
    if path.exists():
        return _network(name, path)
    if is_entry_point(name):
        return _entry_point(name)
    known = [*BASELINES, *(population(game) if game else ROSTER)]
    raise PolicyError(
        f"there is no player {name!r}, neither by name nor as a file or folder, nor as "
        f"module:object. {did_you_mean(name, known)}"
    )


def measured_lines(name: str, game: str) -> dict[str, str]:
    """Returns what a player of the suite has earned, "+0.1234 ± 0.0056", by who else sat there."""
    earned = measured().get("games", {}).get(game, {}).get("earned", {}).get(name, {})
    return {against: _interval(*found) for against, found in earned.items()}


@cache
def measured() -> Mapping[str, Any]:
    """Returns what the players of the suite have earned; empty before anybody was measured."""
    return json.loads(MEASURED.read_text(encoding="utf-8")) if MEASURED.is_file() else {}


def _measured(name: str, game: str) -> str:
    """What a player of the suite has earned, and the command that says so."""
    lines = measured_lines(name, game)
    if not lines:
        return NOT_MEASURED
    against = listed([f"{line} against {other}" for other, line in lines.items()])
    deals, seats = measured()["deals"], measured()["games"][game]["num_players"]
    exact = " --no-exact" if game == "byteskille" else ""  # which has nothing to do with these
    return (
        f"{against}; units a deal, {seats} seats, {deals:,} duplicate deals, 95 % intervals "
        f"(kille evaluate {name} --game {game} --deals {deals} --play sampled{exact})"
    )


def _baseline(name: str, game: str | None) -> About:
    if name == "uniform":
        about = About(name, "picks any legal action, each as often", "needs no making")
    else:  # "threshold" is another name of Byteskille's rule of thumb
        game = "byteskille" if name == "threshold" else game
        if game is not None and game not in RULES_OF_THUMB:
            raise PolicyError(f"{game} has no rule-of-thumb player; uniform plays it")
        what = getattr(RULES_OF_THUMB[game], "what", "") if game else ""
        made = "by hand; his numbers were tuned by playing, his reasons stand in his file's text"
        about = About(name, what or "what a sensible person does without calculating", made)
    if game is None:
        return about
    earned = _measured("rule_of_thumb" if name == "threshold" else name, game)
    if earned == NOT_MEASURED:
        return about
    return About(name, about.what, about.made, earned)


def _library_model(path: Path) -> About:
    """A model of Stable-Baselines3; only what can be read without loading it."""
    from kille_agents.sb3 import algorithm_of, told_by

    told = told_by(path)
    steps = told.get("num_timesteps")
    decisions = f", {steps:,} steps" if isinstance(steps, int) else ""
    return About(
        str(path),
        f"a model of Stable-Baselines3: {algorithm_of(path)}",
        f"trained with that library{decisions}; loading it can run code, so it needs --trust",
    )


def _table(name: str, file: Path) -> About:
    _, card = read_card(file)
    made = ", ".join(f"{key} {_shown(value)}" for key, value in sorted(card.made.items()))
    told = _beside(file, SOLUTION) if file.name == TABLE else None
    found = NOT_MEASURED
    if told is not None and isinstance(told.get("nash_conv"), float):
        found = (
            f"NashConv {told['nash_conv']:.2g} units, all seats added up, exactly "
            f"(measured when it was solved; kille evaluate {name})"
        )
    what = f"a table that holds every decision of {_at(card)}"
    return About(name, what, f"solved with kille solve: {made}" if made else "not said", found)


def _network(name: str, path: Path) -> About:
    card, _, _ = read_network(path)
    layers = listed([str(units) for units in card.layers])
    what = f"a network with layers of {layers} units ({card.activation}) for {_at(card)}"
    made = ", ".join(
        f"{key} {value if key == 'seed' else _shown(value)}"
        for key, value in card.made.items()
        if not isinstance(value, dict)
    )
    folder = policy_folder(path)
    told = _beside(folder / EVALUATION, EVALUATION) if folder is not None else None
    return About(name, what, made or "not said", _evaluated(name, told))


def _evaluated(name: str, told: Mapping[str, Any] | None) -> str:
    """What a run's agent earned when it was measured."""
    if told is None:
        return NOT_MEASURED
    try:
        rows = [
            f"{_interval(*(row['estimate'][key] for key in ('mean', 'low', 'high')))} against "
            f"{row['against']} ({row['play']})"
            for row in told["rows"]
        ]
        command = f"kille evaluate {name} --deals {told['deals']}"
        measure = "match" if told["rules"].get("episode") == "match" else "deal"
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise PolicyError(
            f"{EVALUATION} of {name} is broken ({type(error).__name__}: {error}); delete it and "
            "measure again"
        ) from None
    return (
        f"{listed(rows)}; units a {measure}, 95 % intervals ({command})" if rows else NOT_MEASURED
    )


def _entry_point(name: str) -> About:
    thing = find_object(name)
    return _of_object(name, thing, f"somebody else's code, the module {name.partition(':')[0]}")


def _of_object(name: str, thing: Any, made: str) -> About:
    """What an object says of itself: `about`, or the first paragraph of its docstring."""
    about = getattr(thing, "about", None)
    if isinstance(about, About):
        return About(name, about.what, about.made, about.strength)
    text = about if isinstance(about, str) else getdoc(thing) or ""
    what = " ".join(text.split("\n\n")[0].split())
    return About(name, what or "does not say what it is", made)


def _beside(file: Path, name: str) -> dict[str, Any] | None:
    """Reads a file of measurements beside a player's; None if there is none."""
    file = file.with_name(name)
    if not file.is_file():
        return None
    try:
        told = json.loads(file.read_text(encoding="utf-8"))
        if not isinstance(told, dict):
            raise TypeError(f"it holds a {type(told).__name__}")
        return told
    except BROKEN as error:
        raise PolicyError(f"{file} is broken ({error}); delete it and measure again") from None


def _at(card: Any) -> str:
    """The table that a saved player was made for, in a few words."""
    episode = "whole matches" if card.rules.get("episode") == "match" else "single deals"
    seats = counted(card.num_players, "seat", "seats")
    return f"{episode} of {card.game} with {seats}, preset {card.rules.get('preset')}"


def _shown(value: Any) -> str:
    """A value for people: 16,900 or 1e-09, the rest as it is."""
    if type(value) is int:
        return f"{value:,}"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _interval(mean: float, low: float, high: float) -> str:
    return f"{mean:+.4f} ± {(high - low) / 2:.4f}"
