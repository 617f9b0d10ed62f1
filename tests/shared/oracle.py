"""A second, plain implementation of the games, to compare the engine with.

It shares only the names of piles with the engine. A board is a dict of lists of words such as ``9H``, or ``(9H)`` for a
face-down card. It is slow, and gives the legal moves and their outcomes but no refusals.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise

Piles = dict[str, list[str]]

RANKS = "A23456789TJQK"
COLUMNS = {
    "athena": "1234567",
    "steve": "12345678",
    "phoenix": "123456",
    "ace-of-hearts": "1234567",
    "willow": "1234567",
    "klondike": "1234567",
    "freecell": "12345678",
    "spider": "123456789t",
    "yukon": "1234567",
}
FOUNDATIONS = {"steve": 8, "ace-of-hearts": 1, "spider": 8}
SINGLES = {"athena": "w", "phoenix": "qwertyuiasdfghjk", "willow": "qwer", "klondike": "w", "freecell": "qwer"}
DRAWN = {"athena": 3, "klondike": 1, "klondike-three": 3}
SUITS = {"spider-two": "SHHS", "spider-one": "SSSS"}
IN_ORDER = [1, 2, 3, 4, 5, 6, 7, 8]
SIZES = {
    "athena": [4] * 7,
    "steve": IN_ORDER,
    "phoenix": [6] * 6,
    "ace-of-hearts": IN_ORDER[:7],
    "willow": IN_ORDER[:7],
    "klondike": IN_ORDER[:7],
    "freecell": [7, 7, 7, 7, 6, 6, 6, 6],
    "spider": [6, 5, 5, 6, 5, 5, 6, 5, 5, 6],
    "yukon": [1, 6, 7, 8, 9, 10, 11],
}


def base(game: str) -> str:
    """The game whose rules a variant mostly has."""
    return {"klondike-three": "klondike", "spider-two": "spider", "spider-one": "spider"}.get(game, game)


def foundations(game: str) -> list[str]:
    return [f"0{number}" for number in range(1, FOUNDATIONS.get(base(game), 4) + 1)]


def rank(card: str) -> int:
    return RANKS.index(card[0]) + 1


def red(card: str) -> bool:
    return card[1] in "DH"


def builds(game: str, card: str, under: str) -> bool:
    """Whether a card may be put on another in a column."""
    if rank(card) != rank(under) - 1:
        return False
    if base(game) in ("steve", "spider"):
        return True
    if game == "ace-of-hearts":
        return card[1] == under[1]
    return red(card) != red(under)


def may_be_lifted(game: str, group: list[str]) -> bool:
    """Whether cards from the top of a column may be moved together."""
    if any(card.startswith("(") for card in group):
        return False
    if game in ("ace-of-hearts", "yukon"):
        return True
    pairs = list(pairwise(group))
    if base(game) in ("steve", "spider"):
        return all(rank(over) == rank(under) - 1 and over[1] == under[1] for under, over in pairs)
    return all(rank(over) == rank(under) - 1 and red(over) != red(under) for under, over in pairs)


def fills(game: str, card: str) -> bool:
    """Whether a card may be put into an empty column."""
    return base(game) not in ("athena", "ace-of-hearts", "klondike", "yukon") or rank(card) == 13


def room(game: str, piles: Piles, target: str) -> int:
    """How many cards can go to a column together: in FreeCell, as many as one by one over other free places."""
    if game != "freecell":
        return 104
    most = 1 + sum(not piles[cell] for cell in "qwer")
    for column in COLUMNS[game]:
        if column != target and not piles[column]:
            most *= 2
    return most


def foundation_for(game: str, piles: Piles, group: list[str]) -> str | None:
    """The foundation that cards go to."""
    for key in foundations(game):
        pile, card = piles[key], group[0]
        if base(game) == "spider":
            takes = not pile and [rank(each) for each in group] == list(range(13, 0, -1))
        elif len(group) > 1:
            takes = False
        elif game == "ace-of-hearts":
            takes = rank(card) == rank(pile[-1]) % 13 + 1 if pile else card == "AH"
        elif pile:
            takes = card[1] == pile[-1][1] and rank(card) == rank(pile[-1]) + 1
        else:
            takes = rank(card) == 1
        if takes:
            return key
    return None


def moved(piles: Piles, source: str, target: str, size: int) -> Piles:
    """The piles after some cards were moved and the card under them was turned up."""
    after = {key: list(pile) for key, pile in piles.items()}
    group = after[source][-size:]
    del after[source][-size:]
    after[target] += group
    if after[source]:
        after[source][-1] = after[source][-1].strip("()")
    return after


def targets(game: str, piles: Piles, source: str, group: list[str]) -> Iterator[tuple[str, str]]:
    """The piles that cards from the top of a pile may go to, each with its name in a move."""
    if source not in foundations(game):
        if foundation := foundation_for(game, piles, group):
            yield "0", foundation
        for key in SINGLES.get(game, "") if len(group) == 1 else "":
            fan = game == "willow" and piles[key] and rank(piles[key][-1]) == rank(group[0])
            if key != source and (fan or (game == "freecell" and not piles[key])):
                yield key, key
    for key in COLUMNS[base(game)]:
        fits = builds(game, group[0], piles[key][-1]) if piles[key] else fills(game, group[0])
        if fits and key != source and len(group) <= room(game, piles, key):
            yield key, key


def moves(game: str, piles: Piles) -> Iterator[tuple[str, Piles]]:
    """Every legal move as text, with the board that it leads to."""
    columns = COLUMNS[base(game)]
    gives = foundations(game) if game in ("steve", "klondike", "klondike-three") else []
    for source in [*columns, *SINGLES.get(base(game), ""), *gives]:
        most = len(piles[source]) if source in columns else min(1, len(piles[source]))
        groups = [piles[source][-size:] for size in range(1, most + 1)]
        for group in filter(partial(may_be_lifted, game), groups):
            many = f" x{len(group)}" if len(group) > 1 else ""
            for name, target in targets(game, piles, source, group):
                yield f"{source} {name}{many}", moved(piles, source, target, len(group))
    if base(game) == "spider" and not all(piles[column] for column in columns):
        return
    if piles.get("stock") or (game in DRAWN and piles["w"]):
        yield from_stock(game, piles)


def from_stock(game: str, piles: Piles) -> tuple[str, Piles]:
    """The draw, redeal or deal as text, with the board that it leads to."""
    after = {key: list(pile) for key, pile in piles.items()}
    stock = after["stock"]
    if game not in DRAWN:
        for column in COLUMNS[base(game)]:
            if stock:
                after[column].append(stock.pop().strip("()"))
        return "deal", after
    if stock:
        for _ in range(min(DRAWN[game], len(stock))):
            after["w"].append(stock.pop().strip("()"))
    else:
        while after["w"]:
            stock.append(f"({after['w'].pop()})")
    return "draw", after


def is_down(game: str, depth: int, size: int) -> bool:
    """Whether a card of a column is dealt face down."""
    if game == "athena":
        return depth % 2 == 0
    if base(game) in ("klondike", "spider"):
        return depth + 1 < size
    return game == "yukon" and depth + 5 < size


def dealt(game: str, deck: list[str]) -> Piles:
    """The piles dealt from a deck, first card first."""
    cards = iter([card[0] + SUITS.get(game, "CDHS")["CDHS".index(card[1])] for card in deck])
    sizes = dict(zip(COLUMNS[base(game)], SIZES[base(game)], strict=True))
    piles: Piles = {key: [] for key in [*sizes, *SINGLES.get(base(game), ""), *foundations(game)]}
    for row in range(max(sizes.values())):
        for key, size in sizes.items():
            if row < size:
                card = next(cards)
                piles[key].append(f"({card})" if is_down(game, row, size) else card)
    for key in SINGLES.get(game, "") * {"willow": 6, "phoenix": 1}.get(game, 0):
        piles[key].append(next(cards))
    if game in DRAWN or base(game) in ("steve", "ace-of-hearts", "spider"):
        piles["stock"] = [f"({card})" for card in cards][::-1]
    return piles


def count_sequences(game: str, piles: Piles, depth: int) -> int:
    """The number of move sequences of a length."""
    if depth == 0:
        return 1
    return sum(count_sequences(game, after, depth - 1) for _, after in moves(game, piles))
