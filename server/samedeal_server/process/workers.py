"""The processes that serve clients on one port, so that a server can use several cores.

Each worker is a node: the same program with the same settings, on the same Redis. The kernel distributes the
connections among the workers, which hand them over to the homes of rooms (``worker_homes``). Their parent process
serves no clients. It reserves the port, answers health checks for all workers, and starts a Redis for them if none is
configured.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any, Final

from samedeal_server.config.config import Config
from samedeal_server.embedded_redis.server import EmbeddedRedis
from samedeal_server.errors import StartupError
from samedeal_server.process import sd_notify
from samedeal_server.process.banner import ListenAddresses, listen_addresses
from samedeal_server.process.health import health_listener
from samedeal_server.process.installation import stopping_for_other_release
from samedeal_server.process.listening import reserved_port
from samedeal_server.process.own_house import house_command, keep_house
from samedeal_server.process.signals import Signals
from samedeal_server.process.worker_health import NO_ANSWER, WorkerChecks, ask
from samedeal_server.process.worker_homes import VARIABLE
from samedeal_server.tasks import cancel_and_wait
from samedeal_server.telemetry.logger import get_logger

RESTART_INTERVAL: Final = 1.0
"""Time, in seconds, after which a worker that crashed is started again."""

HANG_TIMEOUT: Final = 20.0
"""Time, in seconds, for which a worker may answer no health check until it is killed and started again."""

_log = get_logger()


async def run_workers(config: Config, words: Sequence[str], announce: Callable[[ListenAddresses, str], None]) -> None:
    """Run workers until SIGTERM or SIGINT, then drain them. On a second signal, drain them without delay.

    ``words`` are the command line arguments for the workers. ``announce`` is called once clients can connect. Raise
    StartupError if the workers cannot start, if the Redis that was started for them ends, or if another release was
    installed over this one.
    """
    signals = Signals()
    async with stopping_for_other_release(signals.stop), AsyncExitStack() as stack:
        port = stack.enter_context(reserved_port(config.host, config.port))
        flags = ["--workers", "1", "--port", str(port), "--health-host", "127.0.0.1", "--health-port", "0"]
        tasks: list[asyncio.Task[None]] = []
        if not config.redis:
            embedded = EmbeddedRedis(config.data, config.durability)
            flags += ["--redis", await stack.enter_async_context(embedded)]
            tasks.append(asyncio.create_task(embedded.raise_on_exit()))
        stack.push_async_callback(cancel_and_wait, tasks)
        workers = await stack.enter_async_context(
            started_workers((sys.executable, "-m", "samedeal_server", *words, *flags), config.workers)
        )
        checks = WorkerChecks(partial(_health_urls, workers), signals.stop)
        health_url = await stack.enter_async_context(health_listener(config, checks.readiness, checks.metrics))
        addresses = listen_addresses(config, port)
        _log.info("listening", address=addresses.local, public_address=addresses.public, health=health_url)
        announce(addresses, health_url)
        if config.house:
            tasks.append(asyncio.create_task(keep_house(house_command(config, addresses.local), signals.stop)))
        if timeout := sd_notify.watchdog_timeout():
            tasks.append(asyncio.create_task(sd_notify.watchdog_loop(timeout)))
        tasks.append(asyncio.create_task(_forward(signals, workers)))
        # The others go on meanwhile, so that signals are forwarded until all workers have ended.
        running: asyncio.Future[Any] = asyncio.gather(*(worker.keep_running() for worker in workers))
        done, _ = await asyncio.wait([running, *tasks], return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    _log.info("stopped")


@dataclass(eq=False)
class Worker:
    """A worker of a server: its number, the command that starts it, and its process if it runs.

    ``homes`` is what follows the number in ``worker_homes.VARIABLE``. The standard input of the process is a socket to
    its parent process.
    """

    number: int
    command: Sequence[str]
    homes: str
    health_url: str = ""
    process: asyncio.subprocess.Process | None = None
    stopping: bool = False
    _writer: asyncio.StreamWriter | None = None

    async def start(self) -> bool:
        """Start the process. Return whether clients can connect to the worker.

        If the worker was told to stop, also while its process was starting, tell the process now.
        """
        environment = {**os.environ, VARIABLE: f"{self.number}:{self.homes}"}
        for name in ("NOTIFY_SOCKET", "WATCHDOG_USEC"):
            environment.pop(name, None)
        self._close_link()
        ours, theirs = socket.socketpair()
        with theirs:
            # In a session of its own, it does not get the terminal's signals in addition to those that are passed on.
            self.process = await asyncio.create_subprocess_exec(
                *self.command, stdin=theirs.fileno(), env=environment, start_new_session=True
            )
        if self.stopping:
            self.send(signal.SIGTERM)
        reader, self._writer = await asyncio.open_connection(sock=ours)
        self.health_url = (await reader.readline()).decode().strip()
        return bool(self.health_url)

    async def keep_running(self) -> None:
        """Start the process again whenever it crashes or hangs.

        Return when it has exited normally or the worker was told to stop.
        """
        while process := self.process:
            watching = asyncio.create_task(self._kill_if_hung(process))
            code = await process.wait()
            await cancel_and_wait([watching])
            if self.stopping or not code:
                return
            self.health_url = ""
            _log.error("worker_died", worker=self.number, pid=process.pid, code=code)
            await asyncio.sleep(RESTART_INTERVAL)
            if await self.start():
                _log.info("worker_restarted", worker=self.number, pid=self.process.pid)

    async def _kill_if_hung(self, process: asyncio.subprocess.Process) -> None:
        while await ask(self.health_url, "/healthz", HANG_TIMEOUT) != NO_ANSWER:  # noqa: ASYNC110  # nobody tells
            await asyncio.sleep(HANG_TIMEOUT)
        _log.error("worker_hung", worker=self.number, pid=process.pid, seconds=HANG_TIMEOUT)
        process.kill()

    async def end(self) -> None:
        """Wait until the process has ended. The worker must have been told to stop before."""
        if self.process is not None:
            await self.process.wait()
        self._close_link()

    def _close_link(self) -> None:
        if self._writer is not None:
            self._writer.close()

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the process if it runs. SIGTERM tells the worker to stop."""
        self.stopping = self.stopping or number is signal.SIGTERM
        if self.process is not None and self.process.returncode is None:
            with suppress(ProcessLookupError):
                self.process.send_signal(number)


