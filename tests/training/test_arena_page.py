import json
import re
import shutil
import sqlite3

import numpy as np
import pytest
import yaml

from kille_env.errors import KilleError
from kille_training.arena.exact import exact_units
from kille_training.arena.store import Store
from kille_training.arena.tournament import Folder
from kille_training.cli.main import main
from kille_training.reports.tournament import write_tournament_page
from kille_training.statistics.intervals import units


def play(folder, **changes):
    file = folder / "t.yaml"
    content = {
        "name": "t",
        "table": {"num_players": [2, 3]},
        "entrants": {
            "rule": "rule_of_thumb",
            "l'uck & <co>": "uniform",
            "bold": {"player": "uniform", "play": "greedy"},
            "more\x1b]0;": "uniform",
        },
        "matchmaking": {"deals": 40},
        "workers": 0,
    }
    file.write_text(yaml.safe_dump({**content, **changes}))
    assert main(["tournament", str(file), "--out", str(folder / "runs")]) == 0
    return folder / "runs" / "t"


def page_of(run):
    return write_tournament_page(Folder(run)).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A tournament that several tests read, with its page."""
    folder = play(tmp_path_factory.mktemp("page"))
    assert main(["report", str(folder)]) == 0
    return folder


def test_the_page_holds_every_entrant_and_nothing_from_elsewhere(run):
    page = (run / "report.html").read_text(encoding="utf-8")
    assert "<co>" not in page and "l&#39;uck &amp; &lt;co&gt;" in page
    assert "\x1b" not in page and "\\x1b" in page
    for heading in ("2 seats", "3 seats", "Crosstable", "Ratings", "Places", "Votes"):
        assert f">{heading}</h" in page
    assert page.index("earns most") < page.index('href="#seats-2"') < page.index("<table")
    assert page.index('id="definitions"') > page.rindex("<svg")
    assert "Rating over table size" in page and "How the intervals narrow" in page
    assert not re.search(r"(src|href)=\"(?!#)", page)
    assert "nan" not in re.sub(r"<svg.*?</svg>", "", page, flags=re.S).lower().split("settings")[0]


def test_a_cell_names_a_command_that_plays_it_again(run, capsys, monkeypatch):
    page = (run / "report.html").read_text(encoding="utf-8")
    assert "kille tournament runs/t --cell rule bold" in page
    monkeypatch.chdir(run.parents[1])
    assert main(["tournament", "runs/t", "--cell", "rule", "bold"]) == 0
    shown = capsys.readouterr().out
    assert shown.count("bit for bit") == 2
    for seats in (2, 3):
        part = page.split(f'id="seats-{seats}"')[1]
        mean = re.search(r"rule where bold sits: ([+-][\d.]+) ", part)[1]
        assert mean in shown


def test_the_same_play_gives_the_same_bytes(run, tmp_path):
    theirs = page_of(play(tmp_path, batch_tables=32))
    page = (run / "report.html").read_bytes()
    assert theirs.replace("batch_tables: 32", "batch_tables: 16384").encode() == page


def test_who_is_out_stands_on_the_page_with_the_reason(tmp_path):
    entrants = {
        "rule": "rule_of_thumb",
        "luck": "uniform",
        "bad": "training.bad_players:Raises",
    }
    run = play(tmp_path, table={"num_players": [2]}, entrants=entrants)
    page = page_of(run)
    assert "Out of the tournament" in page
    assert re.search(r"<td class=\"name\">bad</td><td class=\"wrap\">.*Error", page)


def test_a_folder_without_results_has_no_page(tmp_path):
    with pytest.raises(KilleError):
        write_tournament_page(Folder(tmp_path))


def test_a_tournament_of_which_nothing_is_kept_has_no_page(run, tmp_path, capsys):
    run = shutil.copytree(run, tmp_path / "t")
    (run / "report.html").unlink()
    with sqlite3.connect(run / "results.sqlite") as file:
        file.execute("DELETE FROM results")
    assert main(["report", str(run)]) == 1
    assert "nothing has been played" in capsys.readouterr().err
    assert not (run / "report.html").exists()


def test_a_single_deal_has_no_interval(tmp_path, capsys):
    run = play(tmp_path, batch_tables=1, matchmaking={"deals": 2})
    with sqlite3.connect(run / "results.sqlite") as file:
        file.execute("DELETE FROM results WHERE first_deal > 0")
    page = page_of(run)
    capsys.readouterr()
    assert "no interval yet" in page and not re.search(r"[^a-z]nan[^a-z]", page)
    assert main(["tournament", str(run), "--cell", "rule", "more\x1b]0;", "--json"]) == 0
    cells = json.loads(capsys.readouterr().out)["cells"]
    assert [(cell["deals"], cell["half"], cell["same"]) for cell in cells] == [(1, None, True)] * 2
    assert main(["tournament", str(run), "--cell", "rule", "more\x1b]0;"]) == 0
    assert "nan" not in capsys.readouterr().out


def test_matches_are_matches(tmp_path):
    table = {"num_players": [2], "episode": "match"}
    run = play(tmp_path, table=table, matchmaking={"deals": 2})
    page = page_of(run)
    assert "over 2 matches" in page and not re.search("match[s]", page)


def test_what_is_expected_exactly_is_what_was_measured_but_for_luck(tmp_path):
    entrants = {
        "rule": "rule_of_thumb",
        "luck": "uniform",
        "tipsy": "byteskille/tipsy",
        "bold": {"player": "byteskille/tipsy", "play": "greedy"},
    }
    table = {"num_players": [2, 3], "rules": {"fraga": "off"}}
    run = play(tmp_path, table=table, entrants=entrants, matchmaking={"deals": 1500})
    folder = Folder(run)
    with Store(folder.results, readonly=True) as store:
        kept, found = store.entrants(), store.observations()
    for seats in (2, 3):
        exact = exact_units(found[seats], kept, folder.settings())
        measured = units(found[seats], len(kept))
        assert abs(exact.sum()) < 1e-9  # all met equally often
        assert (np.abs(exact - measured.mean) < 4 * measured.error).all()
        assert measured.error.max() < 0.03 < np.abs(exact).max()
    assert main(["report", str(folder.path), "--exact"]) == 0
    page = folder.report.read_text(encoding="utf-8")
    assert page.count(">exactly</th>") == 2 and f"{exact[0]:+.4f}" in page


def test_where_nothing_is_exact_it_says_why(tmp_path, capsys):
    table = {"game": "knack", "num_players": [2]}
    run = play(tmp_path, table=table, matchmaking={"deals": 5})
    assert main(["report", str(run), "--exact"]) == 1
    assert "there is no exact tree of knack" in capsys.readouterr().err
