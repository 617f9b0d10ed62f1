"""Willow, sentence by sentence of its rule text, and rulings R27-R29."""

from __future__ import annotations

DEALT = {
    "Deck: Standard 52-card deck": [("everything", "52")],
    "Foundations: Four empty piles, one for each suit": [("01", ""), ("02", ""), ("03", ""), ("04", "")],
    "R27 Columns of 1 ... 7: seven tableau piles in a Klondike-style layout; pile 1: 1 card ... pile 7: 7 cards": [
        ("sizes", "1 2 3 4 5 6 7")
    ],
    "Tableau: dealt face up, all cards are visible from the start": [
        ("1", "AC"),
        ("2", "2C 8C"),
        ("3", "3C 9C AD"),
        ("7", "7C KC 5D 9D QD AH 2H"),
    ],
    "R27 then four fans of six, all face up; all cards in the fans are visible": [
        ("q", "3H 7H JH 2S 6S TS"),
        ("w", "4H 8H QH 3S 7S JS"),
        ("e", "5H 9H KH 4S 8S QS"),
        ("r", "6H TH AS 5S 9S KS"),
    ],
}

MOVES = {
    "Foundations are built up by suit, starting with Ace and ending with King (AS, 2S, 3S, ..., KS)": [
        ("1: 3S 2S AS", "1 0, 1 0, 1 0", "1: | 01: AS-3S"),
        ("1: KD | 01: AD-QD", "1 0", "1: | 01: AD-KD"),
        ("1: 3S | 01: AS", "1 0", "illegal: not_on_card"),
        ("1: 2C | 01: AS", "1 0", "illegal: not_on_empty"),
    ],
    "Filling: Only Aces may be placed on empty foundation piles": [
        ("1: AH | 01: AS", "1 0", "1: | 02: AH"),
        ("1: KH", "1 0", "illegal: not_on_empty"),
    ],
    "Only the top card of a tableau or fan may be moved to a foundation, provided it continues the sequence in suit": [
        ("1: 2S 3H | 01: AS", "1 0", "illegal: not_on_empty"),
        ("q: 3H 2S | 01: AS", "q 0", "q: 3H | 01: AS 2S"),
        ("q: 2S 3H | 01: AS", "q 0", "illegal: not_on_empty"),
        ("1: 3H 2S | 01: AS | 02: AH-2H", "1 0 x2", "illegal: one_at_a_time"),
    ],
    "R5 Foundations give none back": [
        ("1: 3H | 01: AS 2S", "01 1", "illegal: not_a_source"),
        ("q: 2H | 01: AS 2S", "01 q", "illegal: not_a_source"),
    ],
    "Tableau piles build down by alternating color (red on black, black on red), regardless of suit": [
        ("1: 8S | 2: 9H", "1 2", "1: | 2: 9H 8S"),
        ("1: 8S | 2: 9D", "1 2", "1: | 2: 9D 8S"),
        ("1: 8H | 2: 9C", "1 2", "1: | 2: 9C 8H"),
        ("1: 8H | 2: 9D", "1 2", "illegal: not_on_card"),
        ("1: 8S | 2: 9C", "1 2", "illegal: not_on_card"),
        ("1: TS | 2: 9H", "1 2", "illegal: not_on_card"),
        ("1: 7S | 2: 9H", "1 2", "illegal: not_on_card"),
        ("1: 9S | 2: 9H", "1 2", "illegal: not_on_card"),
        ("1: KS | 2: AH", "1 2", "illegal: not_on_card"),
    ],
    "R29 A group is a run down in alternating colours, moved between tableau piles": [
        ("1: 2C 8S 7D 6C | 2: 9H", "1 2 x3", "1: 2C | 2: 9H 8S 7D 6C"),
        ("1: 2C 8S 7D 6C | 2: 8C", "1 2 x2", "1: 2C 8S | 2: 8C 7D 6C"),
        ("1: 8S 7C | 2: 9H", "1 2 x2", "illegal: not_a_group"),
        ("1: 8S 6H | 2: 9H", "1 2 x2", "illegal: not_a_group"),
        ("1: 8S 7D | 2: 8C", "1 2 x2", "illegal: not_on_card"),
    ],
    "R29 any card or group goes to an empty column: any card or valid sequence may be moved to fill an empty pile": [
        ("1: 2C 8S", "1 2", "1: 2C | 2: 8S"),
        ("1: 2C 8S 7D 6C", "1 2 x3", "1: 2C | 2: 8S 7D 6C"),
        ("1: 2C 8S 7S", "1 2 x2", "illegal: not_a_group"),
        ("1: AS", "1 2", "1: | 2: AS"),
    ],
    "R28 The top of a fan goes to a foundation, to a column where it fits, or to an empty column": [
        ("q: KD AS", "q 0", "q: KD | 01: AS"),
        ("q: KD 8S | 2: 9H", "q 2", "2: 9H 8S | q: KD"),
        ("q: KD 8S", "q 2", "2: 8S | q: KD"),
        ("q: KD 8S | 2: 9C", "q 2", "illegal: not_on_card"),
        ("q: KD 8S | 2: 9H", "q 0", "illegal: not_on_empty"),
    ],
    "Only the top card of each fan is available for play": [
        ("q: 8S KD | 2: 9H", "q 2", "illegal: not_on_card"),
        ("q: 8S 7D | 2: 9H", "q 2 x2", "illegal: not_a_group"),
    ],
    "R28 The top of a column or of another fan goes onto a fan whose top card has the same rank (any Jack on any Jack)": [
        ("1: 2C JH | q: JS", "1 q", "1: 2C | q: JS JH"),
        ("1: 2C JC | q: JS", "1 q", "1: 2C | q: JS JC"),
        ("q: 3C JS | w: 5D JH", "q w", "q: 3C | w: 5D JH JS"),
        ("q: JS | w: JH", "q w", "q: | w: JH JS"),
        ("1: 2C TH | q: JS", "1 q", "illegal: not_on_card"),
        ("1: 2C QH | q: JS", "1 q", "illegal: not_on_card"),
        ("q: TS | w: JS", "q w", "illegal: not_on_card"),
        ("1: 2C JH | q: JS 4D", "1 q", "illegal: not_on_card"),
        ("q: JS", "q q", "illegal: same_pile"),
        ("q: JS JH", "q q", "illegal: same_pile"),
    ],
    "R28 One card at a time": [
        ("1: JS TH | q: JH", "1 q x2", "illegal: one_at_a_time"),
        ("1: JS JD | q: JH", "1 q x2", "illegal: not_a_group"),
        ("1: JS JD | q: JH", "1 q, 1 q", "1: | q: JH JD JS"),
        ("q: JS JD | w: JH", "q w x2", "illegal: not_a_group"),
    ],
    "R28 An empty fan stays empty: once a fan is empty, it cannot be refilled": [
        ("1: 2C JH", "1 q", "illegal: not_on_empty"),
        ("1: 2C KH", "1 q", "illegal: not_on_empty"),
        ("q: JS", "q w", "illegal: not_on_empty"),
        ("q: AS | 1: AH", "q 0, 1 q", "illegal: not_on_empty"),
        ("1: JH", "q 1", "illegal: empty_source"),
    ],
    "There is no stock, reserve, or cell area; no stock or redeal mechanism": [
        ("1: 2C", "draw", "illegal: no_such_action"),
        ("1: 2C", "deal", "illegal: no_such_action"),
        ("1: 2C", "1 a", "illegal: unknown_pile"),
        ("1: 2C", "8 1", "illegal: unknown_pile"),
        ("1: 2C", "05 1", "illegal: unknown_pile"),
    ],
    "Fans build by equal rank, not by suit or color (Fan Restrictions)": [
        ("1: 2C JD | q: JH", "1 q", "1: 2C | q: JH JD"),
        ("1: 2C TS | q: JH", "1 q", "illegal: not_on_card"),
        ("1: 2C JH | q: QH", "1 q", "illegal: not_on_card"),
    ],
    "Only sequences built down by alternating color in the tableau may be moved together as a unit": [
        ("1: 4C KS QH JC TD", "1 2 x4", "1: 4C | 2: KS QH JC TD"),
        ("1: 4C KS QS JC TD", "1 2 x4", "illegal: not_a_group"),
    ],
}

