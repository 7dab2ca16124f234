"""The docs are true: tables and pictures are fresh, players play, links lead somewhere."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import kille_env
from kille_env.core.spec import width
from reference.documented import PAGES, ROOT, blocks, named
from reference.scripts import script

MAKERS = script("docs/pages.py")


@pytest.mark.parametrize("name", MAKERS.MAKERS)
def test_what_scripts_write_is_fresh(name: str) -> None:
    for path, content in MAKERS.built(name).items():
        assert path.read_text(encoding="utf-8") == content, f"{path} is stale; run make docs"
    for figure in getattr(sys.modules[name], "FIGURES", ()):
        assert figure.is_file()


def test_every_block_of_a_page_is_made_and_has_a_place(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- begin one -->\nold\n<!-- end one -->\n")
    filled = MAKERS.filled
    assert "\n\nnew\n\n" in filled(page, {"one": lambda: "new"})
    for wrong in ({}, {"one": str, "other": str}):
        with pytest.raises(KeyError):
            filled(page, wrong)


BANNED = (
    r"\b(he|his|him|himself|likeliest|can not|sceptical|no dice|stints?)\b"
    r"|\bby its odds\b|\bgone on with\b"
)
"""Words that our texts do without: a policy, bot or seat is "it", people are "they"."""
SOURCES = [
    path
    for folder in (
        "kille_env",
        "agents/kille_agents",
        "training/kille_training",
        "configs",
        "notebooks",
    )
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in (".py", ".j2", ".yaml", ".ipynb")
]
QUOTES = (
    "If he has an equal or higher card he plays the lowest of them. If he does not, he plays",
)
"""What our sources say, in their words."""


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_pages_are_in_plain_english(page: Path) -> None:
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    found = re.finditer(rf"{BANNED}|\bargmax\b|\bworlds?\b|\d %", text, re.IGNORECASE)
    assert not (words := sorted({match[0] for match in found})), words


def test_texts_of_the_packages_are_in_plain_english() -> None:
    found = []
    for path in SOURCES:
        text = re.sub(r'"image/png": ".*"', "", path.read_text(encoding="utf-8"))
        for quote in QUOTES:
            text = text.replace(quote, "")
        for match in re.finditer(BANNED, text, re.IGNORECASE):
            line = text.count("\n", 0, match.start()) + 1
            found.append(f"{path.relative_to(ROOT)}:{line}: {match[0]}")
    assert not found


@pytest.mark.compiled
def test_the_players_on_the_players_page_play() -> None:
    import numpy as np

    page = ROOT / "docs" / "players.md"
    (snippet,) = [block.text for block in blocks(page) if block.language == "python"]
    names: dict[str, Any] = {}
    exec(compile(snippet, page, "exec"), names)
    batch = kille_env.make_batch("knack", 16, 3, episode="deal", seed=1, restart=False)
    batch.reset()
    player = names["Folder"](3, batch.rules)
    chances = player.probabilities(batch.observation, batch.mask)
    assert [batch.action_text(int(row.argmax())) for row in chances] == ["fold"] * 16
    assert np.allclose(chances.sum(axis=1), 1.0)
    careful = names["careful"](batch.observation, batch.mask)
    assert np.allclose(careful[careful > 0], 0.5)


@pytest.mark.parametrize("game", kille_env.list_games())
def test_formulas_of_the_layout_hold_for_all_tables(game: str) -> None:
    spec = kille_env.spec(game)
    for layout in (spec.observation, spec.information_state, spec.full_state):
        rows = script("docs/tables.py").layout_table(layout, (2, 3)).splitlines()[2:]
        for seats in range(spec.min_players, spec.max_players + 1):
            for row, part in zip(rows, layout(seats), strict=True):
                offset, size = (cell.strip() for cell in row.split("|")[1:3])
                assert _evaluate(offset, seats) == part.offset
                assert _evaluate(size, seats) == part.size


def _evaluate(formula: str, seats: int) -> int:
    """Return the value of "102 + 2P"."""
    total = 0
    for term in formula.split(" + "):
        total += int(term.removesuffix("P") or 1) * (seats if term.endswith("P") else 1)
    return total


@pytest.mark.parametrize("game", kille_env.list_games())
def test_actions_on_the_page_are_the_specs(game: str) -> None:
    """A row is an action, or the first and the last of several: "| 3-23 | `play BL` ... |"."""
    text = (ROOT / "docs" / "games" / f"{game}.md").read_text(encoding="utf-8")
    actions, told = kille_env.spec(game).actions, 0
    for first, last, names in re.findall(r"^\| (\d+)(?:–(\d+))? \| (`.*?`) \|", text, re.MULTILINE):
        end = int(last or first)
        assert int(first) == told
        assert re.findall("`(.*?)`", names) == [actions[i] for i in sorted({told, end})]
        told = end + 1
    assert told == len(actions)


@pytest.mark.parametrize("game", kille_env.list_games())
def test_every_decision_is_explained_with_its_switch(game: str) -> None:
    text = (ROOT / "docs" / "games" / f"{game}.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| (D-[A-Z]\d\d) \|.*\| (.*?) \|$", text, flags=re.MULTILINE))
    assert rows
    letter = next(iter(rows))[:3]
    assert list(rows) == [f"{letter}{number + 1:02}" for number in range(len(rows))]
    named: dict[str, set[str]] = {number: set() for number in rows}
    for switch in kille_env.spec(game).switches:
        for number in switch.decision.split():
            named[number].add(switch.name)
    for number, names in named.items():
        assert set(re.findall(r"`(\w+)`", rows[number])) == names, number


@pytest.mark.parametrize("game", kille_env.list_games())
def test_the_readmes_row_of_a_game_is_the_specs(game: str) -> None:
    spec = kille_env.spec(game)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (row,) = re.findall(
        rf"^\| \[`{game}`\]\(docs/games/{game}.md\) \| (.*) \|$", text, flags=re.MULTILINE
    )
    _, players, actions, features = row.split(" | ")
    assert players == f"{spec.min_players} to {spec.max_players}"
    assert (int(actions), int(features)) == (spec.num_actions, width(spec.observation(4)))


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https:)([^)#\s]+)(?:#[\w-]*)?\)", text):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_page_about_python_names_everything() -> None:
    import kille_training

    text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    assert all(f"`kt.{name}`" in text for name in kille_training.__all__)


@pytest.mark.compiled
def test_the_game_that_is_made_to_be_copied_keeps_the_contract(hogkort: str) -> None:
    kille_env.testing.check_game(hogkort, decisions=200)


def test_the_map_of_swaps_says_what_the_solution_does() -> None:
    swaps = [
        [code for code, choice in row.items() if choice == "swap"]
        for row in script("docs/pictures.py").choices().values()
    ]
    codes = list(kille_env.spec("byteskille").pack.codes)
    assert swaps == [[*codes[:count], "KI"] for count in (7, 8, 9)]


def test_make_help_lists_the_verbs() -> None:
    shown = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    tests = {"test", "test-nojit", "test-bounds", "lint", "types", "imports", "wheel"}
    for verb in {"setup", "demo", "bench", "docs", "fmt"} | tests:
        assert re.search(rf"make {verb} ", shown.stdout), verb
