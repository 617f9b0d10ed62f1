"""The line client: for any terminal, for none at all, and for screen readers. It prints lines and moves no cursor."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import sys
from collections.abc import Awaitable, Callable
from random import Random
from typing import Final

from samedeal.board import Board
from samedeal.errors import PlayError, Refused
from samedeal.moves import Move
from samedeal.play import UNDO
from samedeal_client.board.notation import Choice, Command, Mistake, Word, understand, understand_command
from samedeal_client.board.render import draw_board
from samedeal_client.bots.strategy import Memory, choose
from samedeal_client.net.client import Client
from samedeal_client.rooms.model import Model
from samedeal_client.rooms.records import save_record
from samedeal_client.text.lines import LineReader, Printer
from samedeal_client.text.look import Look
from samedeal_client.views.narration import Narrator

RIVALS_EVERY: Final = 5.0
"""Seconds between two lines with the rivals' counts, so that there is time to read and to play."""

_WIDTH: Final = 80
_HEIGHT: Final = 60
_WARNINGS: Final = ((60_000, "One minute left."), (10_000, "Ten seconds left."))

HELP: Final = """\
moves  3 5    column 3 to column 5 (or 35); into an empty column the longest group, 3 5 x2 for two cards
       3 0    to a foundation (or 3 3)
       3      to where it fits best
       w 4    from the waste, a fan or the reserve, by its letter; 0 5 from a foundation (Steve)
       draw   or deal, or d: from the stock
       up     everything that can go up
       undo   or u: take a move back
look   board   find TH   hint, where the room allows it   rivals
race   ready   start (the host)   resign   again (a rematch)   leave (give up the seat)   quit
A letter that names a pile is that pile: in Phoenix d and u are cards of the reserve."""


