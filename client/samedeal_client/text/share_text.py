"""Results to send to others: a text that says how a race went, and nothing about its cards."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from operator import itemgetter

from samedeal.protocol.messages import Standing
from samedeal_client.text.option_wording import deal_title, title_of
from samedeal_client.text.time_text import ordinal, short_clock_text

_BARS = "▁▂▃▄▅▆▇█"
_WIDTH = 12


def cards_at(points: Sequence[tuple[int, int]], time: float) -> int:
    """Return the number of foundation cards at a time. ``points`` is as in ``bar_text``, in the order of time."""
    at = bisect_right(points, time, key=itemgetter(0))
    return points[at - 1][1] if at else 0


def bar_text(points: Iterable[tuple[int, int]], length: int, cards: int) -> str:
    """Return progress as a row of bars over the time of a race.

    ``points`` has pairs of a time and the number of foundation cards from then on. The times and ``length`` are in
    milliseconds since the start. ``cards`` is the number of all cards.
    """
    known = sorted(points)
    reached = (cards_at(known, length * number // _WIDTH) for number in range(1, _WIDTH + 1))
    return "".join(_BARS[number * (len(_BARS) - 1) // cards] for number in reached)


def share_text(race: tuple[str, str, int], own: Standing, players: int, bar: str, link: str, tide: str = "") -> str:
    """Return three lines to share: the race, the result with its bars, and the link to the replay.

    ``race`` has the game, the deal and the number of cards. ``tide`` names the tide, if the race belongs to one. Without
    a link, there are two lines.
    """
    game, deal, cards = race
    result = short_clock_text(own.time) if own.time else f"{own.foundation_cards} of {cards} cards"
    place = f", {ordinal(own.place)} of {players}" if players > 1 else ""
    return "\n".join(
        filter(None, (f"Samedeal: {title_of(game)}, {tide or deal_title(deal)}", f"{bar} {result}{place}", link))
    )
