"""Positions as text: the game, then a line for each pile, from its deepest card to its top.

::

    athena
    1: [9S] 4H [KD] QC
    ...
    01: AS-5S
    stock: [2C] (3D) ??
    w: 9H KS

Cards lie as ``cards.lying_text`` writes them: ``TH`` up, ``(TH)`` down but seen, ``[TH]`` down and never seen, ``??``
not to be known. Empty piles may be left out; blank lines and what follows a ``;`` are passed over.
"""

from __future__ import annotations

from samedeal.board import Board
from samedeal.cards import parse_pile, pile_text
from samedeal.errors import MalformedText
from samedeal.games import Game


def position_text(board: Board) -> str:
    """Write a position, empty piles left out."""
    lines = [board.game.name]
    lines += [f"{key}: {pile_text(pile)}" for key, pile in zip(board.game.keys, board.piles, strict=True) if pile]
    return "\n".join(lines) + "\n"


def parse_position(text: str) -> Board:
    """Read a position. Raises MalformedText, UnknownGame, or MalformedPosition when the cards can't be so."""
    lines = [line for raw in text.splitlines() if (line := raw.partition(";")[0].strip())]
    if not lines:
        raise MalformedText("A position starts with the name of its game")
    game = Game.named(lines[0])
    piles = [b""] * len(game.piles)
    filled: set[str] = set()
    for line in lines[1:]:
        key, colon, cards = (part.strip() for part in line.partition(":"))
        if not colon or key not in game.index:
            raise MalformedText(f"{line[:40]!r} is not a pile of {game.title}: write its name, a colon and its cards")
        if key in filled:
            raise MalformedText(f"Pile {key} is written twice: write all its cards on one line")
        filled.add(key)
        piles[game.index[key]] = parse_pile(cards)
    return Board(game, tuple(piles)).check()
