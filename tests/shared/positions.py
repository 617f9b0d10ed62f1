"""Positions, actions and outcomes as text, for the tests of the rules.

A position is written as its piles, ``1: 9H KS | 2: TC``, each from its deepest card to its top. Boards hold whole decks. The
cards that a position does not name are placed at ``...`` (face up), ``(...)`` (face down, seen) or ``[...]`` (never seen),
in the order of a new deck. Without such a word they are at the bottom of the stock. In games without a stock they are at
the bottom of the last column.
"""

from __future__ import annotations

from typing import NamedTuple

from samedeal.board import Board
from samedeal.board_history import UNDO, Play, Undo
from samedeal.cards import DECK, DOWN, FACE, Card, parse_pile, pile_text
from samedeal.errors import IllegalMove, SamedealError
from samedeal.games import game_named
from samedeal.moves import Move

_REST = {"...": "{}", "(...)": "({})", "[...]": "[{}]"}


class Position(NamedTuple):
    """A board, with the cards that its text did not name, as bytes and as text."""

    board: Board
    rest: bytes
    rest_text: str

    def pile(self, cards: bytes) -> str:
        """A pile as text, with the placeholder for unnamed cards."""
        if self.rest and self.rest in cards:
            below, above = cards.split(self.rest, 1)
            return " ".join(filter(None, (pile_text(below), self.rest_text, pile_text(above))))
        return pile_text(cards)

    def changes(self, after: Board) -> str:
        """The piles that differ on another board."""
        changed = [
            f"{key}: {self.pile(now)}".rstrip()
            for key, was, now in zip(self.board.game.keys, self.board.piles, after.piles, strict=True)
            if was != now
        ]
        return " | ".join(changed)


def position(name: str, text: str) -> Position:
    """Parse a position of a game."""
    game = game_named(name)
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
    left = list(game.deck)
    for card in named:
        assert card & FACE in left, f"{Card(card)} is named too often"
        left.remove(card & FACE)
    written = " ".join(_REST[rest_text].format(str(Card(card))) for card in sorted(left))
    piles = (parse_pile(cards.replace(rest_text, written)) for cards in words.values())
    return Position(Board(game, tuple(piles)).check(), parse_pile(written), rest_text)


def after(game: str, text: str, actions: str, undo: str = "no-reveal") -> str:
    """Play actions, separated by commas. Return the piles that changed, or the code of the refusal.

    Of an illegal move the code is ``illegal:`` and the reason. On the way this checks that the legal moves are exactly the
    moves accepted, and that no card is lost.
    """
    start = position(game, text)
    play = Play(start.board, Undo(undo))
    for action in actions.split(", "):
        listed = action in map(str, play.board.legal_moves())
        try:
            play = play.act(action)
        except SamedealError as error:
            assert not listed, f"{action} is among the legal moves and refused"
            return f"illegal: {error.reason}" if isinstance(error, IllegalMove) else error.code
        assert listed or action == UNDO, f"{action} is accepted and not among the legal moves"
        play.board.check()
    return start.changes(play.board)


def moves(game: str, text: str) -> str:
    """The legal moves of a position in their order, separated by commas."""
    board = position(game, text).board
    found = board.legal_moves()
    assert all(board.is_legal(move) for move in found)
    return ", ".join(map(str, found))


def state(game: str, text: str, undo: str = "off") -> str:
    """The state of a position: ``won``, ``over`` (no legal move), ``stuck`` (no helpful move) or ``open``."""
    play = Play(position(game, text).board, Undo(undo))
    if play.board.won:
        assert not play.board.stuck
        assert not play.no_moves_left
        return "won"
    if play.no_moves_left:
        return "over"
    return "stuck" if play.board.stuck else "open"


def dealt(game: str, pile: str) -> str:
    """A pile dealt from new decks. ``sizes`` gives the sizes of the columns, ``everything`` the number of cards."""
    board = Board.deal(game_named(game), DECK * game_named(game).decks).check()
    if pile == "sizes":
        return " ".join(str(len(board.piles[at])) for at in board.game.columns)
    if pile == "everything":
        return str(sum(map(len, board.piles)))
    return pile_text(board.piles[board.game.index[pile]])


def words(board: Board) -> dict[str, list[str]]:
    """The piles in the format of ``oracle``, which ignores whether cards were seen."""

    def word(code: int) -> str:
        card = Card(code & FACE)
        return f"({card})" if code & DOWN else str(card)

    return {key: [word(code) for code in pile] for key, pile in zip(board.game.keys, board.piles, strict=True)}


def is_null(game: str, text: str, move: str) -> bool:
    """Whether a move is a null move (ruling R6)."""
    return position(game, text).board.is_null(Move.parse(move))
