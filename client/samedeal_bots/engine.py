"""Engines: programs in any language that choose the actions of a bot. ENGINES.md describes how to write one."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Self

from samedeal.board_history import Play, Undo
from samedeal.errors import MalformedText, PlayError, UnseenCard
from samedeal.moves import Move
from samedeal.terminal_text import printable
from samedeal_bots.action_choice import PAUSE, RESIGN
from samedeal_bots.engine_protocol import ALONE, VERSION, Clock, Contest, position_line, read_answer
from samedeal_client.local import parent_watch
from samedeal_client.local.local_processes import environment
from samedeal_link.errors import Failure
from samedeal_link.solving.bot_levels import ALL_LEVELS, LEVELS

START_TIMEOUT: Final = 10.0
"""Timeout, in seconds, for an engine to say ``ready``."""

STOP_TIMEOUT: Final = 5.0
"""Timeout, in seconds, for an engine to answer after ``stop``."""

_QUIT_TIMEOUT: Final = 0.5
"""Timeout, in seconds, for an engine to end after ``quit``. After the timeout it is killed."""

_KILL_TIMEOUT: Final = 5.0
"""Timeout, in seconds, for the output of a killed engine to end. A process that has left its group may keep it open."""

_SHORTEST_TIME: Final = 1.0
"""Minimum time, in seconds, that an engine gets for an answer, however fast the bot plays."""

MAX_FAILURES: Final = 3
"""Number of failures in a race after which an engine is not started again."""

MAX_LINES: Final = 1000
LONGEST_LINE: Final = 1 << 16
"""Maximum number of lines that an engine writes for one answer, and of bytes in a line."""

_SIGNALS: Final = {128 + each: each.name for each in signal.Signals}
"""The signals by which an engine may end, by the exit codes that stand for them."""

_TAIL: Final = 2000
"""Number of bytes of an engine's error output that are kept."""


class EngineFailed(Failure):
    """The failure of an engine that crashed, is silent, writes too much, or answers with an action that is not allowed."""


def engine_command(text: str) -> list[str]:
    """Return the command of an engine: that of a level of the built-in bots, or of a program. Raise Failure for neither."""
    if text in ALL_LEVELS:
        return [sys.executable, "-m", "samedeal_client", "engine", text]
    try:
        words = shlex.split(text)
    except ValueError:
        words = []
    if not words:
        raise Failure(
            f"{text!r} is not the command of an engine. Write a program and its arguments, as in './mine 3'.", 2
        )
    if program := shutil.which(words[0]):
        return [program, *words[1:]]
    if Path(words[0]).is_file() and os.access(words[0], os.X_OK):
        raise Failure(f"There is no {words[0]} on the PATH. For the program in this directory, write ./{words[0]}.", 2)
    if Path(words[0]).is_file():
        raise Failure(
            f"The engine {words[0]} is not executable. Make it so with 'chmod +x', or name its interpreter.", 2
        )
    levels = ", ".join(LEVELS)
    raise Failure(f"There is no engine {words[0]}. Write the path of a program, as in './mine', or one of {levels}.", 2)


