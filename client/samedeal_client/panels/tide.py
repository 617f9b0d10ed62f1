"""The next tide, as text."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from samedeal.protocol.messages import TideTime
from samedeal.tides import OPEN_FOR, next_tides
from samedeal_client.text.option_wording import title_of
from samedeal_client.text.time_text import clock_text


def tide_text(tides: Sequence[TideTime], now: int) -> str:
    """Return the game of the next tide and the time until it starts, or an empty text if there is none."""
    start, game = next(next_tides(tides, now), (0, ""))
    is_open = ", open now" if start - now <= OPEN_FOR else ""
    return f"{title_of(game)} in {clock_text(start - now)}{is_open}" if start else ""


def tide_title(tide: int) -> str:
    """Return the name of a tide from the time of its start, or an empty text if that is 0."""
    return f"race of {datetime.fromtimestamp(tide / 1000, UTC):%H:%M} UTC" if tide else ""
