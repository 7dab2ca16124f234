"""Runs as they are named and measured, and learning to beat a policy."""

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from kille_agents.greedy import in_play
from kille_env.core import arguments
from kille_env.errors import ConfigError
from kille_env.files import write_whole
from kille_env.play.policy import PlayerLike, resolve
from kille_training import recipes
from kille_training.evaluation.api import evaluate
from kille_training.evaluation.results import Evaluation
from kille_training.labels import SEED
from kille_training.learn.checkpoints import decisions_of
from kille_training.learn.runs import Run
from kille_training.learn.settings import TrainSettings, load_settings
from kille_training.progress import Progress, part_of, shown
from kille_training.settings import Overrides
from kille_training.tables import RulesLike, seat

if TYPE_CHECKING:
    from kille_training.learn.best_response import Response


def best_response(
    policy: PlayerLike,
    game: str | None = None,
    num_players: int | None = None,
    *,
    rules: RulesLike = None,
    episode: str | None = None,
    decisions: int | None = None,
    seeds: int = 3,
    deals: int = 20_000,
    seed: int = SEED,
    play: str = "sampled",
    transfer: bool = False,
    trust: bool = False,
    progress: Progress | None = None,
) -> "Response":
    """Learns to beat a player that sits in all other seats, and measures by how much.

    Example:
        >>> import kille_training as kt
        >>> found = kt.best_response("uniform", "byteskille", 2, decisions=4_096, seeds=1, deals=9)
        >>> len(found.gains)
        2

    Args:
        policy: The player.
        game: The game; the default is the one that the policy was made for, or byteskille.
        num_players: Seats; the default is what the policy was made for, or the game's.
        rules: A preset or switches; likewise.
        episode: "deal" or "match"; likewise.
        decisions: Decisions of each learner; 400,000 by default.
        seeds: Learners; the best of them plays each position.
        deals: Deals that the gain is measured over; half as many choose the learners.
        seed: Seed of everything.
        play: "sampled" or "greedy": how the policy plays.
        transfer: Whether a policy that was made for another table may be measured at this one; the
            result says so.
        trust: Whether model files that can run code may be loaded.
        progress: Called with how far it is; None shows bars in terminals and notebooks.

    Returns:
        The gain by position: a lower bound on what can be gained.

    Raises:
        KilleError: There is no such player or table, or the options exclude each other.
    """
    from kille_training.learn.best_response import LEARNER, PARTS, Search, search_response

    deals = arguments.whole("deals", deals, 2)
    table, (policy,), transferred = seat(
        [policy], game, num_players, episode, rules, transfer=transfer, trust=trust
    )
    player = in_play(resolve(policy, table.game, table.num_players, table.rules, trust=trust), play)
    search = Search(
        learner=LEARNER if decisions is None else replace(LEARNER, decisions=decisions),
        seeds=seeds,
        choice_deals=max(2, deals // 2),
        deals=deals,
        seed=seed,
    )
    advance = part_of(shown(progress), "learning to respond", seeds * PARTS)
    found = search_response(player, table.num_players, table.rules, search, advance)
    return replace(found, transferred=next(iter(transferred.values()), None))


def open_run(
    config: str | Path | TrainSettings,
    *,
    out: str | Path | None = None,
    seed: int | None = None,
    set: Overrides = (),
) -> tuple[Run, TrainSettings | None]:
    """Returns a run and its settings, which are None for a run that is to be resumed.

    Arguments as for `train`.

    Raises:
        ConfigError: There is no such run, file or recipe, or the settings cannot be used.
    """
    if not isinstance(config, TrainSettings) and Path(config).is_dir():
        if out is not None or seed is not None or set:
            raise ConfigError(f"{config} is a run; it keeps its place, seed and settings")
        return Run(Path(config)), None
    settings = load_named(config, out=out, seed=seed, set=set)
    return Run(Path("runs") / settings.name if out is None else Path(out)), settings


def load_named(
    config: str | Path | TrainSettings,
    *,
    out: str | Path | None = None,
    seed: int | None = None,
    set: Overrides = (),
) -> TrainSettings:
    """Returns the settings in a file or recipe, named after the folder that they are for.

    Raises:
        ConfigError: There is none, or it cannot be used.
    """
    if isinstance(config, TrainSettings):
        return config
    path = recipes.find(config, "train")
    if path.is_dir():
        raise ConfigError(f"{path} is a folder; name a recipe or a file of settings")
    name = None if out is None else Path(out).resolve().name
    return load_settings(path, set, name=name, seed=seed)


def unfinished(run: Run) -> str | None:
    """Return a sentence if a run has not made all its decisions; None if it has, or is no run."""
    if not run.config.is_file():
        return None
    done, total = decisions_of(run.checkpoint), run.settings().total
    if done >= total:
        return None
    return (
        f"{run.folder} has made {done:,} of {total:,} decisions; finish it first: "
        f"kille train {run.folder}"
    )


def measure_run(run: Run, progress: Progress | None = None) -> Evaluation:
    """Measures the policy of a finished run, once: later calls read what was found.

    Raises:
        ConfigError: The run is not finished, or its evaluation.json is damaged.
    """
    settings, found = run.settings(), run.read_evaluation()
    if found is not None:
        kept, wanted = (
            (found.deals, found.seed),
            (settings.measure.final_deals, settings.measure.seed),
        )
        if kept != wanted:
            raise ConfigError(
                f"{run.evaluation} was measured over {kept[0]:,} deals of seed {kept[1]}, and "
                f"measure.final_deals and measure.seed are {wanted[0]:,} and {wanted[1]} now; "
                "delete it to measure again, or set them back"
            )
        return found
    if said := unfinished(run):
        raise ConfigError(said)
    table, measure = settings.table, settings.measure
    found = evaluate(
        run.folder, table.game, table.num_players, rules=table.resolve(), episode=table.episode,
        baselines=measure.baselines, deals=measure.final_deals, seed=measure.seed,
        progress=progress,
    )  # fmt: skip
    write_whole(run.evaluation, (json.dumps(found.as_dict(), indent=1) + "\n").encode())
    return found
