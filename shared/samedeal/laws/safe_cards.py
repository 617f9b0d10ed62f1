"""The law of safe cards: those that can go to a foundation, and a board that can be won can still be won.

A card of rank r that fits on its foundation is *safe* if the foundations of its own suit have reached r-1 (there are
several with two decks), and those of the other suits have come close: ``REACH`` says how close. A foundation *has reached* a
rank if its top card has that rank or a higher one.

*Proof.* Let A be a board that can be won, and B the board after the safe card c went to its foundation. B can be won too:
follow the moves that win A, and keep B equal to A, except that a set X of cards is already on the foundations in B. X starts
as {c}. This invariant holds: every card of X is safe under the tops of B, whether it is already home or not, and on a card
of X in a column of A lie only cards of X, and cards that were dealt there from the stock and are in no run with it. Tops go
down only in case 7, so a safe card stays safe. Consider the next move in A:

1. The deepest card that it takes is in X. Then all cards that it takes are in X, and B has nothing to do.
2. It takes a group whose deepest cards are not in X. Those cards are at the top of the same pile in B, and still in a
   row, so B moves them without the others. If the target is empty in A, it is empty in B.
3. The target in A is a card x of X in a column, of rank r. The deepest card d of the group has rank r-1. If ``REACH`` is at
   most 1 for its suit, or it has the suit of x, then it is home in B, so it is in X, and so are the cards on it. Otherwise
   groups are runs, and the foundations of d have reached r-2. The card e on d, of rank r-2, has a suit whose foundations
   have reached r-3, or r-2 and e is in X. The cards after e are in X, because all foundations have reached r-3. So B plays
   e and d to foundations, unless they are in X, and both join X. They are safe.
4. It plays a card that is not in X to a foundation. The card fits in B too: no top of B is below that of A, and if its twin
   of another deck is in X, all foundations of the suit have reached the rank below.
5. It draws, or turns the waste over. No card of X is in the stock or the waste, or cards are drawn one by one. Then B does
   the same, and leaves out the cards of X. It deals a row. Then B does the same, and if a dealt card is in a run with a card
   of X below it, B plays it to its foundation as in case 3.
6. It puts a card d on a fan. If the card under it in A is not in X, B does the same. A card x of X can get into a fan in two
   ways. Either it was put there later, on a card of its rank: then d has that rank too, and B puts d on the first card below
   that is not in X. Or it was in the fan when it joined X: then all foundations have reached its rank minus one. So d, of
   the same rank, fits on its foundation. B plays it there, and d joins X.
7. It takes a card y off a foundation. If y is safe in B, it joins X, and B has nothing to do. Otherwise no card of X lies on
   y in B, because y would be safe too, and the target is not a card of X, because the cards that fit on a safe card are
   safe. So B does the same. A card of X stays safe: if its bounds required y on the foundation, then y would be safe.
8. It puts a card into a cell. B does the same. Whenever cells and empty columns limit a move in A, B has at least as many of
   them, and moves no more cards.

Cards that B uncovers earlier than A are turned up earlier, which forbids nothing. When A is won, so is B.

If groups need no order, a card of X must never be covered. So nothing is safe before the stock is dealt out, nor if
foundations give cards back. If all cards go to one foundation, another card of the rank could go there instead. So only the
first card is safe, and those of the last round, in which nothing that fits on them is left.

On every board, whatever the rules are, all cards that fit are safe if playing them, one after another, wins.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from samedeal.board import Board
from samedeal.game import Game
from samedeal.moves import FOUNDATION, Move
from samedeal.policies import ON, Build

_NEVER: Final = 13

REACH: Final[dict[tuple[Build, bool], tuple[int, int]]] = {
    (Build.DOWN_ALTERNATING, False): (2, 3),
    (Build.DOWN_ALTERNATING, True): (1, _NEVER),
    (Build.DOWN_ANY_SUIT, False): (2, 2),
    (Build.DOWN_ANY_SUIT, True): (1, 1),
    (Build.DOWN_SAME_SUIT, False): (_NEVER, _NEVER),
    (Build.DOWN_SAME_SUIT, True): (_NEVER, _NEVER),
}
"""How far the other foundations may be behind a safe card, in ranks: those of the other colour, and those of its own.

