"""How the frame around a race reads: what is raced, how one fares, what was picked up, the countdown."""

from __future__ import annotations

from typing import Final

from samedeal.board import Board
from samedeal.cards import UNSEEN
from samedeal.games import Game, Kind, Stock
from samedeal.moves import FOUNDATION, Move
from samedeal_client.board.bindings import Bindings, Command
from samedeal_client.board.key_names import command_text, key_text
from samedeal_client.rooms.model import Model
from samedeal_client.text import digits
from samedeal_client.text.look import Look
from samedeal_client.text.spans import Row, Span, row_width
from samedeal_client.views.panel import clock_text

WATCH_KEY: Final = "w"
LOBBY_KEY: Final = "l"
"""The keys of who is through with a race, for whom piles need none any more."""

_MOST_NAMED: Final = 6


def title(model: Model, look: Look) -> Row:
    """The game, its deal and the room; empty outside one."""
    room = model.room
    if room is None:
        return ()
    deal = "" if room.deal == "random" else f" {room.deal}"
    return (
        Span("samedeal ", "label"),
        Span(f"{look.glyphs.pointer} ", "label"),
        Span(model.game.title + deal, "title"),
        Span(f" {look.glyphs.pointer} room {room.room}", "label"),
    )


def state(model: Model, bindings: Bindings, look: Look) -> Row:
    """How one fares, and what can be done about it; empty before the cards are out."""
    board, room = model.board, model.room
    if board is None or room is None:
        return ()
    if model.through:
        others = room.options.spectators and len(room.players) > 1
        watch = f"{WATCH_KEY} watches the others, " if others else ""
        ways = f"{watch}{LOBBY_KEY} is the lobby."
        return (Span(f" {_outcome(model)} Now {ways}", "you" if board.won else "notice"),)
    if model.stuck and not model.unsettled:
        return (Span(f" {stuck(model, bindings, look)}", "notice"),)
    return (Span(f" {_how(board.game, bindings, look)}", "label"),)


_FROM: Final = {Kind.WASTE: "the waste", Kind.RESERVE: "the reserve", Kind.FAN: "a fan"}


def _how(game: Game, bindings: Bindings, look: Look) -> str:
    """How cards are moved in a game, by an example of each kind of pile that they are taken from."""
    column, other = (key_text(bindings.piles[pile][0], look) for pile in "35")
    text = f"type from and to: {column} {other} for column 3 to 5, {column} {column} up"
    for kind, name in _FROM.items():
        if piles := game.of_kind(kind):
            text += f", {key_text(bindings.piles[game.keys[piles.start]][0], look)} {other} from {name}"
    return f"{text}; or drag"


def stuck(model: Model, bindings: Bindings, look: Look) -> str:
    """What is said where nothing that helps is left: what else there is to do."""
    undo, resign = (command_text(bindings, command, look) for command in (Command.UNDO, Command.RESIGN))
    back = f"undo with {undo}, or " if model.may_undo else ""
    return f"Nothing that helps is left: {back}resign with {resign}"


def _outcome(model: Model) -> str:
    tally = model.tallies.get(model.me)
    if model.play is not None and model.play.board.won:
        if model.room is not None and tally is not None and tally.home:
            return f"You are home in {clock_text(tally.home - model.room.starts)}!"
        # The server's own word comes with the next state of the room; till then it is the last move's time.
        return f"You are home in {clock_text(model.done[-1][0])}!" if model.done else "You are home!"
    if model.seat is not None and model.seat.out:
        return "You are out; your cards up count."
    return "No move is left; your cards up count."


def chosen(board: Board, source: str, size: int, bindings: Bindings, look: Look) -> str:
    """What was picked up, and what comes next."""
    if source == FOUNDATION:
        return "from a foundation: which column takes the card?"
    at = board.game.index[source]
    cards = [look.card(card) for card in board.piles[at][-size:]] if size else []
    if len(cards) > _MOST_NAMED:
        cards = [f"{len(cards)} cards", cards[0], look.glyphs.ellipsis, cards[-1]]
    best = command_text(bindings, Command.BEST, look)
    name = f"{board.game.piles[at].kind.value} {source}"
    return f"{name}: {' '.join(cards)} {look.glyphs.pointer} where to? {best} for the best place"


def moves(model: Model) -> str:
    """How many moves one has made; every draw and deal counts, and what was taken back too."""
    play = model.play
    if play is None:
        return ""
    return "  1 move" if play.moves == 1 else f"  {play.moves} moves"


def finding(typed: str) -> str:
    """What has been typed of a card to find."""
    return f"find which card? {typed}_" if typed != "/" else "find which card? Rank and suit, as in 7h or 10s"


def where(board: Board, card: int, look: Look) -> str:
    """Where a card lies, and under how many others; of one that isn't in sight, where it may be."""
    name = look.card(card)
    for at, pile in enumerate(board.piles):
        if card in pile:
            group, key = board.game.piles[at], board.game.keys[at]
            if group.kind is Kind.FOUNDATION:
                return f"{name} is on a foundation"
            above = len(pile) - 1 - pile.rindex(card)
            under = f", under {above} other{'s' if above > 1 else ''}" if above else ""
            return f"{name} is in {group.kind.value} {key}{under}"
    hidden = [" or ".join(_hiding(board))] if _hiding(board) else []
    return f"{name} is not in sight{': it lies ' + hidden[0] if hidden else ''}"


def _hiding(board: Board) -> list[str]:
    game = board.game
    down = any(card >= UNSEEN for at in game.columns for card in board.piles[at])
    stock = game.stock is not Stock.NONE and board.piles[game.stock_at]
    return ["face down in a column"] * down + ["in the stock"] * bool(stock)


def hinted(board: Board, move: Move, look: Look) -> str:
    """A move in words: its keys, the cards that go, and what they go to."""
    index = board.game.index
    cards = board.piles[index[move.source]][-move.size :]
    more = f" and the {len(cards) - 1} on it" if len(cards) > 1 else ""
    if move.target == FOUNDATION:
        to = "up"
    elif pile := board.piles[index[move.target]]:
        to = f"onto the {look.card(pile[-1])}"
    else:
        to = "to an empty column"
    return f"{move.source} {move.target} moves the {look.card(cards[0])}{more} {to}"


def countdown(model: Model, seconds: int, look: Look) -> tuple[Row, ...]:
    """The seconds until the cards come, large, in rows of one width."""
    number = digits.large(seconds, look) if seconds else ()
    word = f"{model.game.title}: the same cards for everybody" if seconds else "The cards are coming"
    width = max([len(word) + 4, *(row_width(row) + 4 for row in number)])
    return ((), *(_centred(row, width) for row in number), (), _centred((Span(word, "label"),), width), ())


def _centred(row: Row, width: int) -> Row:
    gap = max(width - row_width(row), 0)
    return (Span(" " * (gap // 2)), *row, Span(" " * (gap - gap // 2)))
