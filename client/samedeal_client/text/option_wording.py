"""The wording of a room's options and of deals."""

from __future__ import annotations

from datetime import tzinfo
from typing import Final

from samedeal.deal import Deal
from samedeal.games import GAMES, Game
from samedeal.options import Options
from samedeal_client.text.time_text import date_and_time, duration_text

UNDO_LABELS: Final = {
    "free": "any number of moves",
    "no-reveal": "not past a move that showed a new card",
    "off": "none: every move stands",
}
START_LABELS: Final = {
    "host": "when the host starts it",
    "all-ready": "when all are ready, two or more",
    "full": "when every seat is taken",
    "at": "set it in the next field",
}


def games_text(options: Options) -> str:
    """Return the games of a room, in the order in which its rematches play them."""
    return ", then ".join(Game.named(name).title for name in options.games)


def deal_text(deal: Deal) -> str:
    """Return the text that says where the cards of a deal come from."""
    if deal.kind == "number":
        return f"{deal} (the same cards every time)"
    if deal.kind == "daily":
        return "the deal of the day" + (f", {deal.date}" if deal.date else "")
    if deal.kind == "winnable":
        if deal.difficulty:
            return f"{deal.difficulty}, can be won, set by all players"
        return "can be won, set by all players"
    return "random: nobody knows it before the start"


def deal_title(deal: str) -> str:
    """Return the text that names a deal in a title, from the text of the deal."""
    return deal if public_deal_title(deal) else f"{' '.join(reversed(deal.split()))} deal"


def public_deal_title(deal: str) -> str:
    """Return the text that names a numbered or daily deal in a title, or an empty text for any other deal."""
    return "" if deal.startswith(("winnable", "random")) else deal


def start_text(options: Options, zone: tzinfo | None = None) -> str:
    """Return the text that says when a race starts."""
    if options.start == "at":
        countdown = f"; countdown {options.countdown} s before" if options.countdown else ""
        return f"at {date_and_time(options.start_at, zone)}{countdown}"
    count = f", then a countdown of {options.countdown} s" if options.countdown else ", without a countdown"
    return START_LABELS[options.start] + count


def end_text(options: Options) -> str:
    """Return the text that says when a race ends."""
    if options.first_finish_ends:
        condition = "the first player finishes"
    else:
        condition = (
            "no person can improve their result" if options.end_when_settled else "all have finished or resigned"
        )
    return f"when {condition}, or after {duration_text(options.limit)}"


def watching_text(options: Options) -> str:
    """Return the text that says whether others may watch, and with which delay."""
    if not options.spectators:
        return "nobody may watch"
    return f"spectators see the boards {options.delay} s late" if options.delay else "spectators see the boards live"


def options_lines(options: Options, zone: tzinfo | None = None) -> tuple[tuple[str, str], ...]:
    """Return a room's options, each as a label with its value in words."""
    return (
        ("Undo", UNDO_LABELS[options.undo]),
        ("Hints", "on" if options.hints else "off"),
        ("Starts", start_text(options, zone)),
        ("Ends", end_text(options)),
        ("Watching", watching_text(options)),
        *((("Bots", "may not join"),) if not options.bots else ()),
    )


def title_of(game: str) -> str:
    """Return the title of a game. If this version does not know the game, return the game's name."""
    return GAMES[game].title if game in GAMES else game
