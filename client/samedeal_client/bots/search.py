"""Looking ahead over what a player knows: the careful bot's thinking.

Boards are looked at best first, none twice, up to a number of them. A move that turns up a card never seen ends its line:
what comes then is not known, so that it is worth what it leaves behind, and a bonus.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from heapq import heappop, heappush
from itertools import count
from typing import Final, NamedTuple

from samedeal.board import Board
from samedeal.cards import DECK, FACE, HIDDEN
from samedeal.moves import DEAL, DRAW, Move
from samedeal_client.bots.appraisal import Appraisal
from samedeal_client.rooms.prospects import Key, key_of

_WON: Final = 1e9
_BETWEEN_LINES: Final = 0.1
"""The share of ``haste`` that counts between lines; all of it counts in what is looked at next."""


class Line(NamedTuple):
    """Moves to be made one after another; ``gain`` is how much more their end is worth than where they begin."""

    moves: tuple[Move, ...]
    gain: float


class Outlook(NamedTuple):
    """What was found: the best line, and the one that brings most cards up; None where there is none."""

    best: Line | None
    highest: Line | None


class _Node(NamedTuple):
    board: Board
    before: _Node | None
    move: Move | None


def look_ahead(board: Board, appraise: Appraisal, visited: AbstractSet[Key], most: int) -> Outlook:
    """Look at up to ``most`` boards from one on, as its player sees it; no line ends on a board that was visited."""
    haste = appraise.weights.haste
    worth_now = appraise(board)
    ticket = count()
    start = _Node(board, None, None)
    waiting = [(-worth_now, next(ticket), 0, start)]
    seen = {key_of(board)}
    best, best_worth = None, 0.0
    highest, most_up = None, board.cards_up
    looked = 0
    while waiting and looked < most:
        _, _, depth, node = heappop(waiting)
        here = node.board
        tax = _BETWEEN_LINES * haste * depth
        for move in here.legal_moves():
            if move.is_transfer and (here.is_take_back(move) or here.is_null(move)):
                continue
            looked += 1
            if here.turns_up(move):
                worth = _worth_of_reveal(here, move, appraise) - tax
                if best is None or worth > best_worth:
                    best, best_worth = _Node(here, node, move), worth
                continue
            after = here.play(move).board
            key = key_of(after)
            if key in seen:
                continue
            seen.add(key)
            child = _Node(after, node, move)
            if after.won:
                line = Line(_moves(child), _WON)
                return Outlook(line, line)
            worth = appraise(after)
            if key not in visited:
                if best is None or worth - tax > best_worth:
                    best, best_worth = child, worth - tax
                if (up := after.cards_up) > most_up:
                    highest, most_up = child, up
            heappush(waiting, (haste * depth - worth, next(ticket), depth + 1, child))
    return Outlook(
        Line(_moves(best), best_worth - worth_now) if best else None,
        Line(_moves(highest), appraise(highest.board) - worth_now) if highest else None,
    )


def _worth_of_reveal(board: Board, move: Move, appraise: Appraisal) -> float:
    """What a move is worth that turns up cards not seen yet: as if a middling one of them came, and a bonus."""
    weights = appraise.weights
    if move == DRAW:
        return appraise(board) + weights.draw
    if move == DEAL:
        return appraise(board) + weights.deal
    return appraise(board.play(move, _middling_unseen(board)).board) + weights.reveal


def _middling_unseen(board: Board) -> bytes:
    """Of the cards not seen yet the one in the middle by rank, to stand for whichever is turned up."""
    left = list(DECK * board.game.decks)
    for pile in board.piles:
        for code in pile:
            if code != HIDDEN:
                left.remove(code & FACE)
    left.sort(key=lambda code: code & 0x0F)
    return bytes(left[len(left) // 2 : len(left) // 2 + 1])


def _moves(node: _Node) -> tuple[Move, ...]:
    moves: list[Move] = []
    at: _Node | None = node
    while at is not None and at.move is not None:
        moves.append(at.move)
        at = at.before
    return tuple(reversed(moves))
