"""The wording of a room's options, of deals and of times."""

from __future__ import annotations

from datetime import datetime, tzinfo
from typing import Final

from samedeal.deal import Deal
from samedeal.games import GAMES, Game
from samedeal.options import Options
from samedeal_client.text.appearance import Look

UNDO_LABELS: Final = {
    "free": "any number of moves",
    "no-reveal": "not past a move that turned up a new card",
    "off": "none: every move stands",
}
START_LABELS: Final = {
    "host": "when the host starts it",
    "all-ready": "when all players are ready, at least two",
    "full": "when every seat is taken",
    "at": "set it in the next field",
}


def clock_text(ms: int) -> str:
    """A time in milliseconds as ``02:47`` or ``1:02:47``, rounded down. A negative time is ``00:00``."""
    seconds = max(ms, 0) // 1000
    hours, minutes = seconds // 3600, seconds // 60 % 60
    return f"{hours}:{minutes:02}:{seconds % 60:02}" if hours else f"{minutes:02}:{seconds % 60:02}"


def duration_text(seconds: int) -> str:
    """A length of time as ``45 s``, ``15 min``, ``7 min 30 s`` or ``1 h 30 min``."""
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    parts = [f"{number} {unit}" for number, unit in ((hours, "h"), (minutes, "min"), (rest, "s")) if number]
    return " ".join(parts) or "0 s"


def games_text(options: Options, look: Look) -> str:
    """The games of a room, in the order in which its rematches play them."""
    return f" {look.glyphs.pointer} ".join(Game.named(name).title for name in options.games)


def deal_text(deal: Deal) -> str:
    """Return the text that says where the cards of a deal come from."""
    if deal.kind == "number":
        return f"{deal} (the same cards every time)"
    if deal.kind == "daily":
        return "the deal of the day" + (f", {deal.date}" if deal.date else "")
    return "random: nobody knows it before the start"


def date_and_time(milliseconds: int, zone: tzinfo | None = None) -> str:
    """A time with its date, in the time zone of this machine or in ``zone``."""
    return datetime.fromtimestamp(milliseconds / 1000, zone).astimezone(zone).strftime("%H:%M on %Y-%m-%d")


def start_text(options: Options, zone: tzinfo | None = None) -> str:
    """Return the text that says when a race starts."""
    if options.start == "at":
        countdown = f", when a countdown of {options.countdown} s ends" if options.countdown else ""
        return f"at {date_and_time(options.start_at, zone)}{countdown}"
    count = f", then a countdown of {options.countdown} s" if options.countdown else ", without a countdown"
    return START_LABELS[options.start] + count


def end_text(options: Options) -> str:
    """Return the text that says when a race ends."""
    condition = "the first player finishes" if options.first_finish_ends else "all have finished or resigned"
    return f"when {condition}, or after {duration_text(options.limit)}"


def watching_text(options: Options) -> str:
    """Return the text that says whether others may watch, and with which delay."""
    if not options.spectators:
        return "nobody may watch"
    return f"spectators see the boards {options.delay} s late" if options.delay else "spectators see the boards live"


def options_lines(options: Options, zone: tzinfo | None = None) -> tuple[tuple[str, str], ...]:
    """A room's options, each as a label with its value in words."""
    return (
        ("Undo", UNDO_LABELS[options.undo]),
        ("Hints", "on" if options.hints else "off"),
        ("Starts", start_text(options, zone)),
        ("Ends", end_text(options)),
        ("Watching", watching_text(options)),
        *((("Bots", "none may join"),) if not options.bots else ()),
    )


def title_of(game: str) -> str:
    """The title of a game, or its name if this version does not know the game."""
    return GAMES[game].title if game in GAMES else game
