"""The keys in the footer of a race, and the prompt for a move that is being typed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from samedeal.board import Board
from samedeal.cards import RANKS, SUITS
from samedeal_client.input.bindings import Bindings, KeyCommand
from samedeal_client.input.controller import RaceController
from samedeal_client.input.key_grammar import EntryPrompt, MoveChoice, Selected
from samedeal_client.input.key_names import QUIT_KEY, key_text
from samedeal_client.panels.footer_key import FooterKey
from samedeal_client.panels.race import LOBBY_KEY, WATCH_KEY, find_prompt, selection_text
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import Row, Span
from samedeal_link.model.model import Model

_LONGER: Final = {KeyCommand.FIND: "find card", KeyCommand.VIEW: "view pile"}


def race_keys(
    model: Model, controller: RaceController, bindings: Bindings, look: Look, after_room: str
) -> Iterator[FooterKey]:
    """Yield the keys that can be pressed now.

    ``after_room`` is one of ``AFTER_ROOM``. If a command has several keys, only the shortest is shown.
    """
    if controller.grammar.search_text is not None:
        yield from _find_keys(controller.grammar.search_text, bindings, look)
        return
    if model.board is not None and model.has_finished:
        if model.may_watch_others:
            yield FooterKey(WATCH_KEY, "watch the others")
        yield FooterKey(LOBBY_KEY, after_room)
        yield from _command_keys({KeyCommand.FIND: "find", KeyCommand.VIEW: "view"}, bindings)
    elif model.board is not None:
        yield from _command_keys(_board_words(model, model.board, controller), bindings)
    yield FooterKey(QUIT_KEY, "quit")
    yield from _command_keys({KeyCommand.HELP: "help"}, bindings)


def prompt_row(controller: RaceController, board: Board, look: Look) -> Row:
    """Return a row with the move that is being typed, or an empty row.

    While a card is being revealed, the keys that the player types are queued. The row then shows these keys.
    """
    if controller.queue:
        keys = " ".join(controller.queue)
        return (Span(f" {look.glyphs.ellipsis} a card is being revealed. Next: {keys}", "label"),)
    text = ""
    match controller.entry:
        case Selected(source, size):
            partial = min((count for _, count in controller.marks(board, None).partial), default=0)
            text = selection_text(board, source, size, look, partial)
        case MoveChoice(_, question):
            text = look.with_card_symbols(question)
        case EntryPrompt(typed):
            text = find_prompt(typed) if typed.startswith("/") else typed
        case None:
            pass
    return (Span(f" {text}", "you"),) if text else ()


def _command_keys(words: dict[KeyCommand, str], bindings: Bindings) -> Iterator[FooterKey]:
    for command, word in words.items():
        if word and (keys := bindings.commands[command]):
            key = min(keys, key=lambda key: len(key_text(key)))
            yield FooterKey(key, word, longer=_LONGER.get(command, ""))


def _board_words(model: Model, board: Board, controller: RaceController) -> dict[KeyCommand, str]:
    """Return a word for each command. It is empty if the command does nothing now."""
    if controller.idle:
        return {
            KeyCommand.STOCK: _stock_word(board),
            KeyCommand.UNDO: "undo" if model.own.may_undo else "",
            KeyCommand.HINT: "hint" if model.this_room.options.hints else "",
            KeyCommand.RESIGN: "resign",
            KeyCommand.COLLECT: "collect",
            KeyCommand.FIND: "find",
            KeyCommand.VIEW: "view",
        }
    source = controller.grammar.source
    movable = any(move.source == source for move in board.legal_moves())
    fewer, more = controller.grammar.other_counts(board)
    return {
        KeyCommand.BEST: "best move" if movable else "",
        KeyCommand.FEWER: "fewer cards" if fewer else "",
        KeyCommand.MORE: "more cards" if more else "",
        KeyCommand.CANCEL: "cancel",
    }


def _stock_word(board: Board) -> str:
    """Return the use of the stock key: draw, deal, or turn the waste over.

    Return an empty string if the key does nothing.
    """
    policy = board.game.stock
    if policy.is_redeal(board.stock, board.waste):
        return "turn the waste over"
    return policy.verb if board.stock_action else ""


def _find_keys(typed: str, bindings: Bindings, look: Look) -> Iterator[FooterKey]:
    """Yield a key for each rank or suit that can be typed next. A click on it does the same as typing it."""
    if typed == "1":
        yield FooterKey("0", "", "10")
    elif typed:
        yield from (FooterKey(suit.lower(), "", look.suit(number)) for number, suit in enumerate(SUITS))
    else:
        yield from (FooterKey(rank.lower(), "", "10" if rank == "T" else rank) for rank in RANKS)
    yield from _command_keys({KeyCommand.CANCEL: "cancel", KeyCommand.HELP: "help"}, bindings)
