import re

import pytest
import yaml

from kille_env.errors import KilleError
from kille_training.arena import page as words
from kille_training.arena.page import write_tournament_page
from kille_training.arena.results import Standing
from kille_training.arena.settings import Folder, MatchmakingSettings, TournamentSettings
from kille_training.cli.main import main
from kille_training.settings import TableSettings


def play(folder, **changes):
    file = folder / "t.yaml"
    content = {
        "name": "t",
        "table": {"num_players": 3},
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
    assert main(["tournament", str(file), "--out", str(folder / "t")]) == 0
    return folder / "t"


def page_of(run):
    return write_tournament_page(Folder(run)).read_text(encoding="utf-8")


def standing(name, mean, best, worst, half=0.01):
    return Standing(1, best, worst, name, mean, half, 100, None)


def said(*rows):
    return words.verdict(rows, "units per deal")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A tournament that several tests read, with its page."""
    return play(tmp_path_factory.mktemp("page"))


def test_the_page_holds_every_entrant_and_nothing_from_elsewhere(run):
    page = (run / "report.html").read_text(encoding="utf-8")
    assert "<co>" not in page and "l&#39;uck &amp; &lt;co&gt;" in page
    assert "\x1b" not in page and "\\x1b" in page
    for heading in ("Crosstable</h2", "Ratings and places</summ"):
        assert f">{heading}" in page
    assert page.index('class="verdict') < page.index("<table")
    top = page[: page.index('class="verdict')]
    assert "Byteskille, 3 seats, single deals, preset svensk; 4 entrants, 40 deals." in top
    assert "Units depend on the field" in page
    assert "all lineups of different entrants of this field" in page
    assert "Table: byteskille, 3 seats, single deals, preset svensk." in page
    assert "Score: units per deal, beyond the table&#39;s mean." in page
    assert not re.search(r"(src|href)=\"(?!#)", page)
    assert "nan" not in re.sub(r"<svg.*?</svg>", "", page, flags=re.S).lower().split("settings")[0]


def test_the_verdict_says_who_is_best_or_who_cannot_be_told_apart():
    clear = said(standing("a", 0.3, 1, 1), standing("b", 0.1, 2, 3), standing("c", 0.0, 2, 3))
    assert clear.text == "a is best: +0.300 units per deal, clearly more than all 2 others."
    assert clear.tone == "better"
    tied = said(standing("a", 0.3, 1, 2), standing("b", 0.1, 1, 2), standing("c", 0.0, 3, 3))
    assert tied.text == (
        "No clear winner: a or b may be best; the other one is clearly behind some entrant."
    )
    assert not tied.tone
    nothing = said(standing("a", 0.3, 1, 2), standing("b", 0.1, 1, 2))
    assert nothing.text == "No clear winner: a and b cannot be told apart."
    many = said(*(standing(name, 0.1, 1, 7) for name in "abcdefg"))
    assert many.text == "No clear winner: none of the 7 entrants can be told apart."
    ahead = [standing(name, 0.1, 1, 5) for name in "abcde"]
    # The places of e overlap with those of g: nothing says that g earns less than e.
    ahead[-1] = standing("e", 0.1, 1, 7)
    overlapping = said(*ahead, standing("f", -0.1, 5, 7), standing("g", -0.1, 5, 7))
    assert overlapping.text == (
        "No clear winner: any of 5 entrants may be best; each of the others is clearly behind some "
        "entrant."
    )
    assert len(overlapping.text.split()) <= 20
    alone = said(standing("a", 0.3, 1, 1))
    assert "Fewer than two" in alone.text
    one_deal = said(standing("a", 0.3, 1, 1, None), standing("b", -0.3, 2, 2, None))
    assert one_deal.text == "a is best: +0.300 units per deal, clearly more than the other one."


def test_names_lose_the_game_before_them_unless_that_makes_two_alike():
    names = ["knack/a", "knack/b", "b", "byteskille/c"]
    assert words.short_names(names, "knack") == ["a", "knack/b", "b", "byteskille/c"]


@pytest.mark.parametrize(
    ("matchmaking", "meant"),
    [
        ({}, "all lineups of different entrants"),
        ({"fill": "copies"}, "tables of each entrant among copies of each other one"),
        ({"format": "gauntlet", "hero": "luck"}, "lineups of luck and others"),
        ({"format": "random", "lineups": 7}, "all lineups of different entrants"),
    ],
)
def test_it_says_what_intervals_hold(matchmaking, meant):
    settings = TournamentSettings(
        table=TableSettings(num_players=3, episode="match"),
        entrants={"rule": "rule_of_thumb", "luck": "uniform", "other": "uniform"},
        matchmaking=MatchmakingSettings(**matchmaking),
    )
    truth = words.truth(settings)
    assert meant in truth and "deal" not in truth, "matches were played"


def test_who_is_out_stands_on_the_page_with_the_reason(tmp_path):
    entrants = {"rule": "rule_of_thumb", "luck": "uniform", "bad": "training.bad_players:Raises"}
    run = play(tmp_path, table={"num_players": 2}, entrants=entrants)
    page = page_of(run)
    assert "Out of the tournament" in page
    assert re.search(r"<td class=\"name\">bad</td><td class=\"wrap whole\">.*Error", page)


def test_a_folder_without_results_has_no_page(tmp_path):
    with pytest.raises(KilleError):
        write_tournament_page(Folder(tmp_path))


def interrupted(tmp_path, monkeypatch, shards):
    """The folder of a tournament that was interrupted after so many shards of one deal."""

    def stop(self, job, parts, total):
        self.calls = getattr(self, "calls", -1) + 1
        if self.calls == shards:
            raise KeyboardInterrupt

    monkeypatch.setattr("kille_training.progress.Bars.__call__", stop)
    with pytest.raises(AssertionError):
        play(tmp_path, batch_tables=1, matchmaking={"deals": 2}, table={"num_players": 2})
    return tmp_path / "t"


def test_a_tournament_of_which_nothing_is_kept_has_no_page(tmp_path, monkeypatch):
    run = interrupted(tmp_path, monkeypatch, 0)
    with pytest.raises(KilleError, match="nothing has been played"):
        page_of(run)
    assert not (run / "report.html").exists()


def test_a_single_deal_has_no_interval(tmp_path, monkeypatch):
    page = page_of(interrupted(tmp_path, monkeypatch, 1))
    assert "no interval yet" in page and not re.search(r"[^a-z]nan[^a-z]", page)


def test_matches_are_matches(tmp_path):
    table = {"num_players": 2, "episode": "match"}
    run = play(tmp_path, table=table, matchmaking={"deals": 2})
    page = page_of(run)
    assert "over 2 matches" in page and not re.search("match[s]", page)
    shown = page.split("Settings: config.yaml")[0] + page.split('id="definitions">')[1]
    assert "units per match" in shown
    assert not re.findall(r".{40}\bdeals?\b.{9}", shown.split("<pre>")[0])
