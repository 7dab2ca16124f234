"""What two of three seats gain that share what they know: `python benchmarks/collusion.py`.

Prints a table in Markdown, in units per deal; nothing is sampled.
"""

from itertools import combinations

from kille_agents.catalog import load_policy, rule_of_thumb
from kille_env.play.policy import UniformPolicy
from kille_env.registry import spec
from kille_training.evaluation.collusion import exact_collusion
from kille_training.solving.grow import build_deal
from markdown_tables import table

SEATS = 3


def main() -> None:
    """Print what two of three seats gain that share what they know."""
    rules = spec("byteskille").resolve({"episode": "deal"})
    deal = build_deal(SEATS, rules)
    players = [
        UniformPolicy(),
        rule_of_thumb(SEATS, rules),
        load_policy("byteskille/solved", "byteskille", SEATS, rules),
    ]
    rows = []
    for player in players:
        for seats in combinations(range(SEATS), 2):
            found = exact_collusion(player, seats, SEATS, rules, deal=deal)
            told = (found.own, found.selfish, found.agreed, found.shared)
            where = " and ".join(("forehand", "middle", "dealer")[seat] for seat in seats)
            gains = (f"{found.gain:.4f}", f"{found.from_sharing:.4f}")
            rows.append([player.name, where, *(f"{value:+.4f}" for value in told), *gains])
    head = ["players", "colluding", "own", "selfish", "agreed", "shared", "gain", "from sharing"]
    print(table(head, rows), "\n")


if __name__ == "__main__":
    main()
