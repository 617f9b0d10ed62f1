"""A player who reconnects after every failure and records what was acked."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from random import Random
from typing import Final

from websockets.exceptions import WebSocketException

from samedeal.protocol.messages import Acked, Act, Join, Joined
from samedeal.protocol.messages import Refused as Refusal
from samedeal_server.store.store import Store
from tests.server.client import Client
from tests.server.live_nodes import Node

MOVE_TIMEOUT: Final = 30.0
"""Timeout, in seconds, for the ack of a move, with all retries."""

LOST: Final = (TimeoutError, OSError, WebSocketException)
"""The errors of a connection that was lost, or of an answer that timed out."""


class PersistentPlayer:
    """A player with a board. ``acked`` are the ids and actions of all acked moves, in order."""

    def __init__(self, client: Client, nodes: Sequence[Node], seed: int) -> None:
        self.client = client
        self.acked: list[tuple[int, str]] = []
        self._nodes = nodes
        self._turn = seed
        self._rng = Random(seed)
        self._id = 1000

    async def moves(self, count: int) -> None:
        """Make a number of moves, or as many as are legal."""
        for _ in range(count):
            moves = self.client.play.board.legal_moves()
            if not moves:
                return
            self._id += 1
            async with asyncio.timeout(MOVE_TIMEOUT):
                await self._move(str(self._rng.choice(moves)))

    async def until(self, done: asyncio.Event) -> None:
        """Make a move every some hundredths of a second until an event is set."""
        while not done.is_set():
            before = len(self.acked)
            await self.moves(1)
            if len(self.acked) == before:
                return
            await asyncio.sleep(0.05)

    async def _move(self, action: str) -> None:
        while True:
            fields = {"id": self._id, "revision": len(self.acked), "action": action}
            try:
                answer = await self.client.ask(Act, **fields)
            except LOST:
                await self._reconnect()
                continue
            if isinstance(answer, Acked):
                self.acked.append((self._id, action))
                if self.client.revision < len(self.acked):  # a board that came before the ack may include the move
                    self.client.apply(action, answer)
                return
            assert isinstance(answer, Refusal), answer
            assert answer.code == "unavailable", answer
            await asyncio.sleep(0.05)

    async def _reconnect(self) -> None:
        """Reconnect through the next node, with the current board."""
        while True:
            self._turn += 1
            old = self.client
            try:
                await old.close()
                client = await Client.hello(self._nodes[self._turn % len(self._nodes)].url, "again", old.session)
                client.continue_with(old)
                answer = await client.ask(Join, room=old.room, revision=old.revision)
            except LOST:
                await asyncio.sleep(0.05)
                continue
            if isinstance(answer, Joined):
                self.client = client
                return
            await client.close()
            await asyncio.sleep(0.05)


async def check_log(store: Store, racer: PersistentPlayer) -> None:
    """Assert that the log has exactly the acked moves, in order."""
    log = await store.load_log(racer.client.room, racer.client.player)
    assert [(entry.request, entry.action) for entry in log] == racer.acked
    assert [entry.revision for entry in log] == list(range(1, len(racer.acked) + 1))
