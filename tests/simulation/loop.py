"""An event loop in which time passes only when there is nothing left to do, so that a day takes seconds.

Everything that a program could not repeat comes from the seed: the time, random numbers, and the order of tasks in a set,
which otherwise follows their addresses in memory. Threads, processes, signals and names of hosts have stand-ins in the
loop.

The code of a simulated machine runs in the context of its ``Host``. A host can stand still: its callbacks then wait, as
those of a process after SIGSTOP. A host that is killed never runs again, so its ``finally`` blocks do not run either.
"""

from __future__ import annotations

import asyncio
import hashlib
import heapq
import os
import random
import sys
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from contextvars import Context, ContextVar
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, TypeVar
from unittest import mock

if TYPE_CHECKING:
    from tests.simulation.network import Network

_Result = TypeVar("_Result")

HOST: ContextVar[Host] = ContextVar("HOST")
"""The machine on which the running code is."""

_EPOCH: Final = 1_772_323_200
"""The earliest time of a world, in seconds since 1970: the first of March 2026."""

_START: Final = 1000.0
"""The time of the loop when a world begins, in seconds."""

_CLEANUP: Final = 600.0
"""Timeout, in seconds of the world, for all tasks to end when the world ends."""


_PYTHON: Final = f"Python/{sys.version_info[0]}.{sys.version_info[1]}".encode()
"""What clients and servers call this version of Python, which is not part of the trace."""


class NothingLeftToDo(Exception):
    """All tasks of a world wait for something that never happens."""


class _Future(asyncio.Future[Any]):
    """A future whose place in a set does not depend on its address in memory."""

    def __init__(self, *, loop: SimulatedLoop) -> None:
        self._number = loop.new_number()
        super().__init__(loop=loop)

    def __hash__(self) -> int:
        return self._number


class _Task(asyncio.Task[Any]):
    """A task whose place in a set does not depend on its address in memory."""

    def __init__(self, coro: Coroutine[Any, Any, Any], *, loop: SimulatedLoop, **options: Any) -> None:
        self._number = loop.new_number()
        super().__init__(coro, loop=loop, **options)

    def __hash__(self) -> int:
        return self._number


class Host:
    """A simulated machine. ``clock`` is the number of seconds by which its clock is ahead of the others.

    ``modules`` are those that its code finds by name, if it is not the code of the other machines.
    """

    def __init__(self, loop: SimulatedLoop, name: str) -> None:
        self.name = name
        self.random = random.Random(f"{loop.seed} {name}")
        self.clock = 0.0
        self.log: list[str] = []
        self.is_still = False
        self.held: deque[asyncio.Handle] = deque()
        self.signals: dict[int, Callable[[], object]] = {}
        self.context = Context()
        self.context.run(HOST.set, self)
        self.loop = loop
        self.modules: dict[str, ModuleType] | None = None

    def run(self, work: Coroutine[Any, Any, _Result]) -> asyncio.Task[_Result]:
        """Run a coroutine on this machine."""
        return self.loop.create_task(work, context=self.context.copy())

    def send_signal(self, number: int) -> None:
        """Call the handler of a signal."""
        self.loop.call_soon(self.signals[number], context=self.context)

    def stand_still(self) -> None:
        """Run nothing more until ``go_on``."""
        self.is_still = True

    def go_on(self) -> None:
        """Run what has waited since ``stand_still``, in order."""
        self.is_still = False
        self.loop.resume(self.held)


