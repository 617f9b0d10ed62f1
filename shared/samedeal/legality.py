"""The rules of moves: which moves a game allows on a board.

``find_target`` checks one move, and gives the reason if the move is illegal. ``legal_moves`` yields all legal moves. It
starts from the cards that each pile accepts, which is faster than checking every conceivable move.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from samedeal.cards import DOWN, FACE, UNSEEN
from samedeal.errors import RuleReason
from samedeal.game import Group
from samedeal.moves import FOUNDATION, Move
from samedeal.policies import Base, Kind
from samedeal.position import Position

_FOUNDATION_KIND: Final = Kind.FOUNDATION
"""A constant, because Python looks up a member of an enum seven times more slowly."""


def find_target(board: Position, move: Move) -> int | RuleReason:
    """Return the position of the pile to which a move between piles goes. If the move is illegal, return the reason."""
    game = board.game
    source_key, target_key, size = move
    source = game.index.get(source_key, -1)
    to_foundation = target_key == FOUNDATION
    target = game.foundations.start if to_foundation else game.index.get(target_key, -1)
    if source < 0 or target < 0:
        return RuleReason.UNKNOWN_PILE
    if source == target and not to_foundation:
        return RuleReason.SAME_PILE
    giver, cards = game.piles[source], board.piles[source]
    if reason := _source_reason(giver, cards, size):
        return reason
    if to_foundation:
        return _find_foundation(board, giver, cards[-size], size)
    taker, pile = game.piles[target], board.piles[target]
    if target not in game.columns and (reason := _target_reason(giver, taker, size)):
        return reason
    if size > 1 and giver.needs_places and size > most_together(board, to_empty=not pile):
        return RuleReason.TOO_MANY_CARDS
    if cards[-size] in (taker.on[pile[-1]] if pile else taker.on_empty):
        return target
    return RuleReason.NOT_ON_CARD if pile else RuleReason.NOT_ON_EMPTY


def _source_reason(giver: Group, cards: bytes, size: int) -> RuleReason | None:
    """Return the reason why ``size`` top cards of a pile can't be taken together. Return None if they can."""
    if not giver.gives:
        return RuleReason.NOT_A_SOURCE
    if not cards:
        return RuleReason.EMPTY_SOURCE
    if not 1 <= size <= len(cards):
        return RuleReason.TOO_FEW_CARDS if size > 0 else RuleReason.NO_CARDS
    if cards[-1] >= DOWN:
        return RuleReason.FACE_DOWN
    if size > 1:
        run = giver.run
        for under, over in pairwise(cards[-size:]):
            if over not in run[under]:
                return RuleReason.FACE_DOWN if max(cards[-size:]) >= DOWN else RuleReason.NOT_A_GROUP
    return None


def _find_foundation(board: Position, giver: Group, card: int, size: int) -> int | RuleReason:
    """Return the position of the first foundation that accepts a card (RULES.md, rulings R19, R24).

    If no foundation accepts the card, return the reason.
    """
    if giver.kind is _FOUNDATION_KIND:
        return RuleReason.BETWEEN_FOUNDATIONS
    game, piles = board.game, board.piles
    group = game.piles[game.foundations.start]
    if size != group.takes:
        return RuleReason.ONE_AT_A_TIME if group.takes == 1 else RuleReason.NOT_COMPLETE
    for at in game.foundations:
        pile = piles[at]
        if card in (group.on[pile[-1]] if pile else group.on_empty):
            return at
    return RuleReason.NOT_ON_CARD if foundation_tops(board, card) else RuleReason.NOT_ON_EMPTY


def _target_reason(giver: Group, taker: Group, size: int) -> RuleReason | None:
    """Return the reason why ``size`` cards can't move from ``giver`` to ``taker``, whatever their ranks and suits are.

    Return None if there is no such reason. ``taker`` must not be the group of the columns.
    """
    from_foundation = giver.kind is Kind.FOUNDATION
    if taker.kind is Kind.FOUNDATION:
        return RuleReason.BETWEEN_FOUNDATIONS if from_foundation else RuleReason.NAMED_FOUNDATION
    if taker.kind not in (Kind.FAN, Kind.CELL) or from_foundation:
        return RuleReason.NOT_A_TARGET
    return RuleReason.ONE_AT_A_TIME if size > 1 else None


def most_together(board: Position, *, to_empty: bool) -> int:
    """Return the number of cards that free cells and empty columns let a player move together (RULES.md, ruling R39).

    ``to_empty`` says whether the target is an empty column, which then is no place to put cards for a while.
    """
    game, piles = board.game, board.piles
    free = sum(not piles[at] for at in game.cells)
    columns = game.columns
    if game.piles[columns.start].base is not Base.ANY:
        return free + 1
    return (free + 1) << (sum(not piles[at] for at in columns) - to_empty)


def foundation_tops(board: Position, card: int) -> tuple[int, ...]:
    """Return the top cards of the foundations. If foundations build in suit, return only those of the card's suit."""
    game, piles = board.game, board.piles
    tops = dict.fromkeys(piles[at][-1] for at in game.foundations if piles[at])
    if game.piles[game.foundations.start].follows_suit:
        return tuple(top for top in tops if top >> 4 == card >> 4)
    return tuple(tops)


