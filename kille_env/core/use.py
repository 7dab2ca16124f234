"""Who uses a batch: one thread at a time."""

from typing import NoReturn

from kille_env.errors import KilleError


class Use:
    """Whether a thread reads or writes tables just now; a context that refuses a second thread.

    Python switches threads at calls, so nothing comes between the question and the answer. A lock
    costs a twentieth of a step.
    """

    __slots__ = ("busy",)

    def __init__(self) -> None:
        """Starts unused."""
        self.busy = False

    def __enter__(self) -> None:
        """Begins to use the tables.

        Raises:
            KilleError: Another thread does.
        """
        if self.busy:
            self.refuse()
        self.busy = True

    def __exit__(self, *_: object) -> None:
        """Ends the use."""
        self.busy = False

    def refuse(self) -> NoReturn:
        """Raises the error about a second thread."""
        raise KilleError(
            "another thread is using this batch; give each thread its own, by Batch.clone()"
        )
