"""A Redis of the world beside a real one, which executes the same commands and must give the same answers.

The real one lives in the time of the world: scripts get it as a constant, and what has expired there is deleted.
"""

from __future__ import annotations

import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import hiredis
from redis import Redis

from samedeal_server.embedded_redis.binary import find_redis_binary
from samedeal_server.store.scripts import Script
from tests.child_processes import die_with_parent
from tests.simulation.loop import SimulatedLoop
from tests.simulation.plan import WorldPlan
from tests.simulation.redis_server import SimulatedRedis, Socket
from tests.simulation.world import run_world

_NOT_SENT: Final = (b"INFO", b"WAIT", b"MEMORY", b"TIME", b"SCAN")
_NOT_COMPARED: Final = (b"HELLO", b"CLIENT", b"TTL", b"PTTL")
_UNORDERED: Final = (b"HGETALL", b"SMEMBERS", b"HKEYS")
_SCRIPTS: Final = (b"EVALSHA", b"EVAL")
_PERSIST: Final = b"for _, key in ipairs(KEYS) do redis.call('PERSIST', key) end"
_ANNOUNCEMENTS: Final = (b"message", b"smessage")


@contextmanager
def real_redis() -> Iterator[str]:
    """Run a Redis or Valkey without a disk, and yield the path of its socket."""
    with tempfile.TemporaryDirectory(prefix="mirror-") as folder:
        path = f"{folder}/redis.sock"
        # Nodes of one entry let Redis trim streams as exactly as the model does.
        options = ("--port", "0", "--unixsocket", path, "--save", "", "--stream-node-max-entries", "1")
        command = (str(find_redis_binary().path), *options)
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, preexec_fn=die_with_parent) as process:  # noqa: PLW1509  # no threads yet
            assert process.stdout is not None
            next(line for line in process.stdout if "eady to accept connections" in line)
            try:
                yield path
            finally:
                process.kill()


class _RealConnection:
    """A connection to the real Redis, over which the world waits for each answer."""

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(path)
        self._answers = hiredis.Reader()

    def call(self, command: list[bytes], answers: int) -> list[Any]:
        """Execute a command that has so many answers, and return them without the announcements before them."""
        self._socket.sendall(hiredis.pack_command(tuple(command)))  # type: ignore[arg-type]  # the stub names a tuple of one word
        found: list[Any] = []
        while len(found) < answers:
            if (answer := self._answers.gets()) is False:
                self._answers.feed(self._socket.recv(1 << 20))
            elif not (isinstance(answer, list) and answer and answer[0] in _ANNOUNCEMENTS):
                found.append(answer)
        return found

    def close(self) -> None:
        self._socket.close()


class MirroredRedis(SimulatedRedis):
    """A Redis of the world whose answers are compared with those of the real Redis at ``path``.

    ``differences`` has a sentence for each command that the two answered in different ways. The copies of a failover are
    not mirrored.
    """

    def __init__(self, path: str, loop: SimulatedLoop) -> None:
        super().__init__(loop)
        self.differences: list[str] = []
        self._path = path
        self._real: dict[Socket, _RealConnection] = {}
        self._expires = float("inf")
        self._keys = Redis(unix_socket_path=path)
        self._keys.flushall()

    def _run(self, socket: Socket, command: list[bytes]) -> None:
        name, before, now = command[0].upper(), len(socket.answers), time.time()
        self._forget_expired(now)
        super()._run(socket, command)
        own = _parsed(socket.answers[before:])
        if name in _NOT_SENT or any(str(answer).startswith("NOSCRIPT") for answer in own):
            return
        real = self._connection(socket)
        others = real.call(_at(now, command), len(own))
        if keys := _keys(command):  # in the time of the real Redis, they would expire at another time
            real.call([b"EVAL", _PERSIST, b"%d" % len(keys), *keys], 1)
        form = _unordered if name in _UNORDERED else _comparable
        if name not in _NOT_COMPARED and [*map(form, own)] != [*map(form, others)]:
            words = [word[:60] for word in command[:8] if len(word) < 1000]
            self.differences.append(f"{words}: {own!r:.300} here, {others!r:.300} there")
        expiries = [item.expireat for item in self.server.dbs[0]._dict.values() if item.expireat]
        self._expires = min(expiries, default=float("inf"))

    def _connection(self, socket: Socket) -> _RealConnection:
        if socket not in self._real:
            self._real[socket] = _RealConnection(self._path)
            socket.on_close = lambda: self._real.pop(socket).close()
        return self._real[socket]

    def _forget_expired(self, now: float) -> None:
        """Delete in the real Redis what has expired in the world."""
        if now < self._expires:
            return
        items = self.server.dbs[0]._dict.items()
        living = {key for key, item in items if not item.expireat or item.expireat > now}
        if dead := {*self._keys.keys()} - living:
            self._keys.delete(*dead)


def differences(plan: WorldPlan, path: str) -> list[str]:
    """Run a world on the model and on the real Redis at ``path``. Return what they answered in different ways."""
    made: list[MirroredRedis] = []

    def make(loop: SimulatedLoop) -> MirroredRedis:
        made.append(MirroredRedis(path, loop))
        return made[0]

    verdict = run_world(plan, make_redis=make)
    return [*made[0].differences, *verdict.violations]


def _at(now: float, command: list[bytes]) -> list[bytes]:
    """Return a command as it has to be executed at a time of the world."""
    micros = round(now * 1_000_000)
    new_id = b"%d-*" % (micros // 1000)
    if command[0].upper() == b"XADD":
        return [new_id if word == b"*" else word for word in command]
    if command[0].upper() not in _SCRIPTS:
        return command
    source = Script.sources.get(command[1].decode(), command[1])
    source = source.replace(b"redis.call('TIME')", b"{%d, %d}" % divmod(micros, 1_000_000))
    return [b"EVAL", source.replace(b"'*'", b"'%b'" % new_id), *command[2:]]


def _keys(command: list[bytes]) -> list[bytes]:
    """Return the keys of a command whose lifetimes it may have set."""
    name = command[0].upper()
    if name in _SCRIPTS:
        return command[3 : 3 + int(command[2])]
    return command[1:2] if name in (b"SET", b"GETEX", b"EXPIRE") else []


def _parsed(answers: list[bytes]) -> list[Any]:
    reader = hiredis.Reader()
    reader.feed(b"".join(answers))
    found = []
    while (answer := reader.gets()) is not False:
        found.append(answer)
    return found


def _comparable(answer: Any) -> Any:
    """Return an answer in a form that is the same for the same value. Of errors, the code counts."""
    match answer:
        case [b"ssubscribe" | b"sunsubscribe" as kind, channel, int()]:  # fakeredis counts other subscriptions too
            return [kind, channel]
        case hiredis.ReplyError():
            return str(answer).partition(" ")[0]
        case list():
            return [*map(_comparable, answer)]
        case float():
            return repr(answer).removesuffix(".0").encode()
        case _:
            return answer


def _unordered(answer: Any) -> Any:
    return sorted(map(repr, answer.items() if isinstance(answer, dict) else answer))
