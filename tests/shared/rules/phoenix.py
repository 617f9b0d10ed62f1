"""Phoenix, sentence by sentence of its rule text, and rulings R21 and R22."""

from __future__ import annotations

DEALT = {
    "Use a standard 52-card deck (no jokers)": [("everything", "52")],
    "R21 Six columns of six: deal six tableau piles, each with six cards": [("sizes", "6 6 6 6 6 6")],
    "Tableau: all face up and splayed downward so every card is visible; there are no hidden cards": [
        ("1", "AC 7C KC 6D QD 5H"),
        ("2", "2C 8C AD 7D KD 6H"),
        ("6", "6C QC 5D JD 4H TH"),
    ],
    "R21 a reserve of sixteen single cards: place the remaining sixteen cards in a reserve area, all face up": [
        ("q", "JH"),
        ("w", "QH"),
        ("e", "KH"),
        ("r", "AS"),
        ("k", "KS"),
    ],
    "Foundations: Four foundation piles are empty at the start": [("01", ""), ("02", ""), ("03", ""), ("04", "")],
}

MOVES = {
    "Foundations: Build up by suit, starting with Ace and ending with King (AS, 2S, 3S ... KS)": [
        ("1: AS", "1 0", "1: | 01: AS"),
        ("1: AS | 01: AD | 02: AH", "1 0", "1: | 03: AS"),
        ("1: 4S 3S 2S | 01: AS", "1 0, 1 0", "1: 4S | 01: AS-3S"),
        ("1: KS | 01: AS-QS", "1 0", "1: | 01: AS-KS"),
        ("1: 2S", "1 0", "illegal: not_on_empty"),
        ("1: 3S | 01: AS", "1 0", "illegal: not_on_card"),
        ("1: 2H | 01: AS", "1 0", "illegal: not_on_empty"),
    ],
    "R5 Foundations take one card at a time, and give none back": [
        ("1: 3H 2S | 01: AS | 02: AH 2H", "1 0 x2", "illegal: one_at_a_time"),
        ("1: 3H | 01: AS 2S", "01 1", "illegal: not_a_source"),
        ("01: AS 2S", "01 1", "illegal: not_a_source"),
    ],
    "Tableau: Build down by alternating colors (red on black or black on red), one rank at a time (8S on 9H)": [
        ("1: 8S | 2: 9H", "1 2", "1: | 2: 9H 8S"),
        ("1: 8D | 2: 9C", "1 2", "1: | 2: 9C 8D"),
        ("1: 8S | 2: 9C", "1 2", "illegal: not_on_card"),
        ("1: 8D | 2: 9H", "1 2", "illegal: not_on_card"),
        ("1: 7S | 2: 9H", "1 2", "illegal: not_on_card"),
        ("1: TS | 2: 9H", "1 2", "illegal: not_on_card"),
        ("1: 9S | 2: 9H", "1 2", "illegal: not_on_card"),
        ("1: KS | 2: AH", "1 2", "illegal: not_on_card"),
    ],
    "Any single card or a sequence of correctly ordered, alternating-color cards can be moved from one tableau pile to "
    "another": [
        ("1: 4C 8S 7D 6C | 2: 9H", "1 2 x3", "1: 4C | 2: 9H 8S 7D 6C"),
        ("1: 4C 8S 7D 6C | 2: 7H", "1 2", "1: 4C 8S 7D | 2: 7H 6C"),
        ("1: 4C 8S 7D 6C | 2: 8C", "1 2 x2", "1: 4C 8S | 2: 8C 7D 6C"),
    ],
    "R22 A group is a run down in alternating colours": [
        ("1: 8S 7C | 2: 9H", "1 2 x2", "illegal: not_a_group"),
        ("1: 8S 6D | 2: 9H", "1 2 x2", "illegal: not_a_group"),
        ("1: 8S 9D | 2: 9H", "1 2 x2", "illegal: not_a_group"),
        ("1: 8S 7D | 2: 9H", "1 2 x3", "illegal: too_few_cards"),
    ],
    "R3 Its deepest card must fit the destination": [("1: 8S 7D | 2: 8C", "1 2 x2", "illegal: not_on_card")],
    "Any card from the reserve may be played to either the tableau or directly to the foundations": [
        ("q: 8S | 2: 9H", "q 2", "2: 9H 8S | q:"),
        ("k: 8S | 2: 9H", "k 2", "2: 9H 8S | k:"),
        ("q: AS", "q 0", "q: | 01: AS"),
        ("h: 2S | 01: AS", "h 0", "h: | 01: AS 2S"),
        ("q: 8S | 2: 9C", "q 2", "illegal: not_on_card"),
        ("q: 2S", "q 0", "illegal: not_on_empty"),
        ("1: 5C", "q 1", "illegal: empty_source"),
    ],
    "Only the top card of each reserve pile is available; if the reserve is a single group, all cards are available": [
        (
            "q: 8S | w: 8C | e: 8H | 2: 9H | 3: 9D | 4: 9C",
            "e 4, w 3, q 2",
            "2: 9H 8S | 3: 9D 8C | 4: 9C 8H | q: | w: | e:",
        )
    ],
    "Reserve Usage: only one card may be moved at a time from the reserve": [
        ("q: 8S | w: 7D | 2: 9H", "q 2 x2", "illegal: too_few_cards")
    ],
    "R21 Nothing is ever put into the reserve": [
        ("1: 8S", "1 q", "illegal: not_a_target"),
        ("1: 8S | q: 9H", "1 q", "illegal: not_a_target"),
        ("q: 8S", "q w", "illegal: not_a_target"),
        ("q: 8S", "q q", "illegal: same_pile"),
    ],
    "Empty Tableau Spaces: Any card (not just Kings) may be moved to an empty tableau pile": [
        ("1: 4C 8S", "1 2", "1: 4C | 2: 8S"),
        ("1: 4C KS", "1 2", "1: 4C | 2: KS"),
        ("1: 4C AS", "1 2", "1: 4C | 2: AS"),
        ("q: 8S", "q 2", "2: 8S | q:"),
    ],
    "R22 any card or group goes to an empty column: any card or valid sequence, no restriction to Kings": [
        ("1: 4C 8S 7D 6C", "1 2 x3", "1: 4C | 2: 8S 7D 6C"),
        ("1: 4C 8S 7C", "1 2 x2", "illegal: not_a_group"),
        ("1: 8S 7D", "1 2 x2", "1: | 2: 8S 7D"),
    ],
    "No Stock: There is no stock or waste pile; No Redeal": [
        ("1: 8S", "draw", "illegal: no_such_action"),
        ("1: 8S", "deal", "illegal: no_such_action"),
        ("1: 8S", "1 z", "illegal: unknown_pile"),
        ("1: 8S", "7 1", "illegal: unknown_pile"),
    ],
    "Edge Cases: If all tableau columns are empty except for the reserve and foundations, continue play using only the "
    "reserve cards": [
        (
            "01: AS-QS | 02: AH-KH | 03: AD-KD | 04: AC-JC | q: KS | h: QC | k: KC",
            "k 1, h 0, 1 0, q 0",
            "q: | h: | k: | 01: AS-KS | 04: AC-KC",
        )
    ],
    "Move a card from the tableau or reserve to a foundation if it is the next card in suit and sequence": [
        ("1: 3S | q: 2S | 01: AS", "q 0, 1 0", "1: | q: | 01: AS-3S"),
        ("1: 3S | q: 2S | 01: AS", "1 0", "illegal: not_on_card"),
        ("1: 3S | q: 2H | 01: AS", "q 0", "illegal: not_on_empty"),
    ],
    "Moving Sequences: Sequences of cards built down by alternating colors may be moved as a group": [
        ("1: KS QH JC TD 9S 8H 7C 6D 5S 4H 3C 2D", "1 2 x12", "1: | 2: KS QH JC TD 9S 8H 7C 6D 5S 4H 3C 2D")
    ],
}