class SimulatedLoop(asyncio.BaseEventLoop):
    """The event loop of a world.

    ``trace`` is called with everything that happens: the time, and texts or bytes. ``digest`` is the hash of all of it, so
    two worlds with the same digest went the same way. ``epoch`` is the time, in seconds since 1970, that the loop counts
    from. ``modules`` are those that code finds by name, unless its host has others.
    """

    network: Network
    program: Callable[[Any, tuple[Any, ...]], Any]
    """Starts the stand-in for a process. Its arguments are the protocol and the command line."""

    def __init__(self, seed: str, trace: Callable[[float, str, object], None] | None = None) -> None:
        super().__init__()
        self.seed = seed
        self.random = random.Random(f"{seed} loop")
        self.hosts: list[Host] = []
        self._time = _START
        self.epoch = _EPOCH + self.random.randrange(4 * 86_400) - _START
        self._numbers = 0
        self._running: asyncio.Handle | None = None
        self._digest = hashlib.sha256()
        self._trace = trace
        self.modules: dict[str, ModuleType] = {}
        self._found = self.modules
        self.set_task_factory(lambda loop, coro, **options: _Task(coro, loop=loop, **options))
        self.world = self.host("world")

    def host(self, name: str) -> Host:
        """Add a machine."""
        self.hosts.append(host := Host(self, name))
        return host

    def new_number(self) -> int:
        """Return the next of the numbers that tasks and futures have instead of addresses."""
        self._numbers += 1
        return self._numbers

    def note(self, where: str, what: str | bytes) -> None:
        """Add to the trace of the world that something happened."""
        data = what if isinstance(what, bytes) else what.encode()
        data = data.replace(_PYTHON, b"Python")
        self._digest.update(b"%.6f %b %d %b" % (self._time, where.encode(), len(data), data))
        if self._trace is not None:
            self._trace(self._time - _START, where, what)

    def show(self, where: str, what: str) -> None:
        """Add to the timeline what other runs of the same world may word otherwise, such as a traceback."""
        if self._trace is not None:
            self._trace(self._time - _START, where, what)

    @property
    def digest(self) -> str:
        """The hash of the trace so far."""
        return self._digest.hexdigest()[:16]

    def time(self) -> float:
        return self._time

    def wall_time(self) -> float:
        """Return what the clock of the machine shows, in seconds since 1970."""
        host = HOST.get(None)
        return self.true_time() + (host.clock if host else 0.0)

    def true_time(self) -> float:
        """Return the time of the world, in seconds since 1970. Clocks of machines may show another one."""
        return self._time + self.epoch

    def _wall_time_ns(self) -> int:
        return int(self.wall_time() * 1e9)

    def random_bytes(self, size: int) -> bytes:
        """Return random bytes of the machine."""
        return HOST.get(self.world).random.randbytes(size)

    def _run_once(self) -> None:
        """Run the callbacks that are due. If there are none, let time pass until the next one is."""
        timers, ready = self._scheduled, self._ready  # type: ignore[attr-defined]  # the base class does not declare them
        while timers and timers[0]._cancelled:
            heapq.heappop(timers)._scheduled = False
        if not ready:
            if not timers:
                raise NothingLeftToDo
            self._time = max(self._time, timers[0]._when)
        while timers and timers[0]._when <= self._time:
            timer = heapq.heappop(timers)
            timer._scheduled = False
            ready.append(timer)
        for _ in range(len(ready)):
            handle = ready.popleft()
            if handle._cancelled:
                continue
            host = handle._context.get(HOST)
            if host is not None and host.is_still:
                host.held.append(handle)
            else:
                self._running = handle
                self._find((host and host.modules) or self.modules)
                handle._run()

    def _find(self, modules: dict[str, ModuleType]) -> None:
        """Let code find these modules by name, as type hints and late imports do."""
        if modules is not self._found:
            self._found = modules
            sys.modules.update(modules)

    def call_exception_handler(self, context: Any) -> None:
        """Report an error on the host on which it was raised."""
        report = super().call_exception_handler
        if HOST.get(None) is None and self._running is not None:
            self._running._context.run(report, context)  # type: ignore[attr-defined]  # as above
        else:
            report(context)

    def resume(self, handles: deque[asyncio.Handle]) -> None:
        """Run callbacks that were held back."""
        self._ready.extend(handles)  # type: ignore[attr-defined]  # as above
        handles.clear()

    def create_future(self) -> asyncio.Future[Any]:
        return _Future(loop=self)

    def run_in_executor(self, executor: Any, func: Any, *args: Any) -> Any:  # type: ignore[override]  # any function
        """Call a function at once, and return its result after a moment, as a thread would."""
        future, set_result = self.create_future(), _unless_done
        try:
            result = func(*args)
        except Exception as error:  # noqa: BLE001  # whoever waits for the thread gets it
            self.call_later(self.random.uniform(0.0001, 0.02), set_result, future, future.set_exception, error)
        else:
            self.call_later(self.random.uniform(0.0001, 0.02), set_result, future, future.set_result, result)
        return future

    async def create_connection(self, protocol_factory: Any, host: Any = None, port: Any = None, **_: Any) -> Any:
        return await self.network.connect(protocol_factory, port)

    async def create_server(self, protocol_factory: Any, host: Any = None, port: Any = None, **_: Any) -> Any:
        return self.network.listen(protocol_factory, port or 0)

    async def subprocess_exec(self, protocol_factory: Any, *args: Any, **_: Any) -> Any:
        protocol = protocol_factory()
        return self.program(protocol, args), protocol

    async def getaddrinfo(self, host: Any, port: Any, **_: Any) -> Any:
        raise OSError(f"there is no host {host}")

    def add_signal_handler(self, sig: int, callback: Any, *args: Any) -> None:  # type: ignore[override]  # any function
        HOST.get().signals[sig] = callback

    def remove_signal_handler(self, sig: int) -> bool:
        return HOST.get().signals.pop(sig, None) is not None

    def _write_to_self(self) -> None:
        """Do nothing: there are no threads that could wake the loop."""

    def _process_events(self, event_list: object) -> None:
        """Do nothing: there are no sockets."""

    def end(self) -> None:
        """End all tasks of the world, those of killed hosts too, and close the loop."""
        self.network.is_down = True
        for host in self.hosts:
            host.go_on()
        deadline = self._time + _CLEANUP
        while (tasks := [task for task in asyncio.all_tasks(self) if not task.done()]) and self._time < deadline:
            for task in tasks:
                task.cancel()
            with suppress(NothingLeftToDo):
                self.run_until_complete(asyncio.wait(tasks, timeout=0.5))
        self.run_until_complete(self.shutdown_asyncgens())
        self.close()

    @contextmanager
    def real_world_replaced(self) -> Iterator[None]:
        """Let the clock and the random numbers of this process be those of the world."""
        state = random.getstate()
        random.seed(self.seed)
        with (
            mock.patch.multiple(
                time, time=self.wall_time, monotonic=self.time, perf_counter=self.time, process_time=self.time
            ),
            mock.patch.object(time, "time_ns", self._wall_time_ns),
            mock.patch.object(os, "urandom", self.random_bytes),
            mock.patch.object(random, "_urandom", self.random_bytes),
        ):
            try:
                yield
            finally:
                random.setstate(state)
                self._find(self.modules)


def _unless_done(future: asyncio.Future[Any], set_result: Callable[[Any], None], result: object) -> None:
    if not future.done():
        set_result(result)
