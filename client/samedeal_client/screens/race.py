"""The race: one's own board, the rivals beside it, and the two-key grammar."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import replace
from random import Random
from typing import Final

from textual import events
from textual.app import ComposeResult

from samedeal.board import Board
from samedeal.cards import FACE
from samedeal.errors import PlayError
from samedeal.games import Game, Stock
from samedeal.moves import FOUNDATION, Move
from samedeal.play import UNDO, Undo
from samedeal_client import digits
from samedeal_client.bindings import Command
from samedeal_client.key_names import QUIT_KEY, command_key, command_text, key_text
from samedeal_client.keys import Cancel, Choose, Do, Effect, Find, Keys, LookInto, Pressed, Typing, Unknown, Which
from samedeal_client.layout import Layout, Size, layout, smallest
from samedeal_client.marks import NO_MARKS, Marks, brought, lifted, picked
from samedeal_client.model import Model
from samedeal_client.panel import clock_text
from samedeal_client.picture import Hit
from samedeal_client.pointer import Pointer
from samedeal_client.render import pile_rows
from samedeal_client.rivals import ordinal, racing_now
from samedeal_client.screens.base import ClientScreen, KeyHint, only_counts
from samedeal_client.spans import Row, Span, row_width
from samedeal_client.strategy import Memory, choose
from samedeal_client.widgets.board import BoardView
from samedeal_client.widgets.rivals import RivalsPanel
from samedeal_client.widgets.rows import Rows

FRAME_ROWS: Final = 3
"""Rows around the board: the header, the line for sentences, the keys."""

_MOST_QUEUED: Final = 40
_MOST_NAMED: Final = 6


class RaceScreen(ClientScreen):
    """One's own race, from the countdown on."""

    def __init__(self) -> None:
        super().__init__()
        self._keys = Keys()
        self._pointer = Pointer()
        self._typed = ""
        self._queue: deque[str] = deque()
        self._found: int | None = None
        self._hinted: tuple[Board, Move] | None = None
        self._looking: tuple[Row, ...] = ()
        self._board: Board | None = None
        self._memory = Memory(Random())  # noqa: S311 (a hint is no secret)

    def compose_body(self) -> ComposeResult:
        """The board, the rivals, and what lies over them at times."""
        self._keys = Keys(self.samedeal.bindings)
        self._view = BoardView(self.look, self.model.game, id="board")
        self._panel = RivalsPanel(self.look, id="rivals")
        self._countdown = Rows(self.look, id="countdown")
        self._pile_lines = Rows(self.look, id="pile")
        yield from (self._view, self._panel, self._countdown, self._pile_lines)

    @property
    def game(self) -> Game:
        """The game that is raced in."""
        return self.model.game

    def least_size(self) -> Size:
        """The board's, and the frame."""
        least = smallest(self.game)
        return Size(least.width, least.height + FRAME_ROWS)

    # ---------------------------------------------------------------- showing

    def on_changed(self, before: Model, after: Model) -> None:
        """Show the board, go on with what was typed, and show the rivals."""
        if after.room is None:
            return
        if only_counts(before, after):
            self._show_rivals()
            return
        self._board = after.board
        if not after.unsettled:
            self._replay()
        self._show_board()
        self._show_rivals()
        self._show_countdown()

    def on_tick(self) -> None:
        """Show what goes with the clock."""
        self._show_rivals()
        self._show_countdown()

    def _layout(self) -> Layout | None:
        size = self.body.outer_size
        least = smallest(self.game)
        if size.width < least.width or size.height < least.height:
            return None
        return layout(self.game, size.width, size.height, panel=True)

    def _show_board(self) -> None:
        at = self._layout()
        if at is None:
            return
        board = self._board or Board(self.game, (b"",) * len(self.game.piles))
        self._view.show(board, at, self._marks(board))

    def _marks(self, board: Board) -> Marks:
        shown = self.model.shown
        if self._board is None or shown is None:
            return NO_MARKS
        last = brought(board, shown.last)
        hint = self._hinted[1] if self._hinted is not None and self._hinted[0] == board else None
        marks = Marks(last=last, found=self._found, hint=hint)
        source = self._keys.source
        if not source:
            return marks
        if source == FOUNDATION:
            return replace(marks, targets=_foundation_targets(board))
        return replace(picked(board, source, self._keys.size, last=last), found=self._found)

    def _show_rivals(self) -> None:
        at, room = self._layout(), self.model.room
        place = at.panel if at is not None and room is not None else None
        rivals = racing_now(self.model, self.client.now()) if place is not None else ()
        self._panel.show_in(place, rivals, room.watching if room else 0)

    def _show_countdown(self) -> None:
        over = self._countdown
        room = self.model.room
        counting = room is not None and self._board is None and room.phase in ("countdown", "racing")
        over.display = counting
        if not counting:
            return
        left = -(-self.model.until_start(self.client.now()) // 1000)
        number = digits.large(left, self.look) if left else ()
        word = f"{self.game.title}: the same cards for everybody" if left else "The cards are coming"
        width = max([len(word) + 4, *(row_width(row) + 4 for row in number)])
        rows: list[Row] = [
            (),
            *(_centred(row, width) for row in number),
            (),
            _centred((Span(word, "label"),), width),
            (),
        ]
        at, body = self._layout(), self.body.size
        room_for_it = at.body if at is not None and at.panel is not None else body.width
        over.styles.offset = (max(room_for_it - width, 0) // 2, max(body.height - len(rows), 0) // 2)
        over.styles.width, over.styles.height = width, len(rows)
        over.show(rows)

    # ---------------------------------------------------------------- the frame

    def title_row(self) -> Row:
        """The game, its deal and the room."""
        room = self.model.room
        if room is None:
            return ()
        deal = "" if room.deal == "random" else f" {room.deal}"
        return (
            Span("samedeal ", "label"),
            Span(f"{self.look.glyphs.pointer} ", "label"),
            Span(self.game.title + deal, "title"),
            Span(f" {self.look.glyphs.pointer} room {room.room}", "label"),
        )

    def status_row(self) -> Row:
        """The time that is left, the place and the cards up."""
        model = self.model
        room = model.room
        if room is None:
            return ()
        left = model.time_left(self.client.now()) if room.phase == "racing" else room.options.limit * 1000
        up = self._board.cards_up if self._board else 0
        spans = [
            Span(f"  {clock_text(left)} left", "notice" if left < 60_000 else ""),
            Span(f"  {up}/{self.game.cards}", "you"),
        ]
        at = self._layout()
        if at is not None and at.panel is None:
            rivals = racing_now(model, self.client.now())
            rank = next((rival.rank for rival in rivals if rival.you), 0)
            spans.append(Span(f" {ordinal(rank)} of {len(rivals)}", "label"))
        return tuple(spans)

    def idle_row(self) -> Row:
        """What is being typed, or how one fares."""
        if self._queue:
            return (
                Span(f" {self.look.glyphs.ellipsis} a card is being turned up; then: {' '.join(self._queue)}", "label"),
            )
        if self._typed:
            return (Span(f" {self._typed}", "you"),)
        return self._state_row()

    def _state_row(self) -> Row:
        model, board = self.model, self._board
        if board is None or model.room is None:
            return ()
        undo = command_text(self.samedeal.bindings, Command.UNDO, self.look)
        if board.won:
            tally = model.tallies.get(model.me)
            home = f" in {clock_text(tally.home - model.room.starts)}" if tally and tally.home else ""
            return (Span(f" All {self.game.cards} cards are up: you are home{home}! The others race on.", "you"),)
        if model.seat is not None and model.seat.out:
            return (Span(" You are out; your cards up count. The others race on.", "notice"),)
        if model.stuck and not model.unsettled:
            helps = f"undo with {undo}, or" if model.room.options.undo_rule is not Undo.OFF else "wait for the end, or"
            return (
                Span(f" Nothing that helps is left: {helps} give up with {key_text(QUIT_KEY, self.look)}", "notice"),
            )
        return (Span(" type from and to: 3 5 moves column 3 to column 5, 3 3 goes up; or drag cards", "label"),)

    def key_hints(self) -> Iterable[KeyHint]:
        """The commands, as they are bound now."""
        draws = {Stock.NONE: "", Stock.DRAW_THREE: "draw", Stock.DEAL_ROW: "deal"}[self.game.stock]
        words = [
            (Command.BEST, "best"),
            (Command.STOCK, draws),
            (Command.ALL_UP, "all up"),
            (Command.UNDO, "undo"),
            (Command.HINT, "hint" if self.model.room is not None and self.model.room.options.hints else ""),
            (Command.FIND, "find"),
            (Command.LOOK, "look into"),
            (Command.CANCEL, "cancel"),
        ]
        source = self._keys.source
        if self._board is not None and source and source != FOUNDATION and lifted(self._board, source) > 1:
            words[1:1] = [(Command.FEWER, "fewer"), (Command.MORE, "more")]
        bindings = self.samedeal.bindings
        for command, word in words:
            if word and (key := command_key(bindings, command)):
                yield KeyHint(command_text(bindings, command, self.look), word, key)
        yield KeyHint(key_text(QUIT_KEY, self.look), "quit", QUIT_KEY)
        yield KeyHint(command_text(bindings, Command.HELP, self.look), "help", command_key(bindings, Command.HELP))

    # ---------------------------------------------------------------- the keyboard

    def on_key(self, event: events.Key) -> None:
        """Take a key, or keep it until a card is turned up."""
        key = event.character if event.character is not None and event.is_printable else event.key
        event.stop()
        event.prevent_default()
        if self._looking:
            self._look_into(())
            if self.samedeal.bindings.meaning(key) is Command.CANCEL:
                return
        if self._board is None or self.has_class("small"):
            if self.samedeal.bindings.meaning(key) is Command.HELP:
                self.app.call_later(self.samedeal.help)
            return
        if self.model.unsettled:
            if self.samedeal.bindings.meaning(key) is Command.CANCEL:
                self._queue.clear()
            elif len(self._queue) < _MOST_QUEUED:
                self._queue.append(key)
            self._frame()
            return
        self._press(key)
        self._show()

    def _press(self, key: str) -> None:
        board = self._board
        if board is None:
            return
        self._found = None
        self._take(self._keys.press(key, board))

    def _replay(self) -> None:
        """Press what was typed while a card was being turned up, until the next one is."""
        while self._queue and not self.model.unsettled:
            self._press(self._queue.popleft())
            self._board = self.model.board

    def _show(self) -> None:
        self._show_board()
        self._frame()

    # ---------------------------------------------------------------- the mouse

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Pick up, or put down."""
        self._look_into(())
        board = self._board
        if board is None:
            return
        if event.button != 1:
            self._take(Pressed(Keys(self.samedeal.bindings), Cancel(self._keys.idle)))
            self._show()
            return
        if not self._view.region.contains(event.screen_x, event.screen_y):
            return
        pointed = self._pointer.press(self._hit(event), self._keys, board)
        self._pointer = pointed.pointer
        if pointed.pressed is not None:
            self._found = None
            self._take(pointed.pressed)
        self._show()

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """Put down, where cards were dragged."""
        board = self._board
        if board is None or self._pointer.down is None:
            return
        pointed = self._pointer.release(self._hit(event), self._keys, board, time.monotonic())
        self._pointer = pointed.pointer
        if pointed.pressed is not None:
            self._take(pointed.pressed)
        self._show()

    def _hit(self, event: events.MouseEvent) -> Hit | None:
        view = self._view
        return view.hit(event.screen_x - view.region.x, event.screen_y - view.region.y)

    # ---------------------------------------------------------------- effects

    def _take(self, pressed: Pressed) -> None:
        """Do what a key, or the mouse, came to."""
        self._keys = pressed.keys
        self._typed = ""
        self.say("")
        match pressed.effect:
            case Move() as move:
                self._act(move)
            case Find(card):
                self._found = card & FACE
                self._say_where(card & FACE)
            case LookInto(pile):
                self._look_into(self._pile(pile))
            case Do(command):
                self._command(command)
            case effect:
                self._tell(effect)

    def _tell(self, effect: Effect) -> None:
        match effect:
            case Choose(source, size):
                self._typed = self._chosen(source, size)
            case Which(_, sentence):
                self._typed = sentence
            case Typing(text):
                self._typed = f"{text}_" if text.startswith("/") else text
            case Unknown(sentence):
                self.say(sentence)
            case Cancel() if self._hinted is not None:
                self._hinted = None
            case _:
                pass

    def _act(self, action: Move | str) -> None:
        try:
            self.client.act(action)
        except PlayError as error:
            self.say(str(error))
        self._board = self.model.board

    def _command(self, command: Command) -> None:
        match command:
            case Command.UNDO:
                self._act(UNDO)
            case Command.ALL_UP:
                if not self.client.raise_all():
                    self.say("No card can go up now")
                self._board = self.model.board
            case Command.HINT:
                self._ask_hint()
            case Command.HELP:
                self.app.call_later(self.samedeal.help)
            case _:
                pass

    def _chosen(self, source: str, size: int) -> str:
        board = self._board
        if board is None or source == FOUNDATION:
            return "from a foundation: which column takes the card?"
        kind = self.game.piles[self.game.index[source]].kind.value
        cards = [self.look.card(card) for card in board.piles[self.game.index[source]][-size:]] if size else []
        if len(cards) > _MOST_NAMED:
            cards = [f"{len(cards)} cards", cards[0], self.look.glyphs.ellipsis, cards[-1]]
        best = command_text(self.samedeal.bindings, Command.BEST, self.look)
        return f"{kind} {source}: {' '.join(cards)} {self.look.glyphs.pointer} where to? {best} for the best place"

    def _say_where(self, card: int) -> None:
        board = self._board
        if board is not None and not any(card in pile for pile in board.piles):
            self.say(f"{self.look.card(card)} is not in sight: it lies face down, or in the stock")

    def _pile(self, pile: str) -> tuple[Row, ...]:
        board = self._board
        return pile_rows(board, pile, self.look, self.body.size.width - 4) if board else ()

    def _look_into(self, rows: tuple[Row, ...]) -> None:
        if rows == self._looking:
            return
        self._looking = rows
        block = self._pile_lines
        block.display = bool(rows)
        if rows:
            body = self.body.size
            block.styles.offset = (1, max(body.height - len(rows) - 1, 0))
            block.styles.width, block.styles.height = body.width - 2, len(rows) + 1
            block.show(
                [
                    (Span("─" * body.width if not self.look.ascii else "-" * body.width, "axis"),),
                    *((Span(" "), *row) for row in rows),
                ]
            )

    def _ask_hint(self) -> None:
        room, board = self.model.room, self._board
        if room is None or board is None:
            return
        if not room.options.hints:
            self.say("This room has no hints")
            return
        self.run_worker(self._hint(board), name="hint", exclusive=True)

    async def _hint(self, board: Board) -> None:
        """Think in another thread, so that the screen stays alive."""
        move = await asyncio.to_thread(choose, "careful", board.masked(), self._memory)
        if board != self._board:
            return
        if move is None:
            self.say("No move that helps is in sight")
        elif not move.is_transfer:
            key = command_text(self.samedeal.bindings, Command.STOCK, self.look)
            self.say(f"hint: {move.source} from the stock, with {key}", "you")
        else:
            self._hinted = (board, move)
            card = self.look.card(board.piles[self.game.index[move.source]][-move.size])
            self.say(f"hint: {move.source} {move.target} moves the {card}", "you")
        self._show_board()


def _foundation_targets(board: Board) -> frozenset[str]:
    """The columns that take a card from some foundation."""
    sources = {board.game.keys[at] for at in board.game.foundations}
    return frozenset(move.target for move in board.legal_moves() if move.source in sources)


def _centred(row: Row, width: int) -> Row:
    gap = max(width - row_width(row), 0)
    return (Span(" " * (gap // 2)), *row, Span(" " * (gap - gap // 2)))