class Plain:
    """A client in lines.

    ``come_back`` gives the command that a player types to come back to a room, where coming back is possible.
    """

    def __init__(
        self,
        client: Client,
        look: Look,
        printer: Printer,
        come_back: Callable[[str], str] | None,
        *,
        ends_with_race: bool,
    ) -> None:
        self.client = client
        self._look = look
        self._printer = printer
        self._come_back = come_back
        self._ends_with_race = ends_with_race
        self._narrator = Narrator(look)
        self._told = client.model
        self._printed: Board | None = None
        self._rivals_told = ""
        self._warned: set[int] = set()
        self._lost = False
        self._finished = ""
        self._changed = asyncio.Event()
        self._done: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._thinking = Memory(Random())  # noqa: S311 (a hint is no secret)

    # ---------------------------------------------------------------- running

    async def run(self, reader: LineReader | None, enter: Callable[[], Awaitable[None]]) -> int:
        """Enter a room and play until the player quits, the race is over (without a terminal), or the link ends.

        The exit code; raises what ``enter`` raises.
        """
        unsubscribe = self.client.subscribe(self._tell)
        works = (self._follow(), self._watch_clock(), self._obey(reader, enter))
        tasks = [asyncio.create_task(work) for work in works]
        for task in tasks:
            task.add_done_callback(self._failed)
        self._tell()
        try:
            return await self._done
        finally:
            unsubscribe()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def say(self, *lines: str) -> None:
        """Print lines."""
        self._printer.say(lines)

    def interrupt(self, code: int) -> None:
        """Say how to come back, and end with an exit code: Ctrl-C, or the terminal has gone."""
        with contextlib.suppress(OSError):
            self.say("")
            self._quit(code)
        self._stop(code)

    def _stop(self, code: int) -> None:
        if not self._done.done():
            self._done.set_result(code)

    def _failed(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None and not self._done.done():
            self._done.set_exception(error)

    async def _follow(self) -> None:
        ended = await self.client.run()
        if not self._done.done():
            self.say(ended.sentence + ".")
            self._stop(1)

    # ---------------------------------------------------------------- telling

    def _tell(self) -> None:
        before, after = self._told, self.client.model
        self._told = after
        self._tell_connection()
        for said in self.client.take_said():
            if said.kind != "refusal":
                self.say(said.sentence if said.sentence.endswith((".", "!", "?")) else f"{said.sentence}.")
            if said.kind == "unseated":
                self._stop(1)
        if after is not before:
            self._tell_race(before, after)
        self._changed.set()

    def _tell_connection(self) -> None:
        connection = self.client.connection
        if connection.state == "lost" and not self._lost:
            self.say(f"{connection.reason}. Coming back by itself; what you type meanwhile is sent then.")
        elif connection.state == "up" and self._lost:
            self.say("Connected again.")
        self._lost = connection.state == "lost"

    def _tell_race(self, before: Model, after: Model) -> None:
        self.say(*self._narrator.tell(before, after))
        if after.delay is not None:
            self._tell_watched(before, after)
        elif after.board is None:
            self._printed = None
        elif after.board != self._printed:
            self._print_board(after.board)
        if after.room is not None and after.room.phase == "finished" and self._finished != after.room.room:
            self._finished = after.room.room
            self._finish(after)

    def _print_board(self, board: Board) -> None:
        self._printed = board
        width = max(shutil.get_terminal_size((_WIDTH, 24)).columns, _WIDTH)
        self._printer.show(draw_board(board, self._look, width, _HEIGHT, roomy=False).rows)
        self.say(f"{board.cards_up} of {board.game.cards} cards up.")

    def _tell_watched(self, before: Model, after: Model) -> None:
        for player, watched in after.watched.items():
            was = before.watched.get(player)
            seat = after.seat_of(player)
            if was is watched or seat is None:
                continue
            board = watched.play.board
            last = watched.play.last
            if was is not None and watched.play.revision == was.play.revision + 1 and last is not None:
                self.say(f"{self._look.says(seat.name)}: {last.move}, {board.cards_up} of {board.game.cards} cards up.")
            else:
                self._print_watched(after, player)

    def _print_watched(self, model: Model, player: str) -> None:
        seat, watched = model.seat_of(player), model.watched[player]
        if seat is not None:
            self.say("", f"The board of {self._look.says(seat.name)}, {model.delay} seconds late:")
            self._print_board(watched.play.board)

    def _finish(self, model: Model) -> None:
        record, room = self.client.record(), model.room
        if record is not None and room is not None:
            try:
                self.say(f"Your record: {save_record(record, room.room, room.starts)}")
            except OSError as error:
                self.say(f"Your record could not be kept: {error.strerror}.")
        elif model.play is not None:
            self.say("No record is kept: not all of the race is known here.")
        if self._ends_with_race:
            self._stop(0)
        else:
            self.say("Type again for a rematch, or quit.")

    async def _watch_clock(self) -> None:
        """Say what time brings: the rivals' counts, together, and how little of it is left."""
        quiet = 0.0
        while True:
            await asyncio.sleep(0.5)
            quiet += 0.5
            model = self.client.model
            if model.room is None or model.room.phase != "racing":
                self._warned.clear()
                continue
            if quiet >= RIVALS_EVERY and model.delay is None:
                quiet = 0.0
                self._tell_rivals(model)
            left = model.time_left(self.client.now())
            for bound, sentence in _WARNINGS:
                if 0 < left <= bound < model.room.options.limit * 1000 and bound not in self._warned:
                    self._warned.add(bound)
                    self.say(sentence)

    def _tell_rivals(self, model: Model) -> None:
        line = self._narrator.rivals(model)
        if line and line != self._rivals_told:
            self.say(line)
        self._rivals_told = line

    # ---------------------------------------------------------------- obeying

    async def _obey(self, reader: LineReader | None, enter: Callable[[], Awaitable[None]]) -> None:
        await enter()
        while reader is not None and (line := await reader.line()) is not None:
            if line.strip():
                await self._do(line)
        if reader is not None and sys.stdin.isatty():
            self._quit(0)

    async def _do(self, line: str) -> None:
        """Do what was typed, once the board is known that it was typed for."""
        early = understand_command(line)
        if early is None or (isinstance(early, Command) and early.word in (Word.UNDO, Word.UP)):
            await self._settled()
        model = self.client.model
        board = model.board if model.delay is None else None
        understood = early if board is None else understand(board, line)
        match understood:
            case None if model.delay is not None:
                self.say("You are watching: type board, help or quit.")
            case None:
                self.say("There is no board to move on yet. Type help for what can be typed.")
            case Mistake(sentence):
                self.say(sentence + ".")
            case Choice(moves):
                self.say(f"Which one? {' or '.join(str(move) for move in moves)}")
            case Command():
                await self._command(understood)
            case Move():
                self._act(understood)

    async def _settled(self) -> None:
        while self.client.model.unsettled:
            self._changed.clear()
            await self._changed.wait()

    def _act(self, action: Move | str) -> None:
        try:
            self.client.act(action)
        except PlayError as error:
            self.say(f"{error}.")

    async def _command(self, command: Command) -> None:
        try:
            match command.word:
                case Word.READY:
                    await self.client.ready()
                case Word.START:
                    await self.client.start()
                case Word.RESIGN:
                    await self.client.resign()
                case Word.AGAIN:
                    await self.client.join(await self.client.rematch())
                case Word.LEAVE:
                    await self.client.leave()
                    self.say("You have given up your seat.")
                    self._stop(0)
                case _:
                    self._look_or_act(command)
        except Refused as refused:
            self.say(f"{refused}.")

    def _look_or_act(self, command: Command) -> None:
        model = self.client.model
        match command.word:
            case Word.QUIT:
                self._quit(0)
            case Word.HELP:
                self.say(*HELP.splitlines())
            case Word.RIVALS:
                self.say(self._narrator.rivals(model) or "There are no rivals.")
            case Word.BOARD if model.delay is not None:
                for player in model.watched:
                    self._print_watched(model, player)
            case _ if model.board is None:
                self.say("There is no board yet: the cards are dealt when the race starts.")
            case _:
                self._on_board(command, model.board)

    def _on_board(self, command: Command, board: Board) -> None:
        match command.word:
            case Word.BOARD:
                self._print_board(board)
            case Word.UNDO:
                self._act(UNDO)
            case Word.UP:
                if not self.client.raise_all():
                    self.say("No card can go up now.")
            case Word.FIND if command.card is not None:
                self.say(self._narrator.find(board, command.card))
            case Word.HINT:
                self._hint(board)

    def _hint(self, board: Board) -> None:
        room = self.client.model.room
        if room is None or not room.options.hints:
            self.say("Hints are off in this room.")
            return
        move = choose("careful", board, self._thinking)
        if move is None:
            self._thinking = Memory(Random())  # noqa: S311 (as above)
            move = choose("careful", board, self._thinking)
        self.say(self._narrator.hint(move))

    def _quit(self, code: int) -> None:
        room = self.client.model.room
        if room is not None and self.client.model.awaited and self._come_back is not None:
            self.say(f"Your seat is kept, and the clock runs on. Come back with: {self._come_back(room.room)}")
        self._stop(code)
