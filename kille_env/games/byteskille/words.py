"""Byteskille in words."""

from typing import Any


def result(table: Any, rules: Any) -> dict[str, Any]:
    """Returns the result."""
    return {}


def describe(table: Any, rules: Any, seat: int | None) -> str:
    """Returns the table in words."""
    return ""


def narrate() -> None:
    """Tells."""
