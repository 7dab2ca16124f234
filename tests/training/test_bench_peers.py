"""Other libraries beside this suite: what they are measured at, ratios and the table."""

import json

import pytest

from reference.scripts import script
from speed.libraries import BATCH, Work
from speed.peers import compared


@pytest.fixture(scope="module")
def page():
    return script("docs/performance.py")


def test_ratios_are_within_each_turn_and_not_of_the_medians() -> None:
    work = Work(BATCH, "Kuhn", "all", lambda: None)
    row = compared("Other", "1.0", work, [2e-6, 8e-6, 9e-6], [1e-6, 1e-6, 3e-6])
    assert row.what == "Other 1.0: Kuhn" and row.unit == "M decisions/s"
    assert row.value == pytest.approx(0.125) and row.high == pytest.approx(0.5)
    assert row.times == pytest.approx((3.0, 2.0, 8.0))


def _line(what: str, value: float, unit: str, times: list[float] | None) -> dict[str, object]:
    spread = {"low": value / 2, "high": value * 2}
    more = {"unit": unit, "target": "", "times": times, "includes": "everything"}
    return {"what": what, "value": value, **spread, **more}


def test_the_table_of_peers(page, tmp_path) -> None:
    rows = [
        _line("kille-env 1: byteskille", 12.5, "M decisions/s", None),
        _line("Other 2: `Kuhn`", 0.25, "M decisions/s", [50, 45, 1234]),
    ]
    file = tmp_path / "peers.json"
    file.write_text(json.dumps({"machine": {"cpu": "one"}, "rows": rows}))
    made = page.bench_table(file)
    assert "| **kille-env 1: byteskille** | 12.5 M decisions/s |  |  |" in made
    assert "| Other 2: `Kuhn` | 0.250 M decisions/s | 50.0 × | 45.0 to 1,234 |" in made
    assert made.endswith("Measured on: cpu one.")


def test_a_table_without_peers(page, tmp_path) -> None:
    row = _line("a step", 9.0, "µs", None)
    file = tmp_path / "step.json"
    file.write_text(json.dumps({"machine": dict.fromkeys(page.MACHINE, "one"), "rows": [row]}))
    assert "| a step | 9.00 | 4.50 to 18.0 | µs |" in page.bench_table(file)
