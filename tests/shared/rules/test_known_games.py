"""The games that many people know: what their rulings, R30 and on, allow and forbid."""

from __future__ import annotations

import pytest

from tests.shared.positions import after, cases, dealt, is_null, state

SPADES = "KS QS JS TS 9S 8S 7S 6S 5S 4S 3S 2S AS"
CELLS = "q: AC | w: AD | e: AH | r: AS | t: 2C | y: 2D"
FULL = "3: KC | 4: KD | 5: KH | 6: KS | 7: QD | 8: ..."
RULES = {
    "R31 a draw turns one card": [
        ("klondike", "stock: (AC) (2C) | w: 3C | 1: ...", "draw", "stock: (AC) | w: 3C 2C"),
    ],
    "R32 the waste is turned over when the stock is empty": [
        ("klondike", "w: 3C 2C | 1: ...", "draw", "stock: (2C) (3C) | w:"),
    ],
    "R33 only a king goes to an empty column": [
        ("klondike", "1: (2C) KS | 3: ...", "1 2", "1: 2C | 2: KS"),
        ("klondike", "1: QS | 3: ...", "1 2", "illegal: not_on_empty"),
    ],
    "R34 the top card of a foundation may move back to a column": [
        ("klondike", "01: AS 2S | 1: 3H | 2: ...", "01 1", "1: 3H 2S | 01: AS"),
    ],
    "R35 a draw turns three cards": [
        ("klondike-three", "stock: (AC) (2C) (3C) (4C) | 1: ...", "draw", "stock: (AC) | w: 4C 3C 2C"),
    ],
    "R37 a cell takes any one card": [
        ("freecell", f"1: 9D | {FULL}", "1 q", "1: | q: 9D"),
        ("freecell", f"1: 9D | q: 2C | {FULL}", "1 q", "illegal: not_on_card"),
        ("freecell", f"1: 9D 8C | {FULL}", "1 q x2", "illegal: one_at_a_time"),
        ("freecell", f"2: TC | q: 9D | {FULL}", "q 2", "2: TC 9D | q:"),
        ("freecell", f"q: AS | {FULL}", "q 0", "q: | 01: AS"),
    ],
    "R39 empty cells and columns say how many cards move together": [
        ("freecell", f"1: 9D 8C | 2: TC | q: AC | w: AD | e: AH | r: AS | {FULL}", "1 2 x2", "illegal: too_many_cards"),
        ("freecell", f"1: 9D 8C | 2: TC | q: AC | w: AD | e: AH | {FULL}", "1 2 x2", "1: | 2: TC 9D 8C"),
        ("freecell", f"1: 9D 8C 7D | q: AC | w: AD | e: AH | {FULL}", "1 2 x3", "illegal: too_many_cards"),
        ("freecell", f"1: 9D 8C 7D | q: AC | w: AD | {FULL}", "1 2 x3", "1: | 2: 9D 8C 7D"),
        (
            "freecell",
            "1: 9D 8C | 2: TC | 4: KD | 5: KH | 6: KS | 7: QD | 8: ... | q: AC | w: AD | e: AH | r: AS",
            "1 2 x2",
            "1: | 2: TC 9D 8C",
        ),
    ],
    "R41 no cards are dealt while a column is empty": [
        ("spider", "1: ... | 2: AS | 3: AS | stock: (2C)", "deal", "illegal: empty_column"),
    ],
    "R42 any suit builds down, and runs in one suit move": [
        ("spider", "1: 9S 8S | 2: TH | 3: ...", "1 2 x2", "1: | 2: TH 9S 8S"),
        ("spider", "1: 9S 8H | 2: TH | 3: ...", "1 2 x2", "illegal: not_a_group"),
        ("spider", "9: 8H | t: 9S | 3: ...", "9 t", "9: | t: 9S 8H"),
    ],
    "R43 a foundation takes a complete suit": [
        ("spider", f"t: (2C) {SPADES} | 1: ...", "t 0 x13", f"t: 2C | 01: {SPADES}"),
        ("spider", "t: KS QS JS TS 9S 8S 7S 6S 5S 4S 3S 2S | 1: ...", "t 0 x12", "illegal: not_complete"),
        ("spider", "t: AS | 1: ...", "t 0", "illegal: not_complete"),
        ("spider", f"01: {SPADES} | 1: ...", "01 2", "illegal: not_a_source"),
    ],
    "R47 any face-up cards move together": [
        ("yukon", "1: (AC) 9D 2C KS | 2: TC | 3: ...", "1 2 x3", "1: AC | 2: TC 9D 2C KS"),
        ("yukon", "1: (AC) 9D 2C | 3: ...", "1 2 x2", "illegal: not_on_empty"),
        ("yukon", "1: (9D) 2C | 2: TC | 3: ...", "1 2 x2", "illegal: face_down"),
    ],
    "R48 columns build in one suit, and any card goes to an empty column": [
        ("bakers-game", f"1: 9D 8D | {FULL}", "1 2", "1: 9D | 2: 8D"),
        ("bakers-game", f"1: 9D | 2: TD | {FULL}", "1 2", "1: | 2: TD 9D"),
        ("bakers-game", f"1: 9D | 2: TC | {FULL}", "1 2", "illegal: not_on_card"),
    ],
    "R50 only a king goes to an empty column, and other cards do not go there on their way": [
        ("eight-off", "1: 9D KC | 3: ...", "1 2", "1: 9D | 2: KC"),
        ("eight-off", "1: 9D QC | 3: ...", "1 2", "illegal: not_on_empty"),
        ("eight-off", f"1: 9D 8D 7D | 3: ... TD | {CELLS} | u: 2H", "1 3 x3", "illegal: too_many_cards"),
        ("eight-off", f"1: 9D 8D 7D | 3: ... TD | {CELLS}", "1 3 x3", "1: | 3: ... TD 9D 8D 7D"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(("game", "text", "actions", "outcome"), cases(RULES))
def test_move_has_its_outcome(game: str, text: str, actions: str, outcome: str) -> None:
    assert after(game, text, actions) == outcome


@pytest.mark.parametrize(
    ("game", "piles"),
    [
        ("klondike", "1: AC | 2: [2C] 8C | stock: [KS] [QS]"),
        ("spider-two", "2: [2S] [QS] [9H] [6H] 3S"),
        ("spider-one", "2: [2S] [QS] [9S] [6S] 3S"),
        ("yukon", "1: AC | 2: [2C] 8C AD 7D KD 6H"),
        ("eight-off", "q: TS | w: | e: JS | r: | t: QS | y: | u: KS | i:"),
        ("seahaven-towers", "q: | w: QS | e: KS | r:"),
    ],
)
def test_new_decks_are_dealt_as_ruled(game: str, piles: str) -> None:
    for pile in piles.split(" | "):
        key, _, cards = pile.partition(":")
        assert dealt(game, key).startswith(cards.strip()) if key == "stock" else dealt(game, key) == cards.strip(), key


def test_moves_between_cells_are_null() -> None:
    assert is_null("freecell", f"q: 9D | {FULL}", "q w")
    assert not is_null("freecell", f"1: 9D | {FULL}", "1 w")
    assert not is_null("freecell", f"q: 9D | {FULL}", "q 1")


def test_board_without_a_free_place_is_stuck() -> None:
    kings = "1: 2C KC | 2: 3C KD | 3: 4C KH | 4: 2D KS | 5: 3D 9C | 6: 4D 9S | 7: 5D 7C | 8: ... 7S"
    cells = "q: TC | w: TS | e: 5C | r: 5S"
    assert state("freecell", f"{kings} | {cells}") == "over"
    assert state("freecell", f"{kings} | {cells.removesuffix(' | r: 5S')}") == "open"
