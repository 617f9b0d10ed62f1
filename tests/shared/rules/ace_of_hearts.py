"""Ace of Hearts, sentence by sentence of its rule text, and rulings R23-R26."""

from __future__ import annotations

DEALT = {
    "Use a standard 52-card deck (no jokers)": [("everything", "52")],
    "R23 Columns of 1 ... 7: deal seven tableau piles in a Klondike-style layout": [("sizes", "1 2 3 4 5 6 7")],
    "All tableau cards are dealt face up; there are no face-down cards in the tableau": [
        ("1", "AC"),
        ("2", "2C 8C"),
        ("4", "4C TC 2D 6D"),
        ("7", "7C KC 5D 9D QD AH 2H"),
    ],
    "R23 stock 24: Place the remaining cards face down as the stock pile": [
        (
            "stock",
            (
                "[KS] [QS] [JS] [TS] [9S] [8S] [7S] [6S] [5S] [4S] [3S] [2S] [AS] "
                "[KH] [QH] [JH] [TH] [9H] [8H] [7H] [6H] [5H] [4H] [3H]"
            ),
        )
    ],
    "Foundation: The foundation area starts empty": [("01", "")],
}


MOVES = {
    "Only the Ace of Hearts can be placed on an empty foundation to start": [
        ("1: AH", "1 0", "1: | 01: AH"),
        ("1: AS", "1 0", "illegal: not_on_empty"),
        ("1: AD", "1 0", "illegal: not_on_empty"),
        ("1: 2H", "1 0", "illegal: not_on_empty"),
        ("1: KH", "1 0", "illegal: not_on_empty"),
    ],
    "R24 One foundation: the ace of hearts, then any two, any three ...: ascending order, regardless of suit": [
        ("1: 2H | 01: AH", "1 0", "1: | 01: AH 2H"),
        ("1: 2S | 01: AH", "1 0", "1: | 01: AH 2S"),
        ("1: 4C 3D 2S | 01: AH", "1 0, 1 0, 1 0", "1: | 01: AH 2S 3D 4C"),
        ("1: 3S | 01: AH", "1 0", "illegal: not_on_card"),
        ("1: AS | 01: AH", "1 0", "illegal: not_on_card"),
        ("1: KS | 01: AH", "1 0", "illegal: not_on_card"),
        ("1: 2H | 01: AH 2S", "1 0", "illegal: not_on_card"),
        ("1: AS | 01: AH 2S", "1 0", "illegal: not_on_card"),
    ],
    "R24 any King, any Ace, any two ... until it holds all 52: after King, the sequence may wrap around to Ace again": [
        ("1: KC | 01: AH-QH", "1 0", "1: | 01: AH-QH KC"),
        ("1: AS | 01: AH-QH KC", "1 0", "1: | 01: AH-QH KC AS"),
        ("1: 2C AD | 01: AH-KH", "1 0, 1 0", "1: | 01: AH-KH AD 2C"),
        ("1: 2S | 01: AH-KH", "1 0", "illegal: not_on_card"),
        ("1: QS | 01: AH-KH", "1 0", "illegal: not_on_card"),
        ("1: KS | 01: AH-KH", "1 0", "illegal: not_on_card"),
        ("1: KS | 01: AH-KH AS-QS", "1 0", "1: | 01: AH-KH AS-KS"),
    ],
    "R26 Only the top card of a column goes to the foundation": [
        ("1: 2S 7S | 01: AH", "1 0", "illegal: not_on_card"),
        ("1: 3S 2S | 01: AH", "1 0 x2", "illegal: one_at_a_time"),
    ],
    "R5 Foundations give none back": [
        ("1: 3H | 01: AH 2H", "01 1", "illegal: not_a_source"),
        ("01: AH-KH", "01 1", "illegal: not_a_source"),
    ],
    "Build tableau piles down by the same suit (e.g., TS on JS)": [
        ("1: TS | 2: JS", "1 2", "1: | 2: JS TS"),
        ("1: 9H | 2: TH", "1 2", "1: | 2: TH 9H"),
        ("1: TC | 2: JS", "1 2", "illegal: not_on_card"),
        ("1: TH | 2: JS", "1 2", "illegal: not_on_card"),
        ("1: QS | 2: JS", "1 2", "illegal: not_on_card"),
        ("1: 9S | 2: JS", "1 2", "illegal: not_on_card"),
        ("1: JH | 2: JS", "1 2", "illegal: not_on_card"),
    ],
    "R25 No wrapping in the tableau": [
        ("1: KS | 2: AS", "1 2", "illegal: not_on_card"),
        ("1: AS | 2: KS", "1 2", "illegal: not_on_card"),
        ("1: AS | 2: 2S", "1 2", "1: | 2: 2S AS"),
    ],
    "R25 A group is any number of top cards, in whatever order": [
        ("1: 2C TS 4D KH | 2: JS", "1 2 x3", "1: 2C | 2: JS TS 4D KH"),
        ("1: 2C TS 9S 8S | 2: JS", "1 2 x3", "1: 2C | 2: JS TS 9S 8S"),
        ("1: TS 4D KH AC 7C QD | 2: JS", "1 2 x6", "1: | 2: JS TS 4D KH AC 7C QD"),
        ("1: 2C TS TH | 2: JS", "1 2 x2", "1: 2C | 2: JS TS TH"),
    ],
    "R25 its deepest card must be one rank lower than, and of the same suit as, the card it goes on": [
        ("1: 2C TS 4D | 2: 5D", "1 2 x2", "illegal: not_on_card"),
        ("1: 2C TS 4D | 2: 5D", "1 2", "1: 2C TS | 2: 5D 4D"),
        ("1: 2C TS 4D | 2: JS", "1 2 x3", "illegal: not_on_card"),
        ("1: TS 4D | 2: JS", "1 2 x3", "illegal: too_few_cards"),
    ],
    "R25 Only a group whose deepest card is a King goes to an empty column": [
        ("1: 2C KS", "1 2", "1: 2C | 2: KS"),
        ("1: 2C KS 4D KH 3C", "1 2 x4", "1: 2C | 2: KS 4D KH 3C"),
        ("1: 2C KS 4D KH 3C", "1 2 x2", "1: 2C KS 4D | 2: KH 3C"),
        ("1: 2C QS", "1 2", "illegal: not_on_empty"),
        ("1: 2C QS KS", "1 2 x2", "illegal: not_on_empty"),
        ("1: 2C KS 4D", "1 2", "illegal: not_on_empty"),
    ],
    "R23 A deal gives one card to each column left to right, empty ones too": [
        (
            "1: 3C | 2: 4C | 4: 6C | 5: 7C | 6: 8C | 7: 9C | stock: [...] [AS] [TH] [9H] [8H] [7H] [6H] [5H] [4H]",
            "deal",
            "1: 3C 4H | 2: 4C 5H | 3: 6H | 4: 6C 7H | 5: 7C 8H | 6: 8C 9H | 7: 9C TH | stock: [...] [AS]",
        ),
        (
            "stock: [...] [TH] [9H] (8H) [7H] [6H] (5H) [4H]",
            "deal",
            "1: 4H | 2: 5H | 3: 6H | 4: 7H | 5: 8H | 6: 9H | 7: TH | stock: [...]",
        ),
    ],
    "R23 three deals of seven, then one of three to the first three columns": [
        ("1: 3C | 7: ... 9C | stock: [6H] [5H] [4H]", "deal", "1: 3C 4H | 2: 5H | 3: 6H | stock:")
    ],
    "R23 One pass: only one pass through the stock is allowed; no redeals": [
        ("7: ... 9C", "deal", "illegal: stock_empty"),
        ("7: ... 9C | stock: [6H] [5H] [4H]", "deal, deal", "illegal: stock_empty"),
    ],
    "No Reserve or Waste Pile: There are no reserve or waste piles in this variant": [
        ("1: 3C", "draw", "illegal: no_such_action"),
        ("1: 3C", "w 1", "illegal: unknown_pile"),
        ("1: 3C", "1 q", "illegal: unknown_pile"),
        ("1: 3C", "02 1", "illegal: unknown_pile"),
    ],
    "Any card or valid sequence of cards (regardless of their internal build) may be moved between tableau piles": [
        ("1: TS 9S 8S | 2: JS | 3: 9H", "1 2 x3", "1: | 2: JS TS 9S 8S")
    ],
    "Stock Dealing: Each time you deal from the stock, one card is dealt face up to each tableau pile": [
        ("1: 3C | 7: ... 9C | stock: [6H] [5H] [4H]", "deal, 3 2", "illegal: not_on_card"),
        ("1: 3C | 7: ... 9C | stock: [6H] [5H] [4H]", "deal, 2 3, 1 3", "3: 6H 5H 4H | stock:"),
    ],
    "No Suit Restriction for Foundation": [("1: 3S 2D | 01: AH", "1 0, 1 0", "1: | 01: AH 2D 3S")],
}

