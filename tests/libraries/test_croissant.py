# pyright: reportMissingImports=false
"""The description of the truth set is valid, and its index is read by it, without a network."""

import csv

import pytest

from reference.scripts import ROOT

mlcroissant = pytest.importorskip("mlcroissant", reason="pip install mlcroissant")
pytestmark = pytest.mark.filterwarnings("ignore")  # its own dependencies warn


def test_the_truth_set_is_read_by_its_description() -> None:
    found = mlcroissant.Dataset(jsonld=ROOT / "truth" / "croissant.json")
    assert not found.metadata.ctx.issues.errors
    with (ROOT / "truth" / "index.csv").open(encoding="utf-8", newline="") as lines:
        names = [row["name"] for row in csv.DictReader(lines)]
    assert [row["tables/name"].decode() for row in found.records("tables")] == names