LEGAL = {
    "On each turn, the player may move to a foundation, between tableau piles, from a fan, to an empty pile, onto a fan": [
        (
            "1: 9S 8D | 2: TH | 3: 4C | 4: 9C | 5: KC AS | 6: ... 6S | q: 4D 8S | w: 2C 8C | e: 3H",
            "5 0, 1 q, 1 w, 1 4, 1 7, 1 2 x2, 1 7 x2, 2 7, 3 7, 4 2, 4 7, 5 7, 6 7, q w, q 7, w q, w 7, e 3, e 7",
        )
    ],
    "If no legal moves are available": [
        ("1: KS | 2: KC | 3: 9S | 4: 9C | 5: QS | 6: QC | 7: ... 3C | q: 5D | w: 5C 7S | e: 4C | r: 2C", "")
    ],
}

FULL = "01: AS-KS | 02: AH-KH | 03: AD-KD"

STATES = {
    "Win: The game is won when all 52 cards have been moved to the four foundation piles, each built up in suit": [
        (f"{FULL} | 04: AC-KC", "won"),
        (f"{FULL} | 04: AC-QC | r: KC", "open"),
    ],
    "Lose: The game is lost if no further legal moves are possible; if no legal moves are available, the game is over": [
        ("1: KS | 2: KC | 3: 9S | 4: 9C | 5: QS | 6: QC | 7: ... 3C | q: 5D | w: 5C 7S | e: 4C | r: 2C", "over"),
        ("1: KS | 2: KC | 3: 9S | 4: 9C | 5: QS | 6: QC | 7: ... 3C | q: 5D | w: 7S 5C | e: 4C | r: 2C", "open"),
    ],
}
