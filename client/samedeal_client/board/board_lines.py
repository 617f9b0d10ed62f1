"""A board as lines of words, one for each pile, for the line client and screen readers."""

from __future__ import annotations

from itertools import groupby

from samedeal.board import Board
from samedeal.cards import DOWN, UNSEEN
from samedeal.policies import Base
from samedeal_client.board.foundation_order import foundations_shown
from samedeal_client.board.layout import WASTE_SHOWN
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import Row, Span, counted


def board_lines(board: Board, look: Look) -> tuple[Row, ...]:
    """Return one line each for foundations, stock, waste and reserve, and one for each column and fan."""
    game = board.game
    foundations: list[Row] = [
        (Span(f"{game.keys[at]} " if game.piles[at].gives else ""), look.span(board.piles[at][-1]))
        for at, _ in foundations_shown(board)
        if board.piles[at]
    ]
    lines = [_line("Foundations" if len(game.foundations) > 1 else "Foundation", foundations)]
    if game.stock_at >= 0:
        lines.append((Span(f"Stock: {_stock_text(board)}"),))
    if game.waste_at >= 0:
        waste = board.piles[game.waste_at]
        below = len(waste) - WASTE_SHOWN
        words: list[Row] = [(Span(f"{below} more below"),)] * (below > 0)
        words += [(look.span(card),) for card in waste[-WASTE_SHOWN:]]
        lines.append(_line(f"Waste {game.keys[game.waste_at]}", words))
    if game.singles:
        reserve: list[Row] = [
            (Span(f"{game.keys[at]} "), look.span(board.piles[at][-1])) for at in game.singles if board.piles[at]
        ]
        lines.append(_line("Cells" if game.cells else "Reserve", reserve))
    for at in (*game.columns, *game.fans):
        name = game.pile_name(game.keys[at]).capitalize()
        base = game.piles[at].base
        empty = "empty" if base is Base.NOTHING else f"empty, takes {base.removeprefix('only ')}"
        lines.append(_line(name, _cards(board.piles[at], look), empty))
    return tuple(lines)


def _line(name: str, words: list[Row], empty: str = "empty") -> Row:
    """Return a row with a pile's name and its cards, separated by commas. Without cards, the row says ``empty``."""
    spans = [Span(f"{name}: ")]
    for number, word in enumerate(words):
        spans += [Span(", "), *word] if number else word
    return tuple(spans) if words else (Span(f"{name}: {empty}"),)


def _cards(pile: bytes, look: Look) -> list[Row]:
    """Return the cards of a pile in words, from the deepest card to the top card.

    Adjacent unknown cards are only counted.
    """
    words: list[Row] = []
    for unseen, cards in groupby(pile, lambda card: card >= UNSEEN):
        group = list(cards)
        if unseen:
            words.append((Span(f"{len(group)} face down" if len(group) > 1 else "face down"),))
        else:
            words += [
                (Span(f"{look.card(card).strip('()')} face down"),) if card & DOWN else (look.span(card),)
                for card in group
            ]
    return words


def _stock_text(board: Board) -> str:
    policy = board.game.stock
    if policy.is_redeal(board.stock, board.waste):
        return f"empty, the next {policy.verb} turns the waste over"
    return counted(len(board.stock), "card")
