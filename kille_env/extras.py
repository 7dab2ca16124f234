"""Optional libraries, and the extras of this distribution that bring them.

A module that imports one turns its absence into the line that installs it::

    with needs("openspiel"):
        import pyspiel
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
"""Every extra for users: its distributions, and the name under which each is imported."""

INSTALL = 'in your clone of kille-env, pip install ".[{}]"'
"""The line that installs an extra; of a published package `pip install "kille-env[{}]"`."""


def missing(error: ModuleNotFoundError, extra: str) -> MissingLibraryError:
    """Return the error for a missing library, with its user and the line that installs it."""
    modules = (frame.f_globals.get("__name__", "") for frame, _ in walk_tb(error.__traceback__))
    users = (name for name in modules if name.startswith("kille_") and name != __name__)
    *_, user = ("this", *users)
    return MissingLibraryError(
        f"{user} needs {error.name}, which is not installed: {INSTALL.format(extra)}",
        name=error.name,
    )


@contextmanager
def needs(extra: str) -> Iterator[None]:
    """Turn the absence of a library in this block into the line that installs the extra."""
    try:
        yield
    # A library inside of another one has named its own extra already.
    except MissingLibraryError:
        raise
    except ModuleNotFoundError as error:
        raise missing(error, extra) from error
