"""Real Redis processes for tests: a single one, one with Sentinels, a cluster, and one behind TLS."""

from __future__ import annotations

import asyncio
import fcntl
import os
import random
import signal
import socket
import ssl
import subprocess
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, Self, TextIO

import pytest
import trustme
from redis.asyncio import Redis
from redis.crc import key_slot

from samedeal_server.embedded_redis.binary import find_redis_binary
from tests.child_processes import die_with_parent, kill_and_wait, send_signal
from tests.server.local_server import local_server
from tests.server.waiting import until

SLOTS: Final = 16_384
ROOMS: Final = ("monday", "sunday", "friday")
"""Codes of three rooms, one on each of the three primaries of a cluster, in order."""

NAME: Final = "cards"
"""The name of the primary for its Sentinels."""

ENDS_SERVERS: Final = [
    pytest.mark.usefixtures("half_made_connections"),
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),  # the fixture explains this
]
"""The marks of tests that kill or freeze servers while nodes connect to them."""

_BUS: Final = 10_000
"""Distance from the port of a cluster node to its cluster bus port."""


_reserved: list[TextIO] = []
"""Locked files, one for each port that this process has reserved. The locks end with the process."""


def free_port() -> int:
    """Reserve a port that is free, and whose cluster bus port is free too.

    Other tests may run at the same time. Without a reservation, two of them could choose a port before either has started
    its server. One server could then not listen, and its test would talk to the other one. No port is the bus port of
    another one, and the system gives none of them to an outgoing connection.
    """
    while True:
        port = random.SystemRandom().randrange(12_000, 12_000 + _BUS)
        try:
            reservation = (Path(tempfile.gettempdir()) / f"samedeal-test-port-{port}").open("a")
        except PermissionError:  # the port of another user
            continue
        try:
            fcntl.flock(reservation, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with socket.socket() as one, socket.socket() as two:
                one.bind(("127.0.0.1", port))
                two.bind(("127.0.0.1", port + _BUS))
        except OSError:
            reservation.close()
            continue
        _reserved.append(reservation)
        return port


@asynccontextmanager
async def behind_tls(server: Server, certificate: trustme.LeafCert) -> AsyncIterator[int]:
    """The port of a TLS proxy in front of a Redis."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    certificate.configure_cert(context)

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(OSError):
                while data := await reader.read(65_536):
                    writer.write(data)
                    await writer.drain()
        finally:
            writer.transport.abort()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", server.port)
        await asyncio.gather(pump(reader, far_writer), pump(far_reader, writer))

    async with local_server(serve, context) as port:
        yield port


class Server:
    """A redis-server on its own port, which writes to disk before it answers."""

    def __init__(self, directory: Path, *settings: str, sentinel: bool = False) -> None:
        self.directory = directory
        self.port = free_port()
        self.address = f"127.0.0.1:{self.port}"
        self._settings = settings
        self._sentinel = sentinel
        self._process: asyncio.subprocess.Process | None = None
        # redis-py leaves most of its methods without types.
        self.redis: Any = Redis(port=self.port, socket_timeout=5)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.kill()

    async def start(self, *settings: str) -> None:
        """Start it with its data and wait until it answers."""
        self.directory.mkdir(parents=True, exist_ok=True)
        binary = await asyncio.to_thread(find_redis_binary)
        if self._sentinel:
            file = self.directory / "sentinel.conf"
            file.write_text(f"port {self.port}\ndir {self.directory}\n" + "\n".join(self._settings) + "\n")
            words = [str(file), "--sentinel"]
        else:
            words = ["--port", str(self.port), "--dir", str(self.directory), "--save", "", "--appendonly", "yes"]
            words += ["--appendfsync", "always", "--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "1"]
            words += [*self._settings, *settings]
        with (self.directory / "log").open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                binary.path,
                *words,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=die_with_parent,
                start_new_session=True,
            )
        await until(self.redis.ping)

    async def kill(self) -> None:
        """Kill it."""
        if self._process is not None:
            await kill_and_wait(self._process)
        await self.redis.aclose()

    def freeze(self) -> None:
        """Suspend it, and wait until it is suspended: until then it could still confirm a write."""
        if self._process is not None:
            send_signal(self._process, signal.SIGSTOP)
            with suppress(ChildProcessError):
                os.waitid(os.P_PID, self._process.pid, os.WSTOPPED | os.WNOWAIT)

    def thaw(self) -> None:
        """Resume it."""
        if self._process is not None:
            send_signal(self._process, signal.SIGCONT)

    async def follow(self, primary: Server) -> None:
        """Make it a replica and wait until it is in sync."""
        await self.redis.replicaof("127.0.0.1", str(primary.port))
        await until(self._is_following)

    async def _is_following(self) -> bool:
        return bool((await self.redis.info("replication")).get("master_link_status") == "up")


class Group:
    """Servers that are started and killed together."""

    def __init__(self, *members: Server) -> None:
        self._members = members

    async def __aenter__(self) -> Self:
        try:
            await self.start()
        except BaseException:
            await self.kill()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.kill()

    async def start(self) -> None:
        """Start all servers."""
        await asyncio.gather(*(server.start() for server in self._members))

    async def kill(self) -> None:
        """Kill all servers."""
        await asyncio.gather(*(server.kill() for server in self._members))


class Pair(Group):
    """A primary and its replica."""

    def __init__(self, directory: Path) -> None:
        self.primary = Server(directory / "primary")
        self.replica = Server(directory / "replica")
        super().__init__(self.primary, self.replica)

    async def start(self) -> None:
        """Start all servers and wait until the replica is in sync."""
        await super().start()
        await self.replica.follow(self.primary)


class LaggingReplica(Pair):
    """A primary with a replica that replaces it without the writes after ``fall_behind``."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self._serving = self.primary

    @property
    def target(self) -> tuple[str, int]:
        """The address of the Redis that serves now."""
        return "127.0.0.1", self._serving.port

    @property
    def url(self) -> str:
        """The URL of the Redis that serves now."""
        return "redis://{}:{}/0".format(*self.target)

    async def fall_behind(self) -> None:
        """Wait until the replica is in sync, then stop its replication."""
        await self.primary.redis.set("marked", "here", px=5_000)
        await until(lambda: self.replica.redis.get("marked"))
        await self.replica.redis.replicaof("NO", "ONE")

    async def fail_over(self) -> None:
        """Kill the primary and let the replica serve."""
        self._serving = self.replica
        await self.primary.kill()


class SentinelSetup(Pair):
    """A primary with a replica, and three Sentinels that fail over only after ``fail_over``, then within a second or two.

    Otherwise they would replace a primary that a busy machine has kept from answering.
    """

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.sentinels = [
            Server(
                directory / f"sentinel{number}",
                f"sentinel monitor {NAME} 127.0.0.1 {self.primary.port} 2",
                f"sentinel down-after-milliseconds {NAME} 600000",
                f"sentinel failover-timeout {NAME} 3000",
                sentinel=True,
            )
            for number in range(3)
        ]
        self.url = f"sentinel://{','.join(each.address for each in self.sentinels)}/{NAME}"

    async def start(self) -> None:
        """Start all and wait until a Sentinel knows the others and the replica."""
        await super().start()
        for sentinel in self.sentinels:
            await sentinel.start()
        await until(self._all_is_seen)

    async def kill(self) -> None:
        """Kill all servers."""
        await asyncio.gather(super().kill(), *(sentinel.kill() for sentinel in self.sentinels))

    async def _all_is_seen(self) -> bool:
        states = [(await each.redis.sentinel_masters())[NAME] for each in self.sentinels]
        return all((state["num-slaves"], state["num-other-sentinels"]) == (1, 2) for state in states)

    async def fail_over(self) -> None:
        """Kill the primary, and wait until all Sentinels name the replica as the primary."""
        await self.primary.kill()
        for sentinel in self.sentinels:
            await sentinel.redis.sentinel_set(NAME, "down-after-milliseconds", 500)
        await until(self._names_the_replica)

    async def _names_the_replica(self) -> bool:
        named = [await each.redis.sentinel_get_master_addr_by_name(NAME) for each in self.sentinels]
        return all(int(port) == self.replica.port for _, port in named)


class Shards(Group):
    """A cluster of three primaries, each optionally with a replica, in ``replicas``.

    A lost primary makes only its own slots unavailable.
    """

    def __init__(self, directory: Path, *, replicated: bool = False) -> None:
        settings = ["--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf"]
        settings += ["--cluster-node-timeout", "1000" if replicated else "2000"]
        settings += ["--cluster-require-full-coverage", "no"]
        self.servers = [Server(directory / f"shard{number}", *settings) for number in range(3)]
        self.replicas = [Server(directory / f"replica{number}", *settings) for number in range(3) if replicated]
        super().__init__(*self.servers, *self.replicas)
        self.url = f"cluster://{','.join(each.address for each in self.servers[:2])}"
        self._ids: list[str] = []

    async def start(self) -> None:
        """Start all servers, assign a third of the slots to each primary, and wait until all servers know it."""
        share = SLOTS // 3 + 1
        await super().start()
        for number, server in enumerate(self.servers):
            slots = range(number * share, min((number + 1) * share, SLOTS))
            await server.redis.execute_command("CLUSTER SET-CONFIG-EPOCH", number + 1)
            await server.redis.execute_command("CLUSTER ADDSLOTS", *slots)
            self._ids.append(_text(await server.redis.execute_command("CLUSTER MYID")))
        for server in (*self.servers[1:], *self.replicas):
            await server.redis.execute_command("CLUSTER MEET", "127.0.0.1", self.servers[0].port)
        for primary, replica in zip(self._ids, self.replicas, strict=False):
            # This fails until the replica knows the primary.
            await until(partial(replica.redis.execute_command, "CLUSTER REPLICATE", primary))
        await until(self.whole)

    async def whole(self) -> bool:
        """Whether every server knows a primary for each slot, and each primary has its replica, if any."""
        for server in self._members:
            info = await server.redis.cluster("INFO")
            ranges = await server.redis.execute_command("CLUSTER SLOTS")
            # Each range is: first slot, last slot, primary, replicas.
            if info["cluster_state"] != "ok" or [len(each) for each in ranges] != 3 * [4 if self.replicas else 3]:
                return False
            info = await server.redis.info("replication")
            if self.replicas and info.get("master_link_status", "up" if info["connected_slaves"] else "") != "up":
                return False
        return True

    async def taken_over(self, number: int) -> None:
        """Wait until all remaining servers know the replica of a lost primary as the new primary."""
        lost, new_primary = self.servers[number], self.replicas[number]

        async def all_know() -> bool:
            for server in self._members:
                if server is lost:
                    continue
                ranges = await server.redis.execute_command("CLUSTER SLOTS")
                if new_primary.port not in {int(primary[1]) for _, _, primary, *_ in ranges}:
                    return False
            return True

        await until(all_know)

    async def holder(self, key: str, queried: int = 0) -> int:
        """The number of the server that has a key's slot, according to one server."""
        slot = key_slot(key.encode())
        for first, last, primary, *_ in await self.servers[queried].redis.execute_command("CLUSTER SLOTS"):
            if first <= slot <= last:
                return [server.port for server in self.servers].index(int(primary[1]))
        raise LookupError(key)

    async def _epochs(self, queried: int) -> dict[str, str]:
        """The configuration epoch of each server, according to one server."""
        found = await self.servers[queried].redis.execute_command("CLUSTER NODES")
        return {each["node_id"]: each["epoch"] for each in found.values()}

    async def migrate(self, key: str, to: int) -> None:
        """Move a key's slot, key by key, to another server, as ``redis-cli --cluster reshard`` does."""
        slot, source_number = key_slot(key.encode()), await self.holder(key)
        source, target = self.servers[source_number].redis, self.servers[to].redis
        await target.execute_command("CLUSTER SETSLOT", slot, "IMPORTING", self._ids[source_number])
        await source.execute_command("CLUSTER SETSLOT", slot, "MIGRATING", self._ids[to])
        while found := await source.execute_command("CLUSTER GETKEYSINSLOT", slot, 1):
            await source.execute_command("MIGRATE", "127.0.0.1", self.servers[to].port, found[0], 0, 5000)
        for server in (self.servers[to], self.servers[source_number], *self.servers):
            await server.redis.execute_command("CLUSTER SETSLOT", slot, "NODE", self._ids[to])

        async def agreed() -> bool:
            # The epochs must agree too. Otherwise a server could still revert the slot to an older owner.
            numbers = range(len(self.servers))
            epochs = [await self._epochs(number) for number in numbers]
            return {await self.holder(key, number) for number in numbers} == {to} and epochs == epochs[:1] * len(epochs)

        await until(agreed)


def _text(value: bytes | str) -> str:
    return value.decode() if isinstance(value, bytes) else value
