"""The sentences that explain to a player why the rules forbid a move.

A sentence never names a card that lies face down. If a card to be moved lies face down, ``legality`` gives a reason
whose sentence names no cards.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from samedeal.cards import FACE, Card
from samedeal.errors import RuleReason as Reason
from samedeal.game import Group
from samedeal.legality import foundation_tops, most_together
from samedeal.moves import FOUNDATION, Move
from samedeal.policies import Build, Lift
from samedeal.position import Position

_MOST_NAMED = 6
"""Maximum number of cards that a sentence names."""


def refusal_sentence(board: Position, move: Move, reason: Reason) -> str:
    """Return a sentence that says what is wrong with an illegal move and which rule forbids it."""
    return _SENTENCES[reason](board, move)


def _cards(board: Position, move: Move) -> bytes:
    """Return the cards of the source pile."""
    return board.piles[board.game.index[move.source]]


def _card(board: Position, move: Move) -> Card:
    """Return the deepest of the cards to be moved."""
    return Card(_cards(board, move)[-move.size])


def _source(board: Position, move: Move) -> str:
    return board.game.pile_phrase(move.source)


def _target(board: Position, move: Move) -> str:
    return "a foundation" if move.target == FOUNDATION else board.game.pile_phrase(move.target)


def _giver(board: Position, move: Move) -> Group:
    """Return the ``Group`` to which the source pile belongs."""
    return board.game.piles[board.game.index[move.source]]


def _taker(board: Position, move: Move) -> Group:
    """Return the ``Group`` to which the target pile belongs."""
    game = board.game
    return game.piles[game.foundations.start if move.target == FOUNDATION else game.index[move.target]]


def _target_cards(board: Position, move: Move) -> bytes:
    """Return the cards of the target pile."""
    return board.piles[board.game.index[move.target]]


def _counted(number: int) -> str:
    return "1 card" if number == 1 else f"{number} cards"


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


def _too_few_cards(board: Position, move: Move) -> str:
    size = len(_cards(board, move))
    return f"There {'is' if size == 1 else 'are'} only {_counted(size)} in {_source(board, move)}, not {move.size}."


def _not_a_group(board: Position, move: Move) -> str:
    group = _cards(board, move)[-move.size :]
    names = " ".join(Card(card).symbol for card in group[:_MOST_NAMED]) + " ..." * (len(group) > _MOST_NAMED)
    return f"{names} can't be taken from {_source(board, move)} together. {_LIFTED[_giver(board, move).lift]}."


def _too_many_cards(board: Position, move: Move) -> str:
    most = _counted(most_together(board, to_empty=not _target_cards(board, move)))
    return (
        f"{move.size} cards can't move to {_target(board, move)} together. The free cells and empty columns have room for "
        f"{most} at once."
    )


def _not_on_empty(board: Position, move: Move) -> str:
    taker = _taker(board, move)
    target = "a foundation" if move.target == FOUNDATION else f"the empty {board.game.pile_name(move.target)}"
    return f"{_card(board, move).symbol} can't go to {target}. An empty {taker.kind} takes {taker.base}."


def _not_on_card(board: Position, move: Move) -> str:
    card, taker = _card(board, move), _taker(board, move)
    tops = foundation_tops(board, card) if move.target == FOUNDATION else _target_cards(board, move)[-1:]
    names = " or ".join(Card(top & FACE).symbol for top in tops)
    rule = f"A {taker.kind} builds {taker.build}"
    if taker.build is Build.NONE:
        rule = f"No card goes on a card in a {taker.kind}"
    return f"{card.symbol} can't go on {names}. {rule}."


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

_SENTENCES: Final[dict[Reason, Callable[[Position, Move], str]]] = {
    Reason.NO_SUCH_ACTION: _no_such_action,
    Reason.STOCK_EMPTY: _stock_empty,
    Reason.EMPTY_COLUMN: _empty_column,
    Reason.UNKNOWN_PILE: _unknown_pile,
    Reason.SAME_PILE: lambda _, move: f"Pile {move.source} can't go onto itself. Choose another target.",
    Reason.NOT_A_SOURCE: lambda *it: f"No card can be taken from a {_giver(*it).kind}.",
    Reason.EMPTY_SOURCE: lambda *it: f"There is nothing to take from {_source(*it)}. It is empty.",
    Reason.NO_CARDS: lambda _, move: f"A move takes at least one card, not {move.size}.",
    Reason.TOO_FEW_CARDS: _too_few_cards,
    Reason.FACE_DOWN: lambda *it: f"A card to be moved from {_source(*it)} lies face down. Take fewer cards.",
    Reason.NOT_A_GROUP: _not_a_group,
    Reason.TOO_MANY_CARDS: _too_many_cards,
    Reason.BETWEEN_FOUNDATIONS: lambda *it: f"{_card(*it).symbol} can't go from a foundation to another foundation.",
    Reason.NAMED_FOUNDATION: lambda *it: f"You can't choose the foundation for {_card(*it).symbol}. Write 0 instead.",
    Reason.NOT_A_TARGET: lambda *it: f"{_card(*it).symbol} can't go to {_target(*it)}. No card is ever put there.",
    Reason.ONE_AT_A_TIME: lambda board, move: (
        f"{move.size} cards can't go to {_target(board, move)} together. "
        f"A {_taker(board, move).kind} takes one card at a time."
    ),
    Reason.NOT_COMPLETE: lambda _, move: (
        f"A foundation does not take {_counted(move.size)}. "
        "It takes a complete suit at once: 13 cards, from the king to the ace."
    ),
    Reason.NOT_ON_EMPTY: _not_on_empty,
    Reason.NOT_ON_CARD: _not_on_card,
}
