"""A sequential test that tells which of two players is better, as engines of chess are tested. Pure.

Each pair of races on the same deal tells who is ahead in it; pairs in which nobody is do not count. Two tests of Wald run
over the same pairs: whether the first player is ahead in 60 % of them rather than in half, and whether the second one
is. If both players are equally good, the test calls one of them better in at most one of twenty cases.
"""

from __future__ import annotations

from enum import StrEnum
from math import log
from typing import Final

EDGE: Final = 0.6
"""The share of the pairs in which a better player is ahead, at least."""

_FALSE_ALARM: Final = 0.025
_OVERSIGHT: Final = 0.05
_ACCEPTED: Final = log((1 - _OVERSIGHT) / _FALSE_ALARM)
_REJECTED: Final = log(_OVERSIGHT / (1 - _FALSE_ALARM))


class Comparison(StrEnum):
    """What the pairs so far tell. ``EVEN`` means that neither player is ahead as often as ``EDGE`` says."""

    OPEN = "Not decided"
    FIRST = "A is better"
    SECOND = "B is better"
    EVEN = "Neither is much better"


def compared(first: int, second: int) -> Comparison:
    """Return what it means that each of two players was ahead in so many pairs."""
    evidence = [
        ahead * log(2 * EDGE) + behind * log(2 - 2 * EDGE) for ahead, behind in ((first, second), (second, first))
    ]
    if max(evidence) >= _ACCEPTED:
        return Comparison.FIRST if first > second else Comparison.SECOND
    return Comparison.EVEN if max(evidence) <= _REJECTED else Comparison.OPEN
