"""A session of the door: the client that runs in an ssh channel, with what surrounds it there."""

from __future__ import annotations

import asyncio
import contextlib
import io
import logging
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from samedeal.errors import MalformedText, SamedealError
from samedeal.names import ROOM_CODE, clean_name
from samedeal.terminal_text import printable
from samedeal_client.commands.arguments import error_report
from samedeal_client.commands.start import start
from samedeal_client.saved_settings import load_settings, save_settings
from samedeal_client.terminal_io.terminal_background import BACKGROUND_QUERY, SLOW_ANSWER, dark_of_answer
from samedeal_door.driver import LEAVE, SessionDriver
from samedeal_link.errors import Failure
from samedeal_link.machine.terminal import CRASHED, Background, LineSource, Terminal, use_terminal
from samedeal_link.machine.unsaved import Unsaved

if TYPE_CHECKING:
    from asyncssh import SSHServerChannel

    from samedeal_door.door import Door

_logger = logging.getLogger(__name__)

_ANSWER_TIME: Final = 1.0
"""Timeout, in seconds, for a terminal's answer to a query."""

_STOP_TIME: Final = 4.0
"""Time, in seconds, after which a client that was told to stop is cancelled."""

_BEGIN_TIME: Final = 1.0
"""Time, in seconds, after which the next session begins, even if this one has drawn nothing yet."""

_CHOICES: Final = ("join", "watch", "race", "new")
"""The commands that the start screen may run. All of them use the server of the door."""

_MOST_WAITING: Final = 1_000_000
"""Number of characters that may wait for a slow reader without a screen. What is written above is dropped."""

_RESIZE_TIME: Final = 0.03
"""Time, in seconds, in which all new sizes of a window count as one."""

_LINE_LENGTH: Final = 1000

_ANSWERED: Final = re.compile(r"\x1b\[\?[0-9;]*c")
_ESCAPE: Final = re.compile(r"\x1b(?:\[[0-9;?<]*[ -/]*[@-~]|O.|[^\[O])?")


@dataclass
class SessionRequest:
    """What the user has asked for. ``size`` is that of the terminal, or (0, 0) without a terminal."""

    user: str
    command: str
    size: tuple[int, int]
    environment: Mapping[str, str]


class _Output(io.TextIOBase):
    """A stream into the channel."""

    def __init__(self, write: Callable[[str], None], encoding: str, *, terminal: bool) -> None:
        self._write = write
        self._encoding = encoding
        self._terminal = terminal

    @property
    def encoding(self) -> str:  # type: ignore[override]  # io's own is read-only, too
        return self._encoding

    def isatty(self) -> bool:
        return self._terminal

    def write(self, text: str) -> int:
        self._write(text.replace("\n", "\r\n") if self._terminal else text)
        return len(text)


class Lines:
    """The lines that a user types. ``echo`` shows them on a terminal, where the client is the one to do so.

    While many lines wait to be read, nothing more is read from ``channel``.
    """

    def __init__(
        self, channel: SSHServerChannel[str], echo: Callable[[str], None] | None, interrupt: Callable[[], None]
    ) -> None:
        self._echo = echo
        self._interrupt = interrupt
        self._text = ""
        self._lines = asyncio.StreamReader()
        self._lines.set_transport(channel)  # type: ignore[arg-type]  # it can pause and resume reading
        self._ended = False
        self.shown = True
        self._wanted = echo is None
        """Whether somebody reads lines. What is typed earlier, for example on a screen, is no line."""

    async def read_line(self) -> str | None:
        """Wait for the next line and return it without its line end. Return None at the end of the input."""
        self._wanted = True
        line = await self._lines.readline()
        return line.decode().removesuffix("\n") if line else None

    def ignore(self) -> None:
        """Ignore what is typed, until a line is read again."""
        self._wanted, self._text = self._echo is None, ""

    def end(self) -> None:
        """End the input."""
        if self._text and self._echo is None and not self._ended:
            self._lines.feed_data(self._text.encode())
        self._ended = True
        self._lines.feed_eof()

    def feed(self, data: str) -> None:
        """Handle input. On a terminal, it can be edited with Backspace and Ctrl-U."""
        for char in data if self._echo is None else _ESCAPE.sub("", data):
            match char:
                case _ if self._ended or not self._wanted:
                    return
                case "\n" | "\r":
                    self._show("\r\n", always=True)
                    self._lines.feed_data(f"{self._text}\n".encode())
                    self._text = ""
                case "\x7f" | "\b" if self._echo is not None:
                    self._erase(1)
                case "\x15" if self._echo is not None:
                    self._erase(len(self._text))
                case "\x03" if self._echo is not None:
                    self._interrupt()
                case "\x04" if self._echo is not None and not self._text:
                    self.end()
                case _ if char.isprintable() and len(self._text) < _LINE_LENGTH:
                    self._text += char
                    self._show(char)

    def _erase(self, count: int) -> None:
        if self._text and count:
            self._text = self._text[:-count]
            self._show("\b \b" * count)

    def _show(self, text: str, *, always: bool = False) -> None:
        if self._echo is not None and (self.shown or always):
            self._echo(text)