LEGAL = {
    "On each turn, the player may move a card (or valid sequence) within the tableau, to a foundation, from the reserve, "
    "and fill any empty tableau space with any available card": [
        (
            "1: 9S 8D | 2: TH | 3: 4C | 4: 9C | 6: ... 6S | q: AS | w: 3H",
            "q 0, 1 4, 1 5, 1 2 x2, 1 5 x2, 2 5, 3 5, 4 2, 4 5, 6 5, q 5, w 3, w 5",
        )
    ]
}

FULL = "01: AS-TS | 02: AH-TH | 03: AD-TD | 04: AC-TC"

STATES = {
    "Win Condition: The game is won when all 52 cards have been moved to the four foundation piles, each built up in suit": [
        ("01: AS-KS | 02: AH-KH | 03: AD-KD | 04: AC-KC", "won"),
        ("01: AS-KS | 02: AH-KH | 03: AD-KD | 04: AC-QC | q: KC", "open"),
    ],
    "Play continues as long as at least one legal move is available": [
        ("1: QS | 2: KC | 3: KS | 4: KH | 5: QD | 6: ... QH | q: 9C", "open")
    ],
    "Lose Condition: The game is lost if no legal moves remain and not all cards have been moved to the foundations": [
        ("1: KS | 2: KC | 3: KD | 4: KH | 5: ... 2S | 6: 2D | q: 2H | w: 2C", "over"),
        ("1: KS | 2: KC | 3: KD | 4: KH | 5: ... 3S | 6: 2D | q: 2H", "open"),
    ],
    "R7 a card that leaves others behind is no null move": [("1: KS | 2: KC | 3: KD | 4: KH | 5: ... 2S", "open")],
}