@dataclass
class Engine:
    """An engine in a child process. It starts with the first question, and the end of the context ends it.

    If the engine fails, ``report`` is called with a sentence, and the engine is started again. ``options`` are set each
    time that it starts, and ``trace`` is called with each line from or to it. ``declared`` has the names of its options.
    Unless ``peek`` is true, the engine may not undo moves that turned up cards, because it could look under all of them.
    """

    command: Sequence[str]
    report: Callable[[str], None]
    options: dict[str, str] = field(default_factory=dict)
    trace: Callable[[str], None] = lambda _: None
    peek: bool = False
    name: str = ""
    declared: set[str] = field(default_factory=set)
    _process: Process | None = None
    _parent_pipe: int = -1
    _tail: bytes = b""
    _tailing: asyncio.Task[None] | None = None
    _failures: int = 0
    _plan: list[Move | str] = field(default_factory=list)
    _revision: int = 0
    _ignored: str = ""
    """The last line that was no answer."""

    async def __aenter__(self) -> Self:
        """Return this object. The engine is not running yet."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """End the engine."""
        await self.stop()

    def begin_race(self, seed: str = "") -> None:
        """Forget the failures in earlier races. If the engine has an option ``seed`` and one is given, set it."""
        self._failures, self._plan = 0, []
        if seed and "seed" in self.declared:
            self.options["seed"] = seed
            self._write(f"option seed {seed}")

    def tell_result(self, place: int, players: int) -> None:
        """Tell the engine its place among so many players of a race that is over."""
        self._write(f"result {place} {players}")

    async def choose(self, play: Play, clock: Clock, race: Contest = ALONE) -> Move | str:
        """Return an action that is allowed: a move, an undo, ``RESIGN`` or ``PAUSE``.

        If the engine has answered with several actions, return the next of them, unless cards were turned up. Raise
        EngineFailed at the last failure. If this coroutine is cancelled, the engine ends.
        """
        if play.undo_rule is Undo.FREE and not self.peek:
            play = replace(play, undo_rule=Undo.NO_REVEAL)
        if not play.board.legal_moves() and play.why_no_undo is not None:
            return RESIGN
        if play.seen or play.revision != self._revision:
            self._plan = []
        self._revision = play.revision + 1
        while True:
            try:
                if not self._plan:
                    self._plan = await self._ask(play, clock, race)
                return _checked(self._plan.pop(0), play)
            except EngineFailed as failure:
                self._plan = []
                await self.stop()
                self._failures += 1
                if self._failures == MAX_FAILURES:
                    raise
                self.report(f"{failure} It is started again.")
            except asyncio.CancelledError:
                await self.stop()
                raise

    async def start(self) -> None:
        """Start the engine, unless it is running. Raise EngineFailed if it does not get ready."""
        if self._process is not None:
            return
        inherited, self._parent_pipe = os.pipe()
        try:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-S", parent_watch.__file__, str(inherited), "", *self.command),
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                limit=LONGEST_LINE,
                pass_fds=[inherited],
                start_new_session=True,  # so that only this process gets Ctrl-C
                env=environment(),
            )
        except BaseException:
            os.close(self._parent_pipe)
            raise
        finally:
            os.close(inherited)
        self._tail, self._ignored = b"", ""
        self._tailing = asyncio.create_task(self._keep_tail(self._process))
        self._write(f"samedeal {VERSION}")
        try:
            async with asyncio.timeout(START_TIMEOUT):
                await self._shake_hands()
        except TimeoutError:
            raise EngineFailed(
                f"The engine did not say 'ready {VERSION}' within {START_TIMEOUT:g} seconds. {self._said}"
                "It must say so when it reads 'samedeal', and flush its output."
            ) from None

    async def _shake_hands(self) -> None:
        self.name, self.declared = Path(self.command[0]).name, set()
        for _ in range(MAX_LINES):
            match (await self._read("id", "option", "ready")).split():
                case ["id", "name", *words] if words:
                    self.name = printable(" ".join(words), 40)
                case ["option", name, *_]:
                    self.declared.add(name)
                case ["ready", *versions]:
                    if versions != [str(VERSION)]:
                        raise EngineFailed(
                            f"The engine speaks version {printable(' '.join(versions), 20)!r} of the engine protocol, and "
                            f"this Samedeal speaks version {VERSION}. Use an engine or a Samedeal of the other version."
                        )
                    break
                case _:
                    pass  # another id
        else:
            raise EngineFailed(f"The engine wrote {MAX_LINES} lines before 'ready'.")
        if unknown := self.options.keys() - self.declared:
            has = f"It has {', '.join(sorted(self.declared))}" if self.declared else "It has no options"
            raise EngineFailed(f"The engine {self.name} has no option {min(unknown)}. {printable(has)}.")
        for name, text in self.options.items():
            self._write(f"option {name} {text}")

    async def _ask(self, play: Play, clock: Clock, race: Contest) -> list[Move | str]:
        await self.start()
        await self._check_rest()
        time = max(clock.pace, _SHORTEST_TIME)
        self._write(position_line(play, clock, race))
        self._write(f"go {1000 * time:.0f}")
        for timeout in (time, STOP_TIMEOUT):
            with suppress(TimeoutError):
                async with asyncio.timeout(timeout):
                    answer = (await self._read("bestmove")).removeprefix("bestmove")
                try:
                    return read_answer(answer)
                except MalformedText as error:
                    raise EngineFailed(f"The engine's answer can't be read. {error}") from None
            self._write("stop")
        raise EngineFailed(
            f"The engine did not answer within {time:g} seconds, nor {STOP_TIMEOUT:g} seconds after 'stop'. {self._said}"
            "It must write 'bestmove' and an action, and flush its output."
        )

    async def _check_rest(self) -> None:
        """Read what the engine has written since its last answer. Raise EngineFailed if it is another answer."""
        with suppress(TimeoutError):
            async with asyncio.timeout(0):
                line = await self._read("bestmove")
            raise EngineFailed(
                f"The engine wrote {printable(line, 40)!r} without a 'go'. "
                "It must answer each 'go' with one 'bestmove', which can have several moves."
            )

    @property
    def _said(self) -> str:
        """What an engine that did not answer has said instead, as a sentence with a blank after it."""
        return f"Its last line was {self._ignored!r}. " if self._ignored else ""

    async def _read(self, *words: str) -> str:
        """Return the next line that begins with one of these words, and skip others."""
        process = self._process
        if process is None or process.stdout is None:
            raise RuntimeError("the engine is not running")
        for _ in range(MAX_LINES):
            try:
                read = await process.stdout.readline()
                line = read.decode().strip()
            except UnicodeDecodeError:
                raise EngineFailed("The engine wrote bytes that are not text in UTF-8.") from None
            except ValueError:
                raise EngineFailed(f"The engine wrote a line of more than {LONGEST_LINE} bytes.") from None
            if not read:
                raise EngineFailed(await self._why_ended(process))
            self.trace(f"< {printable(line)}")
            if line.split(" ", 1)[0] in words:
                return line
            self._ignored = printable(line, 40)
        raise EngineFailed(f"The engine wrote {MAX_LINES} lines without '{words[-1]}'.")

    def _write(self, line: str) -> None:
        if self._process is not None and self._process.stdin is not None:
            self.trace(f"> {line}")
            self._process.stdin.write(f"{line}\n".encode())

    async def _why_ended(self, process: Process) -> str:
        with suppress(TimeoutError):
            async with asyncio.timeout(_QUIT_TIMEOUT):
                await process.wait()
                if self._tailing is not None:
                    await asyncio.shield(self._tailing)  # its last words may arrive after its exit code
        code = f" with code {process.returncode}" if process.returncode is not None else ""
        if process.returncode in _SIGNALS:
            code = f" by {_SIGNALS[process.returncode]}"
        lines = self._tail.decode(errors="replace").strip().splitlines()
        return f"The engine has ended{code}. {printable(lines[-1]) if lines else ''}".rstrip()

    async def _keep_tail(self, process: Process) -> None:
        while process.stderr is not None and (part := await process.stderr.read(4096)):
            self._tail = (self._tail + part)[-_TAIL:]

    async def stop(self) -> None:
        """Tell the engine to quit, and kill it and its children unless it ends soon."""
        self._write("quit")
        process, self._process = self._process, None
        if process is None or process.stdin is None or process.stdout is None or self._tailing is None:
            return
        process.stdin.close()
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(_QUIT_TIMEOUT):
                    await process.wait()
        finally:
            os.close(self._parent_pipe)
        with suppress(TimeoutError):
            async with asyncio.timeout(_KILL_TIMEOUT):  # for asyncio, a process has not ended before its output
                await process.stdout.read()
                await self._tailing
                await process.wait()
        self._tailing.cancel()


def _checked(action: Move | str, play: Play) -> Move | str:
    """Return the action. Raise EngineFailed if it is not allowed."""
    if action not in (RESIGN, PAUSE):
        try:
            with suppress(UnseenCard):
                play.act(action)
        except PlayError as error:
            raise EngineFailed(f"The engine's answer {action} is not legal. {error}") from None
    return action
