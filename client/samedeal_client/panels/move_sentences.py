"""The player's own moves in sentences, for the line client and screen readers."""

from __future__ import annotations

from itertools import pairwise

from samedeal.board import Board, Step
from samedeal.board_history import Play
from samedeal.moves import DRAW, FOUNDATION
from samedeal_client.text.appearance import Look, capitalized


def move_sentences(before: Play, after: Play, look: Look) -> list[str]:
    """Return a sentence for each action between two plays.

    The actions must be moves only, or a single undo. Otherwise return no sentences.
    """
    if after.revision <= before.revision:
        return []
    if (after.revision, after.undos, after.moves) == (before.revision + 1, before.undos + 1, before.moves):
        return [f"Undone. {_undone(before, look)}".rstrip()]
    count = after.revision - before.revision
    if after.undos != before.undos or after.moves != before.moves + count:
        return []
    plays = [after]
    while len(plays) <= count and plays[-1].past is not None:
        step, past = plays[-1].past
        plays.append(Play(plays[-1].board.undo(step), after.undo_rule, past))
    if len(plays) <= count:
        return []
    return [
        _sentence(earlier.board, later.board, later.last, look)
        for earlier, later in pairwise(reversed(plays))
        if later.last is not None
    ]


def _undone(before: Play, look: Look) -> str:
    step = before.last
    if step is None or not step.move.is_transfer:
        return ""
    game = before.board.game
    pile = before.board.piles[step.target]
    return f"{capitalized(_cards(pile[-step.size :], look))} back to {game.pile_phrase(game.keys[step.source])}."


def _sentence(before: Board, after: Board, step: Step, look: Look) -> str:
    game = before.game
    if step.move == DRAW:
        waste = after.piles[game.waste_at]
        return f"Drew {_cards(waste[-step.size :], look, every=True)}." if waste else "The waste is the stock again."
    if not step.move.is_transfer:
        dealt = [
            f"{look.card(after.piles[at][-1])} on {game.pile_name(game.keys[at])}"
            for at in game.columns
            if len(after.piles[at]) > len(before.piles[at])
        ]
        return f"Dealt {', '.join(dealt)}."
    to = "a foundation" if step.move.target == FOUNDATION else game.pile_phrase(game.keys[step.target])
    under = before.piles[step.target]
    onto = f", on {look.card(under[-1])}" if under and step.move.target != FOUNDATION else ""
    cards = _cards(after.piles[step.target][-step.size :], look)
    flipped = f" Turned up {look.card(after.piles[step.source][-1])}." if step.flipped else ""
    return f"{capitalized(cards)} from {game.pile_phrase(game.keys[step.source])} to {to}{onto}.{flipped}"


def _cards(cards: bytes, look: Look, *, every: bool = False) -> str:
    """Return the names of the cards. Of three or more only the first and the last are named, unless ``every`` is true."""
    names = [look.card(card) for card in cards]
    return ", ".join(names) if every or len(names) < 3 else f"{names[0]}{' down to ' if look.words else '-'}{names[-1]}"