The keys are how columns build, and whether any cards can be moved together.
"""

_REACH_FROM_FAN: Final = (1, 1)

_LAST_ROUND: Final = 39
"""Number of cards on the only foundation of a game before the last round."""


def reach_of(game: Game) -> tuple[int, int] | None:
    """Return the row of ``REACH`` for a game. Return None if the law calls no card of the game safe."""
    columns, foundations, stock = game.piles[game.columns.start], game.piles[game.foundations.start], game.stock
    is_covered = stock.to_columns and not columns.lifts_any
    if (
        foundations.takes > 1
        or (foundations.gives and columns.lifts_any)
        or (not foundations.follows_suit and (foundations.gives or game.decks > 1))
        or any(game.piles[at].build not in (Build.NONE, Build.SAME_RANK) for at in game.fans)
        or (is_covered and columns.run not in (columns.on, ON[Build.DOWN_SAME_SUIT]))
        or not stock.fills_columns
    ):
        return None
    reach = REACH.get((columns.build, columns.lifts_any))
    return reach if foundations.follows_suit else reach and (_NEVER, _NEVER)


def joins_runs(game: Game) -> bool:
    """Return whether a card in a cell can go at once onto the card of a column that takes it, without losing a win.

    If so, runs need to go to cells only as a whole.

    *Proof.* Each card is there once, and only the next lower one of its suit goes onto it. Let A be a board that can be won,
    and B the same board, except that some cards that A has in cells lie in B on the cards that take them, perhaps several
    on one another. B has a free cell more for each of them. Follow the moves that win A. If A puts a card on its run, B has
    nothing to do. If A moves the card below, alone or in a group, to a column, B moves the group with the cards that
    lie on it, for which it has the free cells. If A moves it to a cell, B has nothing to do if the card lies on a run
    itself. Otherwise it moves the whole run to cells, of which A takes as many. If A takes a card from a cell to a
    foundation, no card lies on it in B. Nothing else fits on a card that is covered in B alone.
    """
    columns, foundations = game.piles[game.columns.start], game.piles[game.foundations.start]
    return (
        columns.build is Build.DOWN_SAME_SUIT
        and columns.run is columns.on
        and foundations.build is Build.UP_SAME_SUIT
        and not foundations.gives
        and len(set(game.deck)) == game.cards
        and bool(game.cells)
        and not (game.fans or game.stock.action)
    )


def deals_first(game: Game) -> bool:
    """Return whether dealing cards from the stock is better than any other move.

    It is better in a game in which cards can be lifted whatever their order. There a dealt row blocks nothing, and
    knowing more cards is worth more than any move: of 200 deals of Ace of Hearts, dealing first won 193, and making
    progress first won 72.
    """
    return game.stock.to_columns and game.piles[game.columns.start].lifts_any


def safe_cards(game: Game, tops: Iterable[int]) -> tuple[bytes, bytes]:
    """Return the cards that are safe, and those that are safe even from a fan. ``tops`` has those of the foundations.

    The top of an empty foundation is 0. Foundations must build in suits, and ``reach_of`` must know the game.
    """
    ranks: list[list[int]] = [[], [], [], []]
    for top in filter(None, tops):
        ranks[top >> 4].append(top & 15)
    copies, suits = len(game.foundations) // game.file.suits, {card >> 4 for card in game.deck}
    heights = [13 if at not in suits else min(each) if len(each) == copies else 0 for at, each in enumerate(ranks)]

    def cards(reach: tuple[int, int] | None) -> Iterator[int]:
        other_colour, same_colour = reach or (0, 0)
        for suit, height in enumerate(heights):
            others = heights[1:3] if suit in (0, 3) else heights[::3]
            if height < 13 and min(others) > height - other_colour and heights[3 - suit] > height - same_colour:
                yield suit << 4 | height + 1

    return bytes(cards(reach_of(game))), bytes(cards(_REACH_FROM_FAN))


def safe_move(board: Board) -> Move | None:
    """Return the first safe move to a foundation of a masked board, or None if there is none."""
    return next((move for move in _homeward(board) if _is_safe(board, move) or _finishes(board)), None)


def homeward_move(board: Board) -> Move | None:
    """Return the first move to a foundation of a masked board, whether it is safe or not, or None if there is none."""
    return next(_homeward(board), None)


def _homeward(board: Board) -> Iterator[Move]:
    return (move for move in board.legal_moves() if move.target == FOUNDATION)


def _is_safe(board: Board, move: Move) -> bool:
    game = board.game
    foundations = [board.piles[at] for at in game.foundations]
    at = game.index[move.source]
    if reach_of(game) is None or (deals_first(game) and board.stock) or (at == game.waste_at and game.stock.drawn > 1):
        return False
    if not game.piles[game.foundations.start].follows_suit:
        return not 0 < len(foundations[0]) < _LAST_ROUND
    safe = safe_cards(game, (pile[-1] if pile else 0 for pile in foundations))
    return board.piles[at][-1] in safe[at in game.fans]


def _finishes(board: Board) -> bool:
    """Return whether playing all cards that fit, one after another, wins."""
    while not board.won:
        move = next(iter(board.legal_moves()), None)
        if move is None or move.target != FOUNDATION or board.turns_up(move):
            return False
        board = board.play(move).board
    return True
