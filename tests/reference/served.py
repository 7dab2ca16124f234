"""A server of the table beside the test's thread."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kille_env.errors import KilleError
from kille_training.table import server


@contextmanager
def served(
    keep: Path | None = None, port: int = 0, heartbeat: float = 15.0
) -> Iterator[tuple[str, server.House]]:
    """Run a server; yields its address and its house, which has the token."""
    house, up = server.House(keep, "kille_test"), threading.Event()
    house.heartbeat = heartbeat
    listening = server.listen(port)
    running = server.Server(server.application(house), up.set, house.close)
    thread = threading.Thread(target=running.run, args=([listening],), daemon=True)
    thread.start()
    if not up.wait(120):
        raise KilleError("the server did not start within 120 s; the log above says why")
    yield server.address_of(listening), house
    running.should_exit = True
    thread.join(20)
    listening.close()
