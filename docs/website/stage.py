"""Stage the pages of the site: those of the repository, and those generated from code.

`make site` runs it, and then Sphinx on its output. Links between pages of the repository become
links between pages of the site. `docs/README.md` is the first page, and its sections and lists are
the site's navigation.
"""

import posixpath
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

import made
import notebook

ROOT = Path(__file__).parents[2]
FIRST = "docs/README.md"
OTHERS = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "RELEASING.md": "releasing.md",
    "CODE_OF_CONDUCT.md": "code_of_conduct.md",
    "SECURITY.md": "security.md",
    "agents/README.md": "agents.md",
    "notebooks/README.md": "notebooks/index.md",
}
"""Pages of the repository outside docs/ with their places in the site, which has its own first
page."""
MADE_IN = "Reference"
"""The section that begins with the generated pages."""
BELOW = {"notebooks/index.md": "[0-9]*"}
"""Pages with subpages in the navigation, and the subpages' titles."""
WRITTEN_BY_SPHINX = ("genindex", "py-modindex", "search", "_modules/index")
"""Addresses of pages written by Sphinx itself."""
LANGUAGES = {
    ".py": "python",
    ".yaml": "yaml",
    ".cff": "yaml",
    ".toml": "toml",
    ".csv": "text",
    ".json": "json",
    ".jsonl": "text",
}
LINK = re.compile(r"(?<=\]\()([^)\s]+)(?=\))")
FENCE = re.compile(r"(?ms)^ *```.*?^ *```$")
INLINE = re.compile(r"`[^`\n]+`")


def pages() -> dict[str, str]:
    """Return the place in the site of each page of the repository, as paths from their roots."""
    found = {
        page.relative_to(ROOT).as_posix(): page.relative_to(ROOT / "docs").as_posix()
        for page in sorted((ROOT / "docs").rglob("*.md"))
    }
    books = {
        f"notebooks/{book.name}": f"notebooks/{book.stem}.md"
        for book in sorted((ROOT / "notebooks").glob("*.ipynb"))
    }
    return {**found, **OTHERS, **books, FIRST: "index.md"}


class Links:
    """Convert links of the repository's pages to links of the site."""

    def __init__(self, places: Mapping[str, str]) -> None:
        """Store the place of each page."""
        self._places = places
        self.sources: set[str] = set()

    def turned(self, text: str, page: str) -> str:
        """Return a page with converted links, except those in code."""
        kept: list[str] = []

        def keep(match: re.Match[str]) -> str:
            kept.append(match[0])
            return f"\0{len(kept) - 1}\0"

        text = INLINE.sub(keep, FENCE.sub(keep, text))
        text = LINK.sub(lambda match: self._turn(match[1], page), text)
        while "\0" in text:  # code of a line within code of several
            text = re.sub("\0(\\d+)\0", lambda match: kept[int(match[1])], text)
        return text

    def _turn(self, link: str, page: str) -> str:
        path, mark, anchor = link.partition("#")
        if not path or re.match(r"[a-z]+:", link):
            return link
        target = posixpath.normpath(posixpath.join(posixpath.dirname(page), path))
        if target.startswith("docs/") and Path(target).suffix not in ("", ".md", ".py", ".yaml"):
            place = target.removeprefix("docs/")  # a picture
        else:
            place = self._places.get(target) or self._place_of_source(target, page)
        here = posixpath.dirname(self._places[page])
        return posixpath.relpath(place, here or ".") + mark + anchor

    def _place_of_source(self, target: str, page: str) -> str:
        if not (ROOT / target).exists():
            raise SystemExit(f"{page} links to {target}, which does not exist")
        if f"{target}/README.md" in self._places:
            return self._places[f"{target}/README.md"]
        self.sources.add(target)
        return f"source/{target}/index.md" if (ROOT / target).is_dir() else f"source/{target}.md"


def check_addresses(places: Iterable[str]) -> None:
    """Refuse pages with the same address, or with an address of Sphinx."""
    taken: set[str] = set(WRITTEN_BY_SPHINX)
    for address in (place.removesuffix(".md") for place in places):
        if address in taken and address != "index":  # the site has its own first page
            raise SystemExit(f"two pages of the site land on {address}: rename one of them")
        taken.add(address)


def source_page(path: Path) -> str:
    """Return a page with a file, or with the contents of a folder."""
    name = path.relative_to(ROOT).as_posix()
    if path.is_file():
        fence = "`" * 4
        code = path.read_text(encoding="utf-8")
        return (
            f"---\norphan: true\n---\n# {name}\n\n{fence}{LANGUAGES[path.suffix]}\n{code}{fence}\n"
        )
    files = "\n".join(f"- `{file.name}`" for file in sorted(path.glob("[a-z]*.*")))
    return f"---\norphan: true\n---\n# {name}\n\n{files}\n"


def sections(first: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the sections of the first page, each with the pages in its list."""
    for section in re.split(r"(?m)^## ", first)[1:]:
        title, _, body = section.partition("\n")
        linked = re.findall(r"(?m)^- .*?\]\(([^)#]+\.md)\)", body)
        yield title.strip(), linked


def navigation(first: str, made: Mapping[str, str]) -> str:
    """Return the site's navigation, hidden at the end of its first page."""
    trees = []
    for title, linked in sections(first):
        listed = [*made, *linked] if title == MADE_IN else linked
        names = "\n".join(page.removesuffix(".md") for page in listed)
        trees.append(f"```{{toctree}}\n:hidden:\n:caption: {title}\n\n{names}\n```")
    return "\n\n".join(trees)


def stage(out: Path) -> None:
    """Write Sphinx's input into a new folder."""
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(
        ROOT / "docs", out, ignore=shutil.ignore_patterns("*.md", "*.py", "website", "__*")
    )
    places, code = pages(), made.pages()
    check_addresses([*places.values(), *code])
    links, texts = Links(places), dict(code)
    for page, place in places.items():
        if page == "README.md":
            continue
        path = ROOT / page
        text = notebook.page(path) if path.suffix == ".ipynb" else path.read_text(encoding="utf-8")
        texts[place] = links.turned(text, page)
    texts["index.md"] += "\n\n" + navigation(texts["index.md"], code)
    for place, below in BELOW.items():
        texts[place] += f"\n\n```{{toctree}}\n:hidden:\n:glob:\n\n{below}\n```\n"
    for source in links.sources:
        path = ROOT / source
        place = f"{source}/index.md" if path.is_dir() else f"{source}.md"
        texts[f"source/{place}"] = source_page(path)
    for place, text in texts.items():
        (out / place).parent.mkdir(parents=True, exist_ok=True)
        (out / place).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    stage(Path(sys.argv[1]))
