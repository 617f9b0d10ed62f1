"""Redis in its kinds, as real processes on this machine: one, one with replicas and Sentinels, a cluster, one behind TLS."""

from __future__ import annotations

import asyncio
import random
import signal
import socket
import ssl
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final, Self

import trustme
from redis.asyncio import Redis
from redis.crc import key_slot
from redis.exceptions import RedisError

from samedeal_server.redis_binary import find_redis_binary
from tests.chaos.stage import _reap, _send, die_with_parent

PATIENCE: Final = 30.0
"""Seconds after which what has not come about does not."""

SLOTS: Final = 16_384
NAME: Final = "cards"
"""What the Sentinels here call the primary."""

_BUS: Final = 10_000
"""How far above a cluster node's port the port is over which the nodes talk."""


async def until(holds: Callable[[], Awaitable[object]]) -> None:
    """Wait until something holds; an error of Redis means not yet."""
    async with asyncio.timeout(PATIENCE):
        while True:
            with suppress(RedisError, OSError):
                if await holds():
                    return
            await asyncio.sleep(0.02)


def free_port() -> int:
    """A port that is free, and the one with it over which the nodes of a cluster talk."""
    while True:
        port = random.randrange(20_000, 32_000)
        with suppress(OSError), socket.socket() as one, socket.socket() as two:
            one.bind(("127.0.0.1", port))
            two.bind(("127.0.0.1", port + _BUS))
            return port


@asynccontextmanager
async def behind_tls(server: Server, certificate: trustme.LeafCert) -> AsyncIterator[int]:
    """The port of something that speaks TLS for a Redis."""
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

    writers: list[asyncio.StreamWriter] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", server.port)
        writers.extend((writer, far_writer))
        await asyncio.gather(pump(reader, far_writer), pump(far_reader, writer))

    async with await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context) as listening:
        yield listening.sockets[0].getsockname()[1]
        for writer in writers:  # from Python 3.12 on the end waits for all connections'
            writer.transport.abort()


class Server:
    """A redis-server on a port of its own, with everything on disk before it is answered."""

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
        await self.redis.aclose()

    async def start(self, *settings: str) -> None:
        """Start it, on the data that it has, and wait until it answers."""
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
        """End it at once, whatever it is doing."""
        if self._process is not None:
            await _reap(self._process)

    def freeze(self) -> None:
        """Have it do nothing any more, without a word."""
        if self._process is not None:
            _send(self._process, signal.SIGSTOP)

    def thaw(self) -> None:
        """Have it go on."""
        if self._process is not None:
            _send(self._process, signal.SIGCONT)

    async def follow(self, primary: Server) -> None:
        """Be a replica, and have caught up."""
        await self.redis.replicaof("127.0.0.1", str(primary.port))
        await until(self._is_following)

    async def _is_following(self) -> bool:
        return bool((await self.redis.info("replication")).get("master_link_status") == "up")


# ---------------------------------------------------------------- a primary, replicas, Sentinels


@asynccontextmanager
async def replicated(directory: Path) -> AsyncIterator[tuple[Server, Server]]:
    """A primary and its replica."""
    async with Server(directory / "primary") as primary, Server(directory / "replica") as replica:
        await replica.follow(primary)
        yield primary, replica


class Watched:
    """A primary with a replica, and three Sentinels that put the replica in its place within a second or two."""

    def __init__(self, directory: Path) -> None:
        self.primary = Server(directory / "primary")
        self.replica = Server(directory / "replica")
        self.sentinels = [
            Server(
                directory / f"sentinel{number}",
                f"sentinel monitor {NAME} 127.0.0.1 {self.primary.port} 2",
                f"sentinel down-after-milliseconds {NAME} 500",
                f"sentinel failover-timeout {NAME} 3000",
                sentinel=True,
            )
            for number in range(3)
        ]
        self.url = f"sentinel://{','.join(each.address for each in self.sentinels)}/{NAME}"

    async def start(self) -> None:
        """Start all, and wait until a Sentinel can be sure of the others and of the replica."""
        await self.primary.start()
        await self.replica.start()
        await self.replica.follow(self.primary)
        for sentinel in self.sentinels:
            await sentinel.start()
        await until(self._all_is_seen)

    async def _all_is_seen(self) -> bool:
        states = [(await each.redis.sentinel_masters())[NAME] for each in self.sentinels]
        return all((state["num-slaves"], state["num-other-sentinels"]) == (1, 2) for state in states)

    async def failed_over(self) -> None:
        """Wait until all Sentinels name the replica as the primary."""
        await until(self._names_the_replica)

    async def _names_the_replica(self) -> bool:
        named = [await each.redis.sentinel_get_master_addr_by_name(NAME) for each in self.sentinels]
        return all(int(port) == self.replica.port for _, port in named)


@asynccontextmanager
async def watched(directory: Path) -> AsyncIterator[Watched]:
    """A primary, its replica, and three Sentinels."""
    all_of_it = Watched(directory)
    async with AsyncExitStack() as stack:
        for server in (all_of_it.primary, all_of_it.replica, *all_of_it.sentinels):
            stack.push_async_exit(server)
        await all_of_it.start()
        yield all_of_it


# ---------------------------------------------------------------- a cluster


