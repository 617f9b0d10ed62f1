"""The panel of players next to a board. All rows have exactly the requested width."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from samedeal.options import MAX_PLAYERS
from samedeal_client.panels.meters import bar, sparkline
from samedeal_client.panels.race_feed import CLOSE_TO_FINISH, RankedPlayer
from samedeal_client.text.appearance import Look
from samedeal_client.text.player_names import fit_player_name
from samedeal_client.text.spans import Row, Span, counted, fit, fit_row, row_width, wrap
from samedeal_client.text.time_text import short_clock_text

FINAL_SECONDS: Final = 30_000
"""Time left, in milliseconds, at which the screens begin to announce the end of the race."""

_NEWS_ROWS: Final = 5
_CROWD_ROWS: Final = 12
"""Maximum number of rows for a ranking of more than ``MAX_PLAYERS`` players."""

_QUICK: Final = 4
"""Number of moves in one time slot that fill the height of the line that shows the pace."""

_MIN_NAME: Final = 6
_MIN_BAR: Final = 4
_MAX_BAR: Final = 46
_MIN_FULL_WORDS: Final = 28
"""Minimum width, in columns, for ``full_words`` in a ranking with two rows for each player."""

_MIN_FULL_WORDS_WITH_BAR: Final = 48
"""Minimum width, in columns, for ``full_words`` in a ranking with one row for each player."""


def panel_title(players: int, spectator_count: int, look: Look, width: int, left: int | None = None) -> Row:
    """Return the heading of the panel: the number of players, and of spectators if there is space.

    In the last seconds of the race, the heading is the time left instead. ``left`` is the time left in milliseconds, or
    None if the race is not under way.
    """
    if left is not None and left <= FINAL_SECONDS:
        seconds = -(-left // 1000)
        text = f" {seconds} SECOND{'S' if seconds != 1 else ''} LEFT" if left > 0 else " TIME'S UP"
        return (Span(fit(text, width), "alarm"),)
    text = f" RACE  {counted(players, 'player')}"
    watched = f" {look.glyphs.dot} {spectator_count} watching" if spectator_count else ""
    return fit_row((Span(text + (watched if len(text + watched) <= width else ""), "title"),), width)


def words_rows(words: str, width: int) -> tuple[Row, ...]:
    """Return the words of the deal, with a heading above them. Return no rows if they are not known."""
    lines = [(" Deal words", "label"), *((f" {part}", "name") for part in wrap(words, width - 2))] if words else []
    return tuple(fit_row((Span(text, style),), width) for text, style in lines)


def ranking_rows(players: Sequence[RankedPlayer], look: Look, width: int, height: int) -> tuple[Row, ...]:
    """Return the ranking in at most ``height`` rows.

    Each player has a row with the name and the progress. If there is space, a bar follows, and between the two the
    player's pace. At least ``_NEWS_ROWS`` rows are left for the news before the pace is shown.

    If there is no space for all players, the last row has the number of players that are left out. The leaders are
    shown, and the player of this client between the two neighbours in the ranking.
    """
    if len(players) > MAX_PLAYERS:
        height = min(height, _CROWD_ROWS)
    for rows in (4, 3):
        if rows * len(players) + _NEWS_ROWS <= height:
            blank = ((Span(" " * width),),) * (rows - 3)
            return tuple(
                row
                for player in players
                for first, last in [_two_lines(player, look, width)]
                for row in (first, _pace_row(player, look, width), last, *blank)
            )
    if 2 * len(players) <= height:
        return tuple(row for player in players for row in _two_lines(player, look, width))
    if len(players) <= height:
        return _single_lines(players, look, width)
    space = max(height - 1, 0)
    you = next((place for place, player in enumerate(players) if player.you), 0)
    around = min(3, (space + 1) // 2) if you >= space - 1 else 0
    first = min(max(you - around // 2, 0), len(players) - around)
    shown = [*players[: space - around], *players[first : first + around]]
    left_out = len(players) - len(shown)
    rest = f"   {look.glyphs.ellipsis} {counted(left_out, 'more player')}"
    more = (Span(fit(rest, width, look.glyphs.ellipsis), "label"),)
    return (*_single_lines(shown, look, width), more)[:height]


def _head(player: RankedPlayer, look: Look, width: int) -> Row:
    name, bot = ("you", False) if player.you else (player.name, player.bot)
    style = "you" if player.you else "name" if player.connected else "away"
    sign = look.glyphs.pointer if player.you else " "
    place = f"{player.place} "
    shown = fit_player_name(name, look, width - 1 - len(place), bot=bot)
    return (Span(sign, "you"), Span(place, style if player.you else "label"), Span(shown, style))


def _bar(player: RankedPlayer, length: int, look: Look) -> Row:
    return bar(player.foundation_cards, player.total, length, look, "you" if player.you else "bar")


def _count_style(player: RankedPlayer) -> str:
    return "you" if player.you else "count"


def progress_text(player: RankedPlayer, *, full_words: bool) -> str:
    """Return a player's progress, as in ``finished 5:52``, ``stuck 31/52`` or ``31/52``.

    If ``full_words`` is false, the text is ``in 5:52`` for a player who has finished, and ``resigned`` without a number
    for a player who has resigned.
    """
    if player.time:
        return f"{'finished' if full_words else 'in'} {short_clock_text(player.time)}"
    count = f"{player.foundation_cards}/{player.total}"
    if player.resigned:
        return f"resigned {count}" if full_words else "resigned"
    if player.stuck:
        return f"stuck {count}"
    return count if player.connected else f"away {count}"


@lru_cache(maxsize=256)
def _two_lines(player: RankedPlayer, look: Look, width: int) -> tuple[Row, Row]:
    progress = f" {progress_text(player, full_words=width >= _MIN_FULL_WORDS)} "
    first = (*_head(player, look, max(width - len(progress), 0)), Span(progress, _count_style(player)))
    length = max(min(width - 3 - 1, _MAX_BAR), 0)
    return fit_row(first, width), fit_row((Span("   "), *_bar(player, length, look)), width)


@lru_cache(maxsize=256)
def _pace_row(player: RankedPlayer, look: Look, width: int) -> Row:
    """Return a row with the moves that a player made in the last half minute, and how close the player is to the end.

    It is blank for a player who does not play any more, or played in an earlier race.
    """
    if not player.racing or not player.activity:
        return (Span(" " * width),)
    left = player.total - player.foundation_cards
    spark, pace = sparkline(player.activity, look, _QUICK), f" {2 * sum(player.activity)} a minute"
    end = (Span(f"{left} to go ", "notice"),) if left <= CLOSE_TO_FINISH else ()
    row = (Span("   "), Span(spark, "you" if player.you else "bar"), Span(pace, "label"))
    return (*fit_row(row, width - row_width(end)), *end)


def _single_lines(players: Sequence[RankedPlayer], look: Look, width: int) -> tuple[Row, ...]:
    full_words = width >= _MIN_FULL_WORDS_WITH_BAR
    texts = [progress_text(player, full_words=full_words) for player in players]
    longest = max(map(len, texts), default=0)
    name = max(_MIN_NAME, min(20, width // 3))
    length = min(width - 3 - name - longest - 3, _MAX_BAR)
    rows: list[Row] = []
    for player, text in zip(players, texts, strict=True):
        progress = Span(f" {text:>{longest}} ", _count_style(player))
        if length < _MIN_BAR:
            rows.append(fit_row((*_head(player, look, max(width - longest - 2, 0)), progress), width))
        else:
            filled = (Span(" "), *_bar(player, length, look))
            rows.append(fit_row((*_head(player, look, 3 + name), *filled, progress), width))
    return tuple(rows)
