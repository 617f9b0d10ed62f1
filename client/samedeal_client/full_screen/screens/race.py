"""The race: the player's own board beside the rivals' progress."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Final

from textual import events
from textual.app import ComposeResult

from samedeal.board import Board
from samedeal.board_history import UNDO
from samedeal.errors import PlayError
from samedeal.moves import Move
from samedeal_client.board.board_picture import HitTarget
from samedeal_client.board.draw_board import pile_rows
from samedeal_client.board.layout import FRAME_ROWS, Size, smallest
from samedeal_client.board.marks import NO_MARKS
from samedeal_client.full_screen.screens.base import ClientScreen, only_progress_changed
from samedeal_client.full_screen.screens.moving import show_moving_link
from samedeal_client.full_screen.screens.question import ResignScreen
from samedeal_client.full_screen.widgets.board import BoardView, panel_layout
from samedeal_client.full_screen.widgets.players_panel import PlayersPanel
from samedeal_client.full_screen.widgets.rows_widget import Rows
from samedeal_client.input.bindings import KeyCommand
from samedeal_client.input.controller import ControllerResult, RaceController
from samedeal_client.input.key_grammar import FindCard, KeyGrammar, ScreenCommand
from samedeal_client.input.key_names import QUIT_KEY, command_text
from samedeal_client.panels import race as panels
from samedeal_client.panels.footer_key import FooterKey
from samedeal_client.panels.live_ranking import current_ranking
from samedeal_client.panels.narration import lost_text
from samedeal_client.panels.players_panel import FINAL_SECONDS
from samedeal_client.panels.race_feed import RaceFeed, RankedPlayer
from samedeal_client.panels.race_keys import prompt_row, race_keys
from samedeal_client.panels.race_news import fresh_news_row, rings
from samedeal_client.panels.window import attempt_rows, raced_sentence
from samedeal_client.room_actions import race_person
from samedeal_client.text.spans import Row, Span, counted, row_width
from samedeal_link.model.model import Model
from samedeal_link.records.history_file import best_before
from samedeal_link.solving.solver_process import Hints

END_TIME: Final = 10.0
"""Time, in seconds, for which the board stays after a race that has ended while the player was still playing."""

END_PAUSE: Final = 1.0
"""Time, in seconds, for which input is ignored when the race ends while the player is still playing.

