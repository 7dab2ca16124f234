"""The docs site: its links, its navigation, and the pages that are made of the code."""

import ast
import importlib.util
import json
import re
import sys
from dataclasses import fields
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("sb3_contrib")

from kille_training.cli.main import COMMANDS
from kille_training.learn.method import method_named, method_names
from reference.scripts import script
from test_public import KITS, ROOTS

ROOT = Path(__file__).parents[1]
stage = script("docs/website/stage.py")
made, notebook = sys.modules["made"], sys.modules["notebook"]


@pytest.fixture(scope="module")
def conf() -> ModuleType:
    return script("docs/website/conf.py")


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return made.pages()


def turned(text: str, page: str = "docs/games/knack.md") -> str:
    return stage.Links(stage.pages()).turned(text, page)


@pytest.mark.parametrize(
    ("page", "link", "on_the_site"),
    [
        ("docs/games/knack.md", "../players.md#names", "../players.md#names"),
        ("docs/games/knack.md", "../../CHANGELOG.md", "../changelog.md"),
        ("docs/games/knack.md", "../../README.md", "../index.md"),
        ("docs/games/knack.md", "#actions", "#actions"),
        ("docs/games/knack.md", "https://pettingzoo.farama.org/", "https://pettingzoo.farama.org/"),
        ("docs/README.md", "../notebooks/README.md", "notebooks/index.md"),
        ("docs/README.md", "web_table.png", "web_table.png"),
        ("docs/tournaments.md", "../notebooks/05_tournament.ipynb", "notebooks/05_tournament.md"),
        ("notebooks/README.md", "05_tournament.ipynb", "05_tournament.md"),
        ("agents/README.md", "../docs/learning.md", "learning.md"),
        ("docs/training.md", "../training/recipes/ppo.py", "source/training/recipes/ppo.py.md"),
        ("docs/training.md", "../training/recipes", "source/training/recipes/index.md"),
        ("docs/training.md", "../agents", "agents.md"),
    ],
)
def test_links_of_the_repository_lead_to_pages_of_the_site(page, link, on_the_site) -> None:
    assert turned(f"see [this]({link}).", page) == f"see [this]({on_the_site})."


def test_links_in_code_stay() -> None:
    text = "`[a](../players.md)`\n\n```python\nx = [f](../../README.md)\n```\n"
    assert turned(text) == text


def test_a_link_that_leads_nowhere_names_its_page() -> None:
    with pytest.raises(SystemExit, match=r"knack\.md links to docs/nowhere\.md"):
        turned("[x](../nowhere.md)")


def test_every_page_has_an_address_of_its_own(pages: dict[str, str]) -> None:
    places = [*stage.pages().values(), *pages]
    stage.check_addresses(places)
    for twice in ("search.md", "genindex.md", "players.md", "reference/commands.md"):
        with pytest.raises(SystemExit, match=f"land on {twice.removesuffix('.md')}"):
            stage.check_addresses([*places, twice])


def test_what_is_public_is_in_the_api() -> None:
    assert {name for _, _, modules in made.API.values() for name in modules} == {*ROOTS, *KITS}


def test_code_in_the_first_words_of_a_module_is_indented() -> None:
    names = [name for _, _, modules in made.API.values() for name in modules]
    for name in names:
        path = importlib.util.find_spec(name).origin
        words = ast.get_docstring(ast.parse(Path(path).read_text(encoding="utf-8"))) or ""
        assert not re.search(r"(?m)^[\w.]+ = ", words), name


def test_every_page_stands_in_the_navigation_once() -> None:
    first = (ROOT / "docs/README.md").read_text(encoding="utf-8")
    listed = [
        page for _, linked in stage.sections(turned(first, "docs/README.md")) for page in linked
    ]
    assert len(listed) == len(set(listed))
    below = [stage.ROOT / "notebooks"]
    expected = {
        place
        for page, place in stage.pages().items()
        if (stage.ROOT / page).parent not in below or page.endswith("README.md")
    }
    assert set(listed) == expected - {"index.md"}


def test_every_page_has_one_name() -> None:
    first = (ROOT / "docs/README.md").read_text(encoding="utf-8")
    listed = re.findall(r"(?m)^- \[(.+?)\]\((\S+\.md)\)", first)
    titles = {
        name: (ROOT / "docs" / page).read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
        for name, page in listed
    }
    assert titles == {name: name for name in titles}


def test_every_command_is_on_the_page_of_commands(pages: dict[str, str]) -> None:
    page = pages["reference/commands.md"]
    for name in COMMANDS:
        assert re.search(rf"(?m)^## kille {name}( |$)", page), name
    assert "--players INTEGER" in page


def test_every_setting_has_its_default_and_its_meaning(pages: dict[str, str]) -> None:
    page = pages["reference/settings.md"]
    for method in method_names():
        _, _, section = page.partition(f"\n## Method {method}\n")
        for field in fields(method_named(method).Settings):
            row = re.search(rf"(?m)^\| `learner\.{field.name}` \| (.+?) \| (.+) \|$", section)
            assert row is not None and row[2].strip(), (method, field.name)
    assert "| `learner.layers` | `[64, 64]` |" in page
    assert "| `learner.anneal` | `true` |" in page


def test_notebooks_show_code_and_outputs(tmp_path: Path) -> None:
    svg = ["<svg>\n", "\n", "  <rect/>\n", "</svg>"]
    cells = [
        {"cell_type": "markdown", "source": ["# Title"]},
        {
            "cell_type": "code",
            "source": ["print(1)\n", "2"],
            "outputs": [
                {"output_type": "stream", "text": ["1\n"]},
                {"output_type": "execute_result", "data": {"text/plain": ["2"]}},
                {"output_type": "display_data", "data": {"image/svg+xml": svg, "text/plain": "x"}},
            ],
        },
    ]
    path = tmp_path / "one.ipynb"
    path.write_text(json.dumps({"cells": cells}))
    assert notebook.page(path) == (
        "# Title\n\n```python\nprint(1)\n2\n```\n\n```text\n1\n```\n\n```text\n2\n```\n\n"
        '<div class="output">\n<svg>\n<rect/>\n</svg>\n</div>\n'
    )


def test_docstrings_keep_their_code_and_their_sizes(conf: ModuleType) -> None:
    lines = ["One.", "", "    x = 1", "", "    y = 2", "", "Args:", "    n: N.", "", "    m: M, or"]
    conf.mark_code(None, "", "", None, None, lines)
    begun = ["One.", "", ".. code-block:: default", "", "    x = 1", "", "    y = 2", ""]
    assert lines == [*begun, "Args:", "    n: N\\.", "", "    m: M, or"]
