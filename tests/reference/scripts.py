"""Scripts that lie in no package, as modules."""

import importlib.util
import sys
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
