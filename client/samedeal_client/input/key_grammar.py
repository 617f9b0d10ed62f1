"""The two-key grammar as a pure state machine: a key goes in, the next state and an effect come out.

A move is two keys, the source pile and the target pile::

    3 5      column 3 to column 5: as many cards as fit
    3 3, 3 0 column 3 to a foundation
    3 Enter  column 3 to the most useful target
    0 5      from a foundation back to column 5, where the game allows it

Between the two keys ``-`` and ``+`` change the number of cards. The mouse uses the same states (see ``pointer``).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, TypeAlias

from samedeal.board import Board
from samedeal.cards import RANKS, SUITS, Card
from samedeal.moves import FOUNDATION, Move
from samedeal_client.board.marks import liftable_count, movable_counts
from samedeal_client.input.bindings import DEFAULT, Bindings, KeyCommand, normal_key
from samedeal_client.input.intended_move import (
    Ambiguous,
    Rejected,
    best_move,
    legal_or_rejected,
    move_between,
    source_rejection,
    stock_move,
)
from samedeal_client.input.key_names import key_text


@dataclass(frozen=True, slots=True)
class Selected:
    """A selection: the top ``size`` cards of the pile ``source``.

    The source ``0`` stands for the top card of a foundation, and the target decides which foundation. ``sentence`` says
    why the selection differs from the selection that the player asked for. It is empty if there is no difference.
    """

    source: str
    size: int
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class MoveChoice:
    """A choice between several possible moves. ``question`` asks the player to choose, and the next key is the answer."""

    moves: tuple[Move, ...]
    question: str


@dataclass(frozen=True, slots=True)
class EntryPrompt:
    """A request for more keys. ``text`` shows the keys typed so far, and ``sentence`` says why the last key was wrong."""

    text: str
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class FindCard:
    """A request to highlight a card."""

    card: Card


@dataclass(frozen=True, slots=True)
class ViewPile:
    """A request to list all cards of a pile."""

    pile: str


ScreenCommand: TypeAlias = Literal[
    KeyCommand.COLLECT, KeyCommand.UNDO, KeyCommand.HINT, KeyCommand.RESIGN, KeyCommand.HELP
]
"""A command that needs more than the board. It is its own effect: the screen carries it out."""


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The effect of the cancel key. ``idle`` is true if there was nothing to cancel."""

    idle: bool


Effect: TypeAlias = (
    Move | Selected | MoveChoice | EntryPrompt | FindCard | ViewPile | ScreenCommand | Cancelled | Rejected
)
"""The effect of a key. A ``Move`` is legal, and the caller makes it. Draws and deals are moves too."""


class KeyResult(NamedTuple):
    """The state after a key, and its effect."""

    grammar: KeyGrammar
    effect: Effect


