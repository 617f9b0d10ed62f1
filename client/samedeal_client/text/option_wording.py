"""The wording of a room's options and of deals."""

from __future__ import annotations

from datetime import tzinfo
from typing import Final

from samedeal.deal import Deal
from samedeal.game import Game
from samedeal.games import GAMES, game_named
from samedeal.options import Options
from samedeal.policies import Faces
from samedeal_client.text.time_text import date_and_time, duration_text

UNDO_LABELS: Final = {
    "free": "any number of moves",
    "no-reveal": "not past a move that turned up a card",
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
    return ", then ".join(game_named(name).title for name in options.games)


def deal_text(deal: Deal) -> str:
    """Return the text that says where the cards of a deal come from."""
    if deal.kind in ("number", "ms"):
        return f"{deal} (same number, same cards)"
    if deal.kind == "daily":
        return f"the deal of the day{f', {deal.date}' if deal.date else ''}: public"
    if deal.kind == "again":
        return "the deal of an earlier race, dealt again"
    if deal.kind == "winnable":
        if deal.difficulty:
            return f"{deal.difficulty}; drawn by chance, and can be won"
        return "drawn by chance, and can be won"
    return "random: nobody knows it before the start"


def deal_title(deal: str) -> str:
    """Return a title for a deal that is given as text."""
    if deal.startswith("again "):
        return "deal of an earlier race"
    return deal if public_deal_title(deal) else f"{' '.join(reversed(deal.split()))} deal"


def public_deal_title(deal: str) -> str:
    """Return a title for a numbered or daily deal, or an empty text for any other deal."""
    return "" if deal.startswith(("winnable", "random", "again")) else deal


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
        settled = "all people playing are stuck"
        condition = settled if options.end_when_settled else "all have finished or resigned"
    return f"when {condition}, or after {duration_text(options.limit)}"


def watching_text(options: Options) -> str:
    """Return the text that says whether others may watch, and with which delay."""
    if not options.spectators:
        return "not allowed"
    return f"allowed; boards are shown {options.delay} s late" if options.delay else "allowed; boards are shown live"


def undo_text(options: Options) -> str:
    """Return the text that says which moves can be undone.

    If no game of the room hides cards, the text for the option ``no-reveal`` is the same as for ``free``, because no
    move turns up a card.
    """
    hidden = any(_hides_cards(game_named(name)) for name in options.games)
    return UNDO_LABELS["free" if options.undo == "no-reveal" and not hidden else options.undo]


def _hides_cards(game: Game) -> bool:
    return game.stock_at >= 0 or any(group.faces is not Faces.UP for group in game.groups)


def options_lines(options: Options, zone: tzinfo | None = None) -> tuple[tuple[str, str], ...]:
    """Return a room's options, each as a label with its value in words."""
    return (
        ("Undo", undo_text(options)),
        ("Hints", "on" if options.hints else "off"),
        ("Starts", start_text(options, zone)),
        ("Ends", end_text(options)),
        ("Watching", watching_text(options)),
        *((("Bots", "may not join"),) if not options.bots else ()),
        *((("Series", f"best of {options.series}"),) if options.series > 1 else ()),
    )


def title_of(game: str) -> str:
    """Return the title of a game. If this version does not know the game, return the game's name."""
    return GAMES[game].title if game in GAMES else game
