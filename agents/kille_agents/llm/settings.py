"""Settings of a language model at the table, also from environment variables."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from kille_env.errors import ConfigError, did_you_mean, shortened
from kille_env.files import parse_json

VARIABLE = "KILLE_LLM_"
"""What the names of the environment variables begin with; `KILLE_LLM_URL` sets `url`."""


@dataclass(frozen=True)
class Settings:
    """Where a model is, how it is asked, and what it may cost.

    Attributes:
        url: Address of an OpenAI-compatible service, up to before `/chat/completions`.
        key: Sent as a bearer token; empty sends none.
        folder: Where answers are kept; empty is `runs/llm/MODEL`.
        asks: How often each prompt is asked. The policy plays the answers in their shares.
        attempts: Requests for one answer, until it can be read and is legal.
        retries: How often a request is repeated after a time-out or an error of the service.
        timeout: Seconds without a byte after which a request has failed.
        parallel: Requests at the same time.
        body: Further fields of every request, such as {"temperature": 0}.
        calls: Most requests, all those in the folder together.
        tokens: Most tokens, likewise; None is no limit.
        cost: The most that may be spent, likewise, in the unit of the prices.
        input_price: Price of a million tokens of a prompt.
        output_price: Price of a million tokens of an answer.
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
    tokens: int | None = None
    cost: float | None = None
    input_price: float = 0.0
    output_price: float = 0.0

    def __post_init__(self) -> None:
        """Refuses what is impossible.

        Raises:
            ConfigError: The message names the setting.
        """
        if not self.url.startswith(("http://", "https://")):
            raise ConfigError(
                f"a language model needs an address; {VARIABLE}URL is {self.url!r}, expected one "
                "like http://localhost:8000/v1"
            )
        for name in ("asks", "attempts", "parallel", "timeout"):
            if getattr(self, name) <= 0:
                raise ConfigError(f"{name} is {getattr(self, name)}, expected more than 0")
        if self.retries < 0:
            raise ConfigError(f"retries is {self.retries}, expected 0 or more")
        if self.cost is not None and not (self.input_price or self.output_price):
            raise ConfigError(
                f"a limit of the cost needs prices: set {VARIABLE}INPUT_PRICE and "
                f"{VARIABLE}OUTPUT_PRICE, per million tokens"
            )

    @classmethod
    def from_environment(
        cls, variables: Mapping[str, str] | None = None, **changes: Any
    ) -> "Settings":
        """Returns the settings of the environment's variables.

        Args:
            variables: The variables; None takes the process's.
            **changes: Settings that replace those.

        Raises:
            ConfigError: A variable has an impossible value, or a name that is no setting.
        """
        given = os.environ if variables is None else variables
        known = {each.name: each for each in fields(cls)}
        values: dict[str, Any] = {}
        for variable, text in given.items():
            if not variable.startswith(VARIABLE):
                continue
            name = variable.removeprefix(VARIABLE).lower()
            if name not in known:
                names = [f"{VARIABLE}{each.upper()}" for each in known]
                raise ConfigError(f"there is no {variable}. {did_you_mean(variable, names)}")
            try:
                values[name] = _READERS[str(known[name].type)](text)
            except ValueError:
                raise ConfigError(
                    f"{variable} is {shortened(text)}, expected {_EXPECTED[str(known[name].type)]}"
                ) from None
        return cls(**{**values, **changes})


def _object(text: str) -> dict[str, Any]:
    found = parse_json(text)
    if not isinstance(found, dict):
        raise ValueError(text)
    return found


_READERS: dict[str, Callable[[str], Any]] = {
    str(str): str,
    str(int): int,
    str(float): float,
    str(int | None): int,
    str(float | None): float,
    str(Mapping[str, Any]): _object,
}
_EXPECTED = {
    str(int): "a whole number",
    str(int | None): "a whole number",
    str(float): "a number",
    str(float | None): "a number",
    str(Mapping[str, Any]): 'an object of JSON such as {"temperature": 0}',
}