OVER = "1: AS | 2: AD | 3: 2H | 4: AC | 5: 5C | 6: 4S | 7: ... KD | 01: AH 2S-3S 4C 5S 6S"
NULL = "1: KS AS | 2: KD AD | 3: KH 2H | 4: KC ... AC | 5: 5C | 6: 4S | 01: AH 2S-3S 4C 5S 6S"

LEGAL = {
    "When desired, deal one card face up from the stock onto each tableau pile: cards, groups, foundation and deal": [
        ("1: 3C TS 4D KH 3D | 2: JS | 3: 5D | 4: 2D | 5: 4C | 6: 9S 2S", "1 7 x2, 1 3 x3, 1 2 x4, 1 5 x5, 4 1, deal"),
        (
            "1: 3C TS 4D KH 3D | 2: JS | 3: 5D | 4: 2D | 5: 4C | 7: KD ... 2S",
            "1 6 x2, 1 3 x3, 1 2 x4, 1 5 x5, 4 1, 7 6 x2, 7 4 x31, 7 6 x32, 7 6 x43",
        ),
        ("1: 3C | 2: JS | 3: 5D | 4: 2D | 5: 4S | 6: 9S 2S | 01: AH", "4 0, 6 0, deal"),
    ],
    "No further moves are possible": [(OVER, "")],
}

STATES = {
    "Win Condition: all 52 cards have been moved to the single foundation pile in correct sequence, starting with the Ace "
    "of Hearts and building up regardless of suit, wrapping around as needed": [
        ("01: AH-KH AS-KS AD-KD AC-KC", "won"),
        ("01: AH 2C 3H-KH AS-KS AD-KD AC 2H 3C-KC", "won"),
        ("01: AH-KH AS-KS AD-KD AC-QC | 3: KC", "open"),
    ],
    "Lose Condition: no further legal moves are possible and not all cards have been transferred; Unwinnable State": [
        (OVER, "over"),
        (f"{OVER} | stock: [KH]", "open"),
        (OVER.replace("KD", "3S").replace("2S-3S", "2S 3D"), "open"),
    ],
    "R7 nothing but null moves remain": [
        (NULL, "stuck"),
        (f"{NULL} | stock: (2C)", "open"),
        (NULL.replace("KS AS", "TS KS AS"), "open"),
    ],
}
