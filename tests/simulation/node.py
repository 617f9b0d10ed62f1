"""A node of a world: what the command samedeal-server runs, on a host of its own."""

from __future__ import annotations

import asyncio
import signal
import traceback
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from random import Random
from typing import Any, Final
from unittest import mock

from websockets.asyncio.connection import Connection

from samedeal.race.seats import MOST_HOUSE
from samedeal_bots.house import House
from samedeal_link.connection.address import parse_address
from samedeal_server.process.banner import ListenAddresses
from tests.server.captured_log import logs_restored
from tests.simulation.loop import HOST, Host, SimulatedLoop
from tests.simulation.release import Release, this_release

_START_TIMEOUT: Final = 30.0
_STOP_TIMEOUT: Final = 20.0


class Log:
    """The log of a node, which the judge reads as the file of a process."""

    def __init__(self, host: Host) -> None:
        self.name = host.name
        self._host = host

    def read_text(self, errors: str = "") -> str:
        """Return all lines."""
        return "".join(self._host.log)


class SimulatedNode:
    """A node. ``frozen`` is true while it stands still, ``leaving`` once it is to end, and ``code`` is its exit code."""

    def __init__(
        self, loop: SimulatedLoop, name: str, redis: str, *options: str, release: Release | None = None
    ) -> None:
        self.release = release or this_release()
        self.host = loop.host(name)
        self.host.modules = self.release.modules
        self.log = Log(self.host)
        self.target = ("127.0.0.1", 0)
        self.frozen = False
        self.leaving = False
        self.code: int | None = None
        self._loop = loop
        flags = ("--announce", "--port", "0", "--redis", redis, "--log-style", "json", "--log-level", "debug")
        self._flags = (*flags, *options)
        self._ready = loop.create_future()
        self._main = self.host.run(self._run())

    async def started(self) -> SimulatedNode:
        """Wait until clients can connect. Raise RuntimeError if the node does not start."""
        await asyncio.wait((self._main, self._ready), timeout=_START_TIMEOUT, return_when=asyncio.FIRST_COMPLETED)
        if not self._ready.done():
            await self.kill()
            raise RuntimeError(f"a node did not start: {self.log.read_text()}")
        self.target = ("127.0.0.1", self._ready.result())
        return self

    async def _run(self) -> None:
        server = self.release.server
        flags = server("cli").parser().parse_args(self._flags)
        config = server("config.load").load_config(flags).values
        server("telemetry.logs").set_up(config, self.host.name)

        def announce(addresses: ListenAddresses, _health: str) -> None:
            self._ready.set_result(int(addresses.local.rpartition(":")[2]))

        try:
            await server("process.app").run(config, self.host.name, announce)
        except Exception as error:  # noqa: BLE001  # as the command line, which exits
            self.host.log.append("".join(traceback.format_exception(error)) if self._ready.done() else f"{error}\n")
            self.code = 1
        else:
            self.code = 0

    def freeze(self) -> None:
        """Let the node stand still."""
        self.frozen = True
        self.host.stand_still()

    def thaw(self) -> None:
        """Let the node go on."""
        self.frozen = False
        self.host.go_on()

    async def kill(self) -> None:
        """Let the node never run again, and reset its connections."""
        self.crash()

    def crash(self) -> None:
        """Kill the node at once."""
        self.leaving = True
        self.host.stand_still()
        self._loop.network.disconnect(self.host)

    async def drain(self) -> str:
        """Let the node stop. Return a sentence if it did not end properly, otherwise an empty string."""
        self.leaving = True
        self.host.send_signal(signal.SIGTERM)
        await asyncio.wait((self._main,), timeout=_STOP_TIMEOUT)
        if not self._main.done():
            return f"{self.log.name}: still running {_STOP_TIMEOUT:.0f} s after SIGTERM"
        return f"{self.log.name}: exit code {self.code} after SIGTERM" if self.code else ""


def started_house(loop: SimulatedLoop, url: str, key: str) -> Host:
    """Start a house on a machine of its own."""
    number = 1 + sum(host.name.startswith("house") for host in loop.hosts)
    host, rng = loop.host(f"house-{number}"), Random(f"{loop.seed} {number}")
    _ = host.run(House(parse_address(url), key, MOST_HOUSE, host.log.append, rng).run())
    return host


class _LogStream:
    """Writes to the log of the running host."""

    def write(self, text: str) -> int:
        host = HOST.get()
        host.log.append(text)
        host.loop.show(f"{host.name} log", text)
        return len(text)

    def flush(self) -> None: ...

    def isatty(self) -> bool:
        return False


def _number(one: Any) -> int:
    """Return the number of an object, which it gets when it is first asked for."""
    if "_number" not in vars(one):
        loop = asyncio.get_running_loop()
        assert isinstance(loop, SimulatedLoop)
        one._number = loop.new_number()
    return int(one._number)


@contextmanager
def nodes_in_this_process(releases: Iterable[Release]) -> Iterator[None]:
    """Keep apart what nodes of one process would share: their logs, and the settings of Python's memory.

    Objects that nodes keep in sets get places there that do not depend on their addresses in memory.
    """
    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(Connection, "__hash__", _number))
        stack.enter_context(logs_restored())
        for server in (release.server for release in releases):
            connection = server("rooms.player_connection").PlayerConnection
            stack.enter_context(mock.patch.object(connection, "__hash__", lambda self: self.number))
            stack.enter_context(mock.patch.object(server("telemetry.logs"), "log_stream", return_value=_LogStream()))
            stack.enter_context(mock.patch.object(server("process.app"), "search_new_objects_only"))
            stack.enter_context(mock.patch.object(server("operators.node_agent"), "memory", return_value=0))
        yield
