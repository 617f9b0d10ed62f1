"""Positions, actions and outcomes as text: the language in which the tests of the rules are written.

A position is its piles, ``1: 9H KS | 2: TC``, each from its deepest card to its top. Boards hold whole decks: the cards
that a position doesn't name lie, in the order of a new deck, where it says ``...`` (up), ``(...)`` (down, seen) or
``[...]`` (down, never seen); where it doesn't say so they lie at the bottom of the stock, or of the last column in games
without one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

from samedeal.board import Board
from samedeal.cards import DECK, DOWN, FACE, Card, lying_text, parse_pile, pile_text
from samedeal.errors import SamedealError
from samedeal.games import Game
from samedeal.moves import Move
from samedeal.play import UNDO, Play, Undo

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from _pytest.mark import ParameterSet

_REST = {"...": "{}", "(...)": "({})", "[...]": "[{}]"}


class Position(NamedTuple):
    """A board, and the cards that its text didn't name, as they lie and as they are written."""

    board: Board
    rest: bytes
    rest_text: str

    def pile(self, cards: bytes) -> str:
        """A pile as text, the unnamed cards as they were written."""
        if self.rest and self.rest in cards:
            below, above = cards.split(self.rest, 1)
            return " ".join(filter(None, (pile_text(below), self.rest_text, pile_text(above))))
        return pile_text(cards)

    def changes(self, after: Board) -> str:
        """The piles that lie otherwise on another board."""
        changed = [
            f"{key}: {self.pile(now)}".rstrip()
            for key, was, now in zip(self.board.game.keys, self.board.piles, after.piles, strict=True)
            if was != now
        ]
        return " | ".join(changed)


def position(name: str, text: str) -> Position:
    """The position of a game that a text stands for."""
    game = Game.named(name)
    words = dict.fromkeys(game.keys, "")
    for pile in filter(None, (part.strip() for part in text.split("|"))):
        key, colon, cards = pile.partition(":")
        assert colon, f"{pile!r} is no pile"
        assert key in words, f"{name} has no pile {key!r}"
        words[key] = cards.strip()
    rest_text = next((word for cards in words.values() for word in cards.split() if word in _REST), "")
    if not rest_text:
        place, rest_text = ("stock", "[...]") if "stock" in words else (game.keys[game.columns.stop - 1], "...")
        words[place] = f"{rest_text} {words[place]}"
    named = b"".join(parse_pile(" ".join(w for w in cards.split() if w not in _REST)) for cards in words.values())
    left = list(DECK * game.decks)
    for card in named:
        assert card & FACE in left, f"{lying_text(card)} is named too often"
        left.remove(card & FACE)
    written = " ".join(_REST[rest_text].format(lying_text(card)) for card in sorted(left))
    piles = (parse_pile(cards.replace(rest_text, written)) for cards in words.values())
    return Position(Board(game, tuple(piles)).check(), parse_pile(written), rest_text)


def after(game: str, text: str, actions: str, undo: str = "no-reveal") -> str:
    """What actions (separated by commas) change: the piles that lie otherwise, or the code and sentence of the refusal.

    On the way it sees to it that legal moves, ``is_legal`` and what is accepted are the same, and that no card is lost.
    """
    start = position(game, text)
    play = Play(start.board, Undo(undo))
    for action in actions.split(", "):
        listed = action in map(str, play.board.legal_moves())
        try:
            play = play.act(action)
        except SamedealError as error:
            assert not listed, f"{action} is among the legal moves and refused"
            return f"{error.code}: {error}"
        assert listed or action == UNDO, f"{action} is accepted and not among the legal moves"
        play.board.check()
    return start.changes(play.board)


def moves(game: str, text: str) -> str:
    """The legal moves of a position in the order in which they are listed, separated by commas."""
    board = position(game, text).board
    found = board.legal_moves()
    assert all(board.is_legal(move) for move in found)
    return ", ".join(map(str, found))


def state(game: str, text: str, undo: str = "off") -> str:
    """How it stands: ``won``, ``over`` (nothing can follow), ``stuck`` (nothing that helps) or ``open``."""
    play = Play(position(game, text).board, Undo(undo))
    if play.board.won:
        assert not play.board.stuck
        assert not play.over
        return "won"
    if play.over:
        return "over"
    return "stuck" if play.board.stuck else "open"


def dealt(game: str, pile: str) -> str:
    """A pile as dealt from a new deck (or two); or all ``sizes`` of columns; or how many cards there are."""
    board = Board.deal(Game.named(game), DECK * Game.named(game).decks).check()
    if pile == "sizes":
        return " ".join(str(len(board.piles[at])) for at in board.game.columns)
    if pile == "everything":
        return str(sum(map(len, board.piles)))
    return pile_text(board.piles[board.game.index[pile]])


def words(board: Board) -> dict[str, list[str]]:
    """The piles as the plain rules of ``oracle`` write them: which cards were seen is not said."""

    def word(code: int) -> str:
        card = Card(code & FACE)
        return f"({card})" if code & DOWN else str(card)

    return {key: [word(code) for code in pile] for key, pile in zip(board.game.keys, board.piles, strict=True)}


def is_null(game: str, text: str, move: str) -> bool:
    """Whether a move is a null move (ruling R6)."""
    return position(game, text).board.is_null(Move.parse(move))


def cases(rules: Mapping[str, Sequence[tuple[str, ...]]]) -> list[ParameterSet]:
    """Test parameters from the cases of each rule; their ids begin with the rule."""
    return [
        pytest.param(*case, id=f"{rule} - {number}")
        for rule, of_rule in rules.items()
        for number, case in enumerate(of_rule, 1)
    ]
