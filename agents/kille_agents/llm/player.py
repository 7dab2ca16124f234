"""The player `llm:MODEL`: a language model that is told what its seat sees.

The prompt is written from a determinization, a table that the seat cannot tell from the real one,
so it cannot hold what the seat does not know.

An answer that names no legal action is asked for again, with a sentence that says what is wrong;
after `Settings.attempts` answers a uniformly drawn legal action is played instead. `summary` says
how often that happened.

Answers are kept in one file of JSON lines that only grows: transcript and cache in one.
Several processes may write to it: each adds whole lines, and reads what the others have added.
"""

import hashlib
import json
import os
import re
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from functools import cached_property, lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from kille_agents.llm import service
from kille_agents.llm.service import VARIABLE, Messages, Reply, Settings
from kille_env.adapters.text import ask_again, decision_prompt, read_answer, rules_prompt
from kille_env.core.spec import Rules
from kille_env.errors import ConfigError, PolicyError
from kille_env.files import parse_json
from kille_env.play.decisions import Decisions

PREFIX = "llm:"
"""Prefix of a language model's name as a player."""


class LimitError(PolicyError):
    """The limit of calls is reached."""


class Answers:
    """The answers in a folder.

    Attributes:
        path: The log.
        calls: Requests so far, failed ones too.
        tokens: Tokens of all prompts and answers.
        counts: Answers that count, by kind: "legal" or "uniform".
    """

    def __init__(self, folder: Path, settings: Settings) -> None:
        """Name the log; nothing is read or written yet.

        Args:
            folder: Folder of the log.
            settings: The limits.
        """
        self.path, self._settings = folder / "answers.jsonl", settings
        self.calls, self.tokens = 0, 0
        self.counts: Counter[str] = Counter()
        self._actions: dict[str, str | None] = {}
        self._read_to, self._under_way = 0, 0
        self._lock = Lock()

    def find(self, key: str) -> tuple[str | None] | None:
        """Return the action that counts for a key, (None,) for none; None if it is still open."""
        with self._lock:
            return (self._actions[key],) if key in self._actions else None

    def refresh(self) -> None:
        """Read the lines that have been added to the log."""
        with self._lock:
            self._refresh()

    def begin(self) -> None:
        """Claim a request; `add` it when it has ended.

        Raises:
            LimitError: The limit is reached, with those under way.
        """
        with self._lock:
            self._refresh()
            limit = self._settings.calls
            if self.calls + self._under_way >= limit:
                raise LimitError(
                    f"the limit of {limit:,} calls is reached ({VARIABLE}CALLS); "
                    f"what was answered is kept in {self.path.parent}: raise the limit and "
                    "run the same command again to resume"
                )
            self._under_way += 1

    def add(self, line: dict[str, Any]) -> None:
        """Add a request that has ended.

        Args:
            line: "key"; "done", whether this settles the key's action; "action", a text or None;
                "input_tokens" and "output_tokens"; and whatever people want to read.
        """
        # Half a character, as from an answer that was cut off, is written as an escape of JSON.
        data = json.dumps(line, ensure_ascii=False).encode(errors="backslashreplace") + b"\n"
        with self._lock:
            self._under_way -= 1
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a+b", buffering=0) as file:
                if file.seek(0, os.SEEK_END):
                    file.seek(-1, os.SEEK_END)
                    if file.read(1) != b"\n":  # a killed process has left a line unfinished
                        data = b"\n" + data
                file.write(data)
            self._refresh()

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
            key, done, action = (line[name] for name in ("key", "done", "action"))
        except (ValueError, KeyError, TypeError):
            return  # unfinished, or somebody else's
        self.calls, self.tokens = self.calls + 1, self.tokens + tokens
        if done and key not in self._actions:
            self._actions[key] = action
            self.counts["uniform" if action is None else "legal"] += 1


class _Question(NamedTuple):
    """One time that a prompt is asked."""

    key: str
    messages: Messages
    legal: tuple[str, ...]


