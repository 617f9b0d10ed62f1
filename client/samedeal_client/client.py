"""A player's client but for its face: the link and the model as one, for whatever shows it.

Whoever shows it reads ``model`` and ``connection`` and is called after each change; what should be told to the player as a
sentence, a refusal or a word of the server, waits in ``said`` until it is taken.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from typing import Final, Literal, Protocol

from samedeal.errors import PlayError, Refused
from samedeal.moves import FOUNDATION, Move
from samedeal.options import Options
from samedeal.protocol.messages import (
    Create,
    Created,
    Join,
    Leave,
    ListRooms,
    Notice,
    Ping,
    Ready,
    Rematch,
    Resign,
    RoomLine,
    Rooms,
    Start,
    ToServer,
    Watch,
)
from samedeal_client.link import Answer, Connected, Ended, Lost, News, Unseated
from samedeal_client.model import Model

PING_EVERY: Final = 5.0
"""Seconds between two measurements of the round trip."""


class Wire(Protocol):
    """What a client speaks over: a ``Link``."""

    def now(self) -> int:
        """The server's time in milliseconds."""
        ...

    def new_id(self) -> int:
        """An id for a message."""
        ...

    def send(self, message: ToServer) -> None:
        """Send without waiting for the answer."""
        ...

    async def request(self, message: ToServer) -> Answer:
        """Send and wait for the answer. Raises Refused."""
        ...

    def sit_again(self) -> None:
        """Ask for everything anew."""
        ...

    def __aiter__(self) -> AsyncIterator[News]:
        """The news, until there will be no more."""
        ...


@dataclass(frozen=True, slots=True)
class Connection:
    """How the connection fares.

    ``ping`` is the newest round trip in milliseconds, None before there is one; ``retry_at`` is when the next attempt
    comes, in seconds of the monotonic clock; ``reason`` says as a sentence why it was lost, or has ended for good.
    """

    state: Literal["up", "lost", "ended"] = "up"
    ping: int | None = None
    retry_at: float = 0.0
    reason: str = ""

    def retry_in(self, clock: float) -> float:
        """Seconds until the next attempt."""
        return max(0.0, self.retry_at - clock)


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence for the player: a move that was taken back, the server's word, or a seat lost."""

    kind: Literal["refusal", "notice", "unseated"]
    sentence: str


