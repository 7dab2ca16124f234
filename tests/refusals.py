"""The one way in which tests look at a refusal: its words, after the name of its error."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from kille_env.errors import KilleError


def refused(
    call: Callable[..., Any], words: str, *given: Any, kind: type[KilleError] = KilleError
) -> str:
    """Require that a call is refused; returns "Error: message", in which `words` are found."""
    with pytest.raises(kind) as caught:
        call(*given)
    said = f"{type(caught.value).__name__}: {caught.value}"
    assert re.search(words, said, re.DOTALL), said
    return said
