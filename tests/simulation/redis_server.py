"""A Redis of the world: the commands and scripts of ``fakeredis``, over connections of the simulated network.

Every batch of commands that a node sends passes ``interfere``, which may cut the connection before or after it, delay or
refuse it. So each await of the store can fail at each place.
"""

from __future__ import annotations

import asyncio
import copy
import pickle
from collections.abc import Callable
from typing import Any, Final, Literal, NamedTuple

import hiredis
from fakeredis._clients._tcp_server import encode_reply
from fakeredis._core import FakeServer
from fakeredis._socket import FakeSocket
from redis import Redis as RedisClient

from tests.simulation.loop import Host, SimulatedLoop
from tests.simulation.release import script_hash, this_release

_VERSION: Final = (8, 0)
_INFO: Final = {
    "redis_version": "8.0.0",
    "redis_mode": "standalone",
    "role": "master",
    "aof_enabled": 1,
    "appendfsync": "always",
    "maxmemory": 0,
    "maxmemory_policy": "noeviction",
}
_PUSHED: Final = (b"message", b"smessage", b"subscribe", b"ssubscribe", b"unsubscribe", b"sunsubscribe")
_REFUSAL: Final = b"-OOM command not allowed when used memory > 'maxmemory'.\r\n"


class Interference(NamedTuple):
    """What happens to a batch.

    ``how`` is ``before`` if it is not executed and the connection is cut, ``during`` if it is cut when the command with
    the index ``at`` has been executed, ``after`` if it is executed but not answered, ``refuse`` if Redis refuses this
    command, and ``late`` if the answers take ``seconds`` longer. ``then`` is called in any case.
    """

    how: Literal["before", "during", "after", "refuse", "late"]
    at: int = 0
    seconds: float = 0.0
    then: Callable[[], object] = lambda: None


Interfere = Callable[[Host, list[str]], Interference | None]
"""Decides what happens to a batch of a host. The texts name its commands, or the scripts that they run."""


class Socket(FakeSocket):
    """A connection as ``fakeredis`` knows it. Its place in a set does not depend on its address in memory."""

    def __init__(self, server: FakeServer, number: int) -> None:
        self._number = number
        self.answers: list[bytes] = []
        self.push: Callable[[bytes], None] | None = None
        self.on_close: Callable[[], object] = lambda: None
        super().__init__(server, 0, client_class=RedisClient)

    def __hash__(self) -> int:
        return self._number

    def close(self) -> None:
        self._discard_subscriptions()  # which fakeredis leaves to the garbage collector if they are sharded
        super().close()
        self.on_close()

    def put_response(self, msg: Any) -> None:
        protocol = self._client_info.protocol_version
        data = encode_reply(msg, protocol)
        if isinstance(msg, list) and msg and msg[0] in _PUSHED and protocol == 3:
            data = b">" + data[1:]
        if self.push is not None:
            self.push(data)
        else:
            self.answers.append(data)


class _Connection(asyncio.Protocol):
    """The server's end of a connection."""

    def __init__(self, redis: RespServer) -> None:
        self._redis = redis
        self._requests = hiredis.Reader()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: Any = transport
        self._redis.connections.append(self)
        self.socket = Socket(self._redis.server, self._redis.new_number())
        self.socket.push = self._push

    def _push(self, data: bytes) -> None:
        self._redis.announce(self, data)

    def data_received(self, data: bytes) -> None:
        self._requests.feed(data)
        commands = []
        while (command := self._requests.gets()) is not False:
            commands.append(command)
        if commands:
            self._redis.execute(self, commands)

    def connection_lost(self, exc: Exception | None) -> None:
        if self in self._redis.connections:
            self._redis.connections.remove(self)
            self.socket.close()


class RespServer:
    """The commands and scripts of ``fakeredis`` for any transport: that of a world, or a real one."""

    def __init__(self) -> None:
        self.server = FakeServer(version=_VERSION)
        self.connections: list[_Connection] = []
        self._numbers = 0

    def new_number(self) -> int:
        """Return the number of a new connection."""
        self._numbers += 1
        return self._numbers

    def accept(self) -> asyncio.Protocol:
        """Return the protocol for a new connection."""
        return _Connection(self)

    def announce(self, connection: _Connection, data: bytes) -> None:
        """Send an announcement to a subscriber."""
        connection.transport.write(data)

    def execute(self, connection: _Connection, commands: list[list[bytes]]) -> None:
        """Execute a batch of commands, and answer."""
        for command in commands:
            self._run(connection.socket, command)
        self._answer(connection)

    def _answer(self, connection: _Connection) -> None:
        answers, connection.socket.answers = connection.socket.answers, []
        connection.transport.write(b"".join(answers))

    def _run(self, socket: Socket, command: list[bytes]) -> None:
        name = command[0].upper()
        push, socket.push = socket.push, None
        try:
            if name == b"INFO":
                socket.answers.append(_bulk("".join(f"{key}:{value}\r\n" for key, value in self._info().items())))
            elif name == b"WAIT":
                socket.answers.append(b":0\r\n")
            elif name == b"MEMORY":
                item = self.server.dbs[0]._dict.get(command[2])
                socket.answers.append(b":%d\r\n" % len(pickle.dumps(item.value)) if item else b"$-1\r\n")
            else:
                if not hasattr(self.server, "_lua_runtime"):
                    socket._get_server_runtime(self.server).execute(b"redis.REDIS_VERSION_NUM = 0x00080000")
                socket._process_command(command)
        finally:
            socket.push = push

    def _info(self) -> dict[str, object]:
        return {**_INFO, "connected_clients": len(self.connections), "used_memory": 1_000_000}


