"""Describe the truth set in the Croissant 1.0 format: the files with their digests, the index."""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import kille_env

HERE = Path(__file__).resolve().parent
WORDS = (
    "citeAs", "column", "equivalentProperty", "extract", "field", "fileObject", "fileProperty",
    "fileSet", "format", "includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField",
    "path", "recordSet", "references", "regex", "repeated", "replace", "samplingRate", "separator",
    "source", "subField", "transform",
)  # fmt: skip
NAMES = {
    "cr": "http://mlcommons.org/croissant/",
    "sc": "https://schema.org/",
    "dct": "http://purl.org/dc/terms/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "conformsTo": "dct:conformsTo",
    **{word: f"cr:{word}" for word in WORDS},
    "data": {"@id": "cr:data", "@type": "@json"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
}
"""What the words of a description stand for."""
FORMATS = {
    ".csv": "text/csv", ".npz": "application/zip", ".gz": "application/gzip",
    ".py": "text/x-python",
}  # fmt: skip
COLUMNS = {
    "name": "Name of the table, and of its folder.",
    "game": "Game of this suite, or kuhn or leduc.",
    "seats": "Number of seats, P.",
    "rules": "Preset and switches of the game, as JSON.",
    "cards": "Types of the only cards, each twice; empty for the pack of the rules.",
    "hands": "Hands of a deal, each a tree; of a pot their expected number.",
    "deals": "Distinct ways to deal the first hand.",
    "information_sets": "Information sets of the first hand; of a pot those of all hands.",
    "ends": "Terminal nodes of the first hand, those with equal sequences merged.",
    "values": "Earnings of each seat under the solution, forehand first, in units.",
    "nash_conv": "NashConv of the solution over all hands, in units.",
    "certified": "The same in exact fractions by check.py; empty without certificate.",
    "uniform": "NashConv of uniform play.",
    "greedy": "NashConv of the greedy version of the solution: the value of mixing.",
    "runs": "Runs of other methods and starts that came close to an equilibrium.",
    "apart": "Largest difference of a seat's value between these.",
    "agreed": "Least joint gain of the best pair of seats that agreed on a plan beforehand.",
    "sharing": "Joint gain of the best pair of seats that see each other's cards.",
    "coarse": "Gap of the history of CFR to a coarse correlated equilibrium.",
    "iterations": "Iterations of the solver in all hands.",
    "seconds": "Seconds to make the table, all measures included.",
    "gib": "Peak memory in GiB.",
    "bytes": "Size of table.npz; empty if the file is not in the repository.",
    "digest": "SHA-256 of the arrays of game and solution as the suite holds them, "
    "kt.load_tree(name).digest; of the largest tables that of the game alone.",
}
"""Columns of the index and what they hold."""
WHOLE = ("seats", "deals", "information_sets", "ends", "iterations", "seconds", "bytes")
"""Columns of whole numbers."""
REAL = ("hands", "nash_conv", "uniform", "greedy", "apart", "agreed", "sharing", "coarse", "gib")
"""Columns of other numbers."""
TOOLS = ("reader.py", "check.py")
"""Files that read the set."""


def described(names: Sequence[str]) -> dict[str, Any]:
    """Return the description of the set as JSON-LD."""
    folders = [HERE / name for name in names]
    files = [HERE / name for name in ("index.csv", *TOOLS)]
    files += [file for folder in folders for file in sorted(folder.iterdir())]
    return {
        "@context": {"@language": "en", "@vocab": "https://schema.org/", **NAMES},
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": "kille-truth-set",
        "description": "Card games with two to five seats as trees in sequence form, with "
        "equilibria, exact values and exact NashConv.",
        "citeAs": f"The kille-env authors: The truth set of kille-env {kille_env.__version__}",
        "license": "https://spdx.org/licenses/MIT.html",
        "version": kille_env.__version__,
        "distribution": [file_object(file) for file in files],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": "tables",
                "name": "tables",
                "description": "One record for each table.",
                "key": {"@id": "tables/name"},
                "field": [column(name) for name in COLUMNS],
            }
        ],
    }


def file_object(file: Path) -> dict[str, str]:
    """Return a file with its digest."""
    path = file.relative_to(HERE).as_posix()
    return {
        "@type": "cr:FileObject",
        "@id": path,
        "name": path,
        "contentUrl": path,
        "encodingFormat": FORMATS.get(file.suffix, "text/plain"),
        "sha256": sha256(file.read_bytes()).hexdigest(),
    }


def column(name: str) -> dict[str, Any]:
    """Return a column of the index."""
    kind = "Integer" if name in WHOLE else "Float" if name in REAL else "Text"
    return {
        "@type": "cr:Field",
        "@id": f"tables/{name}",
        "name": name,
        "description": COLUMNS[name],
        "dataType": f"sc:{kind}",
        "source": {"fileObject": {"@id": "index.csv"}, "extract": {"column": name}},
    }
