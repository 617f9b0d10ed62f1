"""Boards near the end of a game, and an exhaustive search of them by the rules alone."""

from __future__ import annotations

import random

from hypothesis import strategies as st

from samedeal.board import Board
from samedeal.cards import ACE_OF_HEARTS, DECK, DOWN
from samedeal.game import Game
from samedeal.policies import Faces


def exhaustive_search(board: Board, most: int) -> bool | None:
    """Whether any sequence of legal moves wins. None if more than ``most`` boards can be reached."""
    reached = [board]
    known = {board.piles}
    while reached:
        now = reached.pop()
        if now.won:
            return True
        for move in reversed(now.legal_moves()):
            after = now.play(move).board
            if after.piles not in known:
                known.add(after.piles)
                reached.append(after)
        if len(known) > most:
            return None
    return False


def _foundations(game: Game, left: int, chance: random.Random) -> tuple[list[bytes], list[int]]:
    """Foundations that lack ``left`` cards, and the cards that they lack: whole suits if foundations take only these."""
    group = game.piles[game.foundations.start]
    if not group.follows_suit:
        order = [card for round_ in _shuffled_rounds(chance) for card in round_]
        return [bytes(order[: 52 - left])], order[52 - left :]
    heights = [[ace >> 4, 13] for ace in game.deck[::13]]
    for _ in range(0, left, group.takes):
        chance.choice([height for height in heights if height[1]])[1] -= group.takes
    whole = [DECK[13 * suit : 13 * suit + 13][:: 1 if group.takes == 1 else -1] for suit, _ in heights]
    piles = [cards[:height] for cards, (_, height) in zip(whole, heights, strict=True)]
    return piles, [card for cards, (_, height) in zip(whole, heights, strict=True) for card in cards[height:]]


def _shuffled_rounds(chance: random.Random) -> list[list[int]]:
    """The cards in an order in which one foundation can take them: four rounds from an ace to a king."""
    ranks = []
    for rank in range(1, 14):
        suits = [card for card in DECK if card & 15 == rank]
        chance.shuffle(suits)
        if rank == 1:
            suits.sort(key=lambda card: card != ACE_OF_HEARTS)
        ranks.append(suits)
    return [list(cards) for cards in zip(*ranks, strict=True)]


def late_board(game: Game, left: int, seed: int) -> Board:
    """A board with ``left`` cards that are not on foundations. Low cards tend to lie deep, which makes the board hard."""
    chance = random.Random(f"{game.name} {left} {seed}")
    foundations, cards = _foundations(game, left, chance)
    noise = chance.choice((3, 6, 20))
    cards.sort(key=lambda card: (card & 15) + noise * chance.random())
    piles = [bytearray() for _ in game.piles]
    for at, pile in zip(game.foundations, foundations, strict=True):
        piles[at][:] = pile
    in_columns = chance.choice((0, len(game.columns), left))
    others = [at for at in (*game.fans, *game.singles, game.stock_at, game.waste_at) if at >= 0]
    for number, card in enumerate(cards):
        free = [at for at in others if at not in game.singles or not piles[at]]
        if number < in_columns or not free or chance.random() < 0.5:
            at = number % len(game.columns) if chance.random() < 0.8 else chance.choice(game.columns)
        else:
            at = chance.choice(free)
        piles[at].append(card | DOWN if at == game.stock_at else card)
    if game.piles[game.columns.start].faces is not Faces.UP:
        for at in game.columns:
            for depth in range(len(piles[at]) - 1):
                piles[at][depth] |= DOWN * chance.randrange(2)
    return Board(game, tuple(bytes(pile) for pile in piles)).check()


def late_boards(game: Game, most: int) -> st.SearchStrategy[Board]:
    """Boards with at most ``most`` cards that are not on foundations."""
    return st.builds(late_board, st.just(game), st.integers(1, most), st.integers(0, 2**20))
