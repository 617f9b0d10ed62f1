"""The line client, for pipes, screen readers and simple terminals. It prints lines and never moves the cursor."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import InitVar, dataclass, field
from importlib import resources
from pathlib import Path
from typing import Final

from samedeal.board import Board
from samedeal.board_history import UNDO
from samedeal.errors import PlayError, RequestRefused
from samedeal.moves import Move
from samedeal_client import room_actions
from samedeal_client.input.intended_move import Ambiguous, Rejected
from samedeal_client.line_by_line.line_output import LineOutput
from samedeal_client.line_by_line.line_parser import TypedCommand, Word, parse_command, parse_line
from samedeal_client.panels.race import card_location, quit_warnings, server_gone_sentences
from samedeal_client.panels.series import goes_on
from samedeal_client.panels.verdict import exit_code
from samedeal_client.panels.waiting import away_question
from samedeal_client.terminal_io.line_io import Printer
from samedeal_client.text.appearance import Look
from samedeal_link.connection.saved_sessions import are_saved
from samedeal_link.machine.terminal import LineSource, terminal
from samedeal_link.records.record_files import save_record
from samedeal_link.session.client_session import ClientSession
from samedeal_link.solving.solver_process import Hints

_REQUESTS: Final = (Word.READY, Word.START, Word.RESIGN, Word.AGAIN, Word.LEAVE, Word.DEVICE)
"""Commands that wait for an answer of the server."""


@dataclass(eq=False, repr=False)
class LineClient:
    """The interpreter of the lines that a player types in a session. A ``LineOutput`` prints all output.

    ``how_to_return`` returns the sentences that are printed for a player who quits. It returns an empty string if there
    is no seat to return to. ``lasting`` is true if the server keeps running after the program. If ``ends_with_race`` is
    true, the program ends when the race ends.
    """

    client: ClientSession
    _look: Look
    printer: InitVar[Printer]
    _how_to_return: Callable[[], str]
    lasting: bool
    ends_with_race: bool
    _asked: Word | None = None
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _saving: asyncio.Task[None] | None = None

    def __post_init__(self, printer: Printer) -> None:
        self._exit_code: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._hints = Hints()
        self._output = LineOutput(self.client, self._look, printer, lambda: self._stop(1), self._race_over)

    async def run(self, reader: LineSource | None, enter: Callable[[], Awaitable[None]]) -> int:
        """Call ``enter`` to enter a room, let the player play, and return the exit code.

        Return when the player quits or has left the room, or when the connection ends or the seat is lost. If
        ``ends_with_race`` is true, also return after the race. Exceptions of ``enter`` propagate to the caller.
        """
        unsubscribe = self.client.subscribe(self._update)
        coroutines = (self._run_session(), self._output.watch_clock(), self._read_lines(reader, enter))
        tasks = [asyncio.create_task(coroutine) for coroutine in coroutines]
        for task in tasks:
            task.add_done_callback(self._raise_failure)
        self._update()
        try:
            return await self._exit_code
        finally:
            unsubscribe()
            tasks += [self._saving] if self._saving is not None else []
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def interrupt(self, code: int) -> None:
        """End with an exit code after Ctrl-C or a hang-up, and print how to return to the seat."""
        with contextlib.suppress(OSError):
            self._output.print("")
            self._quit(code)
        self._stop(code)

    def _stop(self, code: int) -> None:
        if not self._exit_code.done():
            self._exit_code.set_result(code)

    def _raise_failure(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None and not self._exit_code.done():
            self._exit_code.set_exception(error)

    def _update(self) -> None:
        self._output.update()
        self._changed.set()

    def _race_over(self) -> None:
        self._saving = asyncio.create_task(self._save_whole_record(self._output.record_path))
        if not self.ends_with_race:
            again = "the next race" if goes_on(self.client.model.this_room) else "a rematch"
            self._output.print(f"Type 'again' for {again}, or 'quit'.")

    async def _save_whole_record(self, own: Path | None) -> None:
        """Replace the file ``own``, the record of only this player, by the server's record of all players.

        If ``own`` is None, there is no file to replace. Once the race is verified, end the program if
        ``ends_with_race`` is true.
        """
        audit = await self.client.audit()
        if own is not None and audit.reading.record is not None:
            with contextlib.suppress(OSError):  # the player's own record stays
                save_record(audit.reading.record, own)
        if self.ends_with_race:
            self._stop(exit_code(audit.verdict))

    async def _run_session(self) -> None:
        ended = await self.client.run()
        if not self._exit_code.done():
            self._output.print(ended.sentence)
            self._stop(1)

    async def _read_lines(self, reader: LineSource | None, enter: Callable[[], Awaitable[None]]) -> None:
        await enter()
        has_read = reader is None
        while reader is not None and (line := await reader.read_line()) is not None:
            has_read = True
            if line.strip():
                await self._execute(line)
        if reader is not None and terminal().reads_keyboard:
            self._quit(0)
        elif not has_read and (evidence := self.client.link.evidence) is not None and evidence.role == "player":
            self._output.print("There is no input, so you can't play. Without input you can watch: samedeal watch.")
            self._quit(1)

    async def _execute(self, line: str) -> None:
        """Execute a line. Before a move, wait until the cards that earlier moves turned up are known."""
        command = parse_command(line)
        if command is None or (isinstance(command, TypedCommand) and command.word in (Word.UNDO, Word.COLLECT)):
            await self._wait_for_faces()
        model = self.client.model
        board = model.board if model.delay is None else None
        understood = command if board is None else parse_line(board, line)
        if understood == TypedCommand(Word.LEAVE) and model.is_hidden:
            understood = TypedCommand(Word.QUIT)  # the seat is kept, and so is the clock
        may_resign = model.is_racing(self.client.now()) or (model.may_begin and understood == TypedCommand(Word.RESIGN))
        asked, self._asked = self._asked, None
        match understood:
            case TypedCommand(word) if word in _REQUESTS and self.client.connection.server_gone:
                self._output.print(f"{' '.join(server_gone_sentences(model))} Type quit to quit.")
            case TypedCommand(Word.QUIT | Word.RESIGN | Word.LEAVE as word) if (
                may_resign and asked is not word and terminal().reads_keyboard
            ):
                self._ask_to_confirm(word)
            case TypedCommand(Word.START) if (
                asked is not Word.START
                and terminal().reads_keyboard
                and model.hosting
                and (question := away_question(model, self._look, "Type start again"))
            ):
                self._asked = Word.START
                self._output.print(question)
            case None if model.delay is not None:
                self._output.print("You are watching. Type board, help or quit.")
            case None:
                self._output.print("There is no board yet. Type help for a list of commands.")
            case Rejected(sentence):
                self._output.print(self._look.with_card_symbols(sentence))
            case Ambiguous(moves):
                self._output.print(f"Which one? {' or '.join(str(move) for move in moves)}")
            case TypedCommand():
                await self._run_command(understood)
            case Move():
                self._act(understood)

    async def _wait_for_faces(self) -> None:
        """Wait until the server has sent the faces of the cards that were turned up."""
        while self.client.model.own.awaiting_face:
            self._changed.clear()
            await self._changed.wait()

    def _act(self, action: Move | str) -> None:
        try:
            self.client.act(action)
        except PlayError as error:
            self._output.print(self._look.with_card_symbols(str(error)))

    async def _run_command(self, command: TypedCommand) -> None:
        try:
            match command.word:
                case Word.READY:
                    await self.client.rooms.ready()
                case Word.START if self.client.model.may_begin:
                    await self.client.rooms.begin()
                case Word.START:
                    await self.client.rooms.start()
                case Word.RESIGN:
                    await self.client.rooms.resign()
                case Word.AGAIN:
                    await room_actions.enter_rematch(self.client)
                case Word.DEVICE:
                    link = await room_actions.moving_link(self.client)
                    self._output.print(f"Open this on your other device within ten minutes. It works once. {link}")
                case Word.LEAVE:
                    await self.client.leave()
                    self._output.print("You have left the room.")
                    self._stop(0)
                case Word.REPORT | Word.MUTE:
                    await self._report_or_mute(command)
                case _:
                    await self._run_local_command(command)
        except RequestRefused as refused:
            self._output.print(str(refused))

    async def _report_or_mute(self, command: TypedCommand) -> None:
        model, is_mute = self.client.model, command.word is Word.MUTE
        room = model.told
        seats = [seat for seat in room.players if seat.player != model.me] if room else []
        named = [seat for seat in seats if command.name in (seat.name.casefold(), f"player {seat.seat}")]
        if not named and (command.name or is_mute or room is None):
            self._output.print("No other player here has that name. Type rivals for a list.")
        elif is_mute:
            self.client.mute(named[0].player)
            is_muted = named[0].player in self.client.model.muted
            self._output.print(f"Player {named[0].seat} is {'muted' if is_muted else 'no longer muted'}.")
        else:
            await self.client.rooms.report(named[0].player if named else "")
            self._output.print("Reported to the operator of this server.")

    async def _run_local_command(self, command: TypedCommand) -> None:
        model, board = self.client.model, self.client.model.board
        match command.word:
            case Word.QUIT:
                self._quit(0)
            case Word.HELP:
                text = resources.files("samedeal_client.line_by_line").joinpath("help.txt").read_text("utf-8")
                self._output.print(*text.splitlines())
            case Word.RIVALS:
                self._output.print(self._output.narrator.rivals_line(model) or "There are no other players.")
            case Word.BOARD if model.delay is not None:
                self._output.print_watched_boards(model)
            case _ if board is None:
                self._output.print("There is no board yet. The cards are dealt when the race starts.")
            case Word.BOARD:
                self._output.print_board(board)
            case Word.UNDO:
                self._act(UNDO)
            case Word.COLLECT:
                if sentence := self.client.collect():
                    self._output.print(sentence)
            case Word.FIND if command.card is not None:
                self._output.print(card_location(board, command.card, self._look))
            case Word.HINT:
                await self._print_hint(board)
            case _:
                pass

    async def _print_hint(self, board: Board) -> None:
        room = self.client.model.room
        if room is None or not room.options.hints:
            self._output.print("Hints are off in this room.")
        else:
            hint = await self._hints.suggest(board.masked())
            may_undo = self.client.model.own.may_undo
            sentence = self._output.narrator.hint(board, hint.move, is_lost=hint.is_lost, may_undo=may_undo)
            self._output.print(f"{sentence} {hint.reason}".rstrip())

    def _ask_to_confirm(self, word: Word) -> None:
        """Ask the player to type ``quit``, ``resign`` or ``leave`` a second time."""
        self._asked = word
        if word != Word.QUIT:
            result = "Your foundation cards still count if you resign."
            if self.client.model.is_hidden:
                result = "If you resign, you have no other try."
            elif word == Word.LEAVE:
                result = "If you leave, you resign from the race."
            ends = " The race ends." if self.client.model.ends_without_player else ""
            self._output.print(f"{result}{ends} Type {word.value} again to {word.value}.")
            return
        gone = self.client.connection.server_gone
        kept = "Your seat is kept if you quit. " if self.lasting and not gone and are_saved() else ""
        warnings = " ".join(quit_warnings(self.client.model, lasting=self.lasting, server_gone=gone))
        self._output.print(f"{warnings} {kept}Type quit again to quit.")

    def _quit(self, code: int) -> None:
        if sentence := self._how_to_return():
            self._output.print(sentence)
        self._stop(code)
