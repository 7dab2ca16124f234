"""Descriptions of players: what a player is, how it was made and how strong it is.

Nothing is measured here. Figures come from files: beside a trained network, beside a solution, or,
for the players that come with the suite, in the package (`docs/players.py --measure` writes it).
"""

import json
from collections.abc import Mapping
from functools import cache
from inspect import getdoc
from pathlib import Path
from typing import Any

from kille_agents.about import NOT_MEASURED, About
from kille_agents.catalog import BASELINES, SEARCHERS, game_of, players_of
from kille_agents.entry_point import find_object, is_entry_point
from kille_agents.llm import PREFIX
from kille_agents.metadata import Metadata
from kille_agents.network import SPECIFICATION, NetworkMetadata, read_network
from kille_agents.population import ROSTER
from kille_agents.rules_of_thumb import rule_of_thumb_class
from kille_agents.tabular import TABULAR, read_metadata, tabular_file
from kille_agents.trained import TRAINED, cards
from kille_env.errors import PolicyError, RulesError, did_you_mean
from kille_env.files import BROKEN, read_json
from kille_env.registry import spec
from kille_env.words.text import listed

MEASURED = Path(__file__).parent / "population" / "measured.json"
"""What the players that come with the suite have earned."""
EVALUATION, SOLUTION = "evaluation.json", "solution.json"
EPISODES = {"deal": "single deals", "match": "whole matches"}
BY_SEARCH = "hand-written; nothing is learned, every decision is searched afresh"


def describe_player(name_or_path: str | Path, game: str | None = None) -> About:
    """Returns the description of a player.

    Args:
        name_or_path: As for `load_policy`. An entry point ("module:object") is imported, which runs
            its module's code; it describes itself with an attribute `about` (an `About`, or a
            sentence) or its docstring.
        game: The game; needed for the baselines, which play every game.

    Raises:
        PolicyError: There is no such player, it plays another game, or one of its files is broken.
    """
    name, path = str(name_or_path), Path(name_or_path)
    if (plays := game_of(name)) is not None:
        _check_game(name, plays, game)
    if (bot := ROSTER.get(name)) is not None:
        return About(name, bot.what, bot.made, _measured(name, bot.game))
    if name in TRAINED:
        return _trained(name)
    if name in SEARCHERS:
        return About(name, SEARCHERS[name].what, BY_SEARCH)
    if name in BASELINES:
        return _baseline(name, game)
    if name.startswith(PREFIX):
        return About(name, "a language model", "asked at the address of KILLE_LLM_URL")
    if path.suffix == ".zip" and path.is_file():
        return _library_model(path)
    if (file := tabular_file(path)) is not None:
        return _tabular(name, file, game)
    if path.exists():
        return _network(name, path, game)
    if is_entry_point(name):
        return _entry_point(name)
    known = players_of(game) if game else [*BASELINES, *TRAINED, *ROSTER]
    raise PolicyError(
        f"there is no player {name!r}, neither by name nor as a file or folder, nor as "
        f"module:object. {did_you_mean(name, known)}"
    )


def measured_lines(name: str, game: str) -> dict[str, str]:
    """Returns what a player of the suite has earned, "+0.1234 ± 0.0056", by opponent."""
    earned = measured()["games"].get(game, {"earned": {}})["earned"]
    return {against: _interval(*found) for against, found in earned.get(name, {}).items()}


@cache
def measured() -> Mapping[str, Any]:
    """Returns what the players of the suite have earned."""
    return json.loads(MEASURED.read_text(encoding="utf-8"))


def _measured(name: str, game: str) -> str:
    """Returns what a player of the suite has earned, and the command that measures it."""
    lines = measured_lines(name, game)
    if not lines:
        return NOT_MEASURED
    against = listed([f"{line} against {other}" for other, line in lines.items()])
    deals, seats = measured()["deals"], measured()["games"][game]["num_players"]
    exact = " --no-exact" if game == "byteskille" else ""  # which has nothing to do with these
    return (
        f"{against}; units per deal, {seats} seats, {deals:,} duplicate deals, 95% intervals "
        f"(kille evaluate {name} --game {game} --deals {deals} --play sampled{exact})"
    )


def _check_game(name: str, plays: str, game: str | None) -> None:
    if game not in (None, plays):
        raise PolicyError(f"{name} plays {plays}, not {game}")


def _baseline(name: str, game: str | None) -> About:
    if name == "uniform":
        what, made = "plays every legal action with the same probability", "nothing to make"
    else:
        what = rule_of_thumb_class(game).what if game else "plays by each game's rule of thumb"
        made = "hand-written and tuned by playing; its file gives the reasons"
    return About(name, what, made, _measured(name, game) if game else NOT_MEASURED)


def _library_model(path: Path) -> About:
    """Describes a model of Stable-Baselines3 by what can be read without loading it."""
    from kille_agents.sb3 import algorithm_of, read_plain

    steps = read_plain(path).get("num_timesteps")
    decisions = f", {steps:,} steps" if isinstance(steps, int) else ""
    return About(
        str(path),
        f"a model of Stable-Baselines3: {algorithm_of(path)}",
        f"trained with that library{decisions}; loading it can run code, so it needs --trust",
    )