@asynccontextmanager
async def started_workers(command: Sequence[str], count: int) -> AsyncIterator[list[Worker]]:
    """Start ``count`` workers with a command, and stop them when the ``async with`` block ends.

    Raise StartupError if one of them cannot start.
    """
    with TemporaryDirectory(prefix="samedeal-") as directory:
        workers = [Worker(number, command, f"{count}:{directory}") for number in range(1, count + 1)]
        try:
            if not all(await asyncio.gather(*(worker.start() for worker in workers))):
                raise StartupError("worker_failed")
            yield workers
        finally:
            for worker in workers:
                worker.send(signal.SIGTERM)
            await asyncio.gather(*(worker.end() for worker in workers))


def _health_urls(workers: Sequence[Worker]) -> dict[int, str]:
    """Return the URL of the health checks for the number of each worker, except of workers that have ended normally.

    An operator has drained such a worker, so that the others serve without it.
    """
    return {each.number: each.health_url for each in workers if each.process is None or each.process.returncode != 0}


async def _forward(signals: Signals, workers: Sequence[Worker]) -> None:
    """Pass signals that this process receives on to all workers, until cancelled.

    A signal to reload is passed on as SIGHUP. The first and the second signal to stop are each passed on as SIGTERM.
    """

    async def forward_reload() -> None:
        while True:
            await signals.reload.wait()
            signals.reload.clear()
            for worker in workers:
                worker.send(signal.SIGHUP)

    reloading = asyncio.create_task(forward_reload())
    try:
        for event in (signals.stop, signals.hurry):
            await event.wait()
            for worker in workers:
                worker.send(signal.SIGTERM)
        await asyncio.Event().wait()
    finally:
        await cancel_and_wait([reloading])


def announce_worker(health_url: str) -> None:
    """Tell the parent process that clients can connect to this worker, and where the worker's health checks are."""
    with _parent() as parent:
        parent.sendall(f"{health_url}\n".encode())


async def stop_with_parent(stop: asyncio.Event) -> None:
    """Set ``stop`` when the parent process ends. The end of the parent closes the socket between the two processes."""
    reader, writer = await asyncio.open_connection(sock=_parent())
    try:
        await reader.read()
        stop.set()
        await asyncio.Event().wait()
    finally:
        writer.close()


def _parent() -> socket.socket:
    return socket.socket(fileno=os.dup(0))


def is_worker() -> bool:
    """Return whether ``run_workers`` has started this process."""
    return VARIABLE in os.environ
