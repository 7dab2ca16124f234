"""Rows for training a network."""

from collections.abc import Iterator

from kille_agents.network import NetworkPolicy
from kille_env.core.spec import Rules
from kille_training.speed.rows import Row, row, seconds


def bench_train(game: str, players: int, repeats: int) -> Iterator[Row]:
    """MaskablePPO end to end on seat streams, 64x64 network, one thread."""
    from kille_training.learning.sb3 import make_model, update
    from kille_training.learning.settings import LearnerSettings, TableSettings, TrainSettings

    learner = LearnerSettings(num_tables=512, n_steps=32, batch_size=4096)
    runs = []
    for seed in range(min(repeats, 3)):
        settings = TrainSettings(seed=seed, table=TableSettings(game, players), learner=learner)
        model = make_model(settings, settings.table.resolve())
        _, *spent = seconds(9, update, model, learner, lambda: 1.0)  # the first one compiles
        runs.append(8 * 512 * 32 / sum(spent) / 1e3)
    yield row(f"MaskablePPO end to end, {players} seats, deals", runs, "k decisions/s", "45")


def random_network(seats: int, rules: Rules) -> NetworkPolicy:
    """Returns a network that has not learnt anything."""
    from kille_training.learning.sb3 import export, make_model
    from kille_training.learning.settings import TableSettings, TrainSettings

    settings = TrainSettings(table=TableSettings.of(rules, seats))
    return export(make_model(settings, rules), settings, rules, "random")
