"""Requests to an OpenAI-compatible service, repeated where that can help."""

import json
from collections.abc import Mapping, Sequence
from time import sleep
from typing import NamedTuple

from kille_agents.llm.settings import VARIABLE, Settings
from kille_env.errors import PolicyError, shortened
from kille_env.files import parse_json

Messages = Sequence[Mapping[str, str]]
PASSING = {408, 409, 425, 429}
"""Statuses below 500 that may be gone at the next try."""
LONGEST_PAUSE = 60.0
"""Seconds; a service that asks for more is not waited for longer."""


class Reply(NamedTuple):
    """What came of one request.

    Attributes:
        text: The answer; empty if there was none.
        error: Why there was none.
        input_tokens: Tokens of the prompt, as the service counts them.
        output_tokens: Tokens of the answer.
        pause: Seconds that the service asks to wait before the next request.
        again: Whether another request may succeed.
    """

    text: str = ""
    error: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    pause: float = 0.0
    again: bool = True


def request(model: str, messages: Messages, settings: Settings) -> Reply:
    """Sends one request and waits for its answer; whatever goes wrong is part of the reply."""
    # Imported by those who ask a service, and not by all who list players.
    from http.client import HTTPException
    from urllib.error import HTTPError, URLError
    from urllib.request import Request, urlopen

    body = {"model": model, "messages": messages, **settings.body}
    headers = {"Content-Type": "application/json"}
    if settings.key:
        headers["Authorization"] = f"Bearer {settings.key}"
    url = f"{settings.url.rstrip('/')}/chat/completions"
    asked = Request(url, json.dumps(body).encode(), headers, method="POST")
    try:
        with urlopen(asked, timeout=settings.timeout) as response:
            return _read(response.read())
    except HTTPError as error:
        said = shortened(error.read().decode(errors="replace"))
        again = error.code in PASSING or error.code >= 500
        pause = _seconds(error.headers.get("Retry-After"))
        return Reply(error=f"HTTP {error.code}: {said}", pause=pause, again=again)
    except (URLError, HTTPException, OSError) as error:
        return Reply(error=str(getattr(error, "reason", error)) or type(error).__name__)


def wait_before(retry: int, reply: Reply) -> None:
    """Waits before a request is repeated: 1, 2, 4, ... seconds, or what the service asks for."""
    sleep(min(max(2.0**retry, reply.pause), LONGEST_PAUSE))


def unanswered(model: str, reply: Reply, settings: Settings) -> PolicyError:
    """Returns the error that a model has not answered, which says what to do."""
    advice = (
        "run the same command again to resume"
        if reply.again
        else f"look at {VARIABLE}URL, {VARIABLE}KEY, {VARIABLE}BODY and the model's name"
    )
    return PolicyError(f"{model} at {settings.url} does not answer: {reply.error}; {advice}")


def _read(content: bytes) -> Reply:
    try:
        answer = parse_json(content)
        text = answer["choices"][0]["message"]["content"] or ""
        usage = answer.get("usage") or {}
        used = int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0)
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        return Reply(error=f"no chat completion: {shortened(content.decode(errors='replace'))}")
    return Reply(str(text), input_tokens=used[0], output_tokens=used[1])


def _seconds(header: str | None) -> float:
    """Reads a Retry-After; a date counts as nothing."""
    try:
        return max(float(header or 0), 0.0)
    except ValueError:
        return 0.0
