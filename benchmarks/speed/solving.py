"""Rows for growing and solving exact trees."""

from collections.abc import Iterator

from kille_env.registry import spec
from speed.rows import Row, row, seconds
from speed.training import random_network


def bench_solve(game: str, players: int, repeats: int) -> Iterator[Row]:
    """Exact trees of Byteskille: growing, solving a hand and a match, NashConv of a network.

    Whatever game and seats are asked for: there are trees of 2 to 4 seats of this one.
    """
    from kille_training.solving.build import build_deal
    from kille_training.solving.byteskille.match_solving import solve_match
    from kille_training.solving.byteskille.matches import build_match
    from kille_training.solving.policies import nash_conv
    from kille_training.solving.trees.cfr import CFR
    from kille_training.solving.trees.values import Tree

    def solve(tree: Tree, method: str, iterations: int, until: float) -> None:
        CFR(tree, method).run(iterations, until=until)

    for seats, part, promised in ((2, 1e-9, "2"), (3, 1e-6, "20"), (4, 1e-4, "180")):
        rules = spec("byteskille").resolve()
        deal = build_deal(seats, rules)  # each of these is compiled before it is timed
        yield row(f"tree of a deal, {seats} seats", seconds(repeats, build_deal, seats, rules), "s")
        stage = deal.stages[-1]
        target = part * float(stage.rules.number("stake"))
        for method in ("cfr+", "pcfr+", "dcfr"):
            solve(stage.tree, method, 1, 1e-300)
            spent = seconds(repeats, solve, stage.tree, method, 1_000_000, target)
            what = f"NashConv below {part:.0e} of the stake, {seats} seats, {method}"
            yield row(what, spent, "s", promised)
        network = random_network(seats, stage.rules)
        nash_conv(network, stage)
        what = f"nash_conv of a 64x64 network, {seats} seats, {len(deal.stages)} hands"
        spent = seconds(repeats, nash_conv, network, deal)
        yield row(what, spent, "s", {3: "0.5", 4: "10"}.get(seats, ""))
    solve_match(build_match(2))
    for seats in (2, 3):
        match = build_match(seats)
        spent = [solve_match(match).seconds for _ in range(repeats)]
        what = f"NashConv of a match below 1e-04 of the pot, {seats} seats"
        yield row(what, spent, "s", {3: "900"}.get(seats, ""))
