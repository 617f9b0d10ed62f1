"""Possible boards, and play on masked boards. The rules are tested in ``rules/``."""

from __future__ import annotations

import pytest

from samedeal.board import Board
from samedeal.cards import DECK, parse_pile
from samedeal.errors import MalformedBoard
from samedeal.games import GAMES, game_named
from samedeal.moves import Move
from tests.golden.golden_files import assert_answers
from tests.shared.positions import position


def board_of(game: str, **piles: bytes) -> Board:
    """A board of these piles, even an impossible one. ``f1`` is the first foundation, ``c1`` the first column."""
    known = game_named(game)
    found = dict.fromkeys(known.keys, b"")
    for key, cards in piles.items():
        found[key.removeprefix("c").replace("f", "0") if key != "stock" else key] = cards
    return Board(known, tuple(found.values()))


def cards(text: str) -> bytes:
    return parse_pile(text)


EVERYTHING = "AC-KC AD-KD AH-KH AS-KS"
DOWN = " ".join(f"(A{suit}) " + " ".join(f"({rank}{suit})" for rank in "23456789TJQK") for suit in "CDHS")


def test_impossible_boards_are_refused_as_the_page_says() -> None:
    def answer(_: str, question: str) -> str:
        board = eval(question, globals())
        with pytest.raises(MalformedBoard) as caught:
            board.check()
        return str(caught.value)

    assert_answers("impossible_boards", answer)


def test_deal_from_incomplete_decks_is_rejected() -> None:
    for game in GAMES.values():
        with pytest.raises(ValueError, match=f"{game.title} is dealt from {game.decks} whole decks"):
            Board.deal(game, DECK[:-1] * game.decks)
        with pytest.raises(ValueError, match="whole decks"):
            Board.deal(game, DECK * (3 - game.decks))


def played(game: str, text: str, move: str, seen: bytes) -> Board:
    """The server's board after a move for which faces are given."""
    return position(game, text).board.play(Move.parse(move), seen).board


def told(game: str, text: str, move: str, seen: bytes) -> Board:
    """A player's board after a move for which faces are given."""
    return position(game, text).board.masked().play(Move.parse(move), seen).board


def test_impossible_faces_are_refused_as_the_page_says() -> None:
    def answer(_: str, question: str) -> str:
        with pytest.raises(ValueError, match=r"\w") as caught:
            eval(question, globals())
        return str(caught.value)

    assert_answers("impossible_faces", answer)


def test_worry_backs_are_recognized() -> None:
    board = position("steve", "1: 3H 2S | 2: AH | 01: AC 2C").board
    assert [str(move) for move in board.legal_moves() if board.is_worry_back(move)] == [
        f"01 {column}" for column in (3, 4, 5, 6, 7, 8)
    ]
