"""A second, plain implementation of the five games, to compare the engine with.

It shares only the names of piles with the engine. A board is a dict of lists of words such as ``9H``, or ``(9H)`` for a
face-down card. It is slow, and gives the legal moves and their outcomes but no refusals.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise

Piles = dict[str, list[str]]

RANKS = "A23456789TJQK"
COLUMNS = {"athena": 7, "steve": 8, "phoenix": 6, "ace-of-hearts": 7, "willow": 7}
FOUNDATIONS = {"athena": 4, "steve": 8, "phoenix": 4, "ace-of-hearts": 1, "willow": 4}
SINGLES = {
    "athena": ["w"],
    "steve": [],
    "phoenix": list("qwertyuiasdfghjk"),
    "ace-of-hearts": [],
    "willow": list("qwer"),
}


def rank(card: str) -> int:
    return RANKS.index(card[0]) + 1


def red(card: str) -> bool:
    return card[1] in "DH"


def builds(game: str, card: str, under: str) -> bool:
    """Whether a card may be put on another in a column."""
    if rank(card) != rank(under) - 1:
        return False
    if game == "steve":
        return True
    if game == "ace-of-hearts":
        return card[1] == under[1]
    return red(card) != red(under)


def may_be_lifted(game: str, group: list[str]) -> bool:
    """Whether cards from the top of a column may be moved together."""
    if any(card.startswith("(") for card in group):
        return False
    if game == "ace-of-hearts":
        return True
    pairs = list(pairwise(group))
    if game == "steve":
        return all(rank(over) == rank(under) - 1 and over[1] == under[1] for under, over in pairs)
    return all(rank(over) == rank(under) - 1 and red(over) != red(under) for under, over in pairs)


def fills(game: str, card: str) -> bool:
    """Whether a card may be put into an empty column."""
    return game not in ("athena", "ace-of-hearts") or rank(card) == 13


def foundation_for(game: str, piles: Piles, card: str) -> str | None:
    """The foundation that a card goes to."""
    for key in [f"0{number}" for number in range(1, FOUNDATIONS[game] + 1)]:
        pile = piles[key]
        if game == "ace-of-hearts":
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


def single_moves(game: str, piles: Piles, source: str) -> Iterator[tuple[str, Piles]]:
    """The moves of the top card of a pile to a foundation or to a fan, each with its target."""
    if not piles[source]:
        return
    card = piles[source][-1]
    foundation = foundation_for(game, piles, card)
    if foundation:
        yield "0", moved(piles, source, foundation, 1)
    for fan in SINGLES["willow"] if game == "willow" else []:
        if fan != source and piles[fan] and rank(piles[fan][-1]) == rank(card):
            yield fan, moved(piles, source, fan, 1)


def moves(game: str, piles: Piles) -> Iterator[tuple[str, Piles]]:
    """Every legal move as text, with the board that it leads to."""
    columns = [str(number) for number in range(1, COLUMNS[game] + 1)]
    foundations = [f"0{number}" for number in range(1, FOUNDATIONS[game] + 1)]
    for source in columns + SINGLES[game]:
        for target, after in single_moves(game, piles, source):
            yield f"{source} {target}", after
    for source in columns + SINGLES[game] + (foundations if game == "steve" else []):
        most = len(piles[source]) if source in columns else min(1, len(piles[source]))
        groups = [piles[source][-size:] for size in range(1, most + 1)]
        for group in filter(partial(may_be_lifted, game), groups):
            many = f" x{len(group)}" if len(group) > 1 else ""
            for target in columns:
                fits = builds(game, group[0], piles[target][-1]) if piles[target] else fills(game, group[0])
                if fits and target != source:
                    yield f"{source} {target}{many}", moved(piles, source, target, len(group))
    if piles.get("stock") or (game == "athena" and piles["w"]):
        yield from_stock(game, piles)


def from_stock(game: str, piles: Piles) -> tuple[str, Piles]:
    """The draw, redeal or deal as text, with the board that it leads to."""
    after = {key: list(pile) for key, pile in piles.items()}
    stock = after["stock"]
    if game != "athena":
        for number in range(1, COLUMNS[game] + 1):
            if stock:
                after[str(number)].append(stock.pop().strip("()"))
        return "deal", after
    if stock:
        for _ in range(min(3, len(stock))):
            after["w"].append(stock.pop().strip("()"))
    else:
        while after["w"]:
            stock.append(f"({after['w'].pop()})")
    return "draw", after


def dealt(game: str, deck: list[str]) -> Piles:
    """The piles dealt from a deck, first card first."""
    cards = iter(deck)
    columns = [str(number) for number in range(1, COLUMNS[game] + 1)]
    piles: Piles = {key: [] for key in columns + [f"0{number}" for number in range(1, FOUNDATIONS[game] + 1)]}
    piles |= {key: [] for key in SINGLES[game]}
    if game == "athena":
        rows = [columns] * 4
    elif game == "phoenix":
        rows = [columns] * 6
    else:
        rows = [columns[row:] for row in range(len(columns))]
    for number, row in enumerate(rows):
        for key in row:
            card = next(cards)
            piles[key].append(f"({card})" if game == "athena" and number % 2 == 0 else card)
    if game == "willow":
        for _ in range(6):
            for key in SINGLES["willow"]:
                piles[key].append(next(cards))
    if game == "phoenix":
        for key in SINGLES["phoenix"]:
            piles[key].append(next(cards))
    if game in ("athena", "steve", "ace-of-hearts"):
        piles["stock"] = [f"({card})" for card in cards][::-1]
    return piles


def count_sequences(game: str, piles: Piles, depth: int) -> int:
    """The number of move sequences of a length."""
    if depth == 0:
        return 1
    return sum(count_sequences(game, after, depth - 1) for _, after in moves(game, piles))
