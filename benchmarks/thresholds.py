"""Optimize the thresholds of Byteskille's rule of thumb: `python benchmarks/thresholds.py`.

For every table size, each seat once always stands and once always swaps on its own turn, over the
same deals and with all other decisions by the current thresholds. The gain of standing, summed over
cards from the top down, is largest at the best threshold. The tables converge in a few rounds, and
are printed in the format of `kille_agents/rules_of_thumb/byteskille.py`.
"""

import argparse
import sys

import numpy as np

from kille_agents.rules_of_thumb.byteskille import (
    ByteskilleRuleOfThumb,
    card,
    knows_a_lower,
    position,
)
from kille_env import make_batch
from kille_env.cards.pack import Kind
from kille_env.core.batch import Batch
from kille_env.games.byteskille.rules import Action

STAND, SWAP, ASK = (int(Action[name]) for name in ("STAND", "SWAP", "ASK"))


def play_both_ways(
    batch: Batch, policy: ByteskilleRuleOfThumb, seat: int, seeds: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Return a seat's gain of standing, [N], and its situation.

    That is its card (-1: no decision), whether it had received it by a swap, and the number of
    seats after it.
    """
    totals = []
    held = np.full((3, batch.num_tables), -1)
    for forced in (STAND, SWAP):
        batch.reset(seed=seeds, dealer=batch.num_players - 1)
        total = np.zeros(batch.num_tables)
        used = np.zeros(batch.num_tables, dtype=bool)
        while (batch.seat >= 0).any():
            live = batch.seat >= 0
            mask = batch.mask[live]
            mask[:, ASK] = 0  # a seat that would ask for better cards swaps
            actions = np.zeros(batch.num_tables, dtype=np.int64)
            actions[live] = policy.probabilities(batch.observation[live], mask).argmax(axis=1)
            seen = policy.see(batch.observation)
            free = (batch.seat == seat) & (batch.mask[:, STAND] == 1) & ~used
            free &= ~knows_a_lower(seen)
            used |= free
            held[0, free] = card(seen)[free]
            held[1, free] = 1 - seen["card_dealt"][free, 0].astype(int)
            held[2, free] = position(seen)[1][free]
            actions[free] = forced
            batch.step(actions)
            total += batch.reward[:, seat]
        totals.append(total)
    return totals[0] - totals[1], *held


def measure(num_players: int, deals: int, rounds: int, table: np.ndarray) -> None:
    """Improve the thresholds of one table size in place."""
    batch = make_batch("byteskille", deals, num_players, episode="deal", restart=False, seed=0)
    for number in range(rounds):
        gains = np.zeros((2, num_players, 21))
        seeds = np.arange(deals) + number * deals
        for seat in range(num_players):
            policy = ByteskilleRuleOfThumb(num_players, batch.rules, table)
            gain, held, taken, to_come = play_both_ways(batch, policy, seat, seeds)
            asked = held >= 0
            np.add.at(gains, (taken[asked], to_come[asked], held[asked]), gain[asked])
        from_the_top = np.cumsum(gains[:, :, Kind.GO :: -1], axis=2)[:, :, ::-1]
        table[:, num_players, :num_players] = from_the_top.argmax(axis=2)
        kille = np.round(gains[0, :, Kind.KI] / deals, 4)
        print(num_players, "kille", kille.tolist(), file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--deals", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--most", type=int, default=20, help="largest table")
    options = parser.parse_args()
    table = np.full((2, 21, 20), 7)
    for num_players in range(2, options.most + 1):
        measure(num_players, options.deals, options.rounds, table)
    for kind, name in enumerate(("DEALT", "TAKEN")):
        print(f"{name} = (")
        for num_players in range(2, options.most + 1):
            print(f"    {tuple(table[kind, num_players, :num_players].tolist())},")
        print(")")


if __name__ == "__main__":
    main()