class Shards:
    """A cluster of three primaries, each with a replica of its own if that is wanted: then ``replicas`` are these.

    A primary that is lost takes nothing but its own slots with it.
    """

    def __init__(self, directory: Path, *, replicated: bool = False) -> None:
        settings = ["--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf"]
        settings += ["--cluster-node-timeout", "1000" if replicated else "2000"]
        settings += ["--cluster-require-full-coverage", "no"]
        self.servers = [Server(directory / f"shard{number}", *settings) for number in range(3)]
        self.replicas = [Server(directory / f"replica{number}", *settings) for number in range(3) if replicated]
        self.url = f"cluster://{','.join(each.address for each in self.servers[:2])}"
        self._ids: list[str] = []

    async def start(self) -> None:
        """Start all, give each primary a third of the slots, and wait until every one knows it."""
        share = SLOTS // 3 + 1
        await asyncio.gather(*(server.start() for server in (*self.servers, *self.replicas)))
        for number, server in enumerate(self.servers):
            slots = range(number * share, min((number + 1) * share, SLOTS))
            await server.redis.execute_command("CLUSTER SET-CONFIG-EPOCH", number + 1)
            await server.redis.execute_command("CLUSTER ADDSLOTS", *slots)
            self._ids.append(_text(await server.redis.execute_command("CLUSTER MYID")))
        for server in (*self.servers[1:], *self.replicas):
            await server.redis.execute_command("CLUSTER MEET", "127.0.0.1", self.servers[0].port)
        for primary, replica in zip(self._ids, self.replicas, strict=False):
            # Not before it has heard of that primary.
            await until(lambda primary=primary, replica=replica: _follow(replica, primary))  # type: ignore[misc]  # defaults in a lambda
        await until(self.whole)

    async def whole(self) -> bool:
        """Whether every server knows of a primary for each slot, and each primary has its replica if it is to have one."""
        for server in (*self.servers, *self.replicas):
            info = await server.redis.cluster("INFO")
            ranges = await server.redis.execute_command("CLUSTER SLOTS")
            # Of each range: first and last slot, the primary, replicas.
            if info["cluster_state"] != "ok" or [len(each) for each in ranges] != 3 * [4 if self.replicas else 3]:
                return False
            told = await server.redis.info("replication")
            if self.replicas and told.get("master_link_status", "up" if told["connected_slaves"] else "") != "up":
                return False
        return True

    async def taken_over(self, number: int) -> None:
        """Wait until every server that is left names the replica of one as the primary in its place."""
        lost, heir = self.servers[number], self.replicas[number]

        async def named() -> bool:
            for server in (*self.servers, *self.replicas):
                if server is lost:
                    continue
                ranges = await server.redis.execute_command("CLUSTER SLOTS")
                if heir.port not in {int(primary[1]) for _, _, primary, *_ in ranges}:
                    return False
            return True

        await until(named)

    async def fall_behind(self, number: int) -> None:
        """Have a primary's replica know all that is there, and nothing of what comes from now on."""
        primary, replica = self.servers[number], self.replicas[number]
        await primary.redis.execute_command("WAIT", 1, 0)
        replica.freeze()
        # What is sent to a frozen one waits for it: the way to it must be gone.
        await primary.redis.execute_command("CLIENT KILL", "TYPE", "replica")

    async def take_over(self, number: int) -> None:
        """Have the replica of a primary that is gone go on, and serve in its place at once."""
        self.replicas[number].thaw()
        await self.replicas[number].redis.execute_command("CLUSTER FAILOVER", "TAKEOVER")
        await self.taken_over(number)

    async def holder(self, key: str, asked: int = 0) -> int:
        """The number of the server that has a key's slot, by the word of one of them."""
        slot = key_slot(key.encode())
        for first, last, primary, *_ in await self.servers[asked].redis.execute_command("CLUSTER SLOTS"):
            if first <= slot <= last:
                return [server.port for server in self.servers].index(int(primary[1]))
        raise LookupError(key)

    async def _epochs(self, asked: int) -> dict[str, str]:
        """How new each server's word on its slots is, by the word of one of them."""
        found = await self.servers[asked].redis.execute_command("CLUSTER NODES")
        return {told["node_id"]: told["epoch"] for told in found.values()}

    async def migrate(self, key: str, to: int) -> None:
        """Move a key's slot, key by key, to another server, as ``redis-cli --cluster reshard`` does."""
        slot, at = key_slot(key.encode()), await self.holder(key)
        source, target = self.servers[at].redis, self.servers[to].redis
        await target.execute_command("CLUSTER SETSLOT", slot, "IMPORTING", self._ids[at])
        await source.execute_command("CLUSTER SETSLOT", slot, "MIGRATING", self._ids[to])
        while found := await source.execute_command("CLUSTER GETKEYSINSLOT", slot, 1):
            await source.execute_command("MIGRATE", "127.0.0.1", self.servers[to].port, found[0], 0, 5000)
        for server in (self.servers[to], self.servers[at], *self.servers):
            await server.redis.execute_command("CLUSTER SETSLOT", slot, "NODE", self._ids[to])

        async def agreed() -> bool:
            # Of the epochs too: by older ones a server may yet take back what it was told.
            everyone = range(len(self.servers))
            epochs = [await self._epochs(asked) for asked in everyone]
            return {await self.holder(key, asked) for asked in everyone} == {to} and epochs == epochs[:1] * len(epochs)

        await until(agreed)


async def _follow(replica: Server, primary: str) -> bool:
    """Have a server of a cluster be the replica of the one with an id."""
    await replica.redis.execute_command("CLUSTER REPLICATE", primary)
    return True


@asynccontextmanager
async def shards(directory: Path, *, replicated: bool = False) -> AsyncIterator[Shards]:
    """A cluster of three primaries, each with a replica if that is wanted."""
    cluster = Shards(directory, replicated=replicated)
    async with AsyncExitStack() as stack:
        for server in (*cluster.servers, *cluster.replicas):
            stack.push_async_exit(server)
        await cluster.start()
        yield cluster


def _text(value: bytes | str) -> str:
    return value.decode() if isinstance(value, bytes) else value
