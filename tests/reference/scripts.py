"""Scripts that lie in no package, as modules, and code in a process of its own."""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def script(name: str) -> Any:
    """Return a script, named by its path from the root, as a module of its own name."""
    path = ROOT / name
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))  # of what scripts of a folder share
    described = importlib.util.spec_from_file_location(path.stem, path)
    assert described is not None and described.loader is not None
    module = importlib.util.module_from_spec(described)
    sys.modules[described.name] = module
    described.loader.exec_module(module)
    return module


BLOCKED = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Blocked())
"""


def printed(
    code: str, *words: object, without: Collection[str] = (), cwd: Path | None = None, **env: str
) -> str:
    """Return what Python code prints in a process of its own, as if libraries were missing."""
    code = BLOCKED.format(without) + code if without else code
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, words)],
        capture_output=True, text=True, cwd=cwd, env={**os.environ, **env},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout
