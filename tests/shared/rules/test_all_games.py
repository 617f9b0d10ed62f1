"""The rulings for all games, R2-R10, as far as the tests of the single games don't show them. The oracle deals by R1."""

from __future__ import annotations

import pytest

from samedeal.board_history import Play, Undo
from samedeal.errors import IllegalMove, RuleReason
from samedeal.games import GAMES
from samedeal.moves import Move
from tests.shared.positions import after, cases, is_null, moves, position, state

MOVES = {
    "R2 the last card of a pile is the top, the exposed one": [
        ("willow", "1: 8S 2C | 2: 9H", "1 2", "illegal: not_on_card"),
        ("willow", "1: 2C 8S | 2: 9H", "1 2", "1: 2C | 2: 9H 8S"),
    ],
    "R5 Foundations give none back, except in Steve": [
        *(
            (game, "1: 3H | 01: AH 2H", "01 1", "illegal: not_a_source")
            for game in ("athena", "phoenix", "ace-of-hearts", "willow")
        ),
        ("steve", "1: 3H | 01: AH 2H", "01 1", "1: 3H 2H | 01: AH"),
    ],
    "R6 A null move is legal where the rule text allows the cards there": [
        ("athena", "1: KH QS", "1 2 x2", "1: | 2: KH QS"),
        ("athena", "1: QH JS", "1 2 x2", "illegal: not_on_empty"),
        ("steve", "1: 9H 8H", "1 2 x2", "1: | 2: 9H 8H"),
        ("phoenix", "1: 9H 8S", "1 2 x2", "1: | 2: 9H 8S"),
        ("ace-of-hearts", "1: KH 2S", "1 2 x2", "1: | 2: KH 2S"),
        ("ace-of-hearts", "1: 9H 2S", "1 2 x2", "illegal: not_on_empty"),
        ("willow", "1: 9H 8S", "1 2 x2", "1: | 2: 9H 8S"),
    ],
    "R8 Nothing moves by itself": [
        ("willow", "1: AS 2S 3H | 2: 4S", "1 2", "1: AS 2S | 2: 4S 3H"),
        ("phoenix", "1: 3S 2S AS | q: AH", "1 0", "1: 3S 2S | 01: AS"),
    ],
    "a card goes to whichever foundation takes it: none is named as a target": [
        (game, "1: AS", "1 01", "malformed") for game in GAMES
    ],
}


@pytest.mark.parametrize(("game", "text", "actions", "outcome"), cases(MOVES))
def test_move_has_its_outcome(game: str, text: str, actions: str, outcome: str) -> None:
    assert after(game, text, actions) == outcome


NULLS = {
    "R6 A whole column moved to an empty column": [
        ("willow", "1: 9H 8S", "1 2 x2", "null"),
        ("willow", "1: 9H", "1 2", "null"),
        ("athena", "1: KH", "1 2", "null"),
    ],
    "R6 anything else is no null move": [
        ("willow", "1: 9H 8S", "1 2", "no"),
        ("willow", "1: 8S | 2: 9H", "1 2", "no"),
        ("willow", "q: 8S", "q 1", "no"),
        ("phoenix", "q: 8S", "q 1", "no"),
        ("athena", "1: [2C] KH", "1 2", "no"),
        ("athena", "w: KH", "w 2", "no"),
        ("steve", "01: AH", "01 1", "no"),
        ("steve", "1: AH", "1 0", "no"),
        ("steve", "1: AH", "deal", "no"),
        ("athena", "1: AH", "draw", "no"),
    ],
}


@pytest.mark.parametrize(("game", "text", "move", "expected"), cases(NULLS))
def test_null_move_is_recognized(game: str, text: str, move: str, expected: str) -> None:
    assert move in moves(game, text).split(", ")
    assert is_null(game, text, move) == (expected == "null")


def test_last_card_on_a_foundation_wins() -> None:
    play = Play(position("willow", "1: KS | q: KH | 01: AS-QS | 02: AH-QH | 03: AD-KD | 04: AC-KC").board, Undo.OFF)
    standings = []
    for action in ("1 0", "q 0"):
        standings.append((play.board.won, play.board.foundation_cards, play.no_moves_left))
        play = play.act(action)
    assert [*standings, (play.board.won, play.board.foundation_cards, play.no_moves_left)] == [
        (False, 50, False),
        (False, 51, False),
        (True, 52, False),
    ]


COUNTS = {
    "R9 Each accepted move, draw, redeal or deal is one move; Undos are counted apart; cards up are those on foundations": [
        ("athena", "1: 2S AS | 7: [...] KC | stock: [2H] [AH]", "1 0", "1 moves, 0 undos, 1 up, revision 1"),
        (
            "athena",
            "1: 2S AS | 7: [...] KC | stock: [2H] [AH]",
            "draw, draw, draw",
            "3 moves, 0 undos, 0 up, revision 3",
        ),
        ("athena", "1: 2S AS", "1 0, undo, 1 0, 1 0", "3 moves, 1 undos, 2 up, revision 4"),
        ("steve", "1: 2S AS", "deal, undo", "1 moves, 1 undos, 0 up, revision 2"),
        ("steve", "01: AS 2S", "01 1, 1 0", "2 moves, 0 undos, 2 up, revision 2"),
    ],
    "R6 a null move counts as a move": [("willow", "1: 9H 8S", "1 2 x2, 2 1 x2", "2 moves, 0 undos, 0 up, revision 2")],
}


@pytest.mark.parametrize(("game", "text", "actions", "expected"), cases(COUNTS))
def test_actions_are_counted(game: str, text: str, actions: str, expected: str) -> None:
    play = Play(position(game, text).board, Undo.FREE)
    for action in actions.split(", "):
        play = play.act(action, revision=play.revision)
    up = play.board.foundation_cards
    assert f"{play.moves} moves, {play.undos} undos, {up} up, revision {play.revision}" == expected


SEEN = "cannot_undo"

UNDOS = {
    "R10 Undo takes back the last move not yet taken back, any number of times": [
        ("willow", "free", "1: 3S 2S AS", "1 0, 1 0, 1 0, undo", "1: 3S | 01: AS 2S"),
        ("willow", "free", "1: 3S 2S AS", "1 0, 1 0, 1 0, undo, undo, undo", ""),
        ("willow", "free", "1: 3S 2S AS", "1 0, undo, 1 0, 1 0, undo, undo", ""),
        ("willow", "no-reveal", "1: 3S 2S AS", "1 0, 1 0, 1 0, undo, undo, undo", ""),
        ("willow", "free", "1: 2C 9S 8D | 2: TH", "1 2 x2, undo", ""),
        ("willow", "free", "1: 2C JH | q: JS", "1 q, undo", ""),
        ("phoenix", "free", "q: 8S | 2: 9H", "q 2, undo", ""),
        ("steve", "free", "01: AS", "01 8, undo", ""),
        ("athena", "free", "1: 9S | 2: TH", "1 2, undo", ""),
        ("athena", "free", "w: AS", "w 0, undo", ""),
    ],
    "R10 redeals and deals included": [
        ("athena", "free", "7: [...] KC | w: AH 2H 9C 7D", "draw, undo", ""),
        ("athena", "no-reveal", "7: [...] KC | w: AH 2H 9C 7D", "draw, undo", ""),
        ("athena", "free", "7: [...] KC | w: AH 2H 9C 7D", "draw, draw, draw, undo, undo, undo", ""),
        ("athena", "no-reveal", "7: [...] KC | w: AH 2H 9C 7D", "draw, draw, undo", "stock: (7D) (9C) (2H) (AH) | w:"),
        ("athena", "free", "stock: [...] [4C] [3H] [2S]", "draw, undo", "stock: [...] (4C) (3H) (2S)"),
        ("steve", "free", "1: 3C | 8: ... TC | stock: [7H] [6S] [5D] [4C]", "deal, undo", "stock: (7H) (6S) (5D) (4C)"),
        ("ace-of-hearts", "free", "7: ... TC | stock: [7H] [6S] [5D] [4C]", "deal, undo", "stock: (7H) (6S) (5D) (4C)"),
    ],
    "R10 cards that were turned up lie down again": [
        ("athena", "free", "1: [2C] AS", "1 0, undo", "1: (2C) AS"),
        ("athena", "free", "1: (2C) AS", "1 0, undo", ""),
        ("athena", "no-reveal", "1: (2C) AS", "1 0, undo", ""),
    ],
    "R10 Under no-reveal a move that turned up, drew or dealt a card never seen before can't be taken back": [
        ("athena", "no-reveal", "1: [2C] AS", "1 0, undo", SEEN),
        ("athena", "no-reveal", "stock: [...] [4C] [3H] [2S]", "draw, undo", SEEN),
        ("athena", "no-reveal", "stock: [...] [4C] (3H) (2S)", "draw, undo", SEEN),
        ("athena", "no-reveal", "stock: [...] (4C) (3H) (2S)", "draw, undo", ""),
        ("steve", "no-reveal", "1: AC", "deal, undo", SEEN),
        ("ace-of-hearts", "no-reveal", "1: AC", "deal, undo", SEEN),
        ("athena", "no-reveal", "1: [2C] AS | 2: 3H", "1 0, 1 2, undo", "1: 2C | 01: AS"),
        ("athena", "no-reveal", "1: [2C] AS | 2: 3H", "1 0, 1 2, undo, undo", SEEN),
    ],
    "R10 nothing to take back": [
        ("willow", "free", "1: AS", "undo", "cannot_undo"),
        ("willow", "no-reveal", "1: AS", "1 0, undo, undo", "cannot_undo"),
        ("willow", "off", "1: AS", "undo", "cannot_undo"),
        ("willow", "off", "1: AS", "1 0, undo", "cannot_undo"),
    ],
}


@pytest.mark.parametrize(("game", "rule", "text", "actions", "outcome"), cases(UNDOS))
def test_undo_has_its_outcome(game: str, rule: str, text: str, actions: str, outcome: str) -> None:
    assert after(game, text, actions, rule) == outcome


OVER = {
    "R7 Stuck ends nothing by itself, since undo may help": [
        ("willow", "1: KS | 2: KC | 3: 9S | 4: 9C | 5: QS | 6: QC | 7: ... 3C | q: 5D | w: 5C 7S | e: 4C | r: 2C"),
        ("phoenix", "1: KS | 2: KC | 3: KD | 4: KH | 5: ... 2S | 6: 2D | q: 2H | w: 2C"),
        ("steve", "1: KC | 2: KC | 3: KS | 4: KS | 5: KH | 6: KH | 7: KD | 8: ... KD"),
        ("athena", "1: 5C | 2: 5S | 3: 5H | 4: 5D | 5: 3S | 6: 3C | 7: [...] 3D"),
        ("ace-of-hearts", "1: AS | 2: AD | 3: 2H | 4: AC | 5: 5C | 6: 4S | 7: ... KD | 01: AH 2S-3S 4C 5S 6S"),
    ]
}


@pytest.mark.parametrize(("game", "text"), cases(OVER))
def test_no_legal_move_without_undo_ends_the_play(game: str, text: str) -> None:
    assert [state(game, text, rule) for rule in ("off", "no-reveal", "free")] == ["over", "stuck", "stuck"]


@pytest.mark.parametrize("game", GAMES)
def test_move_of_no_cards_is_refused(game: str) -> None:
    """Such a move can't be written, but it can be made."""
    board = position(game, "1: AS").board
    for size in (0, -1):
        assert not board.is_legal(Move("1", "0", size))
        with pytest.raises(IllegalMove) as caught:
            board.play(Move("1", "0", size))
        assert caught.value.reason is RuleReason.NO_CARDS
