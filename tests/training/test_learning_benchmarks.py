"""The benchmarks of learning: files of runs, and the page made of them."""

import sys
from dataclasses import replace

import pytest

pytest.importorskip("sb3_contrib")

from kille_env.errors import ConfigError
from reference.scripts import script


@pytest.fixture(scope="module")
def journal():
    return script("benchmarks/journal.py")


def test_a_journal_resumes_after_it_was_cut_off(journal, tiny, tmp_path, monkeypatch, capsys):
    path, settings = tmp_path / "runs" / "some.jsonl", tiny()
    cases = lambda seeds: [({"seed": seed}, settings) for seed in range(1, seeds + 1)]  # noqa: E731
    measure = lambda key, settings: {"found": key["seed"] ** 2}  # noqa: E731
    monkeypatch.setattr(sys, "argv", ["x", "--seeds", "2", "--out", str(path)])
    journal.make_runs("", "some", cases, measure)
    assert '{"found": 4}' in capsys.readouterr().out
    path.write_text(path.read_text() + '{"seed": 3, "sett')
    monkeypatch.setattr(sys, "argv", ["x", "--seeds", "3", "--out", str(path)])
    journal.make_runs("", "some", cases, measure)
    assert [line["found"] for line in journal.Journal(path).lines] == [1, 4, 9]
    assert capsys.readouterr().out.count("found") == 1
    with pytest.raises(ConfigError, match=r"holds the run .'seed': 2. with other settings"):
        journal.Journal(path).has({"seed": 2}, replace(settings, seed=3))


def test_a_small_table_is_a_run_with_exact_points(tiny, tmp_path):
    import kille_training as kt
    from kille_training.learn.grid import Item

    curves = script("benchmarks/small_curves.py")
    assert len(curves.items()) == 40 and len({item.folder for item in curves.items()}) == 40
    measure = replace(curves.MEASURE, every=256, final_deals=2)
    settings = replace(tiny(table={"rules": {"preset": "svensk", "fraga": "off"}}), measure=measure)
    kt.train(settings, out=tmp_path / "run")
    line = curves.line_of(Item(tmp_path / "run", settings))
    assert [point["decisions"] for point in line["points"]] == [256, 512]
    assert all(0 < point["sampled"][0] < 4 for point in line["points"])
    assert line["baselines"]["uniform"] > line["baselines"]["rule_of_thumb"]


def test_the_figures_come_from_the_results():
    page = script("docs/learning.py")
    lines = page.results("calibration")
    drawn = page.calibration_figure(lines)
    assert drawn.startswith("<svg") and drawn == page.calibration_figure(lines)
    assert drawn != page.calibration_figure(lines[:-1])
