"""Horizontal bars and sparklines drawn with characters."""

from __future__ import annotations

from collections.abc import Sequence

from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import Row, Span


def bar(part: int, total: int, width: int, look: Look, style: str = "bar") -> Row:
    """Return a bar of ``width`` columns in ``style``. The bar is filled up to ``part`` of ``total``.

    It is full only if ``part`` is ``total``. A bar of several columns is empty only if ``part`` is 0.
    """
    full, rest = look.glyphs.meter
    if look.colour and not look.ascii:
        rest = full
    filled = _filled_steps(part, total, width)
    spans = (Span(full * filled, style), Span(rest * (width - filled), "rest"))
    return tuple(span for span in spans if span.text)


def _filled_steps(part: int, whole: int, steps: int) -> int:
    """Return the number of filled steps in a bar of ``steps`` steps.

    All steps are filled only if ``part`` is the ``whole``. In a bar of several steps, at least one is filled if
    ``part`` is not 0.
    """
    if part <= 0 or whole <= 0:
        return 0
    if part >= whole:
        return steps
    return min(max(round(steps * part / whole), 1), steps - 1) if steps > 1 else 0


def sparkline(counts: Sequence[int], look: Look, maximum: int) -> str:
    """Return a bar for each count, scaled to ``maximum`` or the highest count, whichever is larger.

    A count of 0 gets the lowest bar.
    """
    levels = look.glyphs.spark
    most = max(maximum, *counts, 1) if counts else 1
    return "".join(levels[-(-count * (len(levels) - 1) // most)] if count > 0 else levels[0] for count in counts)
