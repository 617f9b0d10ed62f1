"""Steve, sentence by sentence of its rule text, and rulings R16-R20."""

from __future__ import annotations

DEALT = {
    "Deck: Two standard 52-card decks (totaling 104 cards) are used": [("everything", "104")],
    "R16 Columns of 1, 2, 3 ... 8 cards: cards are dealt to form eight tableau columns": [("sizes", "1 2 3 4 5 6 7 8")],
    "R16 all face up: all tableau cards are dealt face up": [
        ("1", "AC"),
        ("2", "2C 9C"),
        ("3", "3C TC 3D"),
        ("8", "8C 2D 8D KD 4H 7H 9H TH"),
    ],
    "R16 stock 68: the stock pile holds the remaining cards, which are also face down until dealt": [
        (
            "stock",
            " ".join(f"[{rank}{suit}]" for suit in "SHDC" for rank in "KQJT98765432A")
            + " "
            + " ".join(f"[{rank}S]" for rank in "KQJT98765432A")
            + " [KH] [QH] [JH]",
        )
    ],
    "R16 Eight foundations": [(f"0{number}", "") for number in range(1, 9)],
}


MOVES = {
    "R19 An Ace goes to the first empty foundation: only an Ace may be moved to an empty foundation pile": [
        ("1: AS", "1 0", "1: | 01: AS"),
        ("1: AS | 01: AS", "1 0", "1: | 02: AS"),
        ("1: AH | 01: AS | 03: AD", "1 0", "1: | 02: AH"),
        ("1: AH | 02: AH-5H", "1 0", "1: | 01: AH"),
        ("1: AC | 01: AS | 02: AS | 03: AH | 04: AH | 05: AD | 06: AD | 07: AC", "1 0", "1: | 08: AC"),
        ("1: 2S", "1 0", "illegal: not_on_empty"),
        ("1: KS", "1 0", "illegal: not_on_empty"),
    ],
    "R19 another card to the foundation of its suit that awaits it, the first where both do": [
        ("1: 2S | 01: AS | 02: AS", "1 0", "1: | 01: AS 2S"),
        ("1: 3S | 01: AS | 02: AS 2S", "1 0", "1: | 02: AS-3S"),
        ("1: 2S 2S | 01: AS | 02: AH | 03: AS", "1 0, 1 0", "1: | 01: AS 2S | 03: AS 2S"),
        ("1: 2S | 01: AS-KS | 02: AS", "1 0", "1: | 02: AS 2S"),
    ],
    "Foundations are built up by suit, in ascending order (Ace, 2, 3 ... King)": [
        ("1: 4S 3S 2S | 01: AS", "1 0, 1 0, 1 0", "1: | 01: AS-4S"),
        ("1: KS | 01: AS-QS", "1 0", "1: | 01: AS-KS"),
        ("1: 2H | 01: AS", "1 0", "illegal: not_on_empty"),
        ("1: 3S | 01: AS", "1 0", "illegal: not_on_card"),
        ("1: 2S | 01: AS 2S", "1 0", "illegal: not_on_card"),
        ("1: 2S | 01: AS-KS", "1 0", "illegal: not_on_card"),
        ("1: 5S | 01: AS-3S | 02: AH | 03: AS-6S", "1 0", "illegal: not_on_card"),
        ("1: 5S | 01: AS-3S | 02: AS-3S", "1 0", "illegal: not_on_card"),
    ],
    "R5 Foundations take one card at a time": [("1: 3S 2S | 01: AS", "1 0 x2", "illegal: one_at_a_time")],
    "R20 The top card of a foundation may go back to a column where it fits: cards on the foundation may be moved": [
        ("1: 4H | 01: AS-3S", "01 1", "1: 4H 3S | 01: AS 2S"),
        ("1: 4S | 03: AS-3S", "03 1", "1: 4S 3S | 03: AS 2S"),
        ("1: 2H | 02: AS", "02 1", "1: 2H AS | 02:"),
        ("1: 5H | 01: AS-3S", "01 1", "illegal: not_on_card"),
        ("1: 3H | 01: AS-3S", "01 1", "illegal: not_on_card"),
        ("1: 2H | 01: AS-3S", "01 1", "illegal: not_on_card"),
        ("1: 4H | 01: AS-3S", "01 1 x2", "illegal: not_a_group"),
        ("1: 4H", "01 1", "illegal: empty_source"),
    ],
    "R20 or to an empty one": [
        ("01: AS-3S", "01 1", "1: 3S | 01: AS 2S"),
        ("01: AS", "01 8", "8: AS | 01:"),
        ("01: AS-KS", "01 4", "4: KS | 01: AS-QS"),
    ],
    "R20 never to another foundation": [
        ("01: AS 2S | 02: AS", "01 0", "illegal: between_foundations"),
        ("02: AS 2S | 01: AS", "02 0", "illegal: between_foundations"),
        ("01: AS", "01 0", "illegal: between_foundations"),
    ],
    "R18 to an empty column: any card may be moved to an empty tableau column": [
        ("1: 4C KS", "1 2", "1: 4C | 2: KS"),
        ("1: 4C 7S", "1 2", "1: 4C | 2: 7S"),
        ("1: 4C AS", "1 2", "1: 4C | 2: AS"),
        ("1: 4C 7S 6S 5S", "1 2 x3", "1: 4C | 2: 7S 6S 5S"),
        ("1: 4C 7S 6H", "1 2 x2", "illegal: not_a_group"),
        ("1: 7S", "1 2", "1: | 2: 7S"),
    ],
    "Tableau columns are built down by rank, regardless of suit (9S may be placed on any T)": [
        ("1: 9S | 2: TS", "1 2", "1: | 2: TS 9S"),
        ("1: 9S | 2: TC", "1 2", "1: | 2: TC 9S"),
        ("1: 9S | 2: TH", "1 2", "1: | 2: TH 9S"),
        ("1: 9S | 2: TD", "1 2", "1: | 2: TD 9S"),
        ("1: 9S | 2: JS", "1 2", "illegal: not_on_card"),
        ("1: 9S | 2: 8S", "1 2", "illegal: not_on_card"),
        ("1: 9S | 2: 9H", "1 2", "illegal: not_on_card"),
        ("1: 9S | 2: 9S", "1 2", "illegal: not_on_card"),
        ("1: KS | 2: AH", "1 2", "illegal: not_on_card"),
        ("1: AS | 2: KH", "1 2", "illegal: not_on_card"),
    ],
    "R18 A group is a run down in one suit: sequences of cards built down by the same suit can be moved together": [
        ("1: 4C 9S 8S 7S | 2: TH", "1 2 x3", "1: 4C | 2: TH 9S 8S 7S"),
        ("1: 4C 9S 8S 7S | 2: 9H", "1 2 x2", "1: 4C 9S | 2: 9H 8S 7S"),
        ("1: 4C 9S 8S 7S | 2: 8H", "1 2", "1: 4C 9S 8S | 2: 8H 7S"),
        ("1: 9S 8H | 2: TH", "1 2 x2", "illegal: not_a_group"),
        ("1: 9S 8C | 2: TH", "1 2 x2", "illegal: not_a_group"),
        ("1: 9S 7S | 2: TH", "1 2 x2", "illegal: not_a_group"),
        ("1: 8S 9S | 2: TH", "1 2 x2", "illegal: not_a_group"),
        ("1: 9S 9S | 2: TH", "1 2 x2", "illegal: not_a_group"),
        ("1: 9S 8S | 2: 9H", "1 2 x2", "illegal: not_on_card"),
        ("1: KH QH JH TH 9H 8H 7H 6H", "1 2 x8", "1: | 2: KH QH JH TH 9H 8H 7H 6H"),
        ("1: KH KH QH JH TH 9H 8H 7H", "1 2 x8", "illegal: not_a_group"),
    ],
    "Tap the stock to deal one card face up to each tableau column: R17 left to right, empty ones too": [
        (
            (
                "1: 3C | 2: 4C | 4: 6C | 5: 7C | 6: 8C | 7: 9C | 8: TC "
                "| stock: [...] [AS] [JH] [TH] [9H] [8H] [7H] [6H] [5H] [4H]"
            ),
            "deal",
            "1: 3C 4H | 2: 4C 5H | 3: 6H | 4: 6C 7H | 5: 7C 8H | 6: 8C 9H | 7: 9C TH | 8: TC JH | stock: [...] [AS]",
        )
    ],
    "Cards dealt from the stock are immediately available for play in the tableau or foundation": [
        ("1: 3C | 8: ... TC | stock: [AH] [2S]", "deal, 2 0, 1 3", "3: 2S | 01: AH | stock:")
    ],
    "R17 then one of four to the first four columns": [
        ("1: 3C | 8: ... TC | stock: [7H] [6H] [5H] [4H]", "deal", "1: 3C 4H | 2: 5H | 3: 6H | 4: 7H | stock:")
    ],
    "R17 No redeal: if the stock is empty, no further cards can be introduced": [
        ("8: ... TC", "deal", "illegal: stock_empty"),
        ("8: ... TC | stock: [AH]", "deal, deal", "illegal: stock_empty"),
        ("8: ... TC | stock: [AH]", "draw", "illegal: no_such_action"),
    ],
    "Play Areas: foundations, tableau and stock, and no others": [("1: 3C", "1 w", "illegal: unknown_pile")],
    "Stock cards are face down until drawn; a row that was dealt lies face up": [
        ("8: ... TC | stock: [7H] [6S] [5D] [4C]", "stock 1", "malformed"),
        ("8: ... TC | stock: [7H] [6S] (5D) [4C]", "deal", "1: 4C | 2: 5D | 3: 6S | 4: 7H | stock:"),
    ],
    "Move Aces to empty foundation piles, then build up by suit": [
        ("1: 2S AS | 2: 2H AH", "1 0, 2 0, 2 0, 1 0", "1: | 2: | 01: AS 2S | 02: AH 2H")
    ],
    "No Restrictions by Suit in Tableau, except for group moves, which require the same suit": [
        ("1: 9S 8S | 2: TD", "1 2 x2", "1: | 2: TD 9S 8S"),
        ("1: 9S 8D | 2: TD | 3: 9H", "1 3, 1 2, 3 2", "1: | 2: TD 9S 8D"),
        ("1: 9S 8D | 2: TS", "1 2 x2", "illegal: not_a_group"),
    ],
}

