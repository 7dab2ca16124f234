"""Which deals of a panel have been played, and who was left out of them."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

from kille_training.arena.encoding import Sets

NEVER = 1 << 63
"""No deal has this number."""


@dataclass(frozen=True)
class Span:
    """Consecutive deals of a panel that have been played.

    Attributes:
        first: The first one.
        end: One more than the last.
        without: Who was left out whenever they were played: a lineup has been played unless it has
            a member in each of these sets.
    """

    first: int
    end: int
    without: Sets


def needed(sets: Sets, without: tuple[int, ...]) -> Sets:
    """Returns of which sets a lineup needs a member, if some entrants are left out anyway."""
    return _least(tuple(sorted(set(each) - set(without))) for each in sets)


def joined(spans: Iterable[Span]) -> list[Span]:
    """Returns spans, sorted by the first deal, as ones that do not overlap.

    Adjoining ones at which the same entrants were left out are one.
    """
    done: list[Span] = []
    active: list[Span] = []
    at = 0
    for span in chain(spans, [Span(NEVER, NEVER, ())]):
        while active and at < span.first:
            end = min(span.first, *(each.end for each in active))
            without = _least(chain.from_iterable(each.without for each in active))
            if done and done[-1].end == at and done[-1].without == without:
                at = done.pop().first
            done.append(Span(at, end, without))
            at = end
            active = [each for each in active if each.end > end]
        at = span.first
        active.append(span)
    return done


def _least(sets: Iterable[tuple[int, ...]]) -> Sets:
    """Returns the sets that contain no other one of them."""
    different = sorted(set(sets))
    return tuple(
        each for each in different if not any(set(other) < set(each) for other in different)
    )
