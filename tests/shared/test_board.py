"""Boards beside the rules: which there can be, and how masked ones are played. The rules are tested in ``rules/``."""

from __future__ import annotations

import pytest

from samedeal.board import Board
from samedeal.cards import DECK, HIDDEN, Card, parse_pile, pile_text
from samedeal.errors import IllegalMove, MalformedPosition, UnseenCard
from samedeal.games import GAMES, Game
from samedeal.moves import DEAL, DRAW, Move
from tests.shared.playouts import numbered
from tests.shared.positions import position


def board_of(game: str, **piles: bytes) -> Board:
    """A board of these piles, whether there can be such a one or not; ``f1`` is the first foundation, ``c1`` a column."""
    known = Game.named(game)
    found = dict.fromkeys(known.keys, b"")
    for key, cards in piles.items():
        found[key.removeprefix("c").replace("f", "0") if key != "stock" else key] = cards
    return Board(known, tuple(found.values()))


def cards(text: str) -> bytes:
    return parse_pile(text)


EVERYTHING = "AC-KC AD-KD AH-KH AS-KS"
DOWN = " ".join(f"(A{suit}) " + " ".join(f"({rank}{suit})" for rank in "23456789TJQK") for suit in "CDHS")


@pytest.mark.parametrize(
    ("board", "sentence"),
    [
        (board_of("willow", c1=cards("AC-KC AD-KD AH-KH AS-QS")), "Willow has 52 cards, here are 51: without KS"),
        (
            board_of("willow"),
            "Willow has 52 cards, here are 0: without AC 2C 3C 4C 5C 6C 7C 8C",
        ),
        (board_of("willow", c1=cards(EVERYTHING), c2=cards("KS")), "KS is there 2 times; Willow has 1"),
        (board_of("willow", c1=cards(EVERYTHING).replace(b"\x3d", b"\x01")), "AC is there 2 times; Willow has 1"),
        (board_of("steve", c1=cards(EVERYTHING)), "Steve has 104 cards, here are 52: without AC 2C 3C 4C 5C 6C 7C 8C"),
        (board_of("steve", c1=cards(f"{EVERYTHING} {EVERYTHING}"), c2=cards("KS")), "KS is there 3 times; Steve has 2"),
        (board_of("athena", stock=cards(DOWN) + b"\xc0"), "Athena has 52 cards, here are 53"),
        (board_of("willow", c1=b"\x00" + cards(EVERYTHING)[1:]), "There is no card with the code 0"),
        (board_of("willow", c1=b"\x0e" + cards(EVERYTHING)[1:]), "There is no card with the code 14"),
        (board_of("athena", c1=b"\x81" + cards(EVERYTHING)[1:]), "There is no card with the code 129"),
        (board_of("athena", c1=b"\x40" + cards(EVERYTHING)[1:]), "There is no card with the code 64"),
        (board_of("athena", c1=cards("AC-KC AD-KD AH-KH AS-QS (KS)")), "The top card of column 1 can't lie face down"),
        (board_of("athena", c1=cards("AC-KC AD-KD AH-KH AS-QS [KS]")), "The top card of column 1 can't lie face down"),
        (board_of("athena", c1=cards("AC-KC AD-KD AH-KH AS-QS ??")), "The top card of column 1 can't lie face down"),
        (board_of("willow", c1=cards("(AC) 2C-KC AD-KD AH-KH AS-KS")), "A card of column 1 can't lie face down"),
        (board_of("willow", c1=cards("?? 2C-KC AD-KD AH-KH AS-KS")), "A card of column 1 can't lie face down"),
        (board_of("willow", q=cards("(AC) 2C-KC AD-KD AH-KH AS-KS")), "A card of fan q can't lie face down"),
        (board_of("athena", w=cards("(AC) 2C-KC AD-KD AH-KH AS-KS")), "A card of waste w can't lie face down"),
        (board_of("athena", stock=cards(EVERYTHING)), "A card of the stock can't lie face up"),
        (
            board_of("phoenix", c1=cards("3C-KC AD-KD AH-KH AS-KS"), q=cards("AC 2C")),
            "Reserve q can't hold more than one card",
        ),
        (
            board_of("phoenix", c1=cards("2C-KC AD-KD AH-KH AS-KS"), q=cards("(AC)")),
            "A card of reserve q can't lie face down",
        ),
        (
            board_of("willow", c1=cards("AC 3C-KC AD-KD AH-KH AS-KS"), f1=cards("2C")),
            "Foundation 01 can't hold these cards: it builds up by one in the same suit",
        ),
        (
            board_of("willow", c1=cards("2C 4C-KC AD-KD AH-KH AS-KS"), f1=cards("AC 3C")),
            "Foundation 01 can't hold these cards: it builds up by one in the same suit",
        ),
        (
            board_of("willow", c1=cards("2C-KC AD 3D-KD AH-KH AS-KS"), f1=cards("AC 2D")),
            "Foundation 01 can't hold these cards: it builds up by one in the same suit",
        ),
        (
            board_of("ace-of-hearts", c1=cards("AC-KC AD-KD AH-KH 2S-KS"), f1=cards("AS")),
            "Foundation 01 can't hold these cards: it builds up by one in any suit, an ace after a king",
        ),
        (Board(Game.named("willow"), (b"",)), "Willow has 15 piles, not 1"),
    ],
)
def test_boards_that_can_not_be(board: Board, sentence: str) -> None:
    with pytest.raises(MalformedPosition) as caught:
        board.check()
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("game", "text"),
    [
        ("athena", "1: [2C] 3C (4C) 5C | stock: [...] (7C) [8C]"),
        ("ace-of-hearts", "1: 3C | 01: AH-KH AD"),
        ("steve", "1: 3C 3C | 02: AS | 05: AS-KS"),
        ("phoenix", "q: 3C | k: 4C"),
        ("willow", "q: 3C 4C 5C 6C 7C 8C 9C"),
    ],
)
def test_boards_that_can_be(game: str, text: str) -> None:
    board = position(game, text).board
    assert board.check() is board
    masked = board.masked()
    assert masked.check() is masked


