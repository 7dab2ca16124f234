"""The games as other libraries expect them, one outside API per file. No rules are in here.

    aec           PettingZoo: every seat is an agent, one asked after the other
    gym           Gymnasium: one seat against given policies
    vector        the same for many tables at once, as a native vector environment
    open_spiel    OpenSpiel: Python games, every card a chance node
    sb3           Stable-Baselines3: one learner in a seat of each table, or in every seat
    sb3_*         its parts
    text          language models: prompts, answers, and a function as a player
    registration  the games under other libraries' names: registries, byteskille_v0.env()
    spaces        observations of a game and their spaces
    rendering     `render`: text, a picture, a window

Returned arrays are fresh: they never change later.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kille_env.adapters.aec import KilleAEC


def make(name: str, num_players: int | None = None, **options: Any) -> "KilleAEC":
    """Make a game as a PettingZoo AEC environment.

    Example:
        >>> import kille_env
        >>> env = kille_env.make("byteskille", num_players=3, seed=7)
        >>> env.reset()
        >>> for agent in env.agent_iter():
        ...     observation, reward, terminated, truncated, info = env.last()
        ...     env.step(None if terminated or truncated else int(info["action_mask"].argmax()))
        >>> env.agents
        []

    Args:
        name: The game.
        num_players: Number of seats; None is the game's default.
        **options: `rules`, `episode`, `seed`, `render_mode`, `observation`, `illegal`,
            `illegal_reward`, `features` and `reward`; see `kille_env.adapters.aec.KilleAEC`.

    Raises:
        UnknownGameError: No such game.
        RulesError: An option, switch or number of seats that does not exist.
    """
    from kille_env.adapters.aec import KilleAEC  # PettingZoo is loaded when it is needed

    return KilleAEC(name, num_players, **options)