class Client:
    """Link and model as one. ``run`` has to be running for anything to come."""

    def __init__(self, link: Wire, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.model = Model()
        self.connection = Connection()
        self._link = link
        self._clock = clock
        self._subscribers: list[Callable[[], None]] = []
        self._said: list[Said] = []
        self._asked_again = False
        self._raising = False

    # ---------------------------------------------------------------- what comes

    def subscribe(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Have a function called after each change; the function returned ends that."""
        self._subscribers.append(callback)
        return lambda: self._subscribers.remove(callback)

    async def run(self) -> Ended:
        """Take what comes, until the link has ended: why it did."""
        pinging = asyncio.create_task(self._measure(), name="ping")
        try:
            async for news in self._link:
                self.hear(news)
                if isinstance(news, Ended):
                    return news
        finally:
            pinging.cancel()
            await asyncio.gather(pinging, return_exceptions=True)
        return Ended("closed", "The connection was closed here")

    def hear(self, news: News) -> None:
        """Take one piece of news."""
        match news:
            case Connected():
                self.connection = Connection("up")
            case Lost(reason, retry_in):
                self.connection = Connection("lost", None, self._clock() + retry_in, reason)
            case Ended(_, sentence):
                self.connection = Connection("ended", reason=sentence)
            case Unseated(_, sentence):
                self.model = self.model.leaving()
                self._say("unseated", sentence)
            case Notice():
                self._say("notice", news.message)
            case _:
                self._take(self.model.after(news))
        self._changed()

    def _take(self, model: Model) -> None:
        self.model = model
        if model.rollback is not None:
            self._raising = False
            self._say("refusal", model.rollback.sentence)
        if model.astray and not self._asked_again:
            self._link.sit_again()
        self._asked_again = model.astray
        if self._raising and not model.unsettled:
            self._raise_on()

    def take_said(self) -> list[Said]:
        """What was said since this was last asked."""
        said, self._said = self._said, []
        return said

    def _say(self, kind: Literal["refusal", "notice", "unseated"], sentence: str) -> None:
        self._said.append(Said(kind, sentence))

    def _changed(self) -> None:
        for callback in list(self._subscribers):
            callback()

    async def _measure(self) -> None:
        while True:
            await asyncio.sleep(PING_EVERY)
            before = self.connection
            if before.state != "up":
                continue
            asked = self._clock()
            try:
                await self._link.request(Ping(id=0))
            except Refused:
                continue
            if self.connection is before:
                self.connection = replace(before, ping=round(1000 * (self._clock() - asked)))
                self._changed()

    def now(self) -> int:
        """The server's time in milliseconds."""
        return self._link.now()

    # ---------------------------------------------------------------- what is asked

    async def rooms(self) -> tuple[RoomLine, ...]:
        """The rooms that can be joined or watched, newest first. Raises Refused, as all requests do."""
        answer = await self._link.request(ListRooms(id=0))
        return answer.rooms if isinstance(answer, Rooms) else ()

    async def create(self, options: Options, room: str = "", passphrase: str = "") -> str:
        """Open a room: its code."""
        return _room(await self._link.request(Create(id=0, options=options, room=room, passphrase=passphrase)))

    async def join(self, room: str, passphrase: str = "") -> None:
        """Take a seat, or take it again."""
        await self._link.request(Join(id=0, room=room, passphrase=passphrase))

    async def watch(self, room: str, passphrase: str = "") -> None:
        """Watch a room."""
        await self._link.request(Watch(id=0, room=room, passphrase=passphrase))

    async def ready(self, ready: bool = True) -> None:  # noqa: FBT001, FBT002 (as the message has it)
        """Say that one is ready, or not any more."""
        await self._link.request(Ready(id=0, ready=ready))

    async def start(self) -> None:
        """Start the countdown, as the host."""
        await self._link.request(Start(id=0))

    async def resign(self) -> None:
        """Go out of the race."""
        await self._link.request(Resign(id=0))

    async def leave(self) -> None:
        """Give up the seat, which resigns a race under way, or stop watching."""
        await self._link.request(Leave(id=0))
        self.model = self.model.leaving()
        self._changed()

    async def rematch(self) -> str:
        """The code of the room that the next race is in; it has to be joined yet."""
        return _room(await self._link.request(Rematch(id=0)))

    # ---------------------------------------------------------------- playing

    def act(self, action: Move | str) -> None:
        """Make a move, draw, deal or undo: it is shown at once where it turns up nothing.

        Raises PlayError when it is known to be refused.
        """
        self._raising = False
        self._act(action)
        self._changed()

    def raise_all(self) -> int:
        """Have everything go up that can, one card after another: how many went at once.

        A card that turns up another one holds up the rest until that is known.
        """
        raised = self._raise_on()
        self._changed()
        return raised

    def _raise_on(self) -> int:
        raised = 0
        self._raising = True
        while self._raising and not self.model.unsettled:
            move = next_up(self.model)
            if move is None:
                self._raising = False
                break
            try:
                self._act(move)
            except PlayError:
                self._raising = False
                break
            raised += 1
        return raised

    def _act(self, action: Move | str) -> None:
        self.model, message = self.model.acting(action, self._link.new_id(), self.now())
        self._link.send(message)


def next_up(model: Model) -> Move | None:
    """The first card that can go up, None where none can."""
    board = model.board
    if board is None:
        return None
    return next((move for move in board.legal_moves() if move.target == FOUNDATION), None)


def _room(answer: Answer) -> str:
    return answer.room if isinstance(answer, Created) else ""
