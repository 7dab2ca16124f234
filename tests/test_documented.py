"""Every documented command works: those in pages, settings, notebooks and help, each once.

A command of `kille` is run as it is written, in a folder that holds the runs and files which it
names, small. A person who is asked leaves the table. What would compute for minutes or open a page
is run to the point where it would begin (`POINTS`), and anything else for a few seconds: by then
its own code has checked arguments, settings, and the names of games, rules and players.
"""

import importlib.util
import inspect
import io
import re
import shlex
import shutil
import signal
import subprocess
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

pytest.importorskip("sb3_contrib")

import kille_env
import kille_training as kt
from kille_training.arena.settings import load_tournament
from kille_training.cli.main import kille, main
from kille_training.learn.settings import load_settings
from reference.documented import PAGES, ROOT, Block, Command, blocks, commands, mentions, named

POINTS = (
    "kille_training.arena.compare._played",
    "kille_training.arena.tournament.play_in_folder",
    "kille_training.evaluation.api.with_action_selection",
    "kille_training.learn.best_response.best_response",
    "kille_training.learn.benchmark.gather",
    "kille_training.learn.grid.run_grid",
    "kille_training.learn.training.finish",
    "kille_training.solving.solve._solve",
    "kille_training.table.server.listen",
)
"""Functions that are called with checked arguments, and would take long or wait for somebody."""
SECONDS = 20.0
"""How long a command may compute; one that goes on is left there, as at a point."""
STANDS_FOR = {
    "ADDRESS": "https://example.org",
    "CHECKOUT": ".",
    "DEALS": "10",
    "GAME": "knack",
    "NAME": "knack",
    "N": "3",
}
"""What the pages leave open, and what is tested in its place."""
for name in kt.__all__:
    getattr(kt, name)  # kept at first use, which must not be while `to_the_point` replaces it
CHECKOUT = ("benchmarks", "configs", "docs", "tests", "training", "truth", ".ci")
"""Folders of the checkout that commands name."""
WORDS_BEFORE_FILES = ("--out", "--html", "--records", "--jsonl")
TINY = """
name: {name}
table: {{game: {game}, num_players: 3, episode: deal}}
learner: {{decisions: 256, num_tables: 16, n_steps: 8, batch_size: 64, n_epochs: 1, layers: [8]}}
measure: {{every: 0, deals: 10, final_deals: 10}}
"""


(BOTS,) = (b.text for page in PAGES for b in blocks(page) if b.text.startswith("# bots.py"))
"""The module that the page about players writes, and its commands name."""


class Reached(BaseException):
    """A command has come to the point where it would compute."""


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Path]:
    """Make what commands name, each once: a run, a tournament, recorded matches."""
    folder = tmp_path_factory.mktemp("examples")

    def run(game: str, path: Path) -> None:
        path.with_suffix(".yaml").write_text(TINY.format(name=path.name, game=game))
        kt.train(path.with_suffix(".yaml"), out=path)

    def tournament(game: str, path: Path) -> None:
        entrants = {"chance": "uniform", "rule of thumb": "rule_of_thumb"}
        kt.play_tournament(entrants, game, num_players=2, deals=2, out=path)

    def record(game: str, path: Path) -> None:
        words = ["--deals", "3", "--rules", "episode=deal", "--out", str(path)]
        assert main(["record", game, *words]) == 0

    makers = {"runs": run, "tournament": tournament, "matches": record}

    def example(kind: str, game: str) -> Path:
        path = folder / f"{kind}-{game}"
        if not path.exists():
            makers[kind](game, path)
        return path

    return example


@pytest.fixture
def stage(
    examples: Callable[[str, str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[list[str]], None]:
    """Go to a folder like a checkout, and put there what the words of a command name."""
    for name in CHECKOUT:
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO("q\n"))

    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "bots.py").write_text(BOTS)

    def put(words: list[str]) -> None:
        game = next((g for g in kille_env.list_games() if any(g in word for word in words)), None)
        for before, word in zip(["", *words], words, strict=False):
            path = Path(word)
            if before in WORDS_BEFORE_FILES or path.exists():
                continue
            kind = "matches" if path.suffix == ".jsonl" else word.partition("/")[0]
            kind = "tournament" if word.startswith("runs/tournament") else kind
            if kind in ("runs", "tournament", "matches"):
                made = examples(kind, game or "byteskille")
                path.parent.mkdir(exist_ok=True)
                shutil.copytree(made, path) if made.is_dir() else shutil.copy(made, path)

    return put


