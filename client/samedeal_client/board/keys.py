"""The two-key grammar as a state machine, pure: keys in, effects out.

A move is two keys, the pile that cards are taken from and the one they go to::

    3 5      column 3 to column 5: to cards the one group that fits, to an empty column the longest
    3 3, 3 0 to a foundation
    3 Enter  to where it fits best
    0 5      from a foundation back to column 5, where the game allows it

Between the two ``-`` and ``+`` change how many cards go. What the mouse picks up and puts down goes the same way
(``pick``, ``put``, ``best``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

from samedeal.board import Board
from samedeal.cards import RANKS, SUITS, Card
from samedeal.errors import IllegalMove, UnseenCard
from samedeal.games import Kind, Stock
from samedeal.moves import DEAL, DRAW, FOUNDATION, Move
from samedeal_client.board.bindings import DEFAULT, Bindings, Command, normal_key
from samedeal_client.board.key_names import key_text
from samedeal_client.board.marks import lifted, sizes
from samedeal_client.board.notation import best_destination
from samedeal_client.text.look import Look


@dataclass(frozen=True, slots=True)
class Choose:
    """Cards are picked up: ``size`` of a pile's top cards; of ``0``, a foundation's top card, which one is not yet said.

    ``sentence`` says why it is not what was asked for, where it isn't.
    """

    source: str
    size: int
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class Which:
    """Several moves are meant as likely as each other; the next key says which, as the sentence tells."""

    moves: tuple[Move, ...]
    sentence: str


@dataclass(frozen=True, slots=True)
class Typing:
    """More keys are needed: what has been typed, to be shown, and what was wrong with the last key, if anything."""

    text: str
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class Find:
    """Mark a card wherever it lies."""

    card: Card


@dataclass(frozen=True, slots=True)
class LookInto:
    """Show a whole pile."""

    pile: str


@dataclass(frozen=True, slots=True)
class Do:
    """A command that is for others to carry out: ``ALL_UP``, ``UNDO``, ``HINT``, ``RESIGN`` or ``HELP``."""

    command: Command


@dataclass(frozen=True, slots=True)
class Cancel:
    """What was begun is given up; nothing was when ``idle``."""

    idle: bool


@dataclass(frozen=True, slots=True)
class Unknown:
    """Not understood, or not legal: the sentence says why and what to do. What was begun is given up."""

    sentence: str


Effect: TypeAlias = Move | Choose | Which | Typing | Find | LookInto | Do | Cancel | Unknown
"""What a key comes to; a ``Move`` is a legal one, to be made (a draw and a deal are moves too)."""


class Pressed(NamedTuple):
    """The state after a key, and what it came to."""

    keys: Keys
    effect: Effect


@dataclass(frozen=True)
class Keys:
    """What has been typed so far.

    ``source`` is the pile picked from, ``size`` the number of cards where it was said; ``among`` are moves to choose from;
    ``finding`` is what was typed of a card to find; ``looking`` says that the next pile is to be looked into. ``nothing`` is
    why a source has nothing to give: its destination may be under way already, and is no new source.
    """

    bindings: Bindings = field(default=DEFAULT, repr=False)
    source: str = ""
    size: int | None = None
    among: tuple[Move, ...] = ()
    finding: str | None = None
    looking: bool = False
    nothing: str = ""

    @property
    def idle(self) -> bool:
        """Whether nothing has been begun."""
        return self == Keys(self.bindings, nothing=self.nothing)

    def press(self, key: str, board: Board) -> Pressed:
        """Take a key, by its character or its name, on the board as it is shown now."""
        meaning = self.bindings.meaning(key)
        if self.finding is not None:
            return self._find(self.finding, key, meaning)
        if self.among and meaning is not Command.CANCEL:
            return self._say_which(meaning)
        if isinstance(meaning, Command):
            return self._command(meaning, board)
        if meaning is None or not _is_pile(board, meaning):
            return self._ends(Unknown(self._no_key(key, board)))
        if self.looking:
            return self.look_into(meaning, board)
        if self.nothing:
            return self._ends(Unknown(self.nothing))
        if self.source:
            return self.put(meaning, board)
        picked = self.pick(meaning, board)
        if isinstance(picked.effect, Unknown):
            return Pressed(Keys(self.bindings, nothing=picked.effect.sentence), picked.effect)
        return picked

    # ---------------------------------------------------------------- what the mouse does too

    def pick(self, source: str, board: Board, size: int | None = None) -> Pressed:
        """Pick up ``size`` cards of a pile, or as many as its destination takes."""
        game = board.game
        at = game.foundations.start if source == FOUNDATION else game.index[source]
        kind = game.piles[at].kind.value
        if not game.piles[at].gives:
            return self._ends(Unknown(f"{game.title} lets nothing be taken from a {kind}: start with another pile"))
        filled = any(board.piles[at] for at in game.foundations) if source == FOUNDATION else bool(board.piles[at])
        if not filled:
            what = "the foundations are" if source == FOUNDATION else f"{kind} {source} is"
            return self._ends(Unknown(f"There is nothing to take: {what} empty"))
        if source == FOUNDATION:
            return Pressed(Keys(self.bindings, source), Choose(source, 1))
        if size is not None and size > lifted(board, source):
            return self._ends(Unknown(_why_not(board, Move(source, FOUNDATION, size))))
        shown = max(sizes(board, source), default=0) if size is None else size
        return Pressed(Keys(self.bindings, source, size), Choose(source, shown))

    def put(self, target: str, board: Board) -> Pressed:
        """Move what is picked up to a pile; onto its own pile, and ``0``, is to a foundation."""
        source = self.source
        if not source:
            return self.pick(target, board)
        if target != FOUNDATION and _kind(board, target) is Kind.STOCK:
            return self._ends(Unknown("No card is ever put on the stock"))
        on_foundation = target == FOUNDATION or (target in board.game.index and _kind(board, target) is Kind.FOUNDATION)
        if source == FOUNDATION or (_kind(board, source) is Kind.FOUNDATION and on_foundation):
            return self._from_foundation(target, board)
        if target == source or on_foundation:
            return self._ends(_legal_or_why_not(board, Move(source, FOUNDATION, self.size or 1)))
        if self.size is not None:
            return self._ends(_legal_or_why_not(board, Move(source, target, self.size)))
        fitting = [move for move in board.legal_moves() if move.source == source and move.target == target]
        if fitting:
            return self._ends(max(fitting, key=lambda move: move.size))
        return self._ends(_legal_or_why_not(board, Move(source, target)))

    def best(self, board: Board) -> Pressed:
        """Move what is picked up to where it fits best."""
        if not self.source:
            return self._ends(
                Unknown(self.nothing or "Choose a pile first: by the key that stands at it, or with a click")
            )
        if self.source == FOUNDATION:
            return self._ends(Unknown("Say which column takes the card from the foundation, as in 0 5"))
        move = best_destination(board, self.source)
        if move is not None and self.size not in (None, move.size):
            helps = [other for other in board.legal_moves() if other.source == self.source and not board.is_null(other)]
            move = min((other for other in helps if other.size == self.size), key=_rank(board), default=None)
        if move is None:
            return self._ends(Unknown(self._nowhere(board)))
        return self._ends(move)

    def _nowhere(self, board: Board) -> str:
        at = board.game.index[self.source]
        if self.size is None:
            return f"No card of {board.game.piles[at].kind.value} {self.source} can go anywhere that helps"
        return f"{Card(board.piles[at][-self.size])} can't go anywhere that helps"

    def look_into(self, pile: str, board: Board) -> Pressed:
        """Show a whole pile."""
        return self._ends(_look(board, pile))

    def draw(self, board: Board) -> Pressed:
        """Draw or deal from the stock."""
        return self._ends(_draw(board))

    # ---------------------------------------------------------------- commands

    def _ends(self, effect: Effect) -> Pressed:
        return Pressed(Keys(self.bindings), effect)

    def _command(self, command: Command, board: Board) -> Pressed:
        match command:
            case Command.BEST:
                return self.best(board)
            case Command.STOCK:
                return self.draw(board)
            case Command.FIND:
                return Pressed(Keys(self.bindings, finding=""), Typing("/"))
            case Command.LOOK if self.source:
                return self.look_into(self.source, board)
            case Command.LOOK:
                return Pressed(Keys(self.bindings, looking=True), Typing("look into which pile?"))
            case Command.FEWER | Command.MORE:
                return self._resize(1 if command is Command.MORE else -1, board)
            case Command.CANCEL:
                return self._ends(Cancel(self.idle))
            case Command.HELP:
                return Pressed(self, Do(command))
            case _:
                return self._ends(Do(command))

    def _resize(self, step: int, board: Board) -> Pressed:
        if not self.source or self.source == FOUNDATION:
            return self._ends(Unknown("Choose a pile first: then - and + change how many of its cards go"))
        can_go = sizes(board, self.source)
        now = max(can_go, default=0) if self.size is None else self.size
        if step > 0:
            size = min((size for size in can_go if size > now), default=now)
        else:
            size = max((size for size in can_go if size < now), default=now)
        pile = f"{_kind(board, self.source).value} {self.source}"
        why = f"No {'more' if step > 0 else 'fewer'} cards of {pile} can go" if size == now else ""
        return Pressed(replace(self, size=size), Choose(self.source, size, why))

    def _from_foundation(self, target: str, board: Board) -> Pressed:
        game = board.game
        if target == FOUNDATION or _kind(board, target) is Kind.FOUNDATION:
            return self._ends(Unknown("A card can't go from a foundation to a foundation: say which column takes it"))
        keys = [game.keys[at] for at in game.foundations if board.piles[at]]
        moves: dict[int, Move] = {}
        for key in keys:
            if board.is_legal(Move(key, target)):
                moves.setdefault(board.piles[game.index[key]][-1], Move(key, target))
        if not moves:
            return self._ends(
                _legal_or_why_not(board, Move(keys[0] if keys else game.keys[game.foundations.start], target))
            )
        if len(moves) == 1:
            return self._ends(next(iter(moves.values())))
        among = tuple(moves.values())
        told = ", ".join(f"{move.source[1:]} for {Card(card)}" for card, move in moves.items())
        return Pressed(replace(self, among=among), Which(among, f"Which foundation's card? Type {told}"))

    def _say_which(self, meaning: Command | str | None) -> Pressed:
        said = [move for move in self.among if move.source == f"0{meaning}"]
        if said:
            return self._ends(said[0])
        names = " or ".join(move.source[1:] for move in self.among)
        return self._ends(Unknown(f"None of these foundations: the choice was {names}"))

    def _find(self, typed: str, key: str, meaning: Command | str | None) -> Pressed:
        char = normal_key(key).upper()
        if meaning is Command.CANCEL:
            return self._ends(Cancel(idle=False))
        if char == "BACKSPACE":
            shorter = typed[:-1]
            return (
                Pressed(replace(self, finding=shorter), Typing("/" + shorter))
                if typed
                else self._ends(Cancel(idle=False))
            )
        if not typed and (char in RANKS or char == "1") and len(char) == 1:
            return Pressed(replace(self, finding=char), Typing("/" + char))
        if typed == "1" and char == "0":
            return Pressed(replace(self, finding="10"), Typing("/10"))
        if typed not in ("", "1") and char in SUITS and len(char) == 1:
            return self._ends(Find(Card.parse(typed + char)))
        wanted = "a suit: C, D, H or S" if typed not in ("", "1") else "a rank: A, 2 to 10, J, Q or K"
        return Pressed(self, Typing("/" + typed, f"{key if len(key) > 1 else repr(key)} is not {wanted}"))

    def _no_key(self, key: str, board: Board) -> str:
        helps = " or ".join(key_text(help_key, Look(ascii=True)) for help_key in self.bindings.commands[Command.HELP])
        told = f": {helps} lists the keys" if helps else ""
        name = normal_key(key)
        return f"{name if len(name) > 1 else repr(name)} is no pile of {board.game.title} and no command{told}"


def _kind(board: Board, pile: str) -> Kind:
    return board.game.piles[board.game.index[pile]].kind


def _is_pile(board: Board, pile: str) -> bool:
    return pile == FOUNDATION or pile in board.game.index


def _rank(board: Board) -> Callable[[Move], int]:
    """How late a destination comes among those that fit: a foundation, cards of a column, a fan, an empty column."""

    def rank(move: Move) -> int:
        if move.target == FOUNDATION:
            return 0
        if _kind(board, move.target) is Kind.FAN:
            return 2
        return 1 if board.piles[board.game.index[move.target]] else 3

    return rank


def _look(board: Board, pile: str) -> Effect:
    if pile == FOUNDATION:
        filled = [board.game.keys[at] for at in board.game.foundations]
        if len(filled) > 1:
            return Unknown("All cards below a foundation's top one are in it: look into another pile")
        return LookInto(filled[0])
    return LookInto(pile)


def _draw(board: Board) -> Effect:
    rule = board.game.stock
    if rule is Stock.NONE:
        return Unknown(f"{board.game.title} has no stock: all its cards are in play")
    return _legal_or_why_not(board, DRAW if rule is Stock.DRAW_THREE else DEAL)


def _legal_or_why_not(board: Board, move: Move) -> Move | Unknown:
    why = _why_not(board, move)
    return Unknown(why) if why else move


def _why_not(board: Board, move: Move) -> str:
    """Why a move is refused; an empty text for a legal one."""
    try:
        board.play(move)
    except UnseenCard:
        return ""
    except IllegalMove as error:
        return str(error)
    return ""
