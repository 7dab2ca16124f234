"""Child processes of this Python: what they import, and how many threads they compute with."""

import os
import subprocess
import sys
from pathlib import Path
from typing import IO

ENVIRONMENT = {
    name: "1"
    for name in (
        "PYTHONUNBUFFERED",  # otherwise what a child has printed is lost when it is killed
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
        "NUMEXPR_NUM_THREADS",
        "NUMBA_NUM_THREADS",
    )
}


def start_child(
    module: str, *words: str, errors: IO[bytes] | None = None, folder: Path | None = None
) -> subprocess.Popen[bytes]:
    """Starts a module in a child process that imports from where this one does.

    It has pipes for standard input and output, one thread for arithmetic, and a session of its own,
    so Ctrl-C reaches only this process.

    Args:
        module: Its name.
        *words: Its arguments.
        errors: Where its standard error goes; None is where this process's does.
        folder: Its current folder; None is this process's.
    """
    paths = dict.fromkeys(str(Path(each).absolute()) for each in sys.path)
    return subprocess.Popen(
        [sys.executable, "-P", "-m", module, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        cwd=folder,
        env={**os.environ, **ENVIRONMENT, "PYTHONPATH": os.pathsep.join(paths)},
        start_new_session=True,
    )
