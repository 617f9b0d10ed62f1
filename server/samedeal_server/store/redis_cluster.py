"""A client for a Redis Cluster.

When a slot moves to another primary, the client sends the slot's commands to that primary.
"""

# redis.asyncio.cluster (redis-py 8.1) does not fit. Measured with one of three primaries frozen and timeouts of 2 s: a batch
# takes up to 33 s, and commands to healthy primaries fail after 2 to 4 s; here both take 0.01 s after the first timeout.
# Of 256 concurrent commands 156 raise MaxConnectionsError instead of waiting. ASKING is sent over another connection.

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import InitVar, dataclass, field
from typing import Any, Final, Self

from redis.asyncio import Redis
from redis.crc import key_slot
from redis.exceptions import AskError, ClusterDownError, MovedError, RedisError, TryAgainError
from redis.exceptions import ConnectionError as LostConnection
from redis.exceptions import TimeoutError as NoAnswer

from samedeal_server.store.address import Host, format_host
from samedeal_server.store.availability import RedisAvailability
from samedeal_server.store.redis_client import Argument, PrimaryClient, RedisCommand, with_followers
from samedeal_server.tasks import cancel_and_wait

_MAX_ATTEMPTS: Final = 20
_RETRY_INTERVAL: Final = 0.05
"""Delay, in seconds, before a failed command is sent again."""

_PROBE_INTERVAL: Final = 0.5
"""Interval, in seconds, between two pings to a primary that is down."""

_MAX_VARIANTS: Final = 100_000
"""Maximum number of keys that ``variants`` tries.

So many keys include one for each primary, even for a primary with a single slot.
"""

_REDIRECTIONS: Final = (MovedError, AskError)
_TRANSIENT_ERRORS: Final = (TryAgainError, ClusterDownError)
_CONNECTION_ERRORS: Final = (LostConnection, NoAnswer, OSError)