def test_a_board_is_dealt_from_whole_decks() -> None:
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


@pytest.mark.parametrize(("game", "text", "move", "seen"), FACES)
def test_a_masked_board_is_told_the_faces(game: str, text: str, move: str, seen: str) -> None:
    board = position(game, text).board
    real = board.play(Move.parse(move))
    told = board.masked().play(Move.parse(move), cards(seen))
    assert (told.board, told.step) == (real.board.masked(), real.step)
    assert pile_text(real.step.seen) == seen
    assert board.play(Move.parse(move), cards(seen)) == real
    with pytest.raises(
        UnseenCard, match="The move turns up a card that is not known here; only the server can play it"
    ):
        board.masked().play(Move.parse(move))


@pytest.mark.parametrize(("game", "text", "move", "seen"), FACES)
def test_faces_that_can_not_be(game: str, text: str, move: str, seen: str) -> None:
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
            ValueError, match=r"^(\d cards are turned up, \d faces were given|there is no card with the code \d+)$"
        ):
            board.masked().play(Move.parse(move), wrong)
        with pytest.raises(ValueError, match="the faces given are not those of the cards"):
            board.play(Move.parse(move), wrong)
    if game != "steve" and elsewhere != 1:
        with pytest.raises(ValueError, match=f"^{Card(elsewhere)} can't be turned up: it lies elsewhere$"):
            board.masked().play(Move.parse(move), right[:-1] + bytes([elsewhere]))
    if len(right) > 1 and game != "steve":
        with pytest.raises(ValueError, match="can't be turned up: it lies elsewhere"):
            board.masked().play(Move.parse(move), right[:1] * len(right))


@pytest.mark.parametrize(
    ("game", "text", "move"),
    [
        ("willow", "1: AS", "1 0"),
        ("athena", "1: (2C) AS", "1 0"),
        ("athena", "stock: [...] (4C) (3H) (2S)", "draw"),
        ("athena", "7: [...] KC | w: AH", "draw"),
        ("steve", "8: ... KC | stock: (4C)", "deal"),
    ],
)
def test_no_faces_where_nothing_new_is_turned_up(game: str, text: str, move: str) -> None:
    board = position(game, text).board
    assert board.turns_up(Move.parse(move)) == 0
    with pytest.raises(ValueError, match=r"^faces were given for a (redeal|move that turns up nothing new)$"):
        board.play(Move.parse(move), cards("2D"))
    assert board.play(Move.parse(move), b"") == board.play(Move.parse(move))


def test_known_faces_among_hidden_ones_must_be_right() -> None:
    """A board of which somebody knows one card of a row and not the others."""
    board = position("steve", "8: ... KC | stock: [4C] [3H] [2S]").board
    piles = list(board.piles)
    piles[board.game.stock_at] = cards("?? [3H] ??")
    half = Board(board.game, tuple(piles)).check()
    assert half.play(DEAL, cards("2S 3H 4C")).board == board.play(DEAL).board
    with pytest.raises(ValueError, match="the faces given are not those of the cards"):
        half.play(DEAL, cards("2S 4C 3H"))


@pytest.mark.parametrize(
    ("game", "text", "move", "count"),
    [
        ("athena", "1: [2C] AS", "1 0", 1),
        ("athena", "1: (2C) AS", "1 0", 0),
        ("athena", "1: 2C AS", "1 0", 0),
        ("athena", "1: AS", "1 0", 0),
        ("athena", "1: [2C] 9S 8D | 2: TH", "1 2 x2", 1),
        ("athena", "stock: [...] [4C] (3H) [2S]", "draw", 2),
        ("athena", "7: ... KC | stock: [4C]", "draw", 1),
        ("athena", "7: ... KC | w: 4C", "draw", 0),
        ("steve", "1: KC", "deal", 8),
        ("ace-of-hearts", "7: ... KC | stock: [4C] [3H]", "deal", 2),
        ("steve", "01: AC", "01 1", 0),
    ],
)
def test_how_many_cards_a_move_turns_up(game: str, text: str, move: str, count: int) -> None:
    board = position(game, text).board
    assert board.turns_up(Move.parse(move)) == board.masked().turns_up(Move.parse(move)) == count


def test_take_backs_from_a_foundation() -> None:
    board = position("steve", "1: 3H 2S | 2: AH | 01: AC 2C").board
    assert [str(move) for move in board.legal_moves() if board.is_take_back(move)] == [
        f"01 {column}" for column in (3, 4, 5, 6, 7, 8)
    ]


@pytest.mark.parametrize("name", GAMES)
def test_moves_that_can_not_be_written_are_refused_in_a_sentence(name: str) -> None:
    board = numbered(Game.named(name), 1)
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


def test_a_draw_of_some_other_size_is_no_draw() -> None:
    board = numbered(Game.named("athena"), 1)
    assert board.is_legal(DRAW)
    assert not board.is_legal(DRAW._replace(size=2))


def test_boards_print_and_compare_by_their_cards() -> None:
    board = numbered(Game.named("willow"), 1)
    again = numbered(Game.named("willow"), 1)
    assert board == again
    assert len({board, again, numbered(Game.named("willow"), 2)}) == 2
    assert repr(board) == f"parse_position({str(board)!r})"
    assert str(board).startswith("willow\n1: ")
