"""Possible boards, and play on masked boards. The rules are tested in ``rules/``."""

from __future__ import annotations

import pytest

from samedeal.board import Board
from samedeal.cards import DECK, HIDDEN, Card, parse_pile
from samedeal.errors import IllegalMove, MalformedBoard
from samedeal.games import GAMES, game_named
from samedeal.moves import DEAL, DRAW, Move
from tests.golden.golden_files import assert_answers
from tests.shared.playouts import numbered
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


FACES = [
    ("athena", "1: [2C] AS", "1 0", "2C"),
    ("athena", "1: [2C] 9S 8D | 2: TH", "1 2 x2", "2C"),
    ("athena", "stock: [...] [4C] [3H] [2S]", "draw", "2S 3H 4C"),
    ("athena", "stock: [...] [4C] (3H) [2S]", "draw", "2S 4C"),
    ("athena", "7: ... KC | stock: [4C]", "draw", "4C"),
    ("steve", "8: ... KC | stock: [4C] (3H) [2S]", "deal", "2S 4C"),
    ("ace-of-hearts", "7: ... KC | stock: [4C] [3H] (2S)", "deal", "3H 4C"),
]


def test_impossible_faces_are_rejected() -> None:
    for game, text, move, seen in FACES:
        board = position(game, text).board
        right = cards(seen)
        elsewhere = next(card for card in reversed(board.piles[1] + board.piles[6] + b"\x01") if card in DECK)
        for wrong in (
            b"",
            right + right[:1],
            right[:-1],
            bytes([0]) + right[1:],
            bytes([HIDDEN]) + right[1:],
            right[:-1] + b"\x0e",
        ):
            with pytest.raises(
                ValueError,
                match=r"^(\d cards are turned up, \d faces were given|There is no card with the code \d+)\.$",
            ):
                board.masked().play(Move.parse(move), wrong)
            with pytest.raises(ValueError, match="The faces given are not those of the cards"):
                board.play(Move.parse(move), wrong)
        if game != "steve" and elsewhere != 1:
            with pytest.raises(ValueError, match=f"^{Card(elsewhere)} can't be turned up: it is in another pile\\.$"):
                board.masked().play(Move.parse(move), right[:-1] + bytes([elsewhere]))
        if len(right) > 1 and game != "steve":
            with pytest.raises(ValueError, match="can't be turned up: it is in another pile"):
                board.masked().play(Move.parse(move), right[:1] * len(right))


def test_superfluous_faces_are_rejected() -> None:
    for game, text, move in [
        ("willow", "1: AS", "1 0"),
        ("athena", "1: (2C) AS", "1 0"),
        ("athena", "stock: [...] (4C) (3H) (2S)", "draw"),
        ("athena", "7: [...] KC | w: AH", "draw"),
        ("steve", "8: ... KC | stock: (4C)", "deal"),
    ]:
        board = position(game, text).board
        assert board.turns_up(Move.parse(move)) == 0
        with pytest.raises(ValueError, match=r"^Faces were given for a (redeal|move that turns up nothing new)\.$"):
            board.play(Move.parse(move), cards("2D"))
        assert board.play(Move.parse(move), b"") == board.play(Move.parse(move))


def test_wrong_face_of_a_known_card_is_rejected() -> None:
    """On this board one card of a row is known and the others are hidden."""
    board = position("steve", "8: ... KC | stock: [4C] [3H] [2S]").board
    piles = list(board.piles)
    piles[board.game.stock_at] = cards("?? [3H] ??")
    half = Board(board.game, tuple(piles)).check()
    assert half.play(DEAL, cards("2S 3H 4C")).board == board.play(DEAL).board
    with pytest.raises(ValueError, match="The faces given are not those of the cards"):
        half.play(DEAL, cards("2S 4C 3H"))


def test_worry_backs_are_recognized() -> None:
    board = position("steve", "1: 3H 2S | 2: AH | 01: AC 2C").board
    assert [str(move) for move in board.legal_moves() if board.is_worry_back(move)] == [
        f"01 {column}" for column in (3, 4, 5, 6, 7, 8)
    ]


def test_unwritable_move_is_refused() -> None:
    for name in GAMES:
        board = numbered(game_named(name), 1)
        for move in (
            Move("", ""),
            Move("1", ""),
            Move("zz", "1"),
            Move("1", "stock"),
            Move("stock", "1"),
            Move("draw", "1"),
            Move("", "1"),
        ):
            assert not board.is_legal(move)
            with pytest.raises(IllegalMove, match=r"^\w.{20}"):
                board.play(move)


def test_draw_with_a_size_is_illegal() -> None:
    board = numbered(game_named("athena"), 1)
    assert board.is_legal(DRAW)
    assert not board.is_legal(DRAW._replace(size=2))


def test_board_prints_and_compares_by_its_cards() -> None:
    board = numbered(game_named("willow"), 1)
    again = numbered(game_named("willow"), 1)
    assert board == again
    assert len({board, again, numbered(game_named("willow"), 2)}) == 2
    assert repr(board) == f"Board.parse({str(board)!r})"
    assert str(board).startswith("willow\n1: ")
