"""Athena, sentence by sentence of its rule text, and rulings R12-R15."""

from __future__ import annotations

DEALT = {
    "Athena Solitaire uses a standard 52-card deck": [("everything", "52")],
    "There are seven tableau piles. Each pile is dealt four cards": [("sizes", "4 4 4 4 4 4 4")],
    "R12 Each column from the deepest card: down, up, down, up; the odd-numbered cards are face down, the even-numbered "
    "face up": [("1", "[AC] 8C [2D] 9D"), ("2", "[2C] 9C [3D] TD"), ("6", "[6C] KC [7D] AH"), ("7", "[7C] AD [8D] 2H")],
    "Foundations: Four foundation piles are placed above the tableau. These start empty": [
        ("01", ""),
        ("02", ""),
        ("03", ""),
        ("04", ""),
    ],
    "Stock: The remaining cards after dealing the tableau form the stock pile, placed face down; R12 stock 24": [
        (
            "stock",
            (
                "[KS] [QS] [JS] [TS] [9S] [8S] [7S] [6S] [5S] [4S] [3S] [2S] [AS] "
                "[KH] [QH] [JH] [TH] [9H] [8H] [7H] [6H] [5H] [4H] [3H]"
            ),
        )
    ],
    "R12 waste empty at the start": [("w", "")],
}