@contextmanager
def to_the_point() -> Iterator[None]:
    """Let what takes long end at its beginning, if it is called as it wants to be, or in time."""

    def late(*_: object) -> None:
        raise Reached

    def stops(signature: inspect.Signature) -> Callable[..., None]:
        def stop(*arguments: Any, **named: Any) -> None:
            signature.bind(*arguments, **named)
            raise Reached

        stop.__signature__ = signature  # type: ignore
        return stop

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("kille_env.testing.check_game", kille_env.spec)  # it plays for a minute
        for point in POINTS:
            module, _, name = point.rpartition(".")
            found = getattr(importlib.import_module(module), name)
            patched.setattr(point, stops(inspect.signature(found)))
        handler, begun = signal.signal(signal.SIGALRM, late), time.monotonic()
        left, _ = signal.setitimer(signal.ITIMER_REAL, SECONDS)  # of pytest-timeout
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, left and max(0.1, left + begun - time.monotonic()))
            signal.signal(signal.SIGALRM, handler)


# What a command is checked by, its first word


def _kille(words: list[str]) -> None:
    try:
        status = main(words)
    except Reached:
        return
    assert status == 0


def _make(words: list[str]) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for word in words:
        variable, given, value = word.partition("=")
        if given:
            assert f"$({variable})" in makefile, f"make knows no {variable}"
            for path in re.findall(r"\btests/[\w/.]+", value):
                assert (ROOT / path).exists(), f"there is no {path}"
    subprocess.run(["make", "--dry-run", *words], cwd=ROOT, check=True, capture_output=True)


def _python(words: list[str]) -> None:
    if words[0] == "-c":
        exec(compile(words[1], "python -c", "exec"), {})
        return
    if words[0] == "-m":
        assert importlib.util.find_spec(words[1]), f"there is no module {words[1]}"
        return
    text = (ROOT / words[0]).read_text(encoding="utf-8")
    for option in (word.partition("=")[0] for word in words if word.startswith("--")):
        parameter = option.removeprefix("--").replace("-", "_")
        assert re.search(rf'"{option}"|\b{parameter}: ', text), f"{words[0]} takes no {option}"


def _pip(words: list[str]) -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    pinned = (ROOT / "constraints.txt").read_text(encoding="utf-8").split()
    assert words[0] == "install"
    for word in words[1:]:
        if found := re.search(r"\[([\w,]+)\]", word):
            assert set(found[1].split(",")) <= set(extras), f"there is no extra of {word}"
        assert "==" not in word or word in pinned, f"{word} is not what constraints.txt pins"


def _bash(words: list[str]) -> None:
    assert (ROOT / words[0]).is_file()


PROGRAMS: dict[str, Callable[[list[str]], None]] = {
    "kille": _kille,
    "make": _make,
    "python": _python,
    "pip": _pip,
    "bash": _bash,
}


def _parts(text: str) -> list[list[str]]:
    """Return the commands of a line, each as its words."""
    for name, value in STANDS_FOR.items():
        text = re.sub(rf"(?<![A-Z]){name}(?![A-Z=])", value, text)
    parts: list[list[str]] = [[]]
    for word in shlex.split(text):
        if word == "&&":
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


@pytest.mark.compiled
@pytest.mark.parametrize("command", commands(), ids=lambda command: command.text)
def test_a_documented_command_works(command: Command, stage: Callable[[list[str]], None]) -> None:
    for program, *words in _parts(command.text):
        check = PROGRAMS.get(program.removeprefix(".venv/bin/"))
        if check is None:
            assert command.reason, f"{command.where}: no test runs {program}, and no mark says why"
            continue
        stage(words)
        with to_the_point():
            check(words)


