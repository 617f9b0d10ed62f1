"""The sentences that explain to a player why the rules forbid a move.

A sentence never names a card that lies face down. If a card to be moved lies face down, ``legality`` gives a reason
whose sentence names no cards.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from samedeal.cards import FACE, Card
from samedeal.errors import RuleReason
from samedeal.game import Group
from samedeal.legality import foundation_tops, most_together
from samedeal.moves import FOUNDATION, Move
from samedeal.policies import Build, Lift
from samedeal.position import Position

_MOST_NAMED = 6
"""Maximum number of cards that a sentence names."""


def refusal_sentence(board: Position, move: Move, reason: RuleReason) -> str:
    """Return a sentence that says what is wrong with an illegal move and which rule forbids it."""
    return _SENTENCES[reason](board, move)


def _cards(board: Position, move: Move) -> bytes:
    """Return the cards of the source pile."""
    return board.piles[board.game.index[move.source]]


def _card(board: Position, move: Move) -> Card:
    """Return the deepest of the cards to be moved."""
    return Card(_cards(board, move)[-move.size])


def _giver(board: Position, move: Move) -> Group:
    """Return the ``Group`` to which the source pile belongs."""
    game = board.game
    return game.piles[game.index[move.source]]


def _taker(board: Position, move: Move) -> Group:
    """Return the ``Group`` to which the target pile belongs."""
    game = board.game
    return game.piles[game.foundations.start if move.target == FOUNDATION else game.index[move.target]]


def _target_cards(board: Position, move: Move) -> bytes:
    """Return the cards of the target pile."""
    return board.piles[board.game.index[move.target]]


def _no_such_action(board: Position, move: Move) -> str:
    stock = board.game.stock
    instead = f"Use {stock.verb}: it {stock.effect}" if stock.action else "It has no stock"
    return f"You can't {move.source} in {board.game.title}. {instead}."


def _stock_empty(board: Position, _move: Move) -> str:
    stock = board.game.stock
    empty = "The stock and the waste are empty" if stock.redeals else "The stock is empty"
    return f"There is nothing to {stock.verb}. {empty}."


def _empty_column(board: Position, _move: Move) -> str:
    empty = next(board.game.keys[at] for at in board.game.columns if not board.piles[at])
    return f"No cards are dealt while a column is empty. Put a card on column {empty} first."


def _unknown_pile(board: Position, move: Move) -> str:
    game = board.game
    unknown = move.target if move.source in game.index else move.source
    known = ", ".join(game.typed_keys)
    names = [game.keys[at] for at in game.foundations if game.piles[at].gives]
    named = f" To take a card off a foundation, write its name: {names[0]} to {names[-1]}." if names else ""
    return f"{game.title} has no pile {unknown!r}. Its piles are {known}, and 0 for a foundation.{named}"


def _same_pile(_board: Position, move: Move) -> str:
    return f"Pile {move.source} can't go onto itself. Choose another target."


def _not_a_source(board: Position, move: Move) -> str:
    return f"No card can be taken from a {_giver(board, move).kind}."


def _empty_source(board: Position, move: Move) -> str:
    return f"There is nothing to take from {board.game.pile_phrase(move.source)}. It is empty."


def _no_cards(_board: Position, move: Move) -> str:
    return f"A move takes at least one card, not {move.size}."


def _too_few_cards(board: Position, move: Move) -> str:
    size = len(_cards(board, move))
    count = "is only 1 card" if size == 1 else f"are only {size} cards"
    return f"There {count} in {board.game.pile_phrase(move.source)}, not {move.size}."


def _face_down(board: Position, move: Move) -> str:
    return f"A card to be moved from {board.game.pile_phrase(move.source)} lies face down. Take fewer cards."


def _not_a_group(board: Position, move: Move) -> str:
    group = _cards(board, move)[-move.size :]
    names = " ".join(str(Card(card)) for card in group[:_MOST_NAMED]) + " ..." * (len(group) > _MOST_NAMED)
    rule = _LIFTED[_giver(board, move).lift]
    return f"{names} can't be taken from {board.game.pile_phrase(move.source)} together. {rule}."


def _too_many_cards(board: Position, move: Move) -> str:
    most = most_together(board, to_empty=not _target_cards(board, move))
    cards = "1 card" if most == 1 else f"{most} cards"
    return (
        f"{move.size} cards can't move to {board.game.pile_phrase(move.target)} together. The free cells and empty columns "
        f"have room for {cards} at once."
    )


def _between_foundations(board: Position, move: Move) -> str:
    return f"{_card(board, move)} can't go from a foundation to another foundation."


def _named_foundation(board: Position, move: Move) -> str:
    return f"You can't choose the foundation for {_card(board, move)}. Write 0 instead."


def _not_a_target(board: Position, move: Move) -> str:
    return f"{_card(board, move)} can't go to {board.game.pile_phrase(move.target)}. No card is ever put there."


def _one_at_a_time(board: Position, move: Move) -> str:
    key = move.target
    target = "a foundation" if key == FOUNDATION else board.game.pile_phrase(key)
    return f"{move.size} cards can't go to {target} together. A {_taker(board, move).kind} takes one card at a time."


def _not_complete(_board: Position, move: Move) -> str:
    count = "1 card" if move.size == 1 else f"{move.size} cards"
    return f"A foundation does not take {count}. It takes a complete suit at once: 13 cards, from the king to the ace."


def _not_on_empty(board: Position, move: Move) -> str:
    taker = _taker(board, move)
    key = move.target
    target = "a foundation" if key == FOUNDATION else f"the empty {board.game.pile_name(key)}"
    return f"{_card(board, move)} can't go to {target}. An empty {taker.kind} takes {taker.base}."


def _not_on_card(board: Position, move: Move) -> str:
    card, taker = _card(board, move), _taker(board, move)
    up = move.target == FOUNDATION
    tops = foundation_tops(board, card) if up else _target_cards(board, move)[-1:]
    names = " or ".join(str(Card(top & FACE)) for top in tops)
    rule = f"A {taker.kind} builds {taker.build}"
    if taker.build is Build.NONE:
        rule = f"No card goes on a card in a {taker.kind}"
    return f"{card} can't go on {names}. {rule}."


_ALTERNATING: Final = "Cards move together only in descending order and alternating colours"
_IN_SUIT: Final = "Cards move together only in descending order and in the same suit"

_LIFTED: Final[dict[Lift, str]] = {
    Lift.NOTHING: "Nothing can be taken from it",
    Lift.TOP: "Only its top card can be taken",
    Lift.ALTERNATING_RUN: _ALTERNATING,
    Lift.SUIT_RUN: _IN_SUIT,
    Lift.ANY_SUIT_RUN: "Cards move together only in descending order",
    Lift.FREE_ALTERNATING_RUN: _ALTERNATING,
    Lift.FREE_SUIT_RUN: _IN_SUIT,
    Lift.ANY: "Any number of its face-up cards can be taken",
}

_SENTENCES: Final[dict[RuleReason, Callable[[Position, Move], str]]] = {
    RuleReason.NO_SUCH_ACTION: _no_such_action,
    RuleReason.STOCK_EMPTY: _stock_empty,
    RuleReason.EMPTY_COLUMN: _empty_column,
    RuleReason.UNKNOWN_PILE: _unknown_pile,
    RuleReason.SAME_PILE: _same_pile,
    RuleReason.NOT_A_SOURCE: _not_a_source,
    RuleReason.EMPTY_SOURCE: _empty_source,
    RuleReason.NO_CARDS: _no_cards,
    RuleReason.TOO_FEW_CARDS: _too_few_cards,
    RuleReason.FACE_DOWN: _face_down,
    RuleReason.NOT_A_GROUP: _not_a_group,
    RuleReason.TOO_MANY_CARDS: _too_many_cards,
    RuleReason.BETWEEN_FOUNDATIONS: _between_foundations,
    RuleReason.NAMED_FOUNDATION: _named_foundation,
    RuleReason.NOT_A_TARGET: _not_a_target,
    RuleReason.ONE_AT_A_TIME: _one_at_a_time,
    RuleReason.NOT_COMPLETE: _not_complete,
    RuleReason.NOT_ON_EMPTY: _not_on_empty,
    RuleReason.NOT_ON_CARD: _not_on_card,
}
