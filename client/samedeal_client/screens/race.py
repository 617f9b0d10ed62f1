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
from samedeal.cards import FACE, RANKS, SUITS
from samedeal.errors import PlayError
from samedeal.games import Game, Stock
from samedeal.moves import FOUNDATION, Move
from samedeal.play import UNDO, Undo
from samedeal_client.board.bindings import Command
from samedeal_client.board.carrying import carried
from samedeal_client.board.key_names import QUIT_KEY, command_text, key_sign
from samedeal_client.board.keys import Cancel, Choose, Do, Effect, Find, Keys, LookInto, Pressed, Typing, Unknown, Which
from samedeal_client.board.layout import Layout, Size, layout, smallest
from samedeal_client.board.marks import NO_MARKS, Marks, brought, picked, sizes
from samedeal_client.board.picture import Hit
from samedeal_client.board.pointer import Pointer
from samedeal_client.board.render import pile_rows
from samedeal_client.bots.strategy import Memory, hint
from samedeal_client.rooms.model import Model
from samedeal_client.screens.base import ClientScreen, KeyHint, only_counts
from samedeal_client.screens.question import ResignScreen
from samedeal_client.text.spans import Row, Span, row_width
from samedeal_client.views import race as views
from samedeal_client.views.panel import clock_text
from samedeal_client.views.rivals import ordinal, racing_now
from samedeal_client.widgets.board import BoardView
from samedeal_client.widgets.rivals import RivalsPanel
from samedeal_client.widgets.rows import Rows

FRAME_ROWS: Final = 3
"""Rows around the board: the header, the line for sentences, the keys."""

_MOST_QUEUED: Final = 1000

_ROOM_FOR_MOVES: Final = 80
"""Columns from which on the header has room for the number of moves."""

_AT_ONCE: Final = 1.0
"""Seconds within which the second key of a move follows the first where nobody has looked at what the first came to."""


