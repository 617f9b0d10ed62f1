"""A bot: an ordinary client that plays by itself, and sees what a player sees."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from random import Random
from typing import Final

from samedeal.errors import PlayError, Refused
from samedeal.protocol.messages import Notice
from samedeal_client.bots.bot_names import BOT_NAMES
from samedeal_client.bots.patience import Patience
from samedeal_client.bots.strategy import Level, Memory, choose
from samedeal_client.net.link import Connected, Ended, Lost, Unseated
from samedeal_client.net.table import Table

PATIENCE: Final = 60.0
"""Seconds without a server after which a bot goes home."""

_BEHIND: Final = 2.0
"""Seconds for which a bot lets others into the room of a rematch first: the first one there is the host."""


def bot_name(rng: Random) -> str:
    """A name that says that it is a bot."""
    return f"bot-{rng.choice(BOT_NAMES)}{rng.randrange(10, 100)}"


class Bot:
    """Plays the races of a room on a table that has joined it. ``pace`` is in moves a minute."""

    def __init__(
        self, table: Table, level: Level, pace: float, rng: Random, *, stay: bool, say: Callable[[str], None]
    ) -> None:
        self._table = table
        self._level: Level = level
        self._interval = 60 / pace
        self._rng = rng
        self._stay = stay
        self._say = say
        self._changed = asyncio.Event()
        self._over = ""

    async def run(self) -> int:
        """Play until the race is over, or with ``stay`` until there is no rematch to be had: the exit code."""
        following = asyncio.create_task(self._follow())
        playing = asyncio.create_task(self._play())
        try:
            await asyncio.wait((following, playing), return_when=asyncio.FIRST_COMPLETED)
            if playing.done():
                playing.result()
                return 0
            self._say(following.result())
            return 1
        finally:
            for task in (following, playing):
                task.cancel()
            await asyncio.gather(following, playing, return_exceptions=True)

    async def _follow(self) -> str:
        """Take the news until there will be no more: why."""
        giving_up: asyncio.TimerHandle | None = None
        loop = asyncio.get_running_loop()
        async for news in self._table:
            match news:
                case Lost(reason) if giving_up is None:
                    self._say(f"{reason}: coming back")
                    giving_up = loop.call_later(PATIENCE, self._give_up)
                case Connected() if giving_up is not None:
                    giving_up.cancel()
                    giving_up = None
                case Notice(_, sentence):
                    self._say(sentence)
                case Unseated(_, sentence) | Ended(_, sentence):
                    return sentence
            self._changed.set()
        return "The connection has ended"

    def _give_up(self) -> None:
        sentence = f"No server for {PATIENCE:g} seconds"
        self._giving_up = asyncio.create_task(self._table.link.end("cannot_connect", sentence))

    async def _play(self) -> None:
        while True:
            await self._until(lambda: self._phase != "")
            await self._get_ready()
            await self._wait_for_start()
            await self._race()
            await self._until(lambda: self._phase in ("finished", "closed"))
            if not self._stay or self._phase == "closed" or not await self._rematch():
                return

    @property
    def _phase(self) -> str:
        room = self._table.model.room
        return room.phase if room is not None else ""

    async def _until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            self._changed.clear()
            await self._changed.wait()

    async def _get_ready(self) -> None:
        seat = self._table.model.seat
        if self._phase == "open" and seat is not None and not seat.ready:
            try:
                await self._table.ready()
            except Refused as refused:
                if refused.code != "race_started":
                    raise

    async def _wait_for_start(self) -> None:
        """Wait for the race; who is left to be the host of others starts it once all are ready, since nobody else can."""
        while self._phase in ("open", "countdown"):
            await self._until(lambda: self._phase not in ("open", "countdown") or self._has_to_start)
            if self._has_to_start:
                try:
                    await self._table.start()
                except Refused as refused:
                    if refused.code != "not_host":
                        raise

    @property
    def _has_to_start(self) -> bool:
        room = self._table.model.room
        if room is None or room.phase != "open" or room.options.start != "host" or not self._table.model.hosting:
            return False
        return len(room.players) > 1 and all(seat.ready for seat in room.players)

    async def _race(self) -> None:
        """Move at the pace, not quite evenly, until the race is over; resign where nothing helps, so that nobody waits."""
        memory, patience = Memory(self._rng), Patience(self._level)
        loop = asyncio.get_running_loop()
        due = loop.time() + self._rng.uniform(0, self._interval)
        while self._phase == "racing":
            await asyncio.sleep(due - loop.time())
            due = max(due + self._interval * self._rng.uniform(0.6, 1.4), loop.time())
            await self._until(lambda: self._phase != "racing" or self._can_move)
            model = self._table.model
            if self._phase != "racing" or model.board is None or model.board.won:
                return
            move = None if patience.ends(model.board) else choose(self._level, model.board, memory)
            if move is None:
                await self._resign()
                return
            try:
                self._table.act(move)
            except PlayError:
                return

    async def _resign(self) -> None:
        self._say("nothing helps any more")
        try:
            await self._table.resign()
        except Refused as refused:
            if refused.code not in ("not_racing", "room_closed"):  # it has just ended
                raise

    @property
    def _can_move(self) -> bool:
        """Whether the board is there and known; a bot waits for each answer as its moves are far between."""
        model = self._table.model
        return model.board is not None and not model.pending and not model.astray

    async def _rematch(self) -> bool:
        """Follow to the room of the rematch, once somebody has asked for one."""
        await self._until(
            lambda: self._phase == "closed" or bool(self._table.model.room and self._table.model.room.next)
        )
        room = self._table.model.room
        if room is None or not room.next:
            return False
        await asyncio.sleep(_BEHIND)
        await self._table.join(room.next)
        await self._until(lambda: self._table.model.is_in(room.next))
        return True
