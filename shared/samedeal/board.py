"""Boards on which moves are made.

A board is a frozen value. ``play`` returns the new board and a ``Step``. ``undo`` takes that step and returns the
previous board, except that cards which were turned up stay marked as seen.

The same code plays a masked board (``Board.masked``), on which cards that the player has not seen are ``HIDDEN``. If a
move turns up a hidden card, the caller must pass the face of that card.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from samedeal import legality
from samedeal.cards import DECK, DOWN, FACE, HIDDEN, IN_SUITS, TURN_DOWN, TURN_UP, UNSEEN, Card
from samedeal.errors import BadArgument, IllegalMove, UnseenCard
from samedeal.game import Game
from samedeal.legality import find_target, is_legal, is_null, is_worry_back, stock_reason
from samedeal.move_refusals import refusal_sentence
from samedeal.moves import Move
from samedeal.policies import is_dealt_down
from samedeal.position import Position


class Step(NamedTuple):
    """The effect of a move. ``Board.undo`` needs only the step to undo the move.

    ``source`` and ``target`` are positions of piles. For a deal from the stock, which goes to several columns,
    ``target`` is -1. ``size`` is the number of cards that moved. ``flipped`` says whether the move turned up the card
    that it uncovered. ``seen`` holds the cards that were turned up for the first time, in the order in which they were
    turned up.
    """

    move: Move
    source: int
    target: int
    size: int
    flipped: bool
    seen: bytes


class Turn(NamedTuple):
    """The outcome of a move: the new board, and the step that led to it."""

    board: Board
    step: Step


@dataclass(frozen=True, slots=True, repr=False)
class Board(Position):
    """The piles of a game, on which moves can be played."""

    @classmethod
    def deal(cls, game: Game, deck: bytes) -> Board:
        """Return the board that is dealt from a shuffled deck. The first card of ``deck`` is dealt first.

        RULES.md, ruling R1, says how cards are dealt. In a game of fewer than four suits, the cards of ``deck`` get the
        suits of the game. Raise BadArgument unless ``deck`` has exactly the cards of whole decks.
        """
        if sorted(deck) != sorted(DECK * game.decks):
            raise BadArgument(f"{game.title} is dealt from {game.decks} whole decks.")
        piles = [bytearray() for _ in game.piles]
        foundations = game.piles[game.foundations.start]
        firsts = foundations.on_empty if sum(foundations.sizes) else b""
        cards = iter(sorted(deck.translate(IN_SUITS[game.file.suits]), key=lambda card: card not in firsts))
        for group in sorted(game.groups, key=lambda group: group is not foundations):
            first = game.index[group.keys[0]]
            for row in range(max(group.sizes, default=0)):
                for offset, size in enumerate(group.sizes):
                    if row < size:
                        is_down = is_dealt_down(group.faces, offset, row, size)
                        piles[first + offset].append(next(cards) | (UNSEEN if is_down else 0))
        if game.stock_at >= 0:
            piles[game.stock_at][:] = bytes(card | UNSEEN for card in cards)[::-1]
        return cls(game, tuple(bytes(pile) for pile in piles))

    def play(self, move: Move | str, faces: bytes | None = None) -> Turn:
        """Make a move, or the move of a text, and turn up the card that it uncovers (RULES.md, ruling R4).

        Return the new board and the step.
        ``faces`` holds the cards that the move turns up for the first time. Only a masked board needs ``faces``. Raise
        IllegalMove with the reason if the rules forbid the move. Raise UnseenCard if the move turns up a hidden card
        and ``faces`` is None. Raise BadArgument if the move cannot turn up these ``faces``.
        """
        if isinstance(move, str):
            move = Move.parse(move)
        source_key, target_key, size = move
        if not target_key:
            return self._use_stock(move, faces)
        target = find_target(self, move)
        if not isinstance(target, int):
            raise IllegalMove(refusal_sentence(self, move, target), target)
        game, piles = self.game, self.piles
        source = game.index[source_key]
        cards = piles[source]
        left = cards[:-size]
        seen = b""
        flipped = bool(left) and left[-1] >= DOWN
        if flipped:
            top, seen = self._turn_up(left[-1:], faces)
            left = left[:-1] + top
        elif faces:
            raise BadArgument("Faces were given for a move that turns up nothing new.")
        after = list(piles)
        after[target] = piles[target] + cards[-size:]
        after[source] = left
        return Turn(Board(game, tuple(after)), Step(move, source, target, size, flipped, seen))

    def _use_stock(self, move: Move, faces: bytes | None) -> Turn:
        game = self.game
        policy = game.stock
        if reason := stock_reason(self, move):
            raise IllegalMove(refusal_sentence(self, move, reason), reason)
        stock, waste = self.stock, self.waste
        if policy.is_redeal(stock, waste):
            if faces:
                raise BadArgument("Faces were given for a redeal.")
            after = self._replace({game.stock_at: waste[::-1].translate(TURN_DOWN), game.waste_at: b""})
            return Turn(after, Step(move, game.waste_at, game.stock_at, len(waste), False, b""))
        cards = policy.next_cards(stock, len(game.columns))
        up, seen = self._turn_up(cards, faces)
        change = {game.stock_at: stock[: -len(cards)]}
        if policy.to_waste:
            change[game.waste_at] = waste + up
        else:
            for at, card in zip(game.columns, up, strict=False):
                change[at] = self.piles[at] + bytes([card])
        target = game.waste_at if policy.to_waste else -1
        return Turn(self._replace(change), Step(move, game.stock_at, target, len(cards), False, seen))

    def _turn_up(self, cards: bytes, faces: bytes | None) -> tuple[bytes, bytes]:
        """Return ``cards`` turned face up. Also return, separately, the cards among them that had never been seen.

        ``faces`` is as in ``play``.
        """
        if max(cards) < UNSEEN:
            if faces:
                raise BadArgument("Faces were given for a move that turns up nothing new.")
            return cards.translate(TURN_UP), b""
        seen = self._faces(bytes(card for card in cards if card >= UNSEEN), faces)
        fresh = iter(seen)
        return bytes(next(fresh) if card >= UNSEEN else card & FACE for card in cards), seen

    def _faces(self, cards: bytes, faces: bytes | None) -> bytes:
        """Return ``cards``, which were never seen, turned face up. ``faces`` is as in ``play``."""
        if HIDDEN not in cards:
            own = cards.translate(TURN_UP)
            if faces is not None and faces != own:
                raise BadArgument("The faces given are not those of the cards.")
            return own
        if faces is None:
            raise UnseenCard("This move turns up a card that only the server knows. Ask the server to play it.")
        if len(faces) != len(cards):
            raise BadArgument(f"{len(cards)} cards are turned up, {len(faces)} faces were given.")
        if strays := set(faces) - set(DECK):
            raise BadArgument(f"There is no card with the code {min(strays)}.")
        if any(card not in (HIDDEN, face | UNSEEN) for card, face in zip(cards, faces, strict=True)):
            raise BadArgument("The faces given are not those of the cards.")
        fresh = [face for card, face in zip(cards, faces, strict=True) if card == HIDDEN]
        known = b"".join(self.piles).translate(TURN_UP)
        for face in fresh:
            if known.count(face) + fresh.count(face) > self.game.deck.count(face):
                raise BadArgument(f"{Card(face)} can't be turned up: it is in another pile.")
        return faces

    def _replace(self, change: dict[int, bytes]) -> Board:
        return Board(self.game, tuple(change.get(at, pile) for at, pile in enumerate(self.piles)))

    def undo(self, step: Step) -> Board:
        """Return the board before ``step``.

        Cards that the step turned up lie face down again, but stay marked as seen.
        """
        game, piles = self.game, self.piles
        if step.target < 0:
            columns = game.columns[: step.size]
            row = bytes(piles[at][-1] for at in columns)
            change = {at: piles[at][:-1] for at in columns}
            change[step.source] = piles[step.source] + row[::-1].translate(TURN_DOWN)
            return self._replace(change)
        moved, left = piles[step.target][-step.size :], piles[step.target][: -step.size]
        if step.source == game.stock_at:
            moved = moved[::-1].translate(TURN_DOWN)
        elif step.target == game.stock_at:
            moved = moved[::-1].translate(TURN_UP)
        below = piles[step.source]
        if step.flipped:
            below = below[:-1] + below[-1:].translate(TURN_DOWN)
        return self._replace({step.source: below + moved, step.target: left})

    def turns_up(self, move: Move | str) -> int:
        """Return the number of cards that a legal move turns up for the first time.

        If the number is 0, ``play`` does not need ``faces``, even on a masked board.
        """
        game = self.game
        if isinstance(move, str):
            move = Move.parse(move)
        if not move.is_transfer:
            return sum(card >= UNSEEN for card in game.stock.next_cards(self.stock, len(game.columns)))
        if move.source not in game.index:
            return 0
        pile = self.piles[game.index[move.source]][: -move.size]
        return int(bool(pile) and pile[-1] >= UNSEEN)

    def legal_moves(self) -> tuple[Move, ...]:
        """Return the moves that ``play`` accepts. Moves to a foundation come first, and a draw or deal comes last."""
        return tuple(legality.legal_moves(self))

    @property
    def stock_action(self) -> Move | None:
        """The draw, redeal or deal that is legal on this board, or None."""
        return legality.stock_action(self)

    @property
    def stuck(self) -> bool:
        """Whether no legal move helps, judged only by the cards that the player has seen (RULES.md, ruling R7).

        A won board is not stuck.
        """
        return legality.is_stuck(self)

    # Whether ``play`` accepts a move. On a masked board, ``play`` may also need ``faces``.
    is_legal = is_legal
    is_null = is_null
    is_worry_back = is_worry_back