@dataclass(eq=False, repr=False)
class ClusterClient:
    """A client of a Redis Cluster. ``seeds`` are the addresses of the servers that are known at first.

    ``where`` names the seeds in error messages. ``client`` creates a client for a single server. A primary that does
    not answer in time is only pinged from then on. Commands to that primary fail at once until it answers or its slots
    move. A batch for several primaries therefore does not wait for a broken one.
    """

    seeds: InitVar[Sequence[Host]]
    where: str
    _client: Callable[[Host], PrimaryClient]
    availability: RedisAvailability
    replicas: int = 0
    _nodes: dict[Host, PrimaryClient] = field(default_factory=dict)
    _slot_map: list[tuple[int, int, Host]] = field(default_factory=list)
    _moved: dict[int, Host] = field(default_factory=dict)
    _refreshing: asyncio.Lock = field(default_factory=asyncio.Lock)
    _refreshes: int = 0
    _unresponsive: set[Host] = field(default_factory=set)
    _probes: dict[Host, asyncio.Task[None]] = field(default_factory=dict)
    _next_listener: int = 0

    def __post_init__(self, seeds: Sequence[Host]) -> None:
        self._seeds = list(seeds)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close all connections."""
        await cancel_and_wait(self._probes.values())
        nodes, self._nodes = self._nodes, {}
        for node in nodes.values():
            await node.aclose()

    async def primaries(self) -> list[PrimaryClient]:
        """Return a client for each primary that has slots. Raise RedisError or OSError if no server answers."""
        await self._refresh_slots(self._refreshes)
        return [self._node(address) for address in sorted({address for _, _, address in self._slot_map})]

    def primary_for(self, key: str) -> Host | None:
        """Return the address of the primary that has a key. Return None if no primary has the key's slot."""
        slot = key_slot(key.encode())
        if slot in self._moved:
            return self._moved[slot]
        return next((address for first, last, address in self._slot_map if first <= slot <= last), None)

    async def variants(self, key: str) -> dict[str, str]:
        """See PrimaryClient. Each primary has ``key`` with a colon and a number appended.

        Raise RedisError or OSError if no server answers.
        """
        await self._refresh_slots(self._refreshes)
        found: dict[Host, str] = {}
        wanted = {address for _, _, address in self._slot_map}
        for variant in (f"{key}:{number}" for number in range(_MAX_VARIANTS)):
            if (primary := self.primary_for(variant)) in wanted:
                found.setdefault(primary, variant)
                if len(found) == len(wanted):
                    break
        return {format_host(primary): variant for primary, variant in found.items()}

    async def _refresh_slots(self, refreshes: int) -> None:
        """Read the slot map from the cluster, unless another task has done so in the meantime.

        ``refreshes`` is the value that ``_refreshes`` had when the caller decided to refresh the slot map.
        """
        async with self._refreshing:
            if self._refreshes != refreshes:
                return
            known = dict.fromkeys((*(address for _, _, address in self._slot_map), *self._seeds))
            # Query all nodes at once, because some may be frozen. Query unresponsive nodes only if there are no others.
            queries = [
                asyncio.create_task(self._slots(address))
                for address in [each for each in known if each not in self._unresponsive] or known
            ]
            failure: Exception = LostConnection("no node of the cluster is known")
            try:
                for first in asyncio.as_completed(queries):
                    try:
                        self._slot_map = await first
                    except (RedisError, OSError) as error:
                        failure = error
                    else:
                        break
                else:
                    raise failure
            finally:
                await cancel_and_wait(queries)
            self._moved.clear()
            self._refreshes += 1
            await self._remove_old_nodes()

    async def _slots(self, address: Host) -> list[tuple[int, int, Host]]:
        """Read the slot map from one server: the first slot, the last slot and the primary of each range."""
        # redis-py has no types for this method.
        node: Any = self._node(address)
        found = await node.execute_command("CLUSTER SLOTS")
        if not found:
            raise ClusterDownError("CLUSTERDOWN no slot of the cluster is served")
        return [(first, last, _address(primary, address)) for first, last, primary, *_ in found]

    async def _remove_old_nodes(self) -> None:
        primaries = {address for _, _, address in self._slot_map}
        self.availability.set_primaries({format_host(address) for address in primaries})
        await cancel_and_wait([task for address, task in self._probes.items() if address not in primaries])
        for address in [each for each in self._nodes if each not in primaries and each not in self._seeds]:
            await self._nodes.pop(address).aclose()

    def _node(self, address: Host) -> PrimaryClient:
        if address not in self._nodes:
            self._nodes[address] = self._client(address)
        return self._nodes[address]

    async def _locate(self, key: str) -> Host:
        if not self._slot_map:
            await self._refresh_slots(self._refreshes)
        if (address := self.primary_for(key)) is None:
            raise ClusterDownError(f"CLUSTERDOWN no primary has slot {key_slot(key.encode())}")
        return address

    def _probe(self, address: Host) -> None:
        """Ping a primary in the background until it counts as up again."""

        def forget(_: asyncio.Task[None]) -> None:
            self._probes.pop(address, None)
            self._unresponsive.discard(address)

        if address not in self._probes:
            self._probes[address] = task = asyncio.create_task(self._probe_until_up(address))
            task.add_done_callback(forget)

    async def _probe_until_up(self, address: Host) -> None:
        while True:
            with suppress(RedisError, OSError):
                await self._node(address).ping()
                self._unresponsive.discard(address)
                if not self.availability.is_down(format_host(address)):
                    return
            await asyncio.sleep(_PROBE_INTERVAL)

    async def try_execute(self, commands: Sequence[RedisCommand], *, durable: bool = False) -> list[Any]:
        """See PrimaryClient. If a key moves to another primary, its command is sent again to the new primary."""
        answers: list[Any] = [None] * len(commands)
        pending = list(range(len(commands)))
        for _ in range(_MAX_ATTEMPTS):
            refreshes = self._refreshes
            sent_to = await self._send_round(commands, pending, answers, durable=durable)
            retryable = (*_REDIRECTIONS, *_TRANSIENT_ERRORS, *_CONNECTION_ERRORS)
            pending = [i for i in pending if isinstance(answers[i], retryable)]
            lost = {i for i in pending if isinstance(answers[i], (ClusterDownError, *_CONNECTION_ERRORS))}
            if lost:
                with suppress(RedisError, OSError):
                    await self._refresh_slots(refreshes)
                # Do not retry on a primary that is down but still has the slot. The player is waiting, and can retry.
                stayed = {i for i in lost if self.primary_for(commands[i].key) in (None, sent_to.get(i))}
                pending = [i for i in pending if i not in stayed]
            if not pending:
                break
            if any(not isinstance(answers[i], _REDIRECTIONS) for i in pending):
                await asyncio.sleep(_RETRY_INTERVAL)
            pending = with_followers(commands, pending)
        return answers

    async def _send_round(
        self, commands: Sequence[RedisCommand], pending: list[int], answers: list[Any], *, durable: bool
    ) -> dict[int, Host]:
        """Send each pending command to the primary that has its key, and follow ASK redirections.

        Put the answers into ``answers``. Return the primary to which each command was sent first, by the index of the
        command.
        """
        groups: dict[Host, list[int]] = defaultdict(list)
        for i in pending:
            try:
                groups[await self._locate(commands[i].key)].append(i)
            except (RedisError, OSError) as error:
                answers[i] = error
        await asyncio.gather(
            *(self._send_to(address, commands, group, answers, durable=durable) for address, group in groups.items())
        )
        redirected: dict[Host, list[int]] = defaultdict(list)
        for address, group in groups.items():
            for i in group:
                match answers[i]:
                    case MovedError() as moved:
                        self._moved[moved.slot_id] = (moved.host or address[0], moved.port)
                    case AskError() as ask:
                        redirected[ask.host or address[0], ask.port].append(i)
                    case _:
                        pass
        await asyncio.gather(
            *(
                self._send_to(address, commands, group, answers, durable=durable, asking=True)
                for address, group in redirected.items()
            )
        )
        return {i: address for address, group in groups.items() for i in group}

    async def _send_to(
        self,
        address: Host,
        commands: Sequence[RedisCommand],
        group: list[int],
        answers: list[Any],
        *,
        durable: bool,
        asking: bool = False,
    ) -> None:
        words: list[tuple[Argument, ...]] = []
        for i in group:
            words += [("ASKING",), commands[i].arguments] if asking else [commands[i].arguments]
        try:
            if address in self._unresponsive:
                raise NoAnswer(f"{format_host(address)} does not respond")
            found = await self._node(address).send_batch(words, durable=durable)
        except (RedisError, OSError) as error:
            if isinstance(error, NoAnswer):
                self._unresponsive.add(address)
            if isinstance(error, _CONNECTION_ERRORS):
                self._probe(address)
            found = [error] * len(words)
        for i, answer in zip(group, found[1::2] if asking else found, strict=True):
            answers[i] = answer

    def listener(self, primary: Host | None = None) -> Redis:
        """See PrimaryClient."""
        if primary is not None:
            return self._node(primary).listener()
        all_known = [address for _, _, address in self._slot_map] or self._seeds
        known = [address for address in all_known if address not in self._unresponsive] or all_known
        self._next_listener = (self._next_listener + 1) % len(known)
        return self._node(known[self._next_listener]).listener()


def _address(node: Sequence[Any], queried: Host) -> Host:
    """Return the address of a server in a slot map. ``queried`` is the server that sent the slot map.

    If the slot map lacks the host, use the host of ``queried``.
    """
    host = (node[0] or b"").decode()
    return (host if host not in ("", "?") else queried[0], int(node[1]))


RedisClient = PrimaryClient | ClusterClient
"""A client of one Redis or of a cluster."""
