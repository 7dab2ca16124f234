"""How long a picture takes: `python benchmarks/rendering.py`.

Plays deals of each game in the environment of Gymnasium, against the rule of thumb, and draws the
table after every step. Prints the medians and the 95th percentiles, in milliseconds, of `render` in
the mode "rgb_array"; the first pictures, for which every drawing is made, count as well.
"""

import argparse
import time

import numpy as np

import kille_env
from kille_env.adapters.gym import KilleEnv
from markdown_tables import table


def milliseconds(game: str, seats: int, pictures: int) -> np.ndarray:
    """Returns how long each picture of a seat's view took."""
    env = KilleEnv(game, seats, render_mode="rgb_array", seat=0)
    rng = np.random.default_rng(1)
    _, info = env.reset(seed=1)
    taken = []
    while len(taken) < pictures:
        began = time.perf_counter()
        env.render()
        taken.append(1000 * (time.perf_counter() - began))
        action = rng.choice(np.flatnonzero(info["action_mask"]))
        _, _, terminated, truncated, info = env.step(action)
        if terminated or truncated:
            _, info = env.reset()
    return np.array(taken)


def main() -> None:
    """Prints a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures", type=int, default=200)
    options = parser.parse_args()
    rows = []
    for game in kille_env.list_games():
        for seats in sorted({2, 4, kille_env.spec(game).max_players}):
            taken = milliseconds(game, seats, options.pictures)
            rows.append((game, seats, *(f"{np.percentile(taken, q):.1f}" for q in (50, 95))))
    print(table(("game", "seats", "median ms", "95th percentile"), rows))


if __name__ == "__main__":
    main()
