from __future__ import annotations

import pytest

from samedeal.board_history import Play, Undo
from samedeal_client.text.appearance import Look
from samedeal_client.views.move_sentences import move_sentences
from tests.client.boards import board

WILLOW = "1: KS | 2: 9H QH | 3: 4C JC TD | 4: 7S | 6: 8D AS | 7: 2C 9C 8H 7C"
ATHENA = "1: [9S] 4H | 2: 5S | 3: KD | stock: (8C) (7C) (6C) (5C)"
STEVE = "1: 2H | 2: 3H | stock: (5C) (6C) (7C) (8C) (9C) (TC) (JC) (QC)"


def play(game: str, text: str, *actions: str) -> Play:
    now = Play(board(game, text), Undo.FREE)
    for action in actions:
        now = now.act(action)
    return now


@pytest.mark.parametrize(
    ("game", "text", "actions", "sentences"),
    [
        ("willow", WILLOW, ["3 2 x2"], ["J♣, 10♦ from column 3 to column 2, on Q♥."]),
        ("willow", WILLOW, ["7 5 x3"], ["9♣-7♣ from column 7 to column 5."]),
        (
            "willow",
            WILLOW,
            ["6 0", "4 6"],
            ["A♠ from column 6 to a foundation.", "7♠ from column 4 to column 6, on 8♦."],
        ),
        ("athena", ATHENA, ["1 2"], ["4♥ from column 1 to column 2, on 5♠. Turned up 9♠."]),
        ("athena", ATHENA, ["draw"], ["Drew 5♣, 6♣, 7♣."]),
        ("athena", ATHENA, ["draw", "draw", "draw"], ["Drew 5♣, 6♣, 7♣.", "Drew 8♣.", "The waste is the stock again."]),
    ],
)
def test_moves_in_sentences(game: str, text: str, actions: list[str], sentences: list[str]) -> None:
    assert move_sentences(play(game, text), play(game, text, *actions), Look()) == sentences


def test_cards_are_words_for_screen_readers() -> None:
    spoken = [
        *move_sentences(play("willow", WILLOW), play("willow", WILLOW, "6 0"), Look(words=True)),
        *move_sentences(play("willow", WILLOW), play("willow", WILLOW, "7 5 x3"), Look(words=True)),
        Look(words=True).with_card_symbols("QH can't go on TD."),
    ]
    assert spoken == [
        "Ace of spades from column 6 to a foundation.",
        "9 of clubs down to 7 of clubs from column 7 to column 5.",
        "Queen of hearts can't go on 10 of diamonds.",
    ]


def test_dealt_row_names_each_card() -> None:
    (sentence,) = move_sentences(play("steve", STEVE), play("steve", STEVE, "deal"), Look(ascii=True))
    assert sentence.startswith("Dealt QC on column 1, JC on column 2, 10C on column 3")


def test_undo_says_what_went_back() -> None:
    moved = play("willow", WILLOW, "3 2 x2")
    assert move_sentences(moved, moved.act("undo"), Look()) == ["Undone. J♣, 10♦ back to column 3."]
    drawn = play("athena", ATHENA, "draw")
    assert move_sentences(drawn, drawn.act("undo"), Look()) == ["Undone."]


def test_plays_that_do_not_follow_have_no_sentences() -> None:
    start, moved = play("willow", WILLOW), play("willow", WILLOW, "3 2 x2")
    assert move_sentences(moved, start, Look()) == []
    assert move_sentences(start, moved.act("undo").act("6 0"), Look()) == []
    received = Play(moved.board, Undo.FREE, revision=1, moves=1)  # a client that missed the move
    assert move_sentences(start, received, Look()) == []
