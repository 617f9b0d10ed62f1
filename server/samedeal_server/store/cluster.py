"""A Redis Cluster: which primary has which slot, and commands sent to where their keys are, also while slots move.

redis-py's own client of a cluster is not used: it sends ASKING and the command that it is meant for over two connections of
its pool, refuses when the pool is empty where the store wants to wait, and can't have replicas waited for on the connection
that wrote.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, Final, Self

from redis.asyncio import Redis
from redis.crc import key_slot
from redis.exceptions import AskError, ClusterDownError, MovedError, RedisError, TryAgainError
from redis.exceptions import ConnectionError as LostConnection
from redis.exceptions import TimeoutError as NoAnswer

from samedeal_server.store.address import Host
from samedeal_server.store.database import Command, OneRedis, Word

_TRIES: Final = 20
_PAUSE: Final = 0.05
"""Seconds before what can't be done at present, since keys are on their way, is tried again."""

_LOOKS: Final = 2
"""How often it is asked where the slots are, for one command whose primary is not to be found."""

_ELSEWHERE: Final = (MovedError, AskError)
_PASSES: Final = (TryAgainError, ClusterDownError)
_GONE: Final = (LostConnection, NoAnswer, OSError)


class Cluster:
    """``seeds``, which ``where`` names, are asked first for where the slots are; ``client`` makes a client of a primary."""

    def __init__(
        self, seeds: Sequence[Host], where: str, client: Callable[[Host], OneRedis], replicas: int = 0
    ) -> None:
        self.where = where
        self.replicas = replicas
        self._seeds = list(seeds)
        self._client = client
        self._nodes: dict[Host, OneRedis] = {}
        self._places: list[tuple[int, int, Host]] = []
        self._moved: dict[int, Host] = {}
        self._looking = asyncio.Lock()
        self._looks = 0
        self._asked: tuple[Host, ...] = ()
        self._listened = 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close all connections."""
        nodes, self._nodes = self._nodes, {}
        for node in nodes.values():
            await node.aclose()

    # ---------------------------------------------------------------- where things are

    async def primaries(self) -> list[OneRedis]:
        """The primaries that have slots. Raises RedisError or OSError when no node says which they are."""
        await self._look(self._looks)
        return [self._node(address) for address in sorted({place for _, _, place in self._places})]

    async def _look(self, looks: int) -> None:
        """Ask where the slots are, unless somebody has done so since there had been so many looks."""
        async with self._looking:
            if self._looks != looks:
                return
            why: Exception = LostConnection("no node of the cluster is known")
            for address in dict.fromkeys((*self._asked, *(place for _, _, place in self._places), *self._seeds)):
                # redis-py leaves this method without types.
                node: Any = self._node(address)
                try:
                    found = await node.execute_command("CLUSTER SLOTS")
                except (RedisError, OSError) as error:
                    why = error
                    continue
                if found:
                    self._asked = (address,)
                    self._places = [(first, last, _address(primary, address)) for first, last, primary, *_ in found]
                    self._moved.clear()
                    self._looks += 1
                    await self._forget_old_nodes()
                    return
                why = ClusterDownError("CLUSTERDOWN no slot of the cluster is served")
            raise why

    async def _forget_old_nodes(self) -> None:
        kept = {*self._seeds, *(place for _, _, place in self._places)}
        for address in [each for each in self._nodes if each not in kept]:
            await self._nodes.pop(address).aclose()

    def _node(self, address: Host) -> OneRedis:
        if address not in self._nodes:
            self._nodes[address] = self._client(address)
        return self._nodes[address]

    async def _place(self, key: str) -> Host:
        if not self._places:
            await self._look(self._looks)
        slot = key_slot(key.encode())
        if slot in self._moved:
            return self._moved[slot]
        for first, last, address in self._places:
            if first <= slot <= last:
                return address
        await self._look(self._looks)
        raise ClusterDownError(f"CLUSTERDOWN no primary has slot {slot}")

    # ---------------------------------------------------------------- asking

    async def attempt(self, commands: Sequence[Command], *, kept: bool = False) -> list[Any]:
        """As Database says. Commands whose keys move meanwhile follow them."""
        answers: list[Any] = [None] * len(commands)
        todo = list(range(len(commands)))
        gone = 0
        for _ in range(_TRIES):
            looks = self._looks
            await self._once(commands, todo, answers, kept=kept)
            todo = [at for at in todo if isinstance(answers[at], (*_ELSEWHERE, *_PASSES, *_GONE))]
            missing = [at for at in todo if isinstance(answers[at], (ClusterDownError, *_GONE))]
            gone += bool(missing)
            if not todo or gone > _LOOKS:
                break
            if missing:
                with suppress(RedisError, OSError):
                    await self._look(looks)
            if any(not isinstance(answers[at], _ELSEWHERE) for at in todo):
                await asyncio.sleep(_PAUSE)
        return answers

    async def _once(self, commands: Sequence[Command], todo: list[int], answers: list[Any], *, kept: bool) -> None:
        """Send each to where its key is thought to be, and to where it is then said to be on its way to."""
        there: dict[Host, list[int]] = defaultdict(list)
        for at in todo:
            try:
                there[await self._place(commands[at].key)].append(at)
            except (RedisError, OSError) as error:
                answers[at] = error
        await asyncio.gather(
            *(self._send(address, commands, group, answers, kept=kept) for address, group in there.items())
        )
        coming: dict[Host, list[int]] = defaultdict(list)
        for address, group in there.items():
            for at in group:
                match answers[at]:
                    case MovedError() as moved:
                        self._moved[moved.slot_id] = (moved.host or address[0], moved.port)
                    case AskError() as asked:
                        coming[asked.host or address[0], asked.port].append(at)
        await asyncio.gather(
            *(
                self._send(address, commands, group, answers, kept=kept, asking=True)
                for address, group in coming.items()
            )
        )

    async def _send(
        self,
        address: Host,
        commands: Sequence[Command],
        group: list[int],
        answers: list[Any],
        *,
        kept: bool,
        asking: bool = False,
    ) -> None:
        words: list[tuple[Word, ...]] = []
        for at in group:
            words += [("ASKING",), commands[at].words] if asking else [commands[at].words]
        try:
            found = await self._node(address).send(words, kept=kept)
        except (RedisError, OSError) as error:
            found = [error] * len(words)
        for at, answer in zip(group, found[1::2] if asking else found, strict=True):
            answers[at] = answer

    def listener(self) -> Redis:
        """As Database says. Every node of a cluster hears what is announced at any other."""
        known = [address for _, _, address in self._places] or self._seeds
        self._listened = (self._listened + 1) % len(known)
        return self._node(known[self._listened]).listener()


def _address(node: Sequence[Any], asked: Host) -> Host:
    """Where a node is, as another one names it: one that has no name or address of its own is where it was asked."""
    host = (node[0] or b"").decode()
    return (host if host not in ("", "?") else asked[0], int(node[1]))
