"""Libraries that only some uses need, and the extras of this distribution that bring them.

A module that imports one turns its absence into a sentence that says what to do::

    with needs("torchrl"):
        import torchrl
"""

from collections.abc import Iterator
from contextlib import contextmanager
from traceback import walk_tb

from kille_env.errors import MissingLibraryError

EXTRAS: dict[str, dict[str, str]] = {
    "measure": {
        "cloudpickle": "cloudpickle",
        "filelock": "filelock",
        "jinja2": "jinja2",
        "matplotlib": "matplotlib",
        "pandas": "pandas",
        "pydantic": "pydantic",
        "scipy": "scipy",
    },
    "train": {
        "sb3-contrib": "sb3_contrib",
        "stable-baselines3": "stable_baselines3",
        "tensorboard": "tensorboard",
        "torch": "torch",
    },
    "render": {"pygame": "pygame", "resvg-py": "resvg_py"},
    "web": {"jinja2": "jinja2", "starlette": "starlette", "uvicorn": "uvicorn"},
    "gpu": {"numba-cuda[cu13]": "numba_cuda"},
    "ray": {"ray": "ray"},
    "openspiel": {"open_spiel": "pyspiel", "dm-tree": "tree"},
}
"""Every extra for users: the distributions that it brings, and what each is imported as."""

INSTALL = 'in your clone of kille-env, pip install ".[{}]"'
"""What brings an extra; of a published package it is `pip install "kille-env[{}]"`."""


def missing(error: ModuleNotFoundError, extra: str) -> MissingLibraryError:
    """Returns the error to raise where an optional library is not installed.

    Args:
        error: What importing it raised, just caught.
        extra: The extra that brings it, a key of `EXTRAS`.

    Returns:
        An error that names the library, the module that needs it, and the line that installs it.
    """
    modules = (frame.f_globals.get("__name__", "") for frame, _ in walk_tb(error.__traceback__))
    users = (name for name in modules if name.startswith("kille_") and name != __name__)
    *_, user = ("this", *users)
    return MissingLibraryError(
        f"{user} needs {error.name}, which is not installed: {INSTALL.format(extra)}",
        name=error.name,
    )


@contextmanager
def needs(extra: str) -> Iterator[None]:
    """Turns the absence of a library that is imported in this block into the line to install it.

    Args:
        extra: The extra that brings it, a key of `EXTRAS`.

    Raises:
        MissingLibraryError: A library is not installed; of a module of ours that names another
            extra, that one's.
    """
    try:
        yield
    except MissingLibraryError:
        raise
    except ModuleNotFoundError as error:
        raise missing(error, extra) from error