Input is ignored for the same time when the results then open by themselves.
"""

MOVE_COUNT_WIDTH: Final = 80
"""Minimum width, in columns, at which the header shows the number of moves."""


class RaceScreen(ClientScreen):
    """The player's race, from the countdown on."""

    def __init__(self) -> None:
        super().__init__()
        self.game = self.model.game
        self._controller = RaceController()
        self._board: Board | None = None
        self._feed = RaceFeed()
        self._ranking: tuple[RankedPlayer, ...] = ()
        self._in_final_seconds = False
        self._best: int | None = None
        self._explained = False
        self._was_playing = False
        self._ended_at: float | None = None
        self._hints = Hints()

    def compose_body(self) -> ComposeResult:
        """Yield the board and the rivals. The countdown, or a pile shown in full, lies over them."""
        self._controller = RaceController(KeyGrammar(self.samedeal.bindings))
        self._explained = not self.samedeal.read_history().has_played(self.game.name)
        self._board_view = BoardView(self.look, self.game, id="board")
        self._rivals_panel = PlayersPanel(self.look, id="rivals")
        self._countdown = Rows(self.look, id="countdown")
        self._inspected_pile = Rows(self.look, id="pile")
        yield from (self._board_view, self._rivals_panel, self._countdown, self._inspected_pile)

    def minimum_size(self) -> Size:
        """Return the size of the smallest board with header and footer around it."""
        minimum = smallest(self.game)
        return Size(minimum.width, minimum.height + FRAME_ROWS)

    def show_model(self) -> None:
        """Handle the keys that were queued while a card was being revealed. Then show the board and the rivals."""
        before, after = self.model_before, self.model
        if only_progress_changed(before, after):
            self._show_rivals()
            return
        self._board = after.board
        if after.this_room.phase == "racing":
            self._was_playing = after.board is not None and not after.has_finished
        if before.phase != after.phase:
            self._best = None if self.samedeal.practising else best_before(after)
        if before.board is None and after.board is not None:
            self.samedeal.ring()
            self.show_message("")  # what was said about the countdown is no longer true
        self._press_queued()
        self._show_board()
        self._show_rivals()
        self._show_over_board()

    def stays_for(self, model: Model) -> bool:
        """Return whether the race has ended while the player was still playing.

        The board then stays until the player presses Enter, but at most for ``END_TIME`` seconds.
        """
        seat, play = model.seat, model.own.play
        if not self._was_playing or seat is None or seat.resigned or play is None or play.board.won:
            return False
        if self._ended_at is None:
            self._ended_at = time.monotonic()
            self._controller = RaceController(KeyGrammar(self.samedeal.bindings))
            self.show_message("")
            self.set_timer(END_TIME, self._end_stay)
        return True

    def _end_stay(self) -> None:
        """Go to the results when ``END_TIME`` has passed, unless the player has already pressed Enter."""
        if self._was_playing:
            self.samedeal.ignore_input(END_PAUSE)
            self._show_results()

    def _show_results(self) -> None:
        self._was_playing = False
        self.samedeal.request_update()

    def clock(self) -> object:
        """Return the second of the race. Other times are shown only without a connection."""
        connection, now = self.client.connection, self.client.now()
        if connection.state != "up":
            return None
        seconds = self.model.until_start(now) // 1000, self.model.time_left(now) // 1000
        return connection, self.client.link.waiting, self.samedeal.announcement, self.client.person, seconds

    def on_tick(self) -> None:
        """Update the parts that depend on the time."""
        self._show_rivals()
        self._show_over_board()

    def _show_board(self) -> None:
        places = panel_layout(self.game, self.body.outer_size)
        if places is None:
            return
        board, controller, shown = self._board, self._controller, self.model.own.shown
        if board is None or shown is None:
            self._board_view.show(Board(self.game, (b"",) * len(self.game.piles)), places, NO_MARKS)
        else:
            marks, preview = controller.marks(board, shown.last), controller.preview(board)
            self._board_view.show(board, places, marks, preview, motion=self.samedeal.may_animate)
        self._show_inspected_pile()

    def _show_inspected_pile(self) -> None:
        pile, board, block = self._controller.inspected, self._board, self._inspected_pile
        block.set_visible(visible=bool(pile and board))
        if not pile or board is None:
            return
        body = self.body.size
        rows = pile_rows(board, pile, self.look, body.width - 4)
        edge = Span(("-" if self.look.ascii else "─") * body.width, "axis")
        block.styles.offset = (1, max(body.height - len(rows) - 1, 0))
        block.styles.width, block.styles.height = body.width - 2, len(rows) + 1
        block.show([(edge,), *((Span(" "), *row) for row in rows)])

    def _show_rivals(self) -> None:
        places = panel_layout(self.game, self.body.outer_size)
        self._update_ranking_and_news()
        place = places.panel if places is not None else None
        self._rivals_panel.show_in(place, self._ranking, self.model, self._feed, self.client.now(), self._left())

    def _update_ranking_and_news(self) -> None:
        """Update the ranking and the news, and ring the bell for important news."""
        now = self.client.now()
        self._ranking = current_ranking(self.model, now)
        if self._feed.me != self.model.me:
            self._feed = RaceFeed(self.model.me)
        if self.model.this_room.phase == "racing":
            before, self._feed = self._feed, self._feed.after(self._ranking, now)
            added = [news for news in self._feed.news if news not in before.news]
            final = 0 < (self._left() or 0) <= FINAL_SECONDS
            if rings(added, self.model.me) or (final and not self._in_final_seconds):
                self.samedeal.ring()
            self._in_final_seconds = final

    def _left(self) -> int | None:
        """Return the milliseconds until the player's time is up, or None if the race is not under way."""
        now = self.client.now()
        racing = self.model.this_room.phase == "racing" and not self.model.has_raced(now)
        return self.model.time_left(now) if racing else None

    def _show_over_board(self) -> None:
        """Show the countdown over the board, or the result once the player has finished or the race has ended."""
        block = self._countdown
        places, body = panel_layout(self.game, self.body.outer_size), self.body.size
        board_width = places.panel.x - 1 if places is not None and places.panel is not None else body.width
        rows: tuple[Row, ...] = ()
        if self._board is None and self.model.this_room.window:
            rows = attempt_rows(self.model, self.client.now(), self.look)
        elif self._board is None and self.model.this_room.phase in ("countdown", "racing"):
            seconds = -(-self.model.until_start(self.client.now()) // 1000)
            rows = panels.countdown_rows(self.model, seconds, self.look, explained=self._explained)
        elif self._ended_at is not None:
            rows = panels.end_rows(self.model, self.look, board_width)
        else:
            rows = panels.finish_rows(self.model, self._ranking, self._best, self.look, board_width)
        above = max(body.height - len(rows), 0) // 2
        if not rows and self.client.ending_at is not None:
            left = self.client.ending_at - self.client.now()
            rows = panels.idle_rows(self.model, left, self.look, board_width)
            above = max(body.height - len(rows), 0)  # the cards at the top of the columns stay visible
        block.set_visible(visible=bool(rows))
        if not rows:
            return
        width = max(row_width(row) for row in rows)
        block.styles.offset = (max(board_width - width, 0) // 2, above)
        block.styles.width, block.styles.height = width, len(rows)
        block.show(rows)

    def title_parts(self) -> Row:
        """Return the game, its deal and the room."""
        return panels.title_parts(self.model)

    def status_row(self) -> Row:
        """Return the player's place and progress, the number of moves, and the time left."""
        model = self.model
        left = self._left()
        on_foundations = self._board.foundation_cards if self._board else 0
        spans = [*panels.place_span(self._ranking), Span(f"  {on_foundations}/{self.game.cards}", "you")]
        if model.own.play is not None and self.size.width >= MOVE_COUNT_WIDTH:
            spans.append(Span(f"  {counted(model.own.play.moves, 'move')}", "label"))
        if self._ended_at is not None or self.samedeal.practising or model.has_raced(self.client.now()):
            return tuple(spans)
        return (*spans, panels.clock_span(model.this_room.options.limit * 1000 if left is None else left))

    def header_style(self) -> str:
        """Return the style ``alarm`` in the last seconds of the race, otherwise an empty string."""
        left = self._left()
        return "alarm" if left is not None and left <= FINAL_SECONDS else ""

    def prompt_row(self) -> Row:
        """Return the move that is being typed. If there is none, return fresh news that is not in the players' panel.

        If there is no such news either, return the state of the race and the keys that are useful now. While the board
        stays after the end of the race, return an empty row.
        """
        if self._ended_at is not None:
            return ()
        bindings = self.samedeal.bindings
        typed = prompt_row(self._controller, self._board, self.look) if self._board is not None else ()
        news = (
            ()
            if self._rivals_panel.shows_news
            else fresh_news_row(self._feed, self.model.this_room, self.client.now(), self.look)
        )
        raced = raced_sentence(self.model, self.client.now())
        return (
            typed
            or (raced and (Span(f" {raced}", "you"),))
            or (self.client.person is not None and (Span(f" {panels.PERSON_TEXT}", "notice"),))
            or news
            or panels.status_row(self.model, bindings, self.size.width, self.samedeal.after_room)
        )

    def footer_keys(self) -> Iterable[FooterKey]:
        """Return the keys that can be pressed now."""
        if self._ended_at is not None:
            return (FooterKey("enter", "results"), FooterKey(QUIT_KEY, "quit"))
        samedeal = self.samedeal
        if self.model.may_begin:
            move = [FooterKey("d", "other device")] if self.client.link.has_page else []
            return (FooterKey("enter", "begin"), *move, FooterKey(QUIT_KEY, "quit"))
        if self.model.may_open_doors:
            return (FooterKey("enter", "open the doors"), FooterKey(QUIT_KEY, "quit"))
        person = [FooterKey(panels.PERSON_KEY, "race somebody")] if self.client.person is not None else []
        return *person, *race_keys(self.model, self._controller, samedeal.bindings, self.look, samedeal.after_room)

    def press(self, key: str) -> None:
        """Handle a key."""
        if self._ended_at is not None:
            if key == "enter" and time.monotonic() >= self._ended_at + END_PAUSE:
                self._show_results()
            return
        if self.model.has_finished and self._board is not None and key.lower() in (panels.WATCH_KEY, panels.LOBBY_KEY):
            watch = partial(self.client.watch, self.model.this_room.room, self.client.rooms.passphrase)
            self.request(watch if key.lower() == panels.WATCH_KEY else self.client.leave)
            return
        if key == "enter" and self.model.may_begin:
            self.request(self.client.rooms.begin)
            return
        if key == "d" and self.model.may_begin and self.client.link.has_page:
            self.request(partial(show_moving_link, self))
            return
        if key == "enter" and self.model.may_open_doors:
            self.request(self.client.rooms.start)
            return
        if key == panels.PERSON_KEY and self.client.person is not None:
            self.request(partial(race_person, self.client, self.client.person))
            return
        self._board = self.model.board
        self._press_queued()  # if their card was turned up just now
        awaiting_face = self.model.own.awaiting_face
        self._apply(self._controller.press(key, self._board, time.monotonic(), awaiting_face=awaiting_face))
        self._show()

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Pick cards up or put them down.

        A mouse button other than the left one cancels the move or command that the player has begun.
        """
        if self._ended_at is not None:
            return
        self._controller = replace(self._controller, inspected="")
        if event.button != 1:
            self._apply(self._controller.cancel(self._board, time.monotonic()))
        elif self._board is None or self._board_view.region.contains(event.screen_x, event.screen_y):
            self._apply(self._controller.mouse_down(self._hit(event), self._board, time.monotonic()))
        self._show()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Show dragged cards on the pile that would take them."""
        before = self._controller
        self._controller = before.mouse_move(self._hit(event), self._board)
        if self._controller is not before:
            self._show_board()

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """Drop dragged cards."""
        self._apply(self._controller.mouse_up(self._hit(event), self._board, time.monotonic()))
        self._show()

    def _hit(self, event: events.MouseEvent) -> HitTarget | None:
        region = self._board_view.region
        return self._board_view.hit(event.screen_x - region.x, event.screen_y - region.y)

    def _show(self) -> None:
        self._show_board()
        self.show_frame()

    def _press_queued(self) -> None:
        """Handle the keys that were queued while a card was being revealed, until one of them turns up another card."""
        while self._controller.queue and self._board is not None and not self.model.own.awaiting_face:
            self._apply(self._controller.press_queued(self._board, time.monotonic()))
            self._board = self.model.board

    def _apply(self, response: ControllerResult) -> None:
        """Store the controller in ``response``, show the message, and carry out the action."""
        self._controller = response.controller
        if response.message is not None:
            self.show_message(response.message)
        match response.action:
            case Move() as move:
                self._act(move)
            case FindCard(card):
                if self._board is not None:
                    self.show_message(panels.card_location(self._board, card, self.look), "you")
            case KeyCommand() as command:
                self._run_command(command)
            case None:
                pass

    def _act(self, action: Move | str) -> None:
        try:
            self.client.act(action)
        except PlayError as error:
            self.show_message(str(error))
        self._board = self.model.board

    def _run_command(self, command: ScreenCommand) -> None:
        match command:
            case KeyCommand.UNDO:
                self._act(UNDO)
            case KeyCommand.COLLECT:
                if sentence := self.client.collect():
                    self.show_message(sentence)
                self._board = self.model.board
            case KeyCommand.HINT:
                self._ask_for_hint()
            case KeyCommand.HELP:
                self.app.call_later(self.samedeal.action_help)
            case KeyCommand.RESIGN:
                self.ask_to_resign()

    def ask_to_resign(self) -> None:
        """Ask whether the player really resigns."""
        if self.model.this_room.phase != "racing" or self.model.has_finished:
            self.show_message("Your race is already over. You can't resign from it.")
        elif self.client.connection.server_gone:
            self.show_message("You can't resign now, because the server has stopped.")
        else:
            _ = self.app.push_screen(ResignScreen())

    def _ask_for_hint(self) -> None:
        board = self._board
        if board is None:
            return
        if not self.model.this_room.options.hints:
            self.show_message("Hints are off in this room.")
        elif self.model.own.is_stuck:
            self.show_message(panels.stuck_text(self.model, self.samedeal.bindings))
        else:
            self.show_message("Looking for a hint...", "label")
            self.run_worker(self._show_hint(board), name="hint", exclusive=True)

    async def _show_hint(self, board: Board) -> None:
        hint = await self._hints.suggest(board.masked())
        if board != self._board:
            return
        move = hint.move
        lost = f"{lost_text(may_undo=self.model.own.may_undo)} " if hint.is_lost else ""
        if move is None:
            self.show_message(lost or "No useful move found.")
        elif not move.is_transfer:
            key = command_text(self.samedeal.bindings, KeyCommand.STOCK)
            self.show_message(f"{lost}Hint: {panels.stock_text(board)} with {key}. {hint.reason}".rstrip(), "you")
        else:
            self._controller = self._controller.hinted(board, move)
            text = panels.hint_text(board, move, self.samedeal.bindings, self.look)
            self.show_message(f"{lost}Hint: {text} {hint.reason}".rstrip(), "you")
        self._show_board()