class SessionTerminal(Terminal):
    """The terminal of a session, with the environment of its user, and ``home`` as the directory for everything.

    Only one session of the door prepares its first screen at a time, since that takes 0.2 s of CPU.
    ``stalled`` is true while the channel takes no output, and ``count_dropped`` is then called for each frame. ``drivers``
    are those of the apps that have the terminal.
    """

    owns_process = False
    reads_keyboard = is_interactive = False
    user = ""
    environment: Mapping[str, str] = {}
    headers: Mapping[str, str] = {}

    def __init__(
        self, channel: SSHServerChannel[str], request: SessionRequest, home: Path, address: str, door: Door
    ) -> None:
        self._channel = channel
        self.user, self.environment, self._command = request.user, request.environment, request.command
        self.home = home
        self.headers = {"X-Forwarded-For": address}
        self._door = door
        self.only_server, self.public_url, self.solvers = door.server, door.public_url, door.solvers
        self.count_dropped = door.metrics.dropped.inc
        self._turn: asyncio.TimerHandle | None = None
        self.on_crash = self._log_fault
        self.unsaved = Unsaved(_logger.warning)
        self.size = request.size
        self.stalled = False
        self.drivers: list[SessionDriver] = []
        self.show_screen_of_app = False
        self.code: int | None = None
        self._farewell = ""
        self._stops: list[Callable[[int], None]] = []
        self._answer: str | None = None
        self._answered = asyncio.Event()
        self._reading_paused = False
        self._resizing = False
        self._loop = asyncio.get_running_loop()
        self.last_input = self._loop.time()
        self.driver = SessionDriver
        self.run_command = self._run_nested
        self.ask_secret = self._ask_secret
        self.reads_keyboard = self.is_interactive = request.size != (0, 0)
        language = next(filter(None, map(self.environment.get, ("LC_ALL", "LC_CTYPE", "LANG"))), "UTF-8")
        encoding = "utf-8" if "utf" in language.lower() else "ascii"
        self._output = _Output(self.send, encoding, terminal=self.is_interactive)
        self._errors = _Output(self._send_error, encoding, terminal=self.is_interactive)
        self._lines = Lines(channel, self.send if self.is_interactive else None, lambda: self.stop(130))
        self.lines: LineSource = self._lines
        self._task: asyncio.Task[None] | None = None

    # What the client sees

    @property
    def output(self) -> _Output:  # type: ignore[override]  # a TextIOBase has all that is used of a TextIO
        """The stream for output."""
        return self._output

    @property
    def errors(self) -> _Output:  # type: ignore[override]  # as for output
        """The stream for errors and warnings."""
        return self._errors

    def width(self) -> int:
        """Return the width of the terminal, in columns."""
        return self.size[0]

    def directory(self, variable: str, default: str) -> Path:  # noqa: ARG002 (all kinds of data are in one directory)
        """Return the directory of the user."""
        return self.home

    def shown_path(self, path: Path) -> str:
        """Return a path without the directory of the user, which is the door's."""
        return path.name

    @contextmanager
    def without_echo(self) -> Iterator[None]:
        """Do not show what is typed inside the context."""
        self._lines.shown = False
        try:
            yield
        finally:
            self._lines.shown = True

    @contextmanager
    def on_stop(self, stop: Callable[[int], None]) -> Iterator[None]:
        """Call ``stop`` inside the context if the session has to end."""
        self._stops.append(stop)
        try:
            yield
        finally:
            self._stops.remove(stop)

    # What the channel sees

    def send(self, text: str) -> None:
        """Send text to the user. If the channel has been closed, or nothing of it is read any more, drop the text."""
        self._send(text, self._channel.write)

    def _send_error(self, text: str) -> None:
        self._send(text, self._channel.write if self.is_interactive else self._channel.write_stderr)

    def _send(self, text: str, write: Callable[[str], None]) -> None:
        if text and self._channel.get_write_buffer_size() < _MOST_WAITING:
            with contextlib.suppress(OSError):
                write(text)

    def received(self, data: str) -> None:
        """Handle input of the user."""
        self.last_input = self._loop.time()
        if self._answer is not None:
            self._answer = (self._answer + data)[-_LINE_LENGTH:]
            if _ANSWERED.search(self._answer):
                self._answered.set()
        elif self.drivers:
            self.drivers[-1].feed(data)
        else:
            self._lines.feed(data)

    def ended(self) -> None:
        """Handle the end of the input."""
        self._lines.end()

    def resized(self, width: int, height: int) -> None:
        """Handle a new size of the terminal."""
        self.size = (min(max(width, 1), 1000), min(max(height, 1), 500))
        if not self._resizing:
            self._resizing = True
            self._loop.call_later(_RESIZE_TIME, self._tell_size)

    def _tell_size(self) -> None:
        self._resizing = False
        for driver in self.drivers[-1:]:
            driver.resized()

    def set_stalled(self, *, stalled: bool) -> None:
        """Handle that the channel takes no output, or takes it again."""
        self.stalled = stalled
        for driver in self.drivers if not stalled else ():
            driver.resume()

    def pause_reading(self, may_resume: Callable[[], bool]) -> None:
        """Receive nothing until ``may_resume`` returns true."""
        if self._reading_paused:
            return
        self._reading_paused = True
        self._channel.pause_reading()

        def resume() -> None:
            if self.code is None and not may_resume():
                self._loop.call_later(0.02, resume)
                return
            self._reading_paused = False
            self._channel.resume_reading()

        self._loop.call_later(0.02, resume)

    def stop(self, code: int, sentence: str = "") -> None:
        """End the client with an exit code. Tell the user the sentence, once the terminal is restored."""
        if self.code is not None:
            return
        self.code, self._farewell = code, sentence
        for stop in reversed(self._stops):
            stop(code)
        for driver in self.drivers:
            driver.end_app(code)
        self._lines.end()
        if self._task is not None:
            self._loop.call_later(_STOP_TIME, self._task.cancel)

    # The client

    async def run(self) -> int:
        """Run the client until it ends, and return the exit code."""
        use_terminal(self)
        self._task = asyncio.current_task()
        try:
            code = await self._run()
        except asyncio.CancelledError:
            code = 1
        except (SamedealError, Failure) as error:
            code = self._report(error)
        except Exception:  # noqa: BLE001 (it is logged, and must not end the door)
            self._log_fault()
            code = self._report(Failure(CRASHED))
        self.end_turn()
        self._restore()
        if self._farewell:
            self._errors.write(f"{self._farewell}\n")
        return code if self.code is None else self.code

    def _log_fault(self) -> None:
        self._door.metrics.faults.inc()
        _logger.error("a session has failed", exc_info=True)  # noqa: LOG014 (called while an exception is handled)

    def _report(self, error: Exception) -> int:
        self._restore()
        report = error_report(error)
        self._errors.write(printable(f"samedeal: {report}", 2000) + "\n")
        return report.code

    async def _run(self) -> int:
        try:
            words = shlex.split(self._command)
        except ValueError:
            words = ["?", "?"]
        if words[:1] in (["help"], ["--help"], ["-h"]):
            self._output.write(resources.files("samedeal_door").joinpath("help.txt").read_text("utf-8"))
            return 0
        plain = not self.is_interactive or self.environment.get("TERM") == "dumb" or "--plain" in words
        arguments = _arguments(words, self.only_server, plain=plain)
        with contextlib.suppress(OSError):
            save_settings(replace(load_settings(), server=self.only_server))
        if arguments[:1] not in (["rooms"], ["history"], ["rules"]):
            if not await self._has_name(words):
                return 1
            if not plain:
                self.background = await self._ask_background()
                await self._door.beginning.acquire()
                self._turn = self._loop.call_later(_BEGIN_TIME, self.end_turn)
        return await start(self._run_chosen) if not arguments else await self._run_words(arguments)

    def end_turn(self) -> None:
        """Let the next session begin."""
        if self._turn is not None:
            self._turn.cancel()
            self._turn = None
            self._door.beginning.release()

    async def _run_words(self, arguments: Sequence[str]) -> int:
        """Run the command that the user has typed. It is parsed here, because the parser would end the process."""
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as errors:
            try:
                running = self._door.start_command(arguments)
            except SystemExit as ended:
                if not ended.code:
                    running = 0
                else:
                    why = errors.getvalue().strip().rpartition("error: ")[2]
                    raise Failure(f"This can't be understood: {why}. Type help to see what you can write.", 2) from None
        self._output.write(out.getvalue())
        return running if isinstance(running, int) else await running

    async def _run_command(self, arguments: Sequence[str]) -> int:
        running = self._door.start_command(arguments)
        return running if isinstance(running, int) else await running

    async def _run_chosen(self, arguments: Sequence[str]) -> int:
        """Run a command that the user has chosen on the start screen."""
        if arguments[0] not in _CHOICES:
            raise Failure("This can't be done over ssh. Choose something else.")
        with contextlib.suppress(OSError):
            save_settings(replace(load_settings(), server=self.only_server))
        code = await self._run_command(arguments)
        return code if self.code is None else self.code or 1

    async def _run_nested(self, arguments: Sequence[str]) -> int:
        try:
            return await self._run_command(arguments)
        except (SamedealError, Failure, OSError) as error:
            return error_report(error).code

    async def _has_name(self, words: Sequence[str]) -> bool:
        """Ask for the player's name at the first visit. Return whether there is one."""
        settings = load_settings()
        if settings.name or "--name" in words:
            return True
        suggested = ""
        with contextlib.suppress(MalformedText):
            suggested = clean_name(self.user[:20])
        name = "" if self.is_interactive else suggested or "guest"
        while not name:
            self._output.write(f"Welcome to Samedeal. What is your name{f' [{suggested}]' if suggested else ''}? ")
            typed = await self._lines.read_line()
            if typed is None:
                return False
            try:
                name = clean_name(typed.strip() or suggested)
            except MalformedText as error:
                self._output.write(f"{error}\n")
        self._lines.ignore()
        with contextlib.suppress(OSError):
            save_settings(replace(settings, name=name))
        return True

    async def _ask_background(self) -> Background:
        """Ask the terminal for its background, and measure how long the answer takes."""
        asked, self._answer = self._loop.time(), ""
        self.send(BACKGROUND_QUERY.decode())
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_ANSWER_TIME):
                await self._answered.wait()
        answer, self._answer = self._answer, None
        return Background(dark_of_answer(answer.encode()) is not False, self._loop.time() - asked > SLOW_ANSWER)

    async def _ask_secret(self, question: str) -> str:
        self._restore()
        self._output.write(question)
        with self.without_echo():
            answer = await self._lines.read_line()
        self._lines.ignore()
        return answer or ""

    def _restore(self) -> None:
        """Leave the screen of the last app."""
        if self.show_screen_of_app:
            self.show_screen_of_app = False
            self.send(LEAVE)


def _arguments(words: Sequence[str], server: str, *, plain: bool) -> list[str]:
    """Return the arguments of ``samedeal`` for what the user has typed, or none for the start screen.

    Raise Failure if the words mean nothing here.
    """
    first, others = (words[0], list(words[1:])) if words else ("", [])
    options = next((index for index, word in enumerate(others) if word.startswith("-")), len(others))
    match first:
        case "":
            return ["join", server, "--plain"] if plain else []
        case "join" | "watch" | "new" | "rooms":
            return [first, server, *others]
        case "race":
            return [first, *others[:options], server, *others[options:]]
        case "history" | "rules":
            return [first, *others]
        case _ if first.startswith("-"):
            return ["join", server, *words]
        case _ if ROOM_CODE.fullmatch(first.lower()) and not others[:options]:
            return ["join", server, first, *others]
        case _:
            raise Failure(f"There is no {first[:40]!r} here, only races. Type help to see what you can write.", 2)