MOVES = {
    "Only an Ace can be moved to an empty foundation pile": [
        ("1: 2H AS", "1 0", "1: 2H | 01: AS"),
        ("1: AH | 01: AS", "1 0", "1: | 02: AH"),
        ("1: 2S", "1 0", "illegal: not_on_empty"),
        ("1: KS | 01: AH", "1 0", "illegal: not_on_empty"),
    ],
    "Foundations must be built up by suit (2S on AS, 3S on 2S) until reaching King": [
        ("1: 3S 2S | 01: AS", "1 0, 1 0", "1: | 01: AS-3S"),
        ("1: KS | 01: AS-QS", "1 0", "1: | 01: AS-KS"),
        ("1: 3S | 01: AS", "1 0", "illegal: not_on_card"),
        ("1: 2H | 01: AS", "1 0", "illegal: not_on_empty"),
        ("1: 2H | 01: AS | 02: AH", "1 0", "1: | 02: AH 2H"),
        ("1: AS | 01: AH 2H | 03: AC", "1 0", "1: | 02: AS"),
    ],
    "R5 Foundations take one card at a time": [
        ("1: 2S AS", "1 0 x2", "illegal: not_a_group"),
        ("1: 3S 2H | 01: AS-2S", "1 0 x2", "illegal: one_at_a_time"),
    ],
    "R5 Foundations give none back": [
        ("1: 3H | 01: AS-2S", "01 1", "illegal: not_a_source"),
        ("1: 3H | 01: AS-2S", "01 0", "illegal: not_a_source"),
        ("01: AS-KS", "01 1", "illegal: not_a_source"),
    ],
    "Cards are built down in sequence by alternating colors (red on black, black on red)": [
        ("1: 9S | 2: TH", "1 2", "1: | 2: TH 9S"),
        ("1: 9D | 2: TC", "1 2", "1: | 2: TC 9D"),
        ("1: 9H | 2: TC", "1 2", "1: | 2: TC 9H"),
        ("1: 9S | 2: TC", "1 2", "illegal: not_on_card"),
        ("1: 9D | 2: TH", "1 2", "illegal: not_on_card"),
        ("1: 9H | 2: TH", "1 2", "illegal: not_on_card"),
        ("1: 8S | 2: TH", "1 2", "illegal: not_on_card"),
        ("1: JS | 2: TH", "1 2", "illegal: not_on_card"),
        ("1: TS | 2: TH", "1 2", "illegal: not_on_card"),
        ("1: KS | 2: AH", "1 2", "illegal: not_on_card"),
        ("1: AS | 2: KH", "1 2", "illegal: not_on_card"),
    ],
    "Only a King can be moved to an empty tableau pile": [
        ("1: 5C KH", "1 2", "1: 5C | 2: KH"),
        ("1: 5C QH", "1 2", "illegal: not_on_empty"),
        ("1: 5C AS", "1 2", "illegal: not_on_empty"),
        ("w: 5C KD", "w 3", "3: KD | w: 5C"),
        ("w: 5C QD", "w 3", "illegal: not_on_empty"),
    ],
    "R15 only a King, alone or leading its run, goes to an empty column (valid descending sequence starting with a King)": [
        ("1: 5C KH QS JD", "1 2 x3", "1: 5C | 2: KH QS JD"),
        ("1: 5C KH QS JD", "1 2 x2", "illegal: not_on_empty"),
        ("1: 5C KH QS JD", "1 2", "illegal: not_on_empty"),
    ],
    "R15 A group is a run down in alternating colours; sequences can be moved together as a group": [
        ("1: 2C 9S 8D 7C | 2: TH", "1 2 x3", "1: 2C | 2: TH 9S 8D 7C"),
        ("1: 2C 9S 8D 7C | 2: 9C", "1 2 x2", "1: 2C 9S | 2: 9C 8D 7C"),
        ("1: 9S 8C | 2: TH", "1 2 x2", "illegal: not_a_group"),
        ("1: 9S 7D | 2: TH", "1 2 x2", "illegal: not_a_group"),
        ("1: 9S TD | 2: TH", "1 2 x2", "illegal: not_a_group"),
        ("1: 9S 8D 7D | 2: TH", "1 2 x3", "illegal: not_a_group"),
    ],
    "R3 Its deepest card must fit the destination": [
        ("1: 9S 8D 7C | 2: 8H", "1 2 x3", "illegal: not_on_card"),
        ("1: 9S 8D 7C | 2: 8H", "1 2", "1: 9S 8D | 2: 8H 7C"),
    ],
    "R3 A group is some number of cards from the top of a column, all face up": [
        ("1: [9S] 8D 7C | 2: TH", "1 2 x3", "illegal: face_down"),
        ("1: 2C [9S] 8D | 2: TH", "1 2 x3", "illegal: face_down"),
        ("1: 2C (9S) 8D | 2: TH", "1 2 x2", "illegal: face_down"),
        ("1: 9S | 2: TH", "1 2 x2", "illegal: too_few_cards"),
        ("1: 9S 8D | 2: TH", "1 2 x7", "illegal: too_few_cards"),
        ("2: TH", "1 2", "illegal: empty_source"),
        ("2: TH", "2 2", "illegal: same_pile"),
    ],
    "R4 A face-down card that becomes the top of its column is turned up at once": [
        ("1: [2C] 4D [KS] 9S | 2: TH", "1 2", "1: [2C] 4D KS | 2: TH 9S"),
        ("1: [2C] 4D [KS] AS", "1 0", "1: [2C] 4D KS | 01: AS"),
        ("1: [2C] 4D (KS) AS", "1 0", "1: [2C] 4D KS | 01: AS"),
        ("1: [2C] 4D 9S 8D | 2: TH", "1 2 x2", "1: [2C] 4D | 2: TH 9S 8D"),
        ("1: [2C] KD", "1 2", "1: 2C | 2: KD"),
    ],
    "R13 A draw turns three cards onto the waste one by one, so the third is on top": [
        ("stock: [...] [4H] [3C] [2H] [AH]", "draw", "stock: [...] [4H] | w: AH 2H 3C"),
        ("stock: [...] [4H] [3H] [2H] [AH] | w: KC", "draw", "stock: [...] [4H] | w: KC AH-3H"),
        ("stock: [...] (3H) [2H] [AH] | w: KC", "draw", "stock: [...] | w: KC AH-3H"),
    ],
    "R13 when fewer are left, all of them": [
        ("stock: [2H] [AH] | 7: [...] KC", "draw", "stock: | w: AH 2H"),
        ("stock: [AH] | 7: [...] KC | w: 3C", "draw", "stock: | w: 3C AH"),
        ("stock: [3H] [2H] [AH] | 7: [...] KC", "draw", "stock: | w: AH-3H"),
    ],
    "R14 With the stock empty and the waste not, the draw is a redeal: the waste is turned over as it is, unshuffled, and "
    "nothing is drawn yet": [
        ("7: [...] KC | w: AH 2H 9C", "draw", "stock: (9C) (2H) (AH) | w:"),
        ("7: [...] KC | w: AH", "draw", "stock: (AH) | w:"),
    ],
    "R14 Redeals are unlimited: there is no limit to the number of passes through the stock": [
        ("7: [...] KC | w: AH 2H 9C 7D", "draw, draw, draw, draw, draw, draw, draw, draw", "stock: (7D) | w: AH 2H 9C"),
        ("7: [...] KC | w: AH 2H 9C 7D", ", ".join(["draw"] * 300), ""),
    ],
    "R14 With both empty there is no draw": [("7: [...] KC", "draw", "illegal: stock_empty")],
    "Only the top card of the waste is available for play": [
        ("1: TH | w: 2C 9S", "w 1", "1: TH 9S | w: 2C"),
        ("1: TH | w: 9S 2C", "w 1", "illegal: not_on_card"),
        ("1: TH | w: 9S 8D", "w 1 x2", "illegal: not_a_group"),
        ("w: 2C AS", "w 0", "01: AS | w: 2C"),
        ("w: AS 2C", "w 0", "illegal: not_on_empty"),
        ("1: TH", "w 1", "illegal: empty_source"),
    ],
    "Cards and valid sequences from the tableau or the top card of the waste may be moved to another tableau pile, the "
    "foundations, or empty tableau spaces (if the card is a King)": [
        ("1: 9S | w: TH", "1 w", "illegal: not_a_target"),
        ("1: 9S | w: KH", "w 2, 1 3", "illegal: not_on_empty"),
        ("1: 2S | w: AS | 01: AH", "w 0, 1 0", "1: | 02: AS 2S | w:"),
    ],
    "Move the top card of the waste to the tableau or foundations, if legal": [
        ("1: TH | 01: AS-8S | w: 9S", "w 1", "1: TH 9S | w:"),
        ("1: TH | 01: AS-8S | w: 9S", "w 0", "01: AS-9S | w:"),
    ],
    "Card Accessibility: Only the top card of the waste and the exposed face-up cards in the tableau are available": [
        ("1: TH | stock: [...] [9S]", "stock 1", "malformed")
    ],
    "There is no deal of a row": [("1: TH", "deal", "illegal: no_such_action")],
    "It has no other piles": [("1: TH", "1 q", "illegal: unknown_pile"), ("1: TH", "8 1", "illegal: unknown_pile")],
    "Waste: Cards from the stock are dealt face up; when the stock is tapped, three cards are dealt face up": [
        ("stock: [...] [3C] [2H] [9S] | 1: TH", "draw, w 1", "illegal: not_on_card"),
        ("stock: [...] [9S] [2H] [3C] | 1: TH", "draw, w 1", "1: TH 9S | stock: [...] | w: 3C 2H"),
    ],
    "Draw three cards from the stock to the waste when no other moves are available or desired": [
        ("stock: [...] [3C] [2H] [9S] | 1: AS", "draw", "stock: [...] | w: 9S 2H 3C")
    ],
    "The player may redeal the stock as often as needed; the waste can be redealt to the stock": [
        ("7: [...] KC | w: AH 2H 9C", "draw, draw, draw, draw", "")
    ],
    "Cards must follow the building rules for their destination (ascending by suit for foundations)": [
        ("1: 2S | 2: 3H | 01: AS", "1 2", "1: | 2: 3H 2S"),
        ("1: 2S | 2: 3H | 01: AS", "1 0", "1: | 01: AS 2S"),
        ("1: 2S | 2: 3S | 01: AS", "1 2", "illegal: not_on_card"),
    ],
    "Initial Deal: what lies face down is turned up only when it is bared": [
        ("1: [AC] 8C [2D] 9D | 2: TC", "1 2", "1: [AC] 8C 2D | 2: TC 9D"),
        ("1: [AC] 8C [2D] 9D | 2: TC | 3: 3S", "1 2, 1 3", "1: [AC] 8C | 2: TC 9D | 3: 3S 2D"),
        (
            "1: [AC] 8C [2D] 9D | 2: TC | 3: 3S | 4: 9H",
            "1 2, 1 3, 1 4, 1 0",
            "1: | 2: TC 9D | 3: 3S 2D | 4: 9H 8C | 01: AC",
        ),
    ],
}