def _tabular(name: str, file: Path, game: str | None) -> About:
    metadata = read_metadata(file)
    _check_game(name, metadata.game, game)
    made = ", ".join(f"{key} {_shown(value)}" for key, value in sorted(metadata.made.items()))
    solution = _beside(file, SOLUTION) if file.name == TABULAR else None
    nash_conv, strength = (solution or {}).get("nash_conv"), NOT_MEASURED
    if isinstance(nash_conv, float):
        strength = (
            f"NashConv {nash_conv:.2g} units, summed over seats, computed exactly "
            f"(measured when it was solved; kille evaluate {name})"
        )
    what = f"a tabular policy with every decision of {_at(name, metadata)}"
    return About(name, what, f"solved with kille solve: {made}" if made else "not said", strength)


def _network(name: str, path: Path, game: str | None) -> About:
    metadata, _, _ = read_network(path)
    _check_game(name, metadata.game, game)
    evaluation = _beside(path / SPECIFICATION if path.is_dir() else path, EVALUATION)
    return About(name, *_of_network(name, metadata), _evaluated(name, evaluation))


def _of_network(name: str, metadata: NetworkMetadata) -> tuple[str, str]:
    """Returns what a network is, and how it was made."""
    layers = listed([str(units) for units in metadata.layers])
    made = ", ".join(
        f"{key} {value if key == 'seed' else _shown(value)}"
        for key, value in metadata.made.items()
        if not isinstance(value, dict)
    )
    what = f"a network with layers of {layers} units ({metadata.activation})"
    return f"{what} for {_at(name, metadata)}", made or "not said"


def _trained(name: str) -> About:
    """Describes a network that comes with the suite, with what its card says."""
    metadata, _, _ = read_network(TRAINED[name])
    what, made = _of_network(name, metadata)
    card = cards()["games"][metadata.game]
    worst, least = weakest(card)
    strength = (
        f"{_measured(name, metadata.game)}; least against a held-out bot: {_interval(*least)}, "
        f"{worst}; exploitable by {exploitable(card)}; docs/trained.md has all figures"
    )
    return About(name, what, f"kille train {metadata.game}_trained: {made}", strength)


def weakest(card: Mapping[str, Any]) -> tuple[str, list[float]]:
    """Returns the held-out bot that a trained player beats by least, with what it earns there."""
    bots = [(name, found) for name, found in card["against"].items() if name != "rule_of_thumb"]
    return min(bots, key=lambda bot: bot[1])


def exploitable(card: Mapping[str, Any]) -> str:
    """Returns how exploitable a trained player is, as its card says."""
    if "nash_conv" in card:
        found = card["nash_conv"]["sampled"]
        seats = ", ".join(f"{stakes:.4f} with {seats}" for seats, stakes in found.items())
        return f"NashConv in stakes {seats} seats, exactly, in single deals"
    return f"{_interval(*card['response']['total'])} units, the sum over seats of what was learnt"


def _evaluated(name: str, evaluation: Mapping[str, Any] | None) -> str:
    """Returns what a run's policy earned when it was evaluated."""
    if evaluation is None:
        return NOT_MEASURED
    try:
        rows = [
            f"{_interval(*(row['estimate'][key] for key in ('mean', 'low', 'high')))} against "
            f"{row['against']} ({row['play']})"
            for row in evaluation["rows"]
        ]
        command = f"kille evaluate {name} --deals {evaluation['deals']}"
        measure = "match" if evaluation["rules"].get("episode") == "match" else "deal"
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise PolicyError(
            f"{EVALUATION} of {name} is broken ({type(error).__name__}: {error}); delete it and "
            "measure again"
        ) from None
    return (
        f"{listed(rows)}; units per {measure}, 95% intervals ({command})" if rows else NOT_MEASURED
    )


def _entry_point(name: str) -> About:
    """Describes an object of a module by its `about`, or the first paragraph of its docstring."""
    thing = find_object(name)
    made = f"your own code, the module {name.partition(':')[0]}"
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
        content = read_json(file)
        if not isinstance(content, dict):
            raise TypeError(f"it holds a {type(content).__name__}")
        return content
    except BROKEN as error:
        raise PolicyError(f"{file} is broken ({error}); delete it and measure again") from None


def _at(name: str, metadata: Metadata) -> str:
    """Returns the table that a saved policy was made for, in a few words."""
    try:
        rules = spec(metadata.game).resolve(metadata.rules)
    except RulesError as error:
        raise PolicyError(f"{name} was made for rules that do not exist here: {error}") from None
    played = getattr(metadata, "episodes", ()) or (rules["episode"],)
    episodes = " and ".join(EPISODES[episode] for episode in played)
    seats = f"{metadata.seats} {'seat' if metadata.seats == '1' else 'seats'}"
    return f"{episodes} of {metadata.game} with {seats}, preset {metadata.rules.get('preset')}"


def _shown(value: Any) -> str:
    """Returns a value for people: 16,900 or 1e-09, the rest as it is."""
    if type(value) is int:
        return f"{value:,}"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _interval(mean: float, low: float, high: float) -> str:
    return f"{mean:+.4f} ± {(high - low) / 2:.4f}"
