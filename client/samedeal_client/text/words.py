"""A room's options, deals and times in words, as players are told them."""

from __future__ import annotations

from datetime import datetime, tzinfo
from typing import Final

from samedeal.deal import Deal
from samedeal.games import GAMES, Game
from samedeal.options import Options
from samedeal_client.text.look import Look

UNDO_WORDS: Final = {
    "free": "free, any number of moves",
    "no-reveal": "not past a move that showed a new card",
    "off": "none, every move stands",
}
START_WORDS: Final = {
    "host": "when the host says so",
    "all-ready": "when all are ready, two at the least",
    "full": "when every seat is taken",
    "at": "at a time",
}
GAME_WORDS: Final = {
    "athena": "7 half-hidden columns, a stock by threes",
    "steve": "two decks, 8 columns, a stock in rows",
    "phoenix": "6 columns, a reserve of 16, nothing hidden",
    "ace-of-hearts": "one foundation, 7 columns, a stock in rows",
    "willow": "7 columns and 4 fans, nothing hidden",
}


def duration(seconds: int) -> str:
    """A length of time as ``45 s``, ``15:00`` or ``1:30:00``."""
    if seconds < 60:
        return f"{seconds} s"
    hours, rest = divmod(seconds, 3600)
    return f"{hours}:{rest // 60:02}:{rest % 60:02}" if hours else f"{rest // 60}:{rest % 60:02}"


def games_text(options: Options, look: Look) -> str:
    """The game of a room, or its cycle."""
    titles = [Game.named(name).title for name in options.games]
    return f" {look.glyphs.pointer} ".join(titles)


def deal_words(deal: Deal) -> str:
    """Where a deal's cards come from."""
    if deal.kind == "number":
        return f"{deal}, which anyone can work out"
    if deal.kind == "daily":
        return "the deal of the day" + (f", {deal.date}" if deal.date else "")
    return "random: nobody knows it before the start"


def when(milliseconds: int, zone: tzinfo | None = None) -> str:
    """A time of day with its date, in one's own time zone or another."""
    return datetime.fromtimestamp(milliseconds / 1000, zone).astimezone(zone).strftime("%H:%M on %Y-%m-%d")


def start_words(options: Options, zone: tzinfo | None = None) -> str:
    """When a race starts."""
    how = f"at {when(options.start_at, zone)}" if options.start == "at" else START_WORDS[options.start]
    count = f", after a countdown of {options.countdown} s" if options.countdown else ", at once"
    return how + count


def end_words(options: Options) -> str:
    """When a race ends."""
    home = "the first is home" if options.first_home_ends else "all are home or out"
    return f"when {home}, after {duration(options.limit)} at the latest"


def watching_words(options: Options) -> str:
    """Who may watch, and how late."""
    if not options.spectators:
        return "nobody may watch"
    return f"boards are shown {options.delay} s late" if options.delay else "boards are shown at once"


def options_lines(options: Options, zone: tzinfo | None = None) -> tuple[tuple[str, str], ...]:
    """A room's options: each a name and what it says, in words."""
    return (
        ("Undo", UNDO_WORDS[options.undo]),
        ("Hints", "on" if options.hints else "off"),
        ("Starts", start_words(options, zone)),
        ("Ends", end_words(options)),
        ("Watching", watching_words(options)),
    )


def title_of(game: str) -> str:
    """The title of a game, or its name where this program doesn't know it."""
    return GAMES[game].title if game in GAMES else game
