"""The process of a door: it listens, admits connections, and drains."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from ipaddress import IPv4Network, IPv6Network, ip_address
from pathlib import Path
from typing import Final

import asyncssh
from websockets.asyncio.server import serve

from samedeal_client.commands.start import CommandStarter, preload
from samedeal_door.connections import ChannelSession, DoorConnection, connection_options
from samedeal_door.identities import Identities
from samedeal_door.limits import DoorLimits, Rates, network_of
from samedeal_door.metrics import DoorMetrics
from samedeal_door.proxy_header import read_proxy_header
from samedeal_door.shared_styles import share_styles
from samedeal_link.machine.paths import write_new

_log = logging.getLogger(__name__)

_SEND_BUFFER: Final = 64 * 1024
"""Bytes that the system may queue for a connection. More would be output that a slow reader sees late."""

_DRAIN_TIME: Final = 6.0
"""Time, in seconds, for sessions to end after they were told to."""

RESTART_TIME: Final = 1.0
"""Time, in seconds, after which a worker that has died is started again."""

_STOPS: Final = (signal.SIGTERM, signal.SIGINT)
_SWEEP_TIME: Final = 10.0
_LEFT_OVER: Final = 100
"""Number of ended sessions whose reference cycles may lie about, 0.3 MB each. A search for them stops all others."""

_CLEAN_TIME: Final = 24 * 3600.0
_HEADER_TIME: Final = 5.0
_BACKLOG: Final = 512

Network = IPv4Network | IPv6Network


def load_host_key(directory: Path) -> asyncssh.SSHKey:
    """Return the host key in ``directory``, which is made at the first start."""
    path = directory / "host_key"
    if not path.exists():
        write_new(path, asyncssh.generate_private_key("ssh-ed25519").export_private_key("openssh").decode())
    return asyncssh.read_private_key(path)


def dns_record(host: str, host_key: asyncssh.SSHKey) -> str:
    """Return the SSHFP record of a host key, with which ssh can check the key (RFC 4255 and 7479)."""
    return f"{host}. IN SSHFP 4 2 {sha256(host_key.public_data).hexdigest()}"


class Door:
    """A door to the server at the address ``server``, which is ``public_url`` for players, unless that is empty.

    Sessions run commands with ``start_command``. ``proxies`` are load balancers that send PROXY headers.
    """

    def __init__(
        self,
        server: str,
        directory: Path,
        limits: DoorLimits,
        start_command: CommandStarter,
        proxies: Sequence[Network] = (),
        public_url: str = "",
    ) -> None:
        self.server = server
        self.start_command = start_command
        self.public_url = public_url
        self.limits = limits
        self.identities = Identities(directory)
        self.metrics = DoorMetrics()
        self.stopping = False
        self._proxies = proxies
        self._options = connection_options(self, load_host_key(directory))
        self._rates = Rates(limits.rate)
        self._logins: dict[DoorConnection, str] = {}
        self.beginning = asyncio.Semaphore(1)
        self.solvers = asyncio.Semaphore(os.cpu_count() or 1)
        self._open: set[ChannelSession] = set()
        self._left_over = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self.metrics.sessions.set_function(lambda: len(self._open))
        self.metrics.full.set_function(lambda: len(self._open) / limits.sessions)
        self.metrics.connections.set_function(lambda: len(self._logins))

    # What connections tell

    def logged_in(self, connection: DoorConnection) -> None:
        """Note that a connection no longer waits for its login."""
        self._logins.pop(connection, None)

    @property
    def players(self) -> list[tuple[str, str]]:
        """The network and the identity of the player of each session."""
        return [session.player for session in self._open]

    @contextmanager
    def open_session(self, session: ChannelSession) -> Iterator[None]:
        """Count a session as open until the ``with`` block ends."""
        self._open.add(session)
        try:
            yield
        finally:
            self._open.discard(session)
            session.ended.set()
            self._left_over += 1
            if not self._open:  # Textual leaves the streams of an app that has ended while another one was running
                sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__

    # Listening

    async def run(
        self, listeners: Iterable[socket.socket], health: tuple[str, int] | None, lifeline: int | None = None
    ) -> None:
        """Serve until SIGTERM or SIGINT, or until the file ``lifeline`` ends, and drain."""
        loop, stop = asyncio.get_running_loop(), asyncio.Event()
        if lifeline is not None:
            loop.add_reader(lifeline, stop.set)
        for number in _STOPS:
            loop.add_signal_handler(number, stop.set)
        tasks = [loop.create_task(self._accept(listener)) for listener in listeners]
        tasks += [loop.create_task(self.metrics.measure_lag()), loop.create_task(self._sweep())]
        answers = None
        if health is not None:
            answer = lambda connection, request: self.metrics.answer(connection, request, stopping=self.stopping)  # noqa: E731
            answers = await serve(lambda _: asyncio.sleep(0), *health, process_request=answer)
        for task in tasks:
            task.add_done_callback(lambda _: stop.set())  # without one of them, the door serves nobody
        await stop.wait()
        if lifeline is not None:
            loop.remove_reader(lifeline)
        await self.drain()
        if answers is not None:
            answers.close()
        for task in tasks:
            if not task.cancel():
                task.result()  # raises its error, so that another worker takes over

    async def drain(self) -> None:
        """Tell all sessions that the door stops, and wait until they have ended."""
        self.stopping = True
        for session in tuple(self._open):
            session.stop()
        with suppress(TimeoutError):
            async with asyncio.timeout(_DRAIN_TIME):
                await asyncio.gather(*(session.ended.wait() for session in self._open))
        await asyncio.sleep(0.2)  # the last output is on its way
        for connection in tuple(self._logins):
            connection.abort()

    async def _accept(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while not self.stopping:
            try:
                accepted, peer = await loop.sock_accept(listener)
            except OSError as error:  # out of file descriptors, or the peer is gone already
                _log.warning("no connection was accepted: %s", error.strerror)
                await asyncio.sleep(0.1)
                continue
            task = loop.create_task(self._admit(accepted, str(peer[0]).removeprefix("::ffff:").partition("%")[0]))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _admit(self, accepted: socket.socket, address: str) -> None:
        """Begin the login on a connection, or refuse it."""
        loop = asyncio.get_running_loop()
        try:
            accepted.settimeout(0)
            if any(ip_address(address) in network for network in self._proxies):
                async with asyncio.timeout(_HEADER_TIME):
                    address = await read_proxy_header(accepted, address)
            network = network_of(address)
            if refusal := self._refusal(network):
                self.metrics.refused.labels(refusal).inc()
                accepted.send(b"Too many connections from your address. Try again in a minute.\r\n")
                accepted.close()
                return
            accepted.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER)
            connection = DoorConnection(self._options, address)
            self._logins[connection] = network
            if len(self._logins) > self.limits.logins:  # somebody who means to play logs in at once
                self.metrics.refused.labels("connection").inc()
                oldest = next(iter(self._logins))
                self.logged_in(oldest)
                oldest.abort()
            await loop.connect_accepted_socket(lambda: connection, accepted)
        except (OSError, ValueError, TimeoutError):
            accepted.close()

    def _refusal(self, network: str) -> str:
        if not self._rates.allows(network, asyncio.get_running_loop().time()):
            return "rate"
        waiting = sum(other == network for other in self._logins.values())
        return "connection" if waiting >= self.limits.logins_per_address else ""

    async def _sweep(self) -> None:
        """End idle sessions, free the memory of ended ones, and forget old keys once a day. Errors are only logged."""
        loop = asyncio.get_running_loop()
        clean = 0.0
        while True:
            try:
                for session in tuple(self._open):
                    session.stop_if_idle(loop.time())
                if self._left_over >= (_LEFT_OVER if self._open else 1):
                    self._left_over = 0
                    gc.collect()
                if loop.time() >= clean:
                    clean = loop.time() + _CLEAN_TIME
                    await asyncio.to_thread(self.identities.clean, self.limits.kept_keys)
            except Exception:  # noqa: BLE001 (it is logged, and must not end the sweeps)
                self.metrics.faults.inc()
                _log.exception("a sweep has failed")
            await asyncio.sleep(_SWEEP_TIME)


def listen(host: str, port: int) -> list[socket.socket]:
    """Return sockets that listen on a host and a port. ``all`` is every address. Raise OSError if that fails."""
    name = None if host == "all" else host
    found = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    listeners: list[socket.socket] = []
    for family, _, _, _, address in dict.fromkeys(found):
        listener = socket.create_server(address[:2], family=family, backlog=_BACKLOG, dualstack_ipv6=False)
        listener.settimeout(0)
        listeners.append(listener)
    return listeners


def prepare() -> None:
    """Import what sessions need, so that no session waits for it and all workers share it.

    From then on, Python by itself looks for reference cycles only among new objects. To look at those of all sessions
    takes a second.
    """
    for name in ("NO_COLOR", "COLUMNS", "LINES", "COLORTERM"):  # each session has its own
        os.environ.pop(name, None)
    preload()
    share_styles()
    gc.collect()
    gc.freeze()
    sys.setswitchinterval(0.001)  # for verdicts, which are found in threads
    gc.set_threshold(5_000, 10, 1_000_000)


def serve_door(
    door: Door, listeners: Sequence[socket.socket], health: tuple[str, int] | None, lifeline: int | None = None
) -> None:
    """Serve in this process until a signal, or until the file ``lifeline`` ends."""
    try:
        import uvloop
    except ImportError:
        factory = None
    else:
        factory = uvloop.new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        # Textual lets all tasks of the loop begin at once, where Python can. asyncssh's login would then never end.
        setattr(runner.get_loop(), "set_task_factory", lambda _: None)  # noqa: B010 (mypy refuses the assignment to a method)
        runner.run(door.run(listeners, health, lifeline))


def serve_workers(count: int, serve_worker: Callable[[int, int], None]) -> None:
    """Run workers until SIGTERM or SIGINT, which they get too. A worker that dies is replaced.

    The workers are forked, so that they share the memory of what is imported. Each gets its number, and a file that ends
    if this process is killed.
    """
    numbers: dict[int, int] = {}
    stopping = False
    lifeline, held = os.pipe()

    def start(number: int) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)  # a signal comes before a worker is made, or reaches it
        process = -1 if stopping else os.fork()
        if process > 0:
            numbers[process] = number
        elif process == 0:
            os.close(held)
            for each in _STOPS:
                signal.signal(each, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)
        if process:
            return
        try:
            serve_worker(number, lifeline)
        finally:
            os._exit(0 if sys.exc_info()[0] is None else 1)

    def stop(*_: object) -> None:
        nonlocal stopping
        stopping = True
        for process in numbers:
            os.kill(process, signal.SIGTERM)

    for each in _STOPS:
        signal.signal(each, stop)
    for number in range(count):
        start(number)
    while numbers:
        process, status = os.wait()
        number = numbers.pop(process)
        if not stopping:
            _log.error("worker %d has ended with status %d, and is started again", number, status)
            time.sleep(RESTART_TIME)  # a signal may stop the door meanwhile
        start(number)