class SimulatedRedis(RespServer):
    """A Redis that writes to disk before it answers. What it has executed survives ``kill``.

    ``host`` is its machine, whose clock is the one of all races. ``deaf`` are the hosts that get no announcements, and
    ``scripts`` the names of scripts by their hashes.
    """

    def __init__(self, loop: SimulatedLoop, name: str = "redis") -> None:
        super().__init__()
        self.host = loop.host(name)
        self.interfere: Interfere = lambda _host, _labels: None
        self.observe: Callable[[Host, list[bytes]], None] = lambda _host, _command: None
        self.deaf: set[str] = set()
        self._loop = loop
        self._network = loop.network
        self._kept: dict[bytes, Any] | None = None
        self._port = 0
        self.scripts = {**this_release().scripts}

    @property
    def target(self) -> tuple[str, int]:
        """The address."""
        return "127.0.0.1", self._port

    @property
    def url(self) -> str:
        """The address as a URL."""
        return f"redis://127.0.0.1:{self._port}/0"

    async def start(self) -> None:
        """Listen."""
        self._port = self.host.context.run(self._network.listen, self.accept, self._port).port

    async def kill(self) -> None:
        """Reset all connections and listen no more. All that was executed is on disk."""
        self._network.disconnect(self.host)
        for connection in self.connections:
            connection.socket.close()
        self.connections.clear()

    async def fall_behind(self) -> None:
        """Keep a copy of all data: what a replica has that is no longer in sync."""
        self._kept = copy.deepcopy(self.server.dbs[0]._dict)

    async def fail_over(self) -> None:
        """Go on with the copy that ``fall_behind`` kept, as if a replica had replaced this Redis."""
        await self.kill()
        database = self.server.dbs[0]
        database._dict, self._kept = self._kept or {}, None
        database._expiry_heap.clear()
        for key, item in database._dict.items():
            database.schedule_expiry(key, item.expireat)
        self.server.script_cache.clear()
        await self.start()

    def announce(self, connection: _Connection, data: bytes) -> None:
        if connection.transport.peer.host.name not in self.deaf:
            super().announce(connection, data)

    async def do(self, *command: str | int) -> None:
        """Do what a round of chaos asks of a Redis: pause it, or let it drop connections."""
        match command:
            case ("CLIENT", "PAUSE", int(milliseconds), *_):
                self.host.stand_still()
                self._loop.call_later(milliseconds / 1000, self.host.go_on)
            case ("CLIENT", "KILL", "TYPE", kind, *_):
                for connection in [
                    each for each in self.connections if bool(each.socket._pubsub) == (kind == "pubsub")
                ]:
                    connection.transport.abort()
            case _:
                raise ValueError(command)

    def execute(self, connection: _Connection, commands: list[list[bytes]]) -> None:
        """Execute a batch of commands, unless something interferes."""
        labels = [self._label(command) for command in commands]
        client = connection.transport.peer.host
        self._loop.note(f"{client.name} redis", " ".join(labels))
        found = self.interfere(client, labels)
        if found is not None:
            found.then()
        if found is not None and found.how == "before":
            connection.transport.abort()
            return
        for index, command in enumerate(commands):
            if found is not None and found.how == "refuse" and found.at == index:
                connection.socket.answers.append(_REFUSAL)
                continue
            self.observe(client, command)
            self._run(connection.socket, command)
            if found is not None and found.how == "during" and found.at == index:
                break
        if found is not None and found.how in ("during", "after"):
            connection.transport.abort()
            return
        if found is not None and found.how == "late":
            connection.transport.outgoing.blocked_until = self._loop.time() + found.seconds
        self._answer(connection)

    def _label(self, command: list[bytes]) -> str:
        name = command[0].decode().upper()
        if name in ("EVAL", "EVALSHA"):
            return self.scripts.get(script_hash(command[1]) if name == "EVAL" else command[1], "script")
        return name


def _bulk(text: str) -> bytes:
    return b"$%d\r\n%b\r\n" % (len(text), text.encode())