@dataclass(frozen=True)
class KeyGrammar:
    """The state of the two-key grammar: the part of a move or command that the player has already typed.

    ``source`` is the selected pile, and ``size`` is the number of cards if the player has chosen a number.
    ``candidates`` has the moves of a ``MoveChoice``. ``search_text`` is the typed part of the name of the card to find.
    If ``viewing`` is true, the next key names the pile to list.

    ``rejection`` is set if the last key named a source from which no card can move. The next pile key is then taken for
    the target of the rejected move and does not select a new source.
    """

    bindings: Bindings = field(default=DEFAULT, repr=False)
    source: str = ""
    size: int | None = None
    candidates: tuple[Move, ...] = ()
    search_text: str | None = None
    viewing: bool = False
    rejection: Rejected | None = None

    @property
    def idle(self) -> bool:
        """Whether the player has not begun to type a move or command."""
        return self == KeyGrammar(self.bindings, rejection=self.rejection)

    def press(self, key: str, board: Board) -> KeyResult:
        """Process a key, given by its character or its name. ``board`` is the board that is shown."""
        meaning = self.bindings.meaning(key)
        if self.search_text is not None:
            return self._search(self.search_text, key, meaning)
        if self.candidates and meaning is not KeyCommand.CANCEL:
            return self._choose_move(meaning)
        if isinstance(meaning, KeyCommand):
            return self._run(meaning, board)
        if meaning is None or not (meaning == FOUNDATION or meaning in board.game.index):
            return self._done(self._unknown_key(key, board))
        if self.viewing:
            return self.view_pile(meaning, board)
        if self.rejection:
            return self._done(self.rejection)
        if self.source:
            return self.choose_target(meaning, board)
        selected = self.select(meaning, board)
        if isinstance(selected.effect, Rejected):
            return KeyResult(KeyGrammar(self.bindings, rejection=selected.effect), selected.effect)
        return selected

    def select(self, source: str, board: Board, size: int | None = None) -> KeyResult:
        """Select ``size`` cards of a pile. If ``size`` is None, the target decides how many cards move."""
        if rejected := source_rejection(board, source):
            return self._done(rejected)
        if source == FOUNDATION:
            return KeyResult(KeyGrammar(self.bindings, source), Selected(source, 1))
        if size is not None and size > liftable_count(board, source):
            return self._done(legal_or_rejected(board, Move(source, FOUNDATION, size)))
        grammar = KeyGrammar(self.bindings, source, size)
        return KeyResult(grammar, Selected(source, grammar._selected_count(board)))

    def other_counts(self, board: Board) -> tuple[list[int], list[int]]:
        """Return the other numbers of cards that can be selected: the smaller and the larger ones, both ascending."""
        if self.source in ("", FOUNDATION):
            return [], []
        counts, now = movable_counts(board, self.source), self._selected_count(board)
        return [count for count in counts if count < now], [count for count in counts if count > now]

    def _selected_count(self, board: Board) -> int:
        return max(movable_counts(board, self.source), default=0) if self.size is None else self.size

    def choose_target(self, target: str, board: Board) -> KeyResult:
        """Move the selected cards to a pile. ``0``, or the source pile itself, stands for a foundation."""
        if not self.source:
            return self.select(target, board)
        intent = move_between(board, self.source, target, self.size)
        if isinstance(intent, Ambiguous):
            return self._ask_which(intent, board)
        return self._done(intent)

    def choose_best(self, board: Board) -> KeyResult:
        """Move the selected cards to the most useful target."""
        if not self.source:
            no_source = Rejected("No pile is selected. Type its key or click it first.")
            return self._done(self.rejection or no_source)
        return self._done(best_move(board, self.source, self.size))

    def view_pile(self, pile: str, board: Board) -> KeyResult:
        """List all cards of a pile."""
        if pile == FOUNDATION:
            foundations = board.game.foundations
            if len(foundations) > 1:
                sentence = (
                    "There is nothing to view: a foundation holds all ranks below its top card. View another pile."
                )
                return self._done(Rejected(sentence))
            pile = board.game.keys[foundations.start]
        return self._done(ViewPile(pile))

    def use_stock(self, board: Board) -> KeyResult:
        """Draw or deal from the stock."""
        return self._done(stock_move(board))

    def _done(self, effect: Effect) -> KeyResult:
        return KeyResult(KeyGrammar(self.bindings), effect)

    def _run(self, command: KeyCommand, board: Board) -> KeyResult:
        match command:
            case KeyCommand.BEST:
                return self.choose_best(board)
            case KeyCommand.STOCK:
                return self.use_stock(board)
            case KeyCommand.FIND:
                return KeyResult(KeyGrammar(self.bindings, search_text=""), EntryPrompt("/"))
            case KeyCommand.VIEW if self.source:
                return self.view_pile(self.source, board)
            case KeyCommand.VIEW:
                return KeyResult(KeyGrammar(self.bindings, viewing=True), EntryPrompt("view which pile?"))
            case KeyCommand.FEWER | KeyCommand.MORE:
                return self._resize(1 if command is KeyCommand.MORE else -1, board)
            case KeyCommand.CANCEL:
                return self._done(Cancelled(self.idle))
            case KeyCommand.HELP:
                return KeyResult(self, command)
            case KeyCommand.COLLECT | KeyCommand.UNDO | KeyCommand.HINT | KeyCommand.RESIGN:
                return self._done(command)

    def _resize(self, step: int, board: Board) -> KeyResult:
        """Select the next larger or smaller number of cards that can move."""
        if not self.source or self.source == FOUNDATION:
            sentence = "No pile is selected. Select one, then change its number of cards with - or +."
            return self._done(Rejected(sentence))
        fewer, more = self.other_counts(board)
        others = more[:1] if step > 0 else fewer[-1:]
        size = others[0] if others else self._selected_count(board)
        sentence = ""
        if not others:
            change = "larger" if step > 0 else "smaller"
            sentence = f"The selection in {board.game.pile_phrase(self.source)} can't get {change}."
        return KeyResult(replace(self, size=size), Selected(self.source, size, sentence))

    def _ask_which(self, intent: Ambiguous, board: Board) -> KeyResult:
        index = board.game.index
        answers = ", ".join(
            f"{move.source[1:]} for {Card(board.piles[index[move.source]][-1]).symbol}" for move in intent.moves
        )
        question = f"Which card? Type {answers}."
        return KeyResult(replace(self, candidates=intent.moves), MoveChoice(intent.moves, question))

    def _choose_move(self, meaning: KeyCommand | str | None) -> KeyResult:
        for move in self.candidates:
            if move.source == f"0{meaning}":
                return self._done(move)
        answers = " or ".join(move.source[1:] for move in self.candidates)
        return self._done(Rejected(f"That was not one of the choices. Start again, then type {answers}."))

    def _search(self, typed: str, key: str, meaning: KeyCommand | str | None) -> KeyResult:
        """Process a key that names the card to find: first its rank, then its suit."""
        char = normal_key(key).upper()
        if meaning is KeyCommand.CANCEL or (char == "BACKSPACE" and not typed):
            return self._done(Cancelled(idle=False))
        longer = typed + char
        if char == "BACKSPACE":
            return self._searching(typed[:-1])
        if (not typed and len(char) == 1 and char in RANKS + "1") or longer == "10":
            return self._searching(longer)
        if typed not in ("", "1") and char in SUITS and len(char) == 1:
            return self._done(FindCard(Card.parse(longer)))
        wanted = (
            "a suit. Type C, D, H or S." if typed not in ("", "1") else "a rank. Type A, 2 to 10 (or T), J, Q or K."
        )
        return KeyResult(self, EntryPrompt("/" + typed, f"{_key_name(key)} is not {wanted}"))

    def _searching(self, typed: str) -> KeyResult:
        return KeyResult(replace(self, search_text=typed), EntryPrompt("/" + typed))

    def _unknown_key(self, key: str, board: Board) -> Rejected:
        help_keys = " or ".join(key_text(name) for name in self.bindings.commands[KeyCommand.HELP])
        advice = f" {help_keys} lists the keys." if help_keys else ""
        return Rejected(f"{_key_name(normal_key(key))} does nothing in {board.game.title}.{advice}")


def _key_name(key: str) -> str:
    return key if len(key) > 1 else repr(key)