def stock_action(board: Position) -> Move | None:
    """Return the draw, redeal or deal that is legal on a board, or None."""
    action = board.game.stock.action
    return action if action and not stock_reason(board, action) else None


def stock_reason(board: Position, move: Move) -> RuleReason | None:
    """Return the reason why a draw or a deal is illegal. Return None if it is legal."""
    policy = board.game.stock
    if move != policy.action:
        return RuleReason.NO_SUCH_ACTION
    if not board.stock and not (policy.redeals and board.waste):
        return RuleReason.STOCK_EMPTY
    if not policy.fills_columns and not all(board.piles[at] for at in board.game.columns):
        return RuleReason.EMPTY_COLUMN
    return None


def is_legal(board: Position, move: Move | str) -> bool:
    """Return whether the rules allow a move."""
    if isinstance(move, str):
        move = Move.parse(move)
    if move.is_transfer:
        return isinstance(find_target(board, move), int)
    return stock_reason(board, move) is None


def is_null(board: Position, move: Move) -> bool:
    """Return whether a move only changes the place of a whole column or of the card of a cell (RULES.md, ruling R6)."""
    game = board.game
    source, target = game.index.get(move.source, -1), game.index.get(move.target)
    if target is None or board.piles[target]:
        return False
    places = game.columns if source in game.columns else game.cells
    return source in places and target in places and move.size == len(board.piles[source])


def is_worry_back(board: Position, move: Move | str) -> bool:
    """Return whether a move takes a card off a foundation (RULES.md, ruling R20)."""
    if isinstance(move, str):
        move = Move.parse(move)
    return board.game.index.get(move.source, -1) in board.game.foundations


def is_stuck(board: Position) -> bool:
    """Return whether no legal move helps, judged only by the cards that the player has seen (RULES.md, ruling R7).

    A won board is not stuck. Drawing a card that was never seen counts as helpful, whatever its face. A board and its
    masked copy therefore give the same answer.
    """
    if board.won:
        return False
    game, piles = board.game, board.piles
    takes_back = game.piles[game.foundations.start].gives
    for move in legal_moves(board):
        if not move.target:
            if game.stock.to_columns:
                return False
        elif move.target == FOUNDATION or not (is_null(board, move) or (takes_back and is_worry_back(board, move))):
            return False
    if not game.stock.to_waste:
        return True
    takers = [*game.columns, *game.cells]
    if game.piles[game.foundations.start].takes == 1:
        takers += game.foundations
    playable: set[int] = set()
    for at in takers:
        group, pile = game.piles[at], piles[at]
        playable.update(group.on[pile[-1]] if pile else group.on_empty)
    tops = game.stock.waste_tops(board.stock, board.waste)
    return not any(card >= UNSEEN or card & FACE in playable for card in tops)


def legal_moves(board: Position) -> Iterator[Move]:
    """Yield the legal moves, without duplicates. Moves to a foundation come first, and a draw or deal comes last."""
    game, piles = board.game, board.piles
    keys, groups = game.keys, game.piles
    sources = [at for at in game.sources if piles[at]]
    on_foundation, takes = _takers(board, game.foundations), groups[game.foundations.start].takes
    for at in sources:
        bottom = piles[at][-1] if takes == 1 else piles[at][-takes:][0]
        if bottom in on_foundation and groups[at].kind is not _FOUNDATION_KIND:
            move = Move(keys[at], FOUNDATION, takes)
            if takes == 1 or is_legal(board, move):
                yield move
    columns = game.columns
    column = groups[columns.start]
    on_column = _takers(board, columns)
    empty = [keys[at] for at in columns if not piles[at]]
    on_empty = column.on_empty
    none: list[str] = []
    on_fan = _takers(board, game.fans)
    free_cells = [keys[at] for at in game.cells if not piles[at]] if game.cells else none
    aside = on_fan or free_cells
    is_limited = column.needs_places
    most = most_together(board, to_empty=False) if is_limited else game.cards
    most_to_empty = most_together(board, to_empty=True) if is_limited and empty else most
    for at in sources:
        pile = piles[at]
        group = groups[at]
        key = keys[at]
        card = pile[-1]
        if aside and group.kind is not _FOUNDATION_KIND:
            for target in (*on_fan.get(card, none), *free_cells):
                if target != key:
                    yield Move(key, target, 1)
        run = group.run
        size = 1
        length = min(len(pile), most) if is_limited else len(pile)
        while True:
            targets = on_column.get(card, none)
            if empty and card in on_empty and size <= most_to_empty:
                targets = targets + empty
            for target in targets:
                if target != key:
                    yield Move(key, target, size)
            if size == length or card not in run[under := pile[-size - 1]]:
                break
            card = under
            size += 1
    if action := stock_action(board):
        yield action


def _takers(board: Position, places: range) -> dict[int, list[str]]:
    """Return for each card the names of the piles in ``places`` that accept it.

    Of the empty piles, only foundations are included.
    """
    game, piles = board.game, board.piles
    group = game.piles[places.start]
    on, keys = group.on, game.keys
    on_empty = group.on_empty if group.kind is _FOUNDATION_KIND else b""
    takers: dict[int, list[str]] = {}
    for at in places:
        pile = piles[at]
        for card in on[pile[-1]] if pile else on_empty:
            if card in takers:
                takers[card].append(keys[at])
            else:
                takers[card] = [keys[at]]
    return takers