def test_what_computes_for_long_is_left_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "SECONDS", 0.1)
    with pytest.raises(Reached), to_the_point():
        while True:
            pass


@pytest.mark.parametrize("mention", mentions(), ids=lambda mention: mention.text)
def test_a_command_named_in_a_text_exists(mention: Command) -> None:
    """Its arguments may be left out; its options may not be others than there are."""
    ((program, *words),) = _parts(mention.text)
    if program != "kille":
        PROGRAMS[program]([word for word in words if word != "..."])
        return
    command: click.Command = kille
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        inner = command.get_command(click.Context(command), words.pop(0))
        assert inner is not None, f"{mention.where}: there is no such command"
        command = inner
    known = {opt for param in command.params for opt in (*param.opts, *param.secondary_opts)}
    known |= {"--help", "--version"}
    options = {word.partition("=")[0] for word in words if word.startswith("--")}
    assert options <= known, f"{mention.where}: no option {sorted(options - known)}"


def test_a_documented_command_that_does_not_exist_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for wrong in ("kille games --manuel", "kille train byteskille --set learner.decision=1"):
        with pytest.raises(AssertionError):
            _kille(shlex.split(wrong)[1:])
    with pytest.raises(subprocess.CalledProcessError):
        _make(["tset"])
    with pytest.raises(AssertionError, match="no tests/no"):
        _make(["test", "ARGS=tests/no"])
    with pytest.raises(AssertionError, match="takes no --no"):
        _python(["benchmarks/calibration.py", "--no"])
    with pytest.raises(AssertionError, match="no extra"):
        _pip(["install", ".[no]"])


READERS: dict[str, Callable[[dict[str, Any], Path], object]] = {
    "entrants": lambda given, path: load_tournament(path, [], name="page"),
    "game": lambda given, path: kille_env.rule_space(path),
    "table": lambda given, path: load_settings(path, [], name="page"),
}
"""What reads a file of settings, by its first key."""
SETTINGS = [block for page in PAGES for block in blocks(page) if block.language == "yaml"]


@pytest.mark.parametrize("block", SETTINGS, ids=lambda block: block.where)
def test_settings_of_a_page_can_be_used(block: Block, tmp_path: Path) -> None:
    path = tmp_path / "page.yaml"
    path.write_text(block.text)
    given = yaml.safe_load(block.text)
    READERS[next(iter(given))](given, path)


LANGUAGES = {"bash", "bibtex", "json", "python", "sh", "text", "yaml"}


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_no_block_hides_commands(page: Path) -> None:
    for block in blocks(page):
        assert block.language in LANGUAGES or block.language.startswith("{"), (
            f"{block.where}: a block of {block.language or 'no language'}"
        )
        if block.language == "text" and not block.reason:
            hidden = re.search(rf"^({'|'.join(PROGRAMS)}) ", block.text, re.MULTILINE)
            assert not hidden, f"{block.where}: commands in a block of text"


SMALLER = {"2_000_000": "9_000", "1_000_000": "17_000"}
"""What pages compute for minutes, and what the tests do instead."""
WITH_PYTHON = [page for page in PAGES if any(b.language == "python" for b in blocks(page))]
EXTRAS = {"wandb"}
"""Modules without which a block is passed over."""


@pytest.mark.compiled
@pytest.mark.parametrize("page", WITH_PYTHON, ids=named)
def test_python_of_a_page_runs(page: Path, stage: Callable[[list[str]], None]) -> None:
    names: dict[str, object] = {"__name__": "page"}
    for block in blocks(page):
        if block.language != "python" or block.reason:
            continue
        text = block.text
        needed = EXTRAS & set(re.findall(r"^import (\w+)", text, re.MULTILINE))
        if not all(importlib.util.find_spec(name) for name in needed):
            continue
        stage(re.findall(r'read_records\("([^"]+)"\)', text))
        for whole, part in SMALLER.items():
            text = text.replace(whole, part)
        exec(compile(text, block.where, "exec"), names)