class LanguageModel:
    """A language model as a player, for any game and table.

    Example:
        >>> from kille_agents import LanguageModel
        >>> LanguageModel("qwen3", url="http://localhost:8000/v1").name
        'llm:qwen3'

    Attributes:
        model: The model's name at the service.
        name: Its name at tables and in reports.
        keyless: True: what it plays depends on the prompt, and not on the key of a decision.
        settings: How it is asked.
        answers: The log.
    """

    keyless = True

    def __init__(self, model: str, settings: Settings | None = None, **changes: Any) -> None:
        """Make the player; nothing is asked and nothing is written yet.

        Args:
            model: The model's name at the service.
            settings: How it is asked; None takes the environment's variables.
            **changes: Settings that replace those, such as `url`.

        Raises:
            ConfigError: There is no name or no address, or a setting is impossible.
        """
        if not model:
            raise ConfigError(f"a language model needs a name, as in {PREFIX}MODEL")
        self.model, self.name = model, f"{PREFIX}{model}"
        self.settings = (
            replace(settings, **changes) if settings else Settings.from_environment(**changes)
        )
        # Different names have different folders, so what is no word is written as in addresses.
        named = re.sub(r"^\.|[^\w.-]", lambda found: f"%{ord(found[0]):02X}", model)
        folder = self.settings.folder or str(Path("runs", "llm", named))
        self.answers = Answers(Path(folder), self.settings)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the arguments; the answers are in the folder."""
        return LanguageModel, (self.model, self.settings)

    @cached_property
    def fingerprint(self) -> str:
        """Identity in tournaments; address, key and limits do not play."""
        return json.dumps([self.name, self.settings.asks, self.settings.attempts, self._body])

    @property
    def account(self) -> dict[str, Any]:
        """Answers in the folder, those that stand for a uniform action, calls and tokens."""
        log = self.answers
        log.refresh()
        return {
            "answers": sum(log.counts.values()),
            "uniform": log.counts["uniform"],
            "calls": log.calls,
            "tokens": log.tokens,
            "transcript": str(log.path),
        }

    @property
    def summary(self) -> str:
        """The same in one line."""
        account = self.account
        return (
            f"{self.name}: {account['answers']:,} answers, of which {account['uniform']:,} were "
            f"not legal after {self.settings.attempts} attempts (a uniform legal action instead); "
            f"{account['calls']:,} calls, {account['tokens']:,} tokens; "
            f"transcript {account['transcript']}"
        )

    def decide(self, decisions: Decisions) -> np.ndarray:
        """Return the shares of the model's answers, [M, A] float64; see `Decider`.

        Raises:
            LimitError: The limit is reached; what was answered is kept.
            PolicyError: The service does not answer.
        """
        drawn = decisions.draw(1)
        system = _rules(decisions.game, decisions.rules, decisions.num_players)
        questions = [
            [self._question(system, prompt, legal, number) for number in range(self.settings.asks)]
            for row in range(len(decisions))
            for prompt, legal in [(decision_prompt(drawn, row), tuple(drawn.legal_texts(row)))]
        ]
        self.answers.refresh()
        self._settle_all([one for row in questions for one in row])
        probabilities = np.zeros(decisions.mask.shape)
        for row, asked in enumerate(questions):
            legal = decisions.mask[row] != 0
            probabilities[row, legal] = np.mean([self._shares(one) for one in asked], axis=0)
        return probabilities

    @cached_property
    def _body(self) -> str:
        return json.dumps(self.settings.body, sort_keys=True)

    def _question(self, system: str, prompt: str, legal: tuple[str, ...], number: int) -> _Question:
        messages = (
            {"role": "system", "content": system},
            {"role": "user", "content": prompt},
        )
        told = json.dumps([self.model, self._body, self.settings.attempts, messages, number])
        return _Question(hashlib.sha256(told.encode()).hexdigest(), messages, legal)

    def _settle_all(self, questions: Sequence[_Question]) -> None:
        """Ask every question that has not been answered yet, each once."""
        waiting = {one.key: one for one in questions if self.answers.find(one.key) is None}
        if not waiting:
            return
        with ThreadPoolExecutor(self.settings.parallel) as pool:
            jobs = [pool.submit(self._settle, question) for question in waiting.values()]
            try:
                for job in as_completed(jobs):
                    job.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _settle(self, question: _Question) -> None:
        """Ask until the answer is legal, or often enough."""
        messages = list(question.messages)
        for attempt in range(1, self.settings.attempts + 1):
            reply = self._ask(question, messages, attempt)
            if self.answers.find(question.key) is not None:
                return
            again = ask_again(reply.text, question.legal)
            messages += [
                {"role": "assistant", "content": reply.text},
                {"role": "user", "content": again},
            ]

    def _ask(self, question: _Question, messages: Messages, attempt: int) -> Reply:
        """Send messages, again after errors of the service, and log every request."""
        retry = 0
        while True:
            self.answers.begin()
            began = time.monotonic()
            reply = Reply(error="interrupted")
            try:
                reply = service.request(self.model, messages, self.settings)
            finally:
                self._log(question, messages, attempt, reply, time.monotonic() - began)
            if not reply.error:
                return reply
            if not reply.again or retry == self.settings.retries:
                raise service.unanswered(self.model, reply, self.settings)
            service.wait_before(retry, reply)
            retry += 1

    def _log(
        self, question: _Question, messages: Messages, attempt: int, reply: Reply, seconds: float
    ) -> None:
        number = None if reply.error else read_answer(reply.text, question.legal)
        last = not reply.error and attempt == self.settings.attempts
        self.answers.add({
            "key": question.key,
            "model": self.model,
            "messages": list(messages),
            "attempt": attempt,
            "answer": reply.text,
            "error": reply.error,
            "action": None if number is None else question.legal[number],
            "done": number is not None or last,
            "input_tokens": reply.input_tokens,
            "output_tokens": reply.output_tokens,
            "seconds": round(seconds, 3),
        })  # fmt: skip

    def _shares(self, question: _Question) -> np.ndarray:
        """Return the probability of each legal action by one answer."""
        (played,) = self.answers.find(question.key) or (None,)
        if played is None:
            return np.full(len(question.legal), 1.0 / len(question.legal))
        return np.array([float(text == played) for text in question.legal])


@lru_cache(maxsize=16)
def _rules(game: str, rules: Rules, num_players: int) -> str:
    return rules_prompt(game, rules, num_players)
