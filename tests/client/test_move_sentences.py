from __future__ import annotations

from samedeal.board_history import Play, Undo
from samedeal_client.panels.move_sentences import move_sentences
from samedeal_client.text.appearance import Look
from tests.client.boards import board
from tests.golden.golden_files import assert_sentences

WILLOW = "1: KS | 2: 9H QH | 3: 4C JC TD | 4: 7S | 6: 8D AS | 7: 2C 9C 8H 7C"
ATHENA = "1: [9S] 4H | 2: 5S | 3: KD | stock: (8C) (7C) (6C) (5C)"
STEVE = "1: 2H | 2: 3H | stock: (5C) (6C) (7C) (8C) (9C) (TC) (JC) (QC)"


def play(game: str, text: str, *actions: str) -> Play:
    now = Play(board(game, text), Undo.FREE)
    for action in actions:
        now = now.act(action)
    return now


MOVES: tuple[tuple[str, str, Look, list[str]], ...] = (
    ("willow", WILLOW, Look(), ["3 2 x2"]),
    ("willow", WILLOW, Look(), ["7 5 x3"]),
    ("willow", WILLOW, Look(), ["6 0", "4 6"]),
    ("athena", ATHENA, Look(), ["1 2"]),
    ("athena", ATHENA, Look(), ["draw"]),
    ("athena", ATHENA, Look(), ["draw", "draw", "draw"]),
    ("steve", STEVE, Look(ascii=True), ["deal"]),
    ("willow", WILLOW, Look(words=True), ["6 0"]),
    ("willow", WILLOW, Look(words=True), ["7 5 x3"]),
)


def test_wording_of_moves_and_undos() -> None:
    lines: list[str] = []
    for game, text, look, actions in MOVES:
        start, moved = play(game, text), play(game, text, *actions)
        lines += [f"{game} {', '.join(actions)}\t{sentence}" for sentence in move_sentences(start, moved, look)]
        undone = move_sentences(moved, moved.act("undo"), look)
        lines += [f"{game} {', '.join(actions)}, undo\t{sentence}" for sentence in undone]
    assert_sentences("moves in sentences", lines)


def test_card_symbols_are_words_for_screen_readers() -> None:
    assert Look(words=True).with_card_symbols("Q♥, 10♦") == "Queen of hearts, 10 of diamonds"


def test_plays_that_do_not_follow_have_no_sentences() -> None:
    start, moved = play("willow", WILLOW), play("willow", WILLOW, "3 2 x2")
    assert move_sentences(moved, start, Look()) == []
    assert move_sentences(start, moved.act("undo").act("6 0"), Look()) == []
    received = Play(moved.board, Undo.FREE, revision=1, moves=1)  # a client that missed the move
    assert move_sentences(start, received, Look()) == []