LEGAL = {
    "On each turn, the player may move within the tableau, aces to empty foundations, cards and sequences, and deal": [
        (
            "1: 4C 9S 8S | 2: TH | 3: 9C | 4: KC AS | 5: KD 2C | 6: KS QH | 7: 3H | 01: AC | 03: AD-2D",
            "4 0, 5 0, 1 3, 1 8, 1 2 x2, 1 8 x2, 2 8, 3 2, 3 8, 4 5, 4 8, 5 7, 5 8, 6 8, 7 8, 01 5, 01 8, 03 7, 03 8, deal",
        )
    ],
    "If no legal moves are available, the player may deal from the stock (if cards remain)": [
        ("1: KC | 2: KC | 3: KS | 4: KS | 5: KH | 6: KH | 7: KD | 8: KD", "deal"),
        ("1: KC | 2: KC | 3: KS | 4: KS | 5: KH | 6: KH | 7: KD | 8: ... KD", ""),
    ],
    "R17 at any time while the stock lasts": [
        ("1: QC | 2: KC | 3: KS | 4: KS | 5: KH | 6: KH | 7: KD | 8: KD", "1 2, 1 3, 1 4, 1 5, 1 6, 1 7, 1 8, deal")
    ],
}

KINGS = "1: KC | 2: KC | 3: KS | 4: KS | 5: KH | 6: KH | 7: KD | 8: ... KD"
EIGHT = "01: AS-KS | 02: AH-KH | 03: AD-KD | 04: AC-KC | 05: AS-KS | 06: AH-KH | 07: AD-KD"

THREES = "1: 3C | 2: 3C | 3: 3H | 4: 3H | 5: 3D | 6: 3D | 7: KS | 8: ... KS | 01: AS 2S"

STATES = {
    "The game is won when all 104 cards are moved to the eight foundation piles, each containing a complete sequence": [
        (f"{EIGHT} | 08: AC-KC", "won"),
        (f"{EIGHT} | 08: AC-QC | 1: KC", "open"),
    ],
    "The game is lost if no further legal moves are available and the stock is depleted": [
        (KINGS, "over"),
        (KINGS.replace("... ", ""), "open"),
    ],
    "R7 nothing but null moves and take-backs from a foundation remain": [
        (THREES, "stuck"),
        (f"{THREES} | stock: [3S]", "open"),
        (THREES.replace("1: 3C", "1: 4C"), "open"),
    ],
}
