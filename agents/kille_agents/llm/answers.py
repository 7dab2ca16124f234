"""The log of a model's answers: what was asked, what it said, what it meant and what it cost.

It is one file of JSON lines that only grows, so it is transcript, cache and account in one.
Several processes may write to it: each adds whole lines, and reads what the others have added.
"""

import json
import os
from collections import Counter
from pathlib import Path
from threading import Lock
from typing import Any

from kille_agents.llm.settings import VARIABLE, Settings
from kille_env.errors import PolicyError
from kille_env.files import parse_json

LOG = "answers.jsonl"


class LimitError(PolicyError):
    """A limit of calls, tokens or cost is reached."""


class Answers:
    """The answers in a folder, and what they cost.

    Attributes:
        path: The log.
        calls: Requests so far, failed ones too.
        tokens: Tokens of all prompts and answers.
        cost: In the unit of the prices.
        counts: Answers that count, by how they came about: "legal" or "uniform".
    """

    def __init__(self, folder: Path, settings: Settings) -> None:
        """Reads what is there; nothing is written yet.

        Args:
            folder: Where the log is.
            settings: The limits.
        """
        self.path, self._settings = folder / LOG, settings
        self.calls, self.tokens, self.cost = 0, 0, 0.0
        self.counts: Counter[str] = Counter()
        self._found: dict[str, str | None] = {}
        self._read_to, self._under_way = 0, 0
        self._most_tokens, self._most_cost = 0, 0.0
        self._lock = Lock()

    def find(self, key: str) -> tuple[str | None] | None:
        """Returns the action that counts for a key, (None,) for none; None if it is still open."""
        with self._lock:
            return (self._found[key],) if key in self._found else None

    def refresh(self) -> None:
        """Reads what has been added to the log."""
        with self._lock:
            self._refresh()

    def begin(self) -> None:
        """Claims a request; `add` it when it has ended.

        Those under way are taken to use as much as the dearest so far.

        Raises:
            LimitError: A limit is reached.
        """
        with self._lock:
            self._refresh()
            limits, others = self._settings, self._under_way
            self._check("calls", self.calls + others, limits.calls)
            self._check("tokens", self.tokens + others * self._most_tokens, limits.tokens)
            self._check("cost", self.cost + others * self._most_cost, limits.cost)
            self._under_way += 1

    def add(self, line: dict[str, Any]) -> None:
        """Adds a request that has ended.

        Args:
            line: "key"; "done", whether this settles the key's action; "action", a text or None;
                "input_tokens", "output_tokens" and "cost"; and whatever people want to read.
        """
        with self._lock:
            self._under_way -= 1
            self._refresh()
            self._append(json.dumps(line, ensure_ascii=False))
            self._refresh()

    def _check(self, name: str, used: float, limit: float | None) -> None:
        if limit is not None and used >= limit:
            raise LimitError(
                f"the limit of {limit:,} {name} is reached ({VARIABLE}{name.upper()}); what was "
                f"answered is kept in {self.path.parent}: raise the limit and run the same command "
                "again to resume"
            )

    def _append(self, text: str) -> None:
        """Adds a line in one write, after a line that a killed process has left unfinished."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a+b") as file:
            torn = self._ends_torn(file)
            # Half a character, as from an answer that was cut off, is written as an escape of JSON.
            data = (b"\n" if torn else b"") + text.encode(errors="backslashreplace") + b"\n"
            file.flush()
            os.write(file.fileno(), data)

    @staticmethod
    def _ends_torn(file: Any) -> bool:
        if not file.seek(0, os.SEEK_END):
            return False
        file.seek(-1, os.SEEK_END)
        return file.read(1) != b"\n"

    def _refresh(self) -> None:
        if not self.path.is_file():
            return
        with self.path.open("rb") as file:
            file.seek(self._read_to)
            added = file.read()
        whole = added[: added.rfind(b"\n") + 1]
        self._read_to += len(whole)
        for line in whole.splitlines():
            self._take(line)

    def _take(self, text: bytes) -> None:
        try:
            line = parse_json(text)
            tokens = line["input_tokens"] + line["output_tokens"]
            key, done, action, cost = (line[name] for name in ("key", "done", "action", "cost"))
        except (ValueError, KeyError, TypeError):
            return  # unfinished, or somebody else's
        self.calls, self.tokens, self.cost = self.calls + 1, self.tokens + tokens, self.cost + cost
        self._most_tokens = max(self._most_tokens, tokens)
        self._most_cost = max(self._most_cost, cost)
        if done and key not in self._found:
            self._found[key] = action
            self.counts["uniform" if action is None else "legal"] += 1