class RaceScreen(ClientScreen):
    """One's own race, from the countdown on."""

    def __init__(self) -> None:
        super().__init__()
        self._keys = Keys()
        self._pointer = Pointer()
        self._over: tuple[Board, Move] | None = None
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
        over = carried(*self._over) if self._over is not None and self._over[0] == board else None
        self._view.show(board, at, self._marks(board), over)

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
        over.stand(there=counting)
        if not counting:
            return
        left = -(-self.model.until_start(self.client.now()) // 1000)
        rows = views.countdown(self.model, left, self.look)
        width = max(row_width(row) for row in rows)
        at, body = self._layout(), self.body.size
        room_for_it = at.body if at is not None and at.panel is not None else body.width
        over.styles.offset = (max(room_for_it - width, 0) // 2, max(body.height - len(rows), 0) // 2)
        over.styles.width, over.styles.height = width, len(rows)
        over.show(rows)

    # ---------------------------------------------------------------- the frame

    def title_row(self) -> Row:
        """The game, its deal and the room."""
        return views.title(self.model, self.look)

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
        if self.size.width >= _ROOM_FOR_MOVES:
            spans.append(Span(views.moves(model), "label"))
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
        return views.state(self.model, self.samedeal.bindings, self.look)

    def key_hints(self) -> Iterable[KeyHint]:
        """The keys that do something now, as they are bound; of several for one thing the shortest."""
        if self._keys.finding is not None:
            yield from self._find_hints(self._keys.finding)
            return
        of = self.samedeal.bindings.commands
        words = self._words() if self._board is not None else []
        words += [((QUIT_KEY,), "quit"), (of[Command.HELP], "help")]
        for keys, word in words:
            if word and keys:
                sign, key = min(((key_sign(key, self.look), key) for key in keys), key=lambda pair: len(pair[0]))
                yield KeyHint(sign, word, key)

    def _words(self) -> list[tuple[tuple[str, ...], str]]:
        return self._through_words() if self.model.through else self._board_words()

    def _board_words(self) -> list[tuple[tuple[str, ...], str]]:
        of = self.samedeal.bindings.commands
        room, source = self.model.room, self._keys.source
        draws = {Stock.NONE: "", Stock.DRAW_THREE: "draw", Stock.DEAL_ROW: "deal"}[self.game.stock]
        if self._board is not None and not any(move for move in self._board.legal_moves() if not move.is_transfer):
            draws = ""
        shown = self.model.shown
        undo = (
            room is not None and room.options.undo_rule is not Undo.OFF and shown is not None and shown.past is not None
        )
        hints = room is not None and room.options.hints
        several = self._board is not None and source not in ("", FOUNDATION) and len(sizes(self._board, source)) > 1
        return [
            (of[Command.BEST], "best" if source else ""),
            (of[Command.FEWER], "fewer" if several else ""),
            (of[Command.MORE], "more" if several else ""),
            (of[Command.CANCEL], "" if self._keys.idle and not self._looking else "cancel"),
            (of[Command.STOCK], draws),
            (of[Command.ALL_UP], "all up"),
            (of[Command.UNDO], "undo" if undo else ""),
            (of[Command.HINT], "hint" if hints else ""),
            (of[Command.FIND], "find"),
            (of[Command.LOOK], "look"),
            (of[Command.RESIGN], "resign"),
        ]

    def _find_hints(self, typed: str) -> Iterable[KeyHint]:
        """What can be typed next of a card to find, so that a click does it too."""
        if typed == "1":
            yield KeyHint("10", "", "0")
        elif typed:
            yield from (KeyHint(self.look.suit(at), "", suit.lower()) for at, suit in enumerate(SUITS))
        else:
            yield from (KeyHint("10" if rank == "T" else rank, "", rank.lower()) for rank in RANKS)
        for command, word in ((Command.CANCEL, "cancel"), (Command.HELP, "help")):
            if keys := self.samedeal.bindings.commands[command]:
                yield KeyHint(key_sign(keys[0], self.look), word, keys[0])

    def _through_words(self) -> list[tuple[tuple[str, ...], str]]:
        of = self.samedeal.bindings.commands
        room = self.model.room
        watched = room is not None and room.options.spectators and len(room.players) > 1
        return [
            ((views.WATCH_KEY,), "watch the others" if watched else ""),
            ((views.LOBBY_KEY,), "lobby"),
            (of[Command.FIND], "find"),
            (of[Command.LOOK], "look"),
        ]

    # ---------------------------------------------------------------- the keyboard

    def press(self, key: str) -> None:
        """Take a key, or keep it until a card is turned up."""
        command = self.samedeal.bindings.meaning(key)
        if self._looking:
            self._look_into(())
            if command is Command.CANCEL:
                return
        if self._board is None:
            if command is Command.HELP:
                self.app.call_later(self.samedeal.help)
            else:
                self._say_too_early()
        elif self.model.through and key.lower() in (views.WATCH_KEY, views.LOBBY_KEY):
            self.ask(self._watch if key.lower() == views.WATCH_KEY else self.client.leave)
        elif self.model.unsettled:
            self._enqueue(key, command)
        else:
            self._type(key)
            self._show()

    def _say_too_early(self) -> None:
        self.say("The cards are not out yet: what you do counts from the start on")

    def _enqueue(self, key: str, command: Command | str | None) -> None:
        """Keep a key until a card is turned up."""
        if command is Command.CANCEL:
            self._queue.clear()
        elif len(self._queue) < _MOST_QUEUED:
            self._queue.append(key)
        else:
            self.say(f"{_MOST_QUEUED} keys wait for the server already: this one was not taken")
        self.show_frame()

    def _type(self, key: str) -> None:
        board = self._board
        if board is None:
            return
        self._found = None
        self._take(self._keys.press(key, board))

    def _replay(self) -> None:
        """Press what was typed while a card was being turned up, until the next one is."""
        while self._queue and not self.model.unsettled:
            self._type(self._queue.popleft())
            self._board = self.model.board

    def _show(self) -> None:
        self._show_board()
        self.show_frame()

    async def _watch(self) -> None:
        """Watch the others, where one's own race is over."""
        room = self.model.room
        if room is not None:
            await self.client.watch(room.room, self.client.passphrase)

    # ---------------------------------------------------------------- the mouse

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Pick up, or put down."""
        self._look_into(())
        board = self._board
        if board is None:
            self._say_too_early()
            return
        if event.button != 1:
            self._take(Pressed(Keys(self.samedeal.bindings), Cancel(self._keys.idle)))
            self._show()
            return
        if not self._view.region.contains(event.screen_x, event.screen_y):
            return
        self._over = None
        pointed = self._pointer.press(self._hit(event), self._keys, board)
        self._pointer = pointed.pointer
        if pointed.pressed is not None:
            self._found = None
            self._take(pointed.pressed)
        self._show()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Show cards that are dragged over the pile that would take them."""
        board = self._board
        if board is None or self._pointer.down is None:
            return
        move = self._pointer.over(self._hit(event), self._keys, board)
        over = (board, move) if move is not None else None
        if over != self._over:
            self._over = over
            self._show_board()

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """Put down, where cards were dragged."""
        board = self._board
        if board is None or self._pointer.down is None:
            return
        self._over = None
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
            case Choose(source, size, sentence) if self._board is not None:
                self._typed = views.chosen(self._board, source, size, self.samedeal.bindings, self.look)
                self.say(sentence)
            case Which(_, sentence):
                self._typed = self.look.told(sentence)
            case Typing(text, sentence):
                self._typed = views.finding(text) if text.startswith("/") else text
                self.say(sentence)
            case Unknown(sentence):
                self.say(sentence)
                self._expect_a_destination()
            case Cancel() if self._hinted is not None:
                self._hinted = None
            case _:
                pass

    def _expect_a_destination(self) -> None:
        """Take a pile for the destination of a source that gives nothing only where it comes at once."""
        keys = self._keys
        if keys.nothing:
            self.set_timer(_AT_ONCE, lambda: self._begin_anew(keys))

    def _begin_anew(self, keys: Keys) -> None:
        if self._keys is keys:
            self._keys = Keys(self.samedeal.bindings)

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
            case Command.RESIGN:
                self._ask_to_resign()
            case _:
                pass

    def _ask_to_resign(self) -> None:
        room = self.model.room
        if room is None or room.phase != "racing" or self.model.through:
            self.say("Your race is over already: there is nothing to resign from")
        else:
            _ = self.app.push_screen(ResignScreen())

    def _say_where(self, card: int) -> None:
        if self._board is not None:
            self.say(views.where(self._board, card, self.look), "you")

    def _pile(self, pile: str) -> tuple[Row, ...]:
        board = self._board
        return pile_rows(board, pile, self.look, self.body.size.width - 4) if board else ()

    def _look_into(self, rows: tuple[Row, ...]) -> None:
        if rows == self._looking:
            return
        self._looking = rows
        block = self._pile_lines
        block.stand(there=bool(rows))
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
        if self.model.stuck:
            self.say(views.stuck(self.model, self.samedeal.bindings, self.look))
            return
        self.say("looking for a hint", "label")
        self.run_worker(self._hint(board), name="hint", exclusive=True)

    async def _hint(self, board: Board) -> None:
        """Think in another thread, so that the screen stays alive."""
        move = await asyncio.to_thread(hint, board.masked(), self._memory)
        if board != self._board:
            return
        if move is None:
            self.say("No move that helps is in sight")
        elif not move.is_transfer:
            key = command_text(self.samedeal.bindings, Command.STOCK, self.look)
            self.say(f"hint: {move.source} from the stock, with {key}", "you")
        else:
            self._hinted = (board, move)
            self.say(f"hint: {views.hinted(board, move, self.look)}", "you")
        self._show_board()


def _foundation_targets(board: Board) -> frozenset[str]:
    """The columns that take a card from some foundation."""
    sources = {board.game.keys[at] for at in board.game.foundations}
    return frozenset(move.target for move in board.legal_moves() if move.source in sources)
