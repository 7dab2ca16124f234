"""The player `llm:MODEL`: a language model that is told what its seat sees.

The prompt is written from a determinization, a table that the seat cannot tell from the real one,
so it cannot hold what the seat does not know.

An answer that cannot be read, or names nothing legal, is asked for again, with a word about what
was wrong; after `Settings.attempts` answers a uniformly drawn legal action is played instead. How
often that happened stands in `summary`.
"""

import hashlib
import json
import re
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kille_agents.llm.answers import Answers
from kille_agents.llm.client import Messages, Reply, request, unanswered, wait_before
from kille_agents.llm.settings import Settings
from kille_env.core.determinization import Determinizer
from kille_env.core.pack import Pack
from kille_env.core.spec import Rules
from kille_env.errors import ConfigError
from kille_env.prompts import decision_prompt, read_answer, rules_prompt
from kille_env.registry import spec

PREFIX = "llm:"
"""What the name of a language model as a player begins with."""

AGAIN = (
    "That does not name one of the legal actions. Legal: {legal}. Answer with one line only, such "
    "as:\nAnswer: 1"
)


class _Question(NamedTuple):
    """One time that a prompt is asked."""

    key: str
    messages: Messages
    legal: tuple[str, ...]
    pack: Pack


class LanguageModel:
    """A language model as a player, for any game and table.

    Attributes:
        model: What the service calls the model.
        name: What tables and reports call it.
        keyless: True: what it plays depends on the prompt, and not on the key of a decision.
        settings: How it is asked.
        answers: The log.
    """

    keyless = True

    def __init__(self, model: str, settings: Settings | None = None, **changes: Any) -> None:
        """Makes the player; nothing is asked and nothing is written yet.

        Args:
            model: What the service calls the model.
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
        """Pickles what makes it; the answers are in the folder."""
        return LanguageModel, (self.model, self.settings)

    @cached_property
    def fingerprint(self) -> str:
        """What identifies it in tournaments; address, key and limits do not play."""
        return json.dumps([self.name, self.settings.asks, self.settings.attempts, self._body])

    @property
    def account(self) -> dict[str, Any]:
        """What the folder holds: answers, those that stand for a uniform action, and their cost."""
        self.answers.refresh()
        log = self.answers
        return {
            "answers": sum(log.counts.values()),
            "uniform": log.counts["uniform"],
            "calls": log.calls,
            "tokens": log.tokens,
            "cost": log.cost,
            "transcript": str(log.path),
        }

    @property
    def summary(self) -> str:
        """The same in one line."""
        found = self.account
        return (
            f"{self.name}: {found['answers']:,} answers, of which {found['uniform']:,} were not "
            f"legal after {self.settings.attempts} attempts (a uniform legal action instead); "
            f"{found['calls']:,} calls, {found['tokens']:,} tokens, cost {found['cost']:.4g}; "
            f"transcript {found['transcript']}"
        )

    def search(self, determinizer: Determinizer) -> np.ndarray:
        """Returns the shares of the model's answers, [M, A] float64; see `Searcher`.

        Raises:
            LimitError: A limit is reached; what was answered is kept.
            PolicyError: The service does not answer.
        """
        seen = determinizer.draw(1)
        system = _rules(determinizer.game, determinizer.rules, determinizer.num_players)
        asked = []
        for row in range(len(determinizer)):
            prompt, legal = decision_prompt(seen, row), tuple(seen.legal_texts(row))
            asked.append([self._question(system, prompt, legal, i, determinizer.game)
                          for i in range(self.settings.asks)])  # fmt: skip
        self.answers.refresh()
        self._settle_all([question for questions in asked for question in questions])
        shares = [np.mean([self._shares(one) for one in questions], axis=0) for questions in asked]
        probabilities = np.zeros(determinizer.mask.shape)
        for row, share in enumerate(shares):
            probabilities[row, determinizer.mask[row] != 0] = share
        return probabilities

    @cached_property
    def _body(self) -> str:
        return json.dumps(self.settings.body, sort_keys=True)

    def _question(
        self, system: str, prompt: str, legal: tuple[str, ...], number: int, game: str
    ) -> _Question:
        messages = (
            {"role": "system", "content": system},
            {"role": "user", "content": prompt},
        )
        told = json.dumps([self.model, self._body, self.settings.attempts, messages, number])
        key = hashlib.sha256(told.encode()).hexdigest()
        return _Question(key, messages, legal, spec(game).pack)

    def _settle_all(self, questions: Sequence[_Question]) -> None:
        """Asks whatever has not been answered yet, each once."""
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
        """Asks until the answer is legal, or often enough."""
        said = list(question.messages)
        for attempt in range(1, self.settings.attempts + 1):
            reply = self._ask(question, said, attempt)
            if self.answers.find(question.key) is not None:
                return
            again = AGAIN.format(legal=", ".join(question.legal))
            said += [
                {"role": "assistant", "content": reply.text},
                {"role": "user", "content": again},
            ]

    def _ask(self, question: _Question, messages: Messages, attempt: int) -> Reply:
        """Sends messages, again after errors of the service, and logs every request."""
        retry = 0
        while True:
            self.answers.begin()
            began = time.monotonic()
            reply = Reply(error="interrupted")
            try:
                reply = request(self.model, messages, self.settings)
            finally:
                self._note(question, messages, attempt, reply, time.monotonic() - began)
            if not reply.error:
                return reply
            if not reply.again or retry == self.settings.retries:
                raise unanswered(self.model, reply, self.settings)
            wait_before(retry, reply)
            retry += 1

    def _note(
        self, question: _Question, messages: Messages, attempt: int, reply: Reply, seconds: float
    ) -> None:
        number = None
        if not reply.error:
            number = read_answer(reply.text, question.legal, question.pack)
        last = not reply.error and attempt == self.settings.attempts
        prices = self.settings.input_price, self.settings.output_price
        tokens = reply.input_tokens, reply.output_tokens
        self.answers.add({
            "key": question.key,
            "model": self.model,
            "messages": list(messages),
            "attempt": attempt,
            "answer": reply.text,
            "error": reply.error,
            "action": None if number is None else question.legal[number],
            "done": number is not None or last,
            "input_tokens": tokens[0],
            "output_tokens": tokens[1],
            "cost": sum(price * used for price, used in zip(prices, tokens, strict=True)) / 1e6,
            "seconds": round(seconds, 3),
        })  # fmt: skip

    def _shares(self, question: _Question) -> np.ndarray:
        """Returns how likely one answer makes each legal action."""
        actions = len(question.legal)
        (played,) = self.answers.find(question.key) or (None,)
        if played is None:
            return np.full(actions, 1.0 / actions)
        return np.eye(actions)[question.legal.index(played)]


@lru_cache(maxsize=16)
def _rules(game: str, rules: Rules, num_players: int) -> str:
    return rules_prompt(game, rules, num_players)
