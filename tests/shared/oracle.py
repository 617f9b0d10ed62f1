"""A second, plain implementation of the games, to compare the rules with.

It shares only the names of piles with `samedeal`. A board is a dict of lists of words such as ``9H``, or ``(9H)`` for a
face-down card. It is slow, and gives the legal moves and their outcomes but no refusals.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import msgspec

Piles = dict[str, list[str]]

RANKS = "A23456789TJQK"


@dataclass(frozen=True)
class Rules:
    """How a game is played: unless it says otherwise, like Klondike without a stock, with all cards face up.

    ``sizes`` are those of the columns. ``down`` is the part of a column that is dealt face down (``is_down``).
    ``builds`` says how columns build (``follows``), and ``moves`` what moves together, if it is not what columns build:
    another such word, or "one" if every card moves alone. ``kings`` says whether only kings go to empty columns.
    ``singles`` are the piles from which only the top card moves, and ``single_sizes`` the cards that they get.
    ``takes_back`` says whether cards may leave foundations. ``whole`` says that those take whole suits, and ``aces`` that
    the aces lie there before the other cards are dealt.
    """

    sizes: tuple[int, ...]
    down: str = "none"
    builds: str = "colours"
    moves: str = ""
    kings: bool = False
    singles: str = ""
    single_sizes: tuple[int, ...] = ()
    cells: bool = False
    fans: bool = False
    foundations: int = 4
    takes_back: bool = False
    whole: bool = False
    aces: bool = False
    drawn: int = 0
    redeals: bool = True
    rows: bool = False
    suits: str = "CDHS"

    @property
    def columns(self) -> str:
        return "123456789tjqk"[: len(self.sizes)]

    @property
    def foundation_names(self) -> list[str]:
        return [f"0{number}" for number in range(1, self.foundations + 1)]


_FILE: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


def _rules(name: str) -> dict[str, Any]:
    given = dict(_FILE[name])
    like = given.pop("like", "")
    return (_rules(like) if like else {}) | given


RULES: Final = {name: msgspec.convert(_rules(name), Rules) for name in _FILE}
"""The rules of the games, from ``oracle.toml``."""


def rank(card: str) -> int:
    return RANKS.index(card[0]) + 1


def red(card: str) -> bool:
    return card[1] in "DH"


def follows(order: str, card: str, under: str) -> bool:
    """Whether a card continues an order on another one."""
    if order == "anything":
        return True
    fits = {"any": True, "suit": card[1] == under[1], "colours": red(card) != red(under)}
    return rank(card) == rank(under) - 1 and fits[order]


def may_be_lifted(rules: Rules, group: list[str]) -> bool:
    """Whether cards from the top of a column may be moved together."""
    if any(card.startswith("(") for card in group):
        return False
    return all(follows(rules.moves or rules.builds, over, under) for under, over in pairwise(group))


def room(rules: Rules, piles: Piles, target: str) -> int:
    """How many cards can go to a column together: with cells, as many as one by one over other free places."""
    if not rules.cells:
        return 104
    most = 1 + sum(not piles[cell] for cell in rules.singles)
    for column in rules.columns:
        if column != target and not piles[column] and not rules.kings:
            most *= 2
    return most


def foundation_for(rules: Rules, piles: Piles, group: list[str]) -> str | None:
    """The foundation that cards go to."""
    for key in rules.foundation_names:
        pile, card = piles[key], group[0]
        if rules.whole:
            takes = not pile and [rank(each) for each in group] == list(range(13, 0, -1))
        elif len(group) > 1:
            takes = False
        elif rules.foundations == 1:
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


def targets(rules: Rules, piles: Piles, source: str, group: list[str]) -> Iterator[tuple[str, str]]:
    """The piles that cards from the top of a pile may go to, each with its name in a move."""
    if source not in rules.foundation_names:
        if foundation := foundation_for(rules, piles, group):
            yield "0", foundation
        for key in rules.singles if len(group) == 1 else "":
            fan = rules.fans and piles[key] and rank(piles[key][-1]) == rank(group[0])
            if key != source and (fan or (rules.cells and not piles[key])):
                yield key, key
    for key in rules.columns:
        under = piles[key]
        fits = follows(rules.builds, group[0], under[-1]) if under else not rules.kings or rank(group[0]) == 13
        if fits and key != source and len(group) <= room(rules, piles, key):
            yield key, key


def moves(game: str, piles: Piles) -> Iterator[tuple[str, Piles]]:
    """Every legal move as text, with the board that it leads to."""
    rules = RULES[game]
    columns = rules.columns
    for source in [*columns, *rules.singles, *rules.foundation_names * rules.takes_back]:
        most = len(piles[source]) if source in columns and rules.moves != "one" else min(1, len(piles[source]))
        groups = [piles[source][-size:] for size in range(1, most + 1)]
        for group in filter(partial(may_be_lifted, rules), groups):
            many = f" x{len(group)}" if len(group) > 1 else ""
            for name, target in targets(rules, piles, source, group):
                yield f"{source} {name}{many}", moved(piles, source, target, len(group))
    if rules.whole and not all(piles[column] for column in columns):
        return
    if piles.get("stock") or (rules.drawn and rules.redeals and piles["w"]):
        yield from_stock(rules, piles)


def from_stock(rules: Rules, piles: Piles) -> tuple[str, Piles]:
    """The draw, redeal or deal as text, with the board that it leads to."""
    after = {key: list(pile) for key, pile in piles.items()}
    stock = after["stock"]
    if rules.rows:
        for column in rules.columns:
            if stock:
                after[column].append(stock.pop().strip("()"))
        return "deal", after
    if stock:
        for _ in range(min(rules.drawn, len(stock))):
            after["w"].append(stock.pop().strip("()"))
    else:
        while after["w"]:
            stock.append(f"({after['w'].pop()})")
    return "draw", after


def is_down(rules: Rules, depth: int, size: int) -> bool:
    """Whether a card of a column is dealt face down."""
    return {
        "none": False,
        "every other card": depth % 2 == 0,
        "all but the top card": depth + 1 < size,
        "all but five cards": depth + 5 < size,
    }[rules.down]


def dealt(game: str, deck: list[str]) -> Piles:
    """The piles dealt from a deck, first card first."""
    rules = RULES[game]
    piles: Piles = {key: [] for key in [*rules.columns, *rules.singles, *rules.foundation_names]}
    if rules.aces:
        aces = [card for card in deck if rank(card) == 1]
        piles.update((key, [card]) for key, card in zip(rules.foundation_names, aces, strict=True))
        deck = [card for card in deck if card not in aces]
    cards = iter([card[0] + rules.suits["CDHS".index(card[1])] for card in deck])
    for keys, sizes in ((rules.columns, rules.sizes), (rules.singles, rules.single_sizes)):
        for row in range(max(sizes, default=0)):
            for key, size in zip(keys, sizes, strict=True):
                if row < size:
                    card = next(cards)
                    down = key in rules.columns and is_down(rules, row, size)
                    piles[key].append(f"({card})" if down else card)
    if rules.drawn or rules.rows:
        piles["stock"] = [f"({card})" for card in cards][::-1]
    return piles
