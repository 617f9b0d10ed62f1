"""A board: the cards of one game as they lie, and what may be done with them.

A board is a frozen value. ``play`` gives a new board and a ``Step``; ``take_back`` with that step gives the old one
again, but for the fact that cards once seen stay seen. The same code plays a masked board (``Board.masked``), on which
cards that its player has not seen are ``HIDDEN``: a move that turns one up needs to be told its face.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain, pairwise
from typing import Final, NamedTuple

from samedeal.cards import DECK, DOWN, FACE, HIDDEN, HIDE, TURN_DOWN, TURN_UP, UNSEEN, Card
from samedeal.errors import IllegalMove, MalformedPosition, UnseenCard
from samedeal.games import Build, Faces, Game, Group, Kind, Stock
from samedeal.moves import DEAL, DRAW, FOUNDATION, Move

_DRAWN = 3
_CODES: Final = frozenset(card | lying for card in DECK for lying in (0, DOWN, UNSEEN)) | {HIDDEN}


class Step(NamedTuple):
    """What a move did, enough to take it back.

    ``source`` and ``target`` are positions of piles (-1 for the columns of a deal), ``size`` the cards that travelled,
    ``flipped`` whether the column under them was turned up, ``seen`` the cards seen for the first time on this board,
    in the order in which they were turned up.
    """

    move: Move
    source: int
    target: int
    size: int
    flipped: bool
    seen: bytes


class Turn(NamedTuple):
    """The outcome of a move: the new board and the step that led there."""

    board: Board
    step: Step


@dataclass(frozen=True, slots=True)
class Board:
    """The piles of a game in the order of ``Game.piles``, each a ``bytes`` of cards, the top one last."""

    game: Game
    piles: tuple[bytes, ...]

    # ---------------------------------------------------------------- how it begins

    @classmethod
    def deal(cls, game: Game, deck: bytes) -> Board:
        """Deal a shuffled deck, its first card first (rulings R1, R12, R16, R21, R23, R27).

        Raises ValueError when the deck does not hold exactly the game's cards.
        """
        if sorted(deck) != sorted(DECK * game.decks):
            raise ValueError(f"{game.title} is dealt from {game.decks} whole decks")
        piles = [bytearray() for _ in game.piles]
        cards = iter(deck)
        at = 0
        for group in game.groups:
            for row in range(max(group.sizes, default=0)):
                for offset, size in enumerate(group.sizes):
                    if row < size:
                        down = group.faces is Faces.DOWN_UP and row % 2 == 0
                        piles[at + offset].append(next(cards) | (UNSEEN if down else 0))
            at += len(group.keys)
        if game.stock_at >= 0:
            piles[game.stock_at][:] = bytes(card | UNSEEN for card in cards)[::-1]
        return cls(game, tuple(bytes(pile) for pile in piles))

    # ---------------------------------------------------------------- what it shows

    @property
    def cards_up(self) -> int:
        """The number of cards on foundations (ruling R9)."""
        piles = self.piles
        return sum(len(piles[at]) for at in self.game.foundations)

    @property
    def won(self) -> bool:
        """Whether every card is on a foundation (ruling R8)."""
        return self.cards_up == self.game.cards

    def masked(self) -> Board:
        """The board as its player may see it: every card never seen is ``HIDDEN``."""
        return Board(self.game, tuple(pile.translate(HIDE) for pile in self.piles))

    def state_hash(self) -> bytes:
        """Eight bytes that all copies of a board agree in, masked or not: BLAKE2b of its game and its masked piles."""
        view = b"\xff".join(pile.translate(HIDE) for pile in self.piles)
        return blake2b(view, digest_size=8, key=self.game.name.encode()).digest()

    def __str__(self) -> str:
        from samedeal.position import position_text

        return position_text(self)

    def __repr__(self) -> str:
        return f"parse_position({str(self)!r})"

    # ---------------------------------------------------------------- moving

    def play(self, move: Move, faces: bytes | None = None) -> Turn:
        """Make a move and turn up what it bares (ruling R4).

        ``faces`` are the cards that it turns up for the first time, needed on a masked board only.
        Raises IllegalMove with the reason, UnseenCard when a card turned up is hidden here and ``faces`` is not given,
        ValueError when ``faces`` can't be what the move turned up.
        """
        game = self.game
        index = game.index
        at = index.get(move[0], -1)
        if at < 0 or not move[1]:
            return self._from_stock(move, faces)
        piles = self.piles
        source = piles[at]
        size = move[2]
        to = self._target(move, at, source, size)
        if to < 0:
            raise IllegalMove(self._why_not(move))
        after = list(piles)
        after[to] = piles[to] + source[-size:]
        rest = source[:-size]
        seen = b""
        flipped = bool(rest) and rest[-1] >= DOWN
        if flipped:
            if rest[-1] >= UNSEEN:
                seen = self._faces(rest[-1:], faces)
                rest = rest[:-1] + seen
            else:
                rest = rest[:-1] + rest[-1:].translate(TURN_UP)
        if faces and not seen:
            raise ValueError("faces were given for a move that turns up nothing new")
        after[at] = rest
        return Turn(Board(game, tuple(after)), Step(move, at, to, size, flipped, seen))

    def _target(self, move: Move, at: int, source: bytes, size: int) -> int:
        """The position of the pile that a transfer goes to, or -1 when it is not legal."""
        game = self.game
        piles = self.piles
        rules = game.piles[at]
        if not 1 <= size <= len(source) or not rules.gives:
            return -1
        card = source[-size]
        if size > 1:
            run = rules.run
            for under, over in pairwise(source[-size:]):
                if over not in run[under]:
                    return -1
        if move[1] == FOUNDATION:
            if size > 1 or rules.kind is Kind.FOUNDATION:
                return -1
            group = game.piles[game.foundations.start]
            for to in game.foundations:
                pile = piles[to]
                if card in (group.on[pile[-1]] if pile else group.on_empty):
                    return to
            return -1
        to = game.index.get(move[1], -1)
        if to < 0 or to == at:
            return -1
        group = game.piles[to]
        if group.kind is not Kind.COLUMN and (group.kind is not Kind.FAN or size > 1 or rules.kind is Kind.FOUNDATION):
            return -1
        pile = piles[to]
        return to if card in (group.on[pile[-1]] if pile else group.on_empty) else -1

    def _from_stock(self, move: Move, faces: bytes | None) -> Turn:
        game = self.game
        rule = game.stock
        if move == DRAW and rule is Stock.DRAW_THREE:
            stock, waste = self.piles[game.stock_at], self.piles[game.waste_at]
            if stock:
                drawn = stock[: -_DRAWN - 1 : -1]
                up, seen = self._turn_up(drawn, faces)
                after = self._with({game.stock_at: stock[: -len(drawn)], game.waste_at: waste + up})
                return Turn(after, Step(move, game.stock_at, game.waste_at, len(drawn), False, seen))
            if waste:
                if faces:
                    raise ValueError("faces were given for a redeal")
                after = self._with({game.stock_at: waste[::-1].translate(TURN_DOWN), game.waste_at: b""})
                return Turn(after, Step(move, game.waste_at, game.stock_at, len(waste), False, b""))
        elif move == DEAL and rule is Stock.DEAL_ROW:
            stock = self.piles[game.stock_at]
            if stock:
                dealt = stock[: -len(game.columns) - 1 : -1]
                up, seen = self._turn_up(dealt, faces)
                change = {game.stock_at: stock[: -len(dealt)]}
                for at, card in zip(game.columns, up, strict=False):
                    change[at] = self.piles[at] + bytes([card])
                return Turn(self._with(change), Step(move, game.stock_at, -1, len(dealt), False, seen))
        raise IllegalMove(self._why_not(move))

    def _turn_up(self, cards: bytes, faces: bytes | None) -> tuple[bytes, bytes]:
        """The cards face up, and those among them that were never seen before."""
        if max(cards) < UNSEEN:
            if faces:
                raise ValueError("faces were given for a move that turns up nothing new")
            return cards.translate(TURN_UP), b""
        seen = self._faces(bytes(card for card in cards if card >= UNSEEN), faces)
        fresh = iter(seen)
        return bytes(next(fresh) if card >= UNSEEN else card & FACE for card in cards), seen

    def _faces(self, cards: bytes, faces: bytes | None) -> bytes:
        """The faces of cards never seen: their own, or those given where they are hidden."""
        if HIDDEN not in cards:
            own = cards.translate(TURN_UP)
            if faces is not None and faces != own:
                raise ValueError("the faces given are not those of the cards")
            return own
        if faces is None:
            raise UnseenCard("The move turns up a card that is not known here; only the server can play it")
        if len(faces) != len(cards):
            raise ValueError(f"{len(cards)} cards are turned up, {len(faces)} faces were given")
        if stray := set(faces) - set(DECK):
            raise ValueError(f"there is no card with the code {min(stray)}")
        if any(card not in (HIDDEN, face | UNSEEN) for card, face in zip(cards, faces, strict=True)):
            raise ValueError("the faces given are not those of the cards")
        fresh = [face for card, face in zip(cards, faces, strict=True) if card == HIDDEN]
        known = b"".join(self.piles).translate(TURN_UP)
        for face in fresh:
            if known.count(face) + fresh.count(face) > self.game.decks:
                raise ValueError(f"{Card(face)} can't be turned up: it lies elsewhere")
        return faces

    def _with(self, change: dict[int, bytes]) -> Board:
        return Board(self.game, tuple(change.get(at, pile) for at, pile in enumerate(self.piles)))

    def take_back(self, step: Step) -> Board:
        """The board before the step that led here; cards that it had turned up lie down again, but stay seen."""
        game = self.game
        if step.target < 0:
            columns = game.columns[: step.size]
            row = bytes(self.piles[at][-1] for at in columns)
            change = {at: self.piles[at][:-1] for at in columns}
            change[step.source] = self.piles[step.source] + row[::-1].translate(TURN_DOWN)
            return self._with(change)
        moved = self.piles[step.target][-step.size :]
        left = self.piles[step.target][: -step.size]
        if step.source == game.stock_at:
            moved = moved[::-1].translate(TURN_DOWN)
        elif step.target == game.stock_at:
            moved = moved[::-1].translate(TURN_UP)
        below = self.piles[step.source]
        if step.flipped:
            below = below[:-1] + below[-1:].translate(TURN_DOWN)
        return self._with({step.source: below + moved, step.target: left})

    # ---------------------------------------------------------------- what may be done

    def legal_moves(self) -> list[Move]:
        """Every move that ``play`` accepts, to the foundations first; each move once."""
        game = self.game
        piles = self.piles
        columns = game.columns
        column = game.piles[columns.start]
        keys = game.keys
        found = _acceptors(self, game.foundations)
        goes_up = set(found)
        takers = _acceptors(self, columns)
        fan_takers = _acceptors(self, game.fans) if game.fans else {}
        empty = [keys[at] for at in columns if not piles[at]]
        on_empty = column.on_empty
        up: list[Move] = []
        moves: list[Move] = []
        for at in game.sources:
            pile = piles[at]
            if not pile:
                continue
            rules = game.piles[at]
            key = keys[at]
            card = pile[-1]
            from_foundation = rules.kind is Kind.FOUNDATION
            if not from_foundation:
                if card in goes_up:
                    up.append(Move(key, FOUNDATION, 1))
                for to in fan_takers.get(card, ()):
                    if to != key:
                        moves.append(Move(key, to, 1))
            run = rules.run
            size = 1
            length = len(pile)
            while True:
                for to in takers.get(card, ()):
                    if to != key:
                        moves.append(Move(key, to, size))
                if empty and card in on_empty:
                    moves.extend([Move(key, to, size) for to in empty])
                if size == length:
                    break
                under = pile[-size - 1]
                if card not in run[under]:
                    break
                card = under
                size += 1
        up += moves
        if game.stock is Stock.DRAW_THREE:
            if piles[game.stock_at] or piles[game.waste_at]:
                up.append(DRAW)
        elif game.stock is Stock.DEAL_ROW and piles[game.stock_at]:
            up.append(DEAL)
        return up

    def is_legal(self, move: Move) -> bool:
        """Whether ``play`` accepts the move (on a masked board: given the faces it turns up)."""
        at = self.game.index.get(move.source, -1)
        if at >= 0 and move.is_transfer:
            return self._target(move, at, self.piles[at], move.size) >= 0
        return move in self.legal_moves()

    def is_null(self, move: Move) -> bool:
        """Whether it moves a whole column to an empty column, which changes nothing but a place (ruling R6)."""
        index = self.game.index
        columns = self.game.columns
        at, to = index.get(move.source, -1), index.get(move.target, -1)
        return at in columns and to in columns and not self.piles[to] and move.size == len(self.piles[at])

    def is_take_back(self, move: Move) -> bool:
        """Whether it takes a card from a foundation (ruling R20)."""
        return self.game.index.get(move.source, -1) in self.game.foundations

    def turns_up(self, move: Move) -> int:
        """How many cards never seen before a legal move would turn up; a client may play it alone when none."""
        game = self.game
        if move == DRAW:
            return sum(card >= UNSEEN for card in self.piles[game.stock_at][-_DRAWN:])
        if move == DEAL:
            return sum(card >= UNSEEN for card in self.piles[game.stock_at][-len(game.columns) :])
        pile = self.piles[game.index[move.source]][: -move.size]
        return int(bool(pile) and pile[-1] >= UNSEEN)

    @property
    def stuck(self) -> bool:
        """Whether, as far as its player can know, nothing that helps remains and the board is not won (ruling R7).

        A card not yet seen may help. Real and masked boards agree in it, for else being told that one is stuck would
        tell something of the cards still to be drawn.
        """
        if self.won:
            return False
        for move in self.legal_moves():
            if move == DEAL or (move.is_transfer and not self.is_null(move) and not self.is_take_back(move)):
                return False
        if self.game.stock is not Stock.DRAW_THREE:
            return True
        takes = set(chain(_acceptors(self, self.game.foundations), _acceptors(self, self.game.columns)))
        if any(not self.piles[at] for at in self.game.columns):
            takes.update(self.game.piles[self.game.columns.start].on_empty)
        return not any(card >= UNSEEN or card & FACE in takes for card in self._tops_to_come())

    def _tops_to_come(self) -> Iterator[int]:
        """The cards that drawing, now and after a redeal, brings to the top of the waste."""
        stock, waste = self.piles[self.game.stock_at][::-1], self.piles[self.game.waste_at]
        for cards in (stock, waste + stock):
            yield from cards[_DRAWN - 1 :: _DRAWN]
            yield from cards[-1:]

    # ---------------------------------------------------------------- why not

    def _why_not(self, move: Move) -> str:
        """The sentence for a move that is not legal: what goes wrong, then the rule."""
        game = self.game
        piles = self.piles
        if not move.is_transfer:
            if move == DRAW and game.stock is Stock.DRAW_THREE:
                return "There is nothing to draw: the stock and the waste are empty"
            if move == DEAL and game.stock is Stock.DEAL_ROW:
                return "There is nothing to deal: the stock is empty"
            return f"{game.title} has no {move.source}: {game.stock.value}"
        at = game.index.get(move.source, -1)
        to = game.foundations.start if move.target == FOUNDATION else game.index.get(move.target, -1)
        for place, key in ((at, move.source), (to, move.target)):
            if place < 0:
                named = ", ".join(key for group in game.groups for key in group.keys if group.kind is not Kind.STOCK)
                return f"{game.title} has no pile {key!r}: its piles are {named}, and 0 for a foundation"
        if at == to and move.target != FOUNDATION:
            return f"Pile {move.source} can't go onto itself"
        rules, group = game.piles[at], game.piles[to]
        source, pile = piles[at], piles[to]
        if not rules.gives:
            return f"Nothing can be taken from a {rules.kind.value}"
        if not source:
            return f"There is nothing to take: the {rules.kind.value} {move.source} is empty"
        if move.size < 1:
            return f"A move takes at least one card, not {move.size}"
        if move.size > len(source):
            there = "is only 1 card" if len(source) == 1 else f"are only {len(source)} cards"
            return f"There {there} in {rules.kind.value} {move.source}, not {move.size}"
        moved = source[-move.size :]
        if max(moved) >= DOWN:  # checked before any of them is named: the sentence must not tell a hidden face
            return f"A group can't hold a card that lies face down: {rules.kind.value} {move.source}"
        if any(over not in rules.run[under] for under, over in pairwise(moved)):
            what = " ".join(str(Card(card)) for card in moved[:6]) + (" ..." if len(moved) > 6 else "")
            return f"{what} can't be taken from {rules.kind.value} {move.source} together: {rules.lift.value}"
        card = Card(moved[0])
        if group.kind is Kind.FOUNDATION:
            return self._why_not_up(card, move, rules.kind)
        if group.kind not in (Kind.COLUMN, Kind.FAN):
            return f"{card} can't go to {group.kind.value} {move.target}: no card is ever put there"
        if group.kind is Kind.FAN and move.size > 1:
            return f"{move.size} cards can't go to fan {move.target}: a fan takes one card at a time"
        if not pile:
            rule = f"an empty {group.kind.value} takes {group.base.value}"
            return f"{card} can't go to the empty {group.kind.value} {move.target}: {rule}"
        return f"{card} can't go on {Card(pile[-1] & FACE)}: a {group.kind.value} builds {group.build.value}"

    def _why_not_up(self, card: Card, move: Move, kind: Kind) -> str:
        game = self.game
        group = game.piles[game.foundations.start]
        if kind is Kind.FOUNDATION:
            return f"{card} can't go from a foundation to another foundation"
        if move.target != FOUNDATION:
            return f"Write 0 for the foundation that takes {card}: which one it is follows from the card"
        if move.size > 1:
            return f"{move.size} cards can't go to a foundation together: it takes one card at a time"
        tops = [Card(self.piles[at][-1]) for at in game.foundations if self.piles[at]]
        if group.build is not Build.UP_AROUND:
            tops = [top for top in tops if top.suit == card.suit]
        if not tops:
            return f"{card} can't go to a foundation: an empty foundation takes {group.base.value}"
        on = " or ".join(str(top) for top in dict.fromkeys(tops))
        return f"{card} can't go on {on}: a foundation builds {group.build.value}"

    # ---------------------------------------------------------------- whether it can be

    def check(self) -> Board:
        """Return the board when it can be a position of its game; raises MalformedPosition with what is wrong.

        Every card of the decks is there once for each deck (hidden ones fill the gaps), and none lies where it can't.
        """
        game = self.game
        if len(self.piles) != len(game.piles):
            raise MalformedPosition(f"{game.title} has {len(game.piles)} piles, not {len(self.piles)}")
        cards = b"".join(self.piles)
        if stray := set(cards) - _CODES:
            raise MalformedPosition(f"There is no card with the code {min(stray)}")
        known = [card & FACE for card in cards if card != HIDDEN]
        for card in DECK:
            if known.count(card) > game.decks:
                raise MalformedPosition(
                    f"{Card(card)} is there {known.count(card)} times; {game.title} has {game.decks}"
                )
        if len(cards) != game.cards:
            missing = [str(Card(card)) for card in DECK for _ in range(game.decks - known.count(card))]
            without = f": without {' '.join(missing[:8])}" if len(cards) < game.cards else ""
            raise MalformedPosition(f"{game.title} has {game.cards} cards, here are {len(cards)}{without}")
        for key, group, pile in zip(game.keys, game.piles, self.piles, strict=True):
            _check_pile(f"{group.kind.value} {key}", group, pile)
            if group.kind is Kind.FOUNDATION and pile:
                fits = pile[0] in group.on_empty and all(over in group.on[under] for under, over in pairwise(pile))
                if not fits:
                    raise MalformedPosition(f"Foundation {key} can't hold these cards: it builds {group.build.value}")
        return self


def _check_pile(name: str, group: Group, pile: bytes) -> None:
    kind = group.kind
    if kind is Kind.STOCK:
        if any(card < DOWN for card in pile):
            raise MalformedPosition("A card of the stock can't lie face up")
    elif kind is Kind.COLUMN and group.faces is Faces.DOWN_UP:
        if pile and pile[-1] >= DOWN:
            raise MalformedPosition(f"The top card of {name} can't lie face down")
    elif any(card >= DOWN for card in pile):
        raise MalformedPosition(f"A card of {name} can't lie face down")
    if kind is Kind.RESERVE and len(pile) > 1:
        raise MalformedPosition(f"{name.capitalize()} can't hold more than one card")


def _acceptors(board: Board, places: range) -> dict[int, list[str]]:
    """The names of the piles that take each card, empty columns and fans left out."""
    game = board.game
    group = game.piles[places.start]
    on = group.on
    takers: dict[int, list[str]] = {}
    for at in places:
        pile = board.piles[at]
        if pile:
            cards = on[pile[-1]]
        elif group.kind is Kind.FOUNDATION:
            cards = group.on_empty
        else:
            continue
        key = game.keys[at]
        for card in cards:
            if card in takers:
                takers[card].append(key)
            else:
                takers[card] = [key]
    return takers
