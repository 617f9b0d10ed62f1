"""The output of the line client: the events of a race, printed as lines."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from samedeal.board import Board
from samedeal_client.board.board_lines import board_lines
from samedeal_client.panels.live_ranking import all_seats, current_ranking
from samedeal_client.panels.move_sentences import move_sentences
from samedeal_client.panels.narration import Narrator
from samedeal_client.panels.race import SEAT_KEPT, server_gone_sentences
from samedeal_client.panels.race_feed import RaceFeed
from samedeal_client.panels.race_news import news_text
from samedeal_client.panels.window import raced_sentence
from samedeal_client.terminal_io.line_io import Printer
from samedeal_client.text.appearance import Look
from samedeal_client.text.player_names import player_name
from samedeal_link.machine.terminal import terminal
from samedeal_link.model.model import Model
from samedeal_link.records.record_files import save_record
from samedeal_link.session.client_session import ClientSession

_CLOCK_INTERVAL: Final = 0.5
"""Interval, in seconds, between two checks of the race clock."""

_WARNINGS: Final = ((60_000, "One minute left."), (30_000, "30 seconds left."), (10_000, "Ten seconds left."))

_TOLD_BY_NARRATOR: Final = ("finished", "resigned")
"""The kinds of ``News`` that are left out here, because the ``Narrator`` has sentences for them."""


@dataclass(eq=False, repr=False)
class LineOutput:
    """A printer of what changes for the player: the connection, the room, the boards, the progress of players.

    ``seat_lost`` is called when the player has lost the seat. ``race_over`` is called when the results of a race have
    been printed. ``record_path`` is the file with the record of the player's latest race.
    """

    _client: ClientSession
    _look: Look
    _printer: Printer
    _seat_lost: Callable[[], None]
    _race_over: Callable[[], None]
    record_path: Path | None = None
    _printed_board: Board | None = None
    _feed: RaceFeed = field(default_factory=RaceFeed)
    _feed_room: str = ""
    _warned: set[int] = field(default_factory=set)
    _finished_room: str = ""
    _told_waiting: int = 0
    _raced: str = ""

    def __post_init__(self) -> None:
        self.narrator = Narrator(self._look)
        self._model = self._client.model
        self._connection = self._client.connection

    def print(self, *lines: str) -> None:
        """Print each text on a line of its own."""
        self._printer.print_lines(lines)

    def update(self) -> None:
        """Print what has changed since the last call."""
        before, after = self._model, self._client.model
        self._model = after
        self._print_connection()
        for message in self._client.take_messages():
            if message.kind != "refusal":
                self.print(message.sentence)
            if message.kind in ("seat_lost", "room_closed"):
                self._seat_lost()
        if after is not before:
            self._print_changes(before, after)

    def print_board(self, board: Board) -> None:
        """Print a board with the number of cards on its foundations."""
        self._printed_board = board
        self._printer.print_rows(board_lines(board, self._look))
        self.print(_foundations_sentence(board))

    def print_watched_boards(self, model: Model) -> None:
        """Print the boards of all players of a watched race."""
        for player in model.watched:
            self._print_watched_board(model, player)

    async def watch_clock(self) -> None:
        """Print the news of the race, and warnings about the time left, until the task is cancelled."""
        while True:
            await asyncio.sleep(_CLOCK_INTERVAL)
            model = self._client.model
            if model.phase != "racing":
                self._warned.clear()
                continue
            self._print_waiting()
            self._print_news(model)
            before, self._raced = self._raced, raced_sentence(model, self._client.now())
            if self._raced:
                self.print(*([] if before else [self._raced]))
                continue
            left = model.time_left(self._client.now())
            for bound, sentence in _WARNINGS:
                if 0 < left <= bound < model.this_room.options.limit * 1000 and bound not in self._warned:
                    self._warned.add(bound)
                    self.print(sentence)

    def _print_waiting(self) -> None:
        """Print how long a move has waited for its answer: after two seconds, and whenever that has doubled."""
        waiting = self._client.link.waiting if self._client.connection.state == "up" else 0
        if not waiting:
            self._told_waiting = 0
        elif waiting >= 2 * self._told_waiting:
            self._told_waiting = waiting
            self.print(f"Waiting {waiting} s for the server.")

    def _print_connection(self) -> None:
        connection = self._client.connection
        before, self._connection = self._connection, connection
        if connection.server_gone and not before.server_gone:
            self.print(f"{' '.join(server_gone_sentences(self._model))} Trying to reconnect.")
        elif connection.state == "lost" and before.state != "lost":
            seat = f" {SEAT_KEPT}" if self._model.has_live_seat else ""
            self.print(f"{connection.reason} Reconnecting. What you type meanwhile is sent afterwards.{seat}")
        elif connection.state == "up" and before.state == "lost":
            self.print("Connected again.")

    def _print_changes(self, before: Model, after: Model) -> None:
        self.print(*self.narrator.narrate(before, after))
        self._print_news(after)
        if after.delay is not None:
            self._print_watched_changes(before, after)
        elif after.board is None:
            self._printed_board = None
        elif after.board != self._printed_board:
            self._print_own_changes(before, after.board, after)
        if after.room and after.room.standings and self._finished_room != after.room.room:
            self._finished_room = after.room.room
            self._save_record(after)
            self._race_over()

    def _print_own_changes(self, before: Model, board: Board, after: Model) -> None:
        """Print a sentence for each of the player's moves, or the whole board if it has changed in another way."""
        known = before.own.shown
        sentences = move_sentences(known, after.own.shown, self._look) if known and after.own.shown else []
        if not sentences or known is None or known.board != self._printed_board:
            self.print_board(board)
        else:
            self._printed_board = board
            self.print(*sentences[:-1], f"{sentences[-1]} {_foundations_sentence(board)}")

    def _print_watched_changes(self, before: Model, after: Model) -> None:
        for player, watched in after.watched.items():
            previous = before.watched.get(player)
            seat = after.seat_of(player)
            if previous is watched or seat is None:
                continue
            last = watched.play.last
            if previous is not None and watched.play.revision == previous.play.revision + 1 and last is not None:
                name = player_name(seat.name, self._look, bot=seat.bot)
                self.print(f"{name}: {last.move}. {_foundations_sentence(watched.play.board)}")
            else:
                self._print_watched_board(after, player)

    def _print_watched_board(self, model: Model, player: str) -> None:
        seat, watched = model.seat_of(player), model.watched[player]
        if seat is not None:
            name = player_name(seat.name, self._look, bot=seat.bot)
            self.print("", f"The board of {name}, {model.delay} s late:")
            self.print_board(watched.play.board)

    def _print_news(self, model: Model) -> None:
        """Print the new items of the ``RaceFeed`` as sentences, except those of the kinds in ``_TOLD_BY_NARRATOR``.

        Print nothing for a spectator.
        """
        room, before = model.room, self._feed
        if room is None or room.phase != "racing" or model.delay is not None:
            return
        if (before.me, self._feed_room) != (model.me, room.room):
            before, self._feed_room = RaceFeed(model.me), room.room
        now = self._client.now()
        self._feed = before.after(current_ranking(model, now), now)
        seats = all_seats(room)
        for news in self._feed.news:
            if news not in before.news and news.kind not in _TOLD_BY_NARRATOR:
                self.print(f"{news_text(news, seats, model.me, self._look)}.")

    def _save_record(self, model: Model) -> None:
        record, self.record_path = model.record(), None
        if record is not None:
            try:
                self.record_path = save_record(record)
                self.print(f"Record saved in {self.record_path if terminal().owns_process else self.record_path.name}")
            except OSError as error:
                self.print(f"Cannot save your record: {error.strerror}.")
        elif model.own.play is not None:
            self.print("There is no record, because part of the race is missing here.")


def _foundations_sentence(board: Board) -> str:
    return f"Foundations {board.foundation_cards}/{board.game.cards}."