LEGAL = {
    "On each turn, the player may move within the tableau, to the foundations, a King to an empty pile, from the waste, "
    "or draw": [
        (
            "1: [2C] 9S 8D | 2: TH | 3: [4C] KD QC | 4: 9C | 5: AS | 6: 9H | w: 8H",
            "5 0, 1 4, 1 2 x2, 3 7 x2, 4 2, w 4, draw",
        )
    ],
    "If no legal moves remain in the tableau or waste, the player must draw from the stock": [
        ("1: 5C | 2: 5S | 3: 5H | 4: 5D | 5: 3S | 6: 3C | 7: 3D", "draw"),
        ("1: 5C | 2: 5S | 3: 5H | 4: 5D | 5: 3S | 6: 3C | 7: [...] 3D | w: 7H", "draw"),
    ],
    "R14 no draw, no move": [("1: 5C | 2: 5S | 3: 5H | 4: 5D | 5: 3S | 6: 3C | 7: [...] 3D", "")],
}

BLOCKED = "1: 5C | 2: 5S | 3: 5H | 4: 5D | 5: 3S | 6: 3C | 7: [...] 3D"

STATES = {
    "The game is won when all cards are moved to the four foundation piles, each built up by suit from Ace to King": [
        ("01: AS-KS | 02: AH-KH | 03: AD-KD | 04: AC-KC", "won"),
        ("01: AS-KS | 02: AH-KH | 03: AD-KD | 04: AC-QC | 1: KC", "open"),
    ],
    "The game is lost or unwinnable if no legal moves remain and the stock has been exhausted with no further possible "
    "redeals": [(BLOCKED, "over"), (f"{BLOCKED} | w: 9H", "stuck"), (f"{BLOCKED} | w: 4H", "open")],
    "R7 stuck when no card that drawing from here on would bring to the top of the waste could be played anywhere": [
        (f"{BLOCKED} | stock: (KH) (8H) (9C)", "stuck"),
        (f"{BLOCKED} | stock: (AH) (8H) (9C)", "open"),  # the third card is the first to come to the top
        (f"{BLOCKED} | stock: (KH) (AH) (9C)", "stuck"),  # the second never does
        (f"{BLOCKED} | stock: (KH) (8H) (AH)", "stuck"),
        (f"{BLOCKED} | stock: (AH) (KH) (8H) (9C)", "open"),  # the ace alone is left for the second draw
        (f"{BLOCKED} | w: 7D | stock: (AH) (8H)", "open"),  # last of the pass
        (f"{BLOCKED} | w: 7D | stock: (8H) (AH)", "stuck"),
        (f"{BLOCKED} | w: 7D | stock: (8H) (AH) (KH) (JS)", "open"),  # third of the pass after the redeal: 7D JS KH
        (f"{BLOCKED} | w: 7D QD 4C | stock: (8H)", "open"),
        (f"{BLOCKED} | w: 4C 7D QD", "stuck"),
        (f"{BLOCKED} | w: 7D 4C QD", "stuck"),
        (f"{BLOCKED} | w: 7D 9C 4C QD", "open"),
    ],
    "R7 a card never seen may help": [
        (f"{BLOCKED} | stock: [KH] (8H) (9C)", "open"),
        (f"{BLOCKED} | stock: (KH) [8H] [9C]", "stuck"),  # neither comes to the top
    ],
    "R7 nothing but null moves, and drawing or redealing remain": [
        ("1: KC | 2: 5S | 3: 5H | 4: 5D | 5: 3S | 6: [...] 3C | stock: (QS) (8H) (9C)", "stuck"),
        ("1: KC | 2: 5S | 3: 5H | 4: 5D | 5: 3S | 6: [...] 3C | stock: (KH) (8H) (9C)", "open"),
        ("1: KC | 2: 5S | 3: 5H | 4: 5D | 5: 3S | 6: [...] 3C | stock: (QH) (8H) (9C)", "open"),
        ("1: 2C KC | 2: 5S | 3: 5H | 4: 5D | 5: 3S | 6: [...] 3C | stock: (QS) (8H) (9C)", "open"),
        ("1: KC | 2: 5S | 3: 5H | 4: 5D | 5: 3S | 6: [...] 3C", "stuck"),  # the null move remains: not over
    ],
}
