"""The news of a race in words, and as rows of the panel. All rows have exactly the requested width."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from samedeal.protocol.messages import RoomState, Seat
from samedeal_client.panels.live_ranking import all_seats
from samedeal_client.panels.race_feed import News, RaceFeed
from samedeal_client.text.appearance import Look
from samedeal_client.text.player_names import player_name
from samedeal_client.text.spans import Row, Span, counted, fit_row, wrap
from samedeal_client.text.time_text import ordinal, short_clock_text

FRESH: Final = 6_000
"""Time, in milliseconds, for which a news item is highlighted. Without a panel, it is shown as a message for this time."""

_MAX_ROWS: Final = 10

_RINGING: Final = ("finished", "lead", "overtaken")


def rings(news: Iterable[News], me: str) -> bool:
    """Return whether any of the news is worth ringing the bell.

    This is so if another player has finished, taken the lead or passed the player ``me``.
    """
    return any(event.kind in _RINGING and (event.player != me or event.kind == "overtaken") for event in news)


def news_text(news: News, seats: Mapping[str, Seat], me: str, look: Look) -> str:
    """Return a news item as a sentence without a full stop, as in ``ada took the lead``."""
    mine = news.player == me
    who = "You" if mine else _name(news.player, seats, look)
    match news.kind:
        case "finished":
            return f"{who} finished in {short_clock_text(news.finish_time)}, {ordinal(news.place)}"
        case "resigned":
            return f"{who} resigned at {news.cards}"
        case "stuck":
            return f"{who} {'are' if mine else 'is'} stuck at {news.cards}"
        case "lead":
            return f"{who} took the lead"
        case "overtaken":
            return f"{_name(news.other, seats, look)} passed you"
        case "passed":
            return f"You passed {_name(news.other, seats, look)}"
        case "close":
            return f"{who} has {counted(news.cards, 'card')} to go"
        case "away":
            return f"{who} lost the connection"
        case "back":
            return f"{who} is back"


def _name(player: str, seats: Mapping[str, Seat], look: Look) -> str:
    seat = seats.get(player)
    return player_name(seat.name, look, bot=False) if seat is not None else "somebody"


def fresh_news_row(feed: RaceFeed, room: RoomState, now: int, look: Look) -> Row:
    """Return the newest news item for the message line.

    Return an empty row if there is no item from the last ``FRESH`` milliseconds.
    """
    if not feed.news or now - feed.news[-1].time >= FRESH:
        return ()
    return (Span(f" {news_text(feed.news[-1], all_seats(room), feed.me, look)}.", "title"),)


def news_rows(feed: RaceFeed, room: RoomState, now: int, look: Look, width: int, height: int) -> tuple[Row, ...]:
    """Return the newest news items in at most ``height`` rows, the newest item first."""
    rows: list[Row] = []
    seats = all_seats(room)
    for event in reversed(feed.news):
        style = "title" if now - event.time < FRESH else "label"
        lines = wrap(news_text(event, seats, feed.me, look), width - 4)
        if len(rows) + len(lines) > min(height, _MAX_ROWS):
            break
        mark = "you" if feed.me in (event.player, event.other) else style
        rows += [
            fit_row((Span(" " if at else f" {look.glyphs.dot}", mark), Span(f" {line}", style)), width)
            for at, line in enumerate(lines)
        ]
    return tuple(rows)
