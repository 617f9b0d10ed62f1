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

from samedeal_server.store.address import Host, named
from samedeal_server.store.database import Command, OneRedis, Word
from samedeal_server.tasks import end

_TRIES: Final = 20
_PAUSE: Final = 0.05
"""Seconds before what can't be done at present, since keys are on their way, is tried again."""

_HARK: Final = 0.5
"""Seconds before a primary that has gone silent is asked for a word again."""

_VARIANTS: Final = 100_000
"""Keys of which each primary has one, though it be of a single slot."""

_ELSEWHERE: Final = (MovedError, AskError)
_PASSES: Final = (TryAgainError, ClusterDownError)
_GONE: Final = (LostConnection, NoAnswer, OSError)


class Cluster:
    """``seeds``, which ``where`` names, are asked first for where the slots are; ``client`` makes a client of a primary.

    A primary that has let a question go unanswered is asked nothing but for a sign of life until it gives one, or another
    has its slots: commands for it fail at once, so that nobody waits for it who also asks others.
    """

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
        self._silent: dict[Host, asyncio.Task[None]] = {}
        self._listened = 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close all connections."""
        await end(self._silent.values())
        nodes, self._nodes = self._nodes, {}
        for node in nodes.values():
            await node.aclose()

    # ---------------------------------------------------------------- where things are

    async def primaries(self) -> list[OneRedis]:
        """The primaries that have slots. Raises RedisError or OSError when no node says which they are."""
        await self._look(self._looks)
        return [self._node(address) for address in sorted({place for _, _, place in self._places})]

    def holder(self, key: str) -> Host | None:
        """The primary that is thought to have a key, if one is."""
        slot = key_slot(key.encode())
        if slot in self._moved:
            return self._moved[slot]
        return next((address for first, last, address in self._places if first <= slot <= last), None)

    async def variants(self, key: str) -> dict[Host, str]:
        """Keys that begin as this one, by the primaries that have them. Raises RedisError or OSError as ``primaries``."""
        await self._look(self._looks)
        found: dict[Host, str] = {}
        wanted = {place for _, _, place in self._places}
        for variant in (f"{key}:{number}" for number in range(_VARIANTS)):
            if (place := self.holder(variant)) in wanted:
                found.setdefault(place, variant)
                if len(found) == len(wanted):
                    break
        return found

    async def _look(self, looks: int) -> None:
        """Ask where the slots are, unless somebody has done so since there had been so many looks."""
        async with self._looking:
            if self._looks != looks:
                return
            known = dict.fromkeys((*(place for _, _, place in self._places), *self._seeds))
            # All at once, since one may be frozen; the silent ones too where there is nobody else.
            asking = [
                asyncio.create_task(self._slots(address))
                for address in [each for each in known if each not in self._silent] or known
            ]
            why: Exception = LostConnection("no node of the cluster is known")
            try:
                for first in asyncio.as_completed(asking):
                    try:
                        self._places = await first
                    except (RedisError, OSError) as error:
                        why = error
                    else:
                        break
                else:
                    raise why
            finally:
                await end(asking)
            self._moved.clear()
            self._looks += 1
            await self._forget_old_nodes()

    async def _slots(self, address: Host) -> list[tuple[int, int, Host]]:
        """Where the slots are, by the word of one node."""
        # redis-py leaves this method without types.
        node: Any = self._node(address)
        found = await node.execute_command("CLUSTER SLOTS")
        if not found:
            raise ClusterDownError("CLUSTERDOWN no slot of the cluster is served")
        return [(first, last, _address(primary, address)) for first, last, primary, *_ in found]

    async def _forget_old_nodes(self) -> None:
        primaries = {place for _, _, place in self._places}
        await end([task for address, task in self._silent.items() if address not in primaries])
        for address in [each for each in self._nodes if each not in primaries and each not in self._seeds]:
            await self._nodes.pop(address).aclose()

    def _node(self, address: Host) -> OneRedis:
        if address not in self._nodes:
            self._nodes[address] = self._client(address)
        return self._nodes[address]

    async def _place(self, key: str) -> Host:
        if not self._places:
            await self._look(self._looks)
        if (address := self.holder(key)) is None:
            raise ClusterDownError(f"CLUSTERDOWN no primary has slot {key_slot(key.encode())}")
        return address

    # ---------------------------------------------------------------- who has gone silent

    def _hush(self, address: Host) -> None:
        if address not in self._silent:
            self._silent[address] = task = asyncio.create_task(self._hark(address))
            task.add_done_callback(lambda _: self._silent.pop(address, None))

    async def _hark(self, address: Host) -> None:
        """Return when a primary gives a sign of life."""
        while True:
            try:
                await self._node(address).ping()
            except (RedisError, OSError):
                await asyncio.sleep(_HARK)
            else:
                return

    # ---------------------------------------------------------------- asking

    async def attempt(self, commands: Sequence[Command], *, kept: bool = False) -> list[Any]:
        """As Database says. Commands whose keys move meanwhile follow them."""
        answers: list[Any] = [None] * len(commands)
        todo = list(range(len(commands)))
        for _ in range(_TRIES):
            looks = self._looks
            asked = await self._once(commands, todo, answers, kept=kept)
            todo = [at for at in todo if isinstance(answers[at], (*_ELSEWHERE, *_PASSES, *_GONE))]
            missing = {at for at in todo if isinstance(answers[at], (ClusterDownError, *_GONE))}
            if missing:
                with suppress(RedisError, OSError):
                    await self._look(looks)
                # Who is still said to be there, and is not, is not asked twice: a player waits who can be told to try again.
                todo = [at for at in todo if at not in missing or self._is_elsewhere(commands[at], asked.get(at))]
            if not todo:
                break
            if any(not isinstance(answers[at], _ELSEWHERE) for at in todo):
                await asyncio.sleep(_PAUSE)
        return answers

    def _is_elsewhere(self, command: Command, asked: Host | None) -> bool:
        """Whether what a command is about is by now said to be in another place than the one where it was asked."""
        return self.holder(command.key) not in (None, asked)

    async def _once(
        self, commands: Sequence[Command], todo: list[int], answers: list[Any], *, kept: bool
    ) -> dict[int, Host]:
        """Send each to where its key is thought to be, and to where it is then said to be on its way to.

        Returns where each was sent at first.
        """
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
        return {at: address for address, group in there.items() for at in group}

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
            if address in self._silent:
                raise NoAnswer(f"{named(address)} has gone silent")
            found = await self._node(address).send(words, kept=kept)
        except NoAnswer as error:
            self._hush(address)
            found = [error] * len(words)
        except (RedisError, OSError) as error:
            found = [error] * len(words)
        for at, answer in zip(group, found[1::2] if asking else found, strict=True):
            answers[at] = answer

    def listener(self) -> Redis:
        """As Database says. Every node of a cluster hears what is announced at any other."""
        all_known = [address for _, _, address in self._places] or self._seeds
        known = [address for address in all_known if address not in self._silent] or all_known
        self._listened = (self._listened + 1) % len(known)
        return self._node(known[self._listened]).listener()


def _address(node: Sequence[Any], asked: Host) -> Host:
    """Where a node is, as another one names it: one that has no name or address of its own is where it was asked."""
    host = (node[0] or b"").decode()
    return (host if host not in ("", "?") else asked[0], int(node[1]))
