"""One outside API a file: the games as other libraries expect them. No rules are in here.

    aec           PettingZoo: every seat an agent, one asked after the other
    gym           Gymnasium: one seat against given policies
    vector        the same for many tables at once, as a native vector environment
    sb3           Stable-Baselines3: one learner in a seat of each table, or in every seat
    sb3_buffer    the rollout buffer for the latter
    registration  Gymnasium's and PettingZoo's own registries
    streams       what the one-seat forms share: tables at which one seat is the outside's
    opponents     who sits in the other seats
    spaces        observation and action spaces of a game
    options       what several environments take as options

What they return is fresh: nothing that was handed out changes later.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kille_env.adapters.aec import KilleAEC


def make(name: str, num_players: int | None = None, **options: Any) -> "KilleAEC":
    """Makes a game as a PettingZoo AEC environment.

    Args:
        name: The game.
        num_players: Seats; None is the game's default.
        **options: `rules`, `episode`, `render_mode`, `eliminated`, `observation`, `illegal`,
            `illegal_reward` and `seed`, as `kille_env.adapters.aec.KilleAEC` explains them.

    Raises:
        UnknownGameError: No such game.
        RulesError: An option, switch or number of seats that does not exist.
    """
    from kille_env.adapters.aec import KilleAEC  # PettingZoo is loaded when it is needed

    return KilleAEC(name, num_players, **options)
