"""An OpenAI-compatible service: settings, also from environment variables, and single requests."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from math import inf
from time import monotonic, sleep
from typing import Any, NamedTuple

from kille_env.errors import ConfigError, PolicyError, did_you_mean, shortened
from kille_env.files import parse_json

VARIABLE = "KILLE_LLM_"
"""Prefix of the environment variables; `KILLE_LLM_URL` sets `url`."""

Messages = Sequence[Mapping[str, str]]
PASSING = {408, 409, 425, 429}
"""Statuses below 500 that may be gone at the next try."""
MOST_BODY = 1 << 22
"""Bytes of the longest body that is read of a service."""
LONGEST_PAUSE = 60.0
"""Seconds; the longest wait before a request is repeated, even if the service asks for more."""


@dataclass(frozen=True)
class Settings:
    """Address of a model, how it is asked, and how often.

    Attributes:
        url: Address of an OpenAI-compatible service, up to before `/chat/completions`.
        key: Sent as a bearer token; empty sends none.
        folder: Folder of the answers; empty is `runs/llm/MODEL`.
        asks: Times that each prompt is asked. The policy plays the answers in their shares.
        attempts: Answers to one prompt before a uniform legal action is played.
        retries: Repetitions of a request after a time-out or an error of the service.
        timeout: Seconds without a byte, or until the whole answer has come, after which a request
            has failed.
        parallel: Requests at the same time.
        body: Further fields of every request, such as {"temperature": 0}.
        calls: Most requests, all those in the folder together.
    """

    url: str = ""
    key: str = field(default="", repr=False)
    folder: str = ""
    asks: int = 1
    attempts: int = 3
    retries: int = 5
    timeout: float = 120.0
    parallel: int = 4
    body: Mapping[str, Any] = field(default_factory=dict)
    calls: int = 5_000

    def __post_init__(self) -> None:
        """Refuse impossible settings.

        Raises:
            ConfigError: The message names the setting.
        """
        if not self.url.startswith(("http://", "https://")):
            raise ConfigError(
                f"a language model needs an address; {VARIABLE}URL is {self.url!r}, expected one "
                "like http://localhost:8000/v1"
            )
        for name in ("asks", "attempts", "parallel", "timeout"):
            value = getattr(self, name)
            if not value > 0:
                raise ConfigError(f"{name} is {value}, expected more than 0")
        if self.timeout == inf:
            raise ConfigError("timeout is inf, expected a number of seconds")
        if self.retries < 0:
            raise ConfigError(f"retries is {self.retries}, expected 0 or more")

    @classmethod
    def from_environment(
        cls, variables: Mapping[str, str] | None = None, **changes: Any
    ) -> "Settings":
        """Return the settings of the environment's variables.

        Args:
            variables: The variables; None takes the process's.
            **changes: Settings that replace those.

        Raises:
            ConfigError: A variable has an impossible value, or a name that is no setting.
        """
        types = {each.name: each.type for each in fields(cls)}
        values: dict[str, Any] = {}
        for variable, text in (os.environ if variables is None else variables).items():
            if not variable.startswith(VARIABLE):
                continue
            name = variable.removeprefix(VARIABLE).lower()
            if name not in types:
                names = [f"{VARIABLE}{each.upper()}" for each in types]
                raise ConfigError(f"there is no {variable}. {did_you_mean(variable, names)}")
            read, expected = _READERS[str(types[name])]
            try:
                values[name] = read(text)
            except ValueError:
                message = f"{variable} is {shortened(text)}, expected {expected}"
                raise ConfigError(message) from None
        return cls(**{**values, **changes})


def _object(text: str) -> dict[str, Any]:
    content = parse_json(text)
    if not isinstance(content, dict):
        raise ValueError(text)
    return content


_READERS: dict[str, tuple[Any, str]] = {
    str(str): (str, "a text"),
    str(int): (int, "a whole number"),
    str(float): (float, "a number"),
    str(Mapping[str, Any]): (_object, 'an object of JSON such as {"temperature": 0}'),
}


class Reply(NamedTuple):
    """Result of one request.

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
    """Send one request and wait for its answer; errors are part of the reply."""
    # Imported by those who ask a service, and not by all who list players.
    from http.client import HTTPException
    from urllib.error import HTTPError, URLError
    from urllib.request import Request, urlopen

    body = {"model": model, "messages": messages, **settings.body}
    url = f"{settings.url.rstrip('/')}/chat/completions"
    headers = {"Content-Type": "application/json"}
    asked = Request(url, json.dumps(body).encode(), headers, method="POST")
    if settings.key:  # which no redirect takes elsewhere
        asked.add_unredirected_header("Authorization", f"Bearer {settings.key}")
    try:
        try:
            with urlopen(asked, timeout=settings.timeout) as response:
                return _read(_body(response, settings.timeout))
        except HTTPError as error:
            said = shortened(_body(error, settings.timeout).decode(errors="replace"))
            pause = error.headers.get("Retry-After") or ""  # a date counts as nothing
            return Reply(
                error=f"HTTP {error.code}: {said}",
                pause=float(pause) if pause.isdecimal() else 0.0,
                again=error.code in PASSING or error.code >= 500,
            )
    except (URLError, HTTPException, OSError) as error:
        return Reply(error=str(getattr(error, "reason", error)) or type(error).__name__)


def _body(response: Any, seconds: float) -> bytes:
    """Return what a service sends.

    Raises:
        OSError: It is too long, or is not whole after so many seconds.
    """
    content, end = b"", monotonic() + seconds
    while part := response.read1(1 << 16):
        content += part
        if len(content) > MOST_BODY:
            raise OSError(f"the answer is longer than {MOST_BODY:,} bytes")
        if monotonic() > end:
            raise TimeoutError(f"timed out: the answer is not whole after {seconds:g} seconds")
    return content


def _read(content: bytes) -> Reply:
    try:
        answer = parse_json(content)
        text = answer["choices"][0]["message"]["content"] or ""
        usage = answer.get("usage") or {}
        used = int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0)
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        return Reply(error=f"no chat completion: {shortened(content.decode(errors='replace'))}")
    return Reply(str(text), input_tokens=used[0], output_tokens=used[1])


def wait_before(retry: int, reply: Reply) -> None:
    """Wait before a request is repeated: 1, 2, 4, ... seconds, or as long as the service asks."""
    sleep(min(max(2.0**retry, reply.pause), LONGEST_PAUSE))


def unanswered(model: str, reply: Reply, settings: Settings) -> PolicyError:
    """Return the error that a model has not answered, with the next step."""
    advice = (
        "run the same command again to resume"
        if reply.again
        else f"look at {VARIABLE}URL, {VARIABLE}KEY, {VARIABLE}BODY and the model's name"
    )
    return PolicyError(f"{model} at {settings.url} does not answer: {reply.error}; {advice}")
