"""A table with what a face needs to show it: how the connection fares, what is to be said, and whom to call at a change."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final, Literal

from samedeal.errors import PlayError, Refused
from samedeal.moves import FOUNDATION, Move
from samedeal.protocol.messages import Notice, Ping, RoomState
from samedeal.record import Record
from samedeal_client.net.link import Connected, Ended, Link, Lost, News, Unseated
from samedeal_client.net.table import Table
from samedeal_client.rooms.journal import Journal
from samedeal_client.rooms.model import Model

PING_EVERY: Final = 5.0
"""Seconds between two measurements of the round trip."""


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


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence for the player: a move that was taken back, the server's word, or a seat that was lost."""

    kind: Literal["refusal", "notice", "unseated"]
    sentence: str


class Client(Table):
    """What one player or spectator does and knows, for a face that shows it.

    ``run`` has to be running for news to come. ``entering`` says that a room was asked for and is not known yet. With a
    ``journal`` what one does is written down there.
    """

    def __init__(
        self, link: Link, *, clock: Callable[[], float] = time.monotonic, journal: Journal | None = None
    ) -> None:
        super().__init__(link)
        self._journal = journal
        self.connection = Connection()
        self._clock = clock
        self._subscribers: list[Callable[[], None]] = []
        self._said: list[Said] = []
        self.entering = False
        self._raising = False
        self._cuts = 0

    # ---------------------------------------------------------------- what comes

    def subscribe(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Have a function called after each change; the function returned ends that."""
        self._subscribers.append(callback)
        return lambda: self._subscribers.remove(callback)

    async def run(self) -> Ended:
        """Take what comes, until the link has ended: why it did."""
        pinging = asyncio.create_task(self._measure(), name="ping")
        try:
            async for news in self:
                self._hear(news)
                self._changed()
                if isinstance(news, Ended):
                    return news
        finally:
            pinging.cancel()
            await asyncio.gather(pinging, return_exceptions=True)
        return Ended("closed", "The connection was closed here")

    def _hear(self, news: News) -> None:
        match news:
            case Connected():
                self.connection = replace(self.connection, state="up", reason="")
            case Lost(reason, retry_in):
                self._cuts += 1
                self.connection = Connection("lost", None, self._clock() + retry_in, reason)
            case Ended(_, sentence):
                self._cuts += 1
                self.connection = Connection("ended", reason=sentence)
            case Unseated(_, sentence):
                self.model = self.model.leaving()
                self._said.append(Said("unseated", sentence))
            case Notice("said", text):
                self._said.append(Said("notice", f"The operator of this server says: {text}"))
            case Notice():
                self._said.append(Said("notice", news.message))
            case _:
                if isinstance(news, RoomState):
                    self.entering = False
                self._look_at(self.model)

    def _look_at(self, model: Model) -> None:
        if model.rollback is not None:
            self._raising = False
            self._said.append(Said("refusal", model.rollback.sentence))
        if self._raising and not model.unsettled:
            self._raise_on()

    def take_said(self) -> list[Said]:
        """What was said since this was last asked."""
        said, self._said = self._said, []
        return said

    def _changed(self) -> None:
        for callback in list(self._subscribers):
            callback()

    def now(self) -> int:
        """The server's time in milliseconds."""
        return self.link.now()

    def retry_in(self) -> float:
        """Seconds until the next attempt to have the connection back."""
        return max(0.0, self.connection.retry_at - self._clock())

    async def _measure(self) -> None:
        while True:
            if self.connection.state == "up":
                asked, cuts = self._clock(), self._cuts
                with suppress(Refused):
                    await self.link.request(Ping(id=0))
                    if self._cuts == cuts:
                        self.connection = replace(self.connection, ping=round(1000 * (self._clock() - asked)))
                        self._changed()
            await asyncio.sleep(PING_EVERY)

    # ---------------------------------------------------------------- what is asked

    async def join(self, room: str, passphrase: str = "") -> None:
        """Take a seat, or take it again."""
        await self._enter(super().join(room, passphrase))

    async def watch(self, room: str, passphrase: str = "") -> None:
        """Watch a room."""
        await self._enter(super().watch(room, passphrase))

    async def _enter(self, asking: Coroutine[None, None, None]) -> None:
        self.entering = True
        try:
            await asking
        except BaseException:
            self.entering = False
            raise

    async def leave(self) -> None:
        """Give up the seat, which resigns a race under way, or stop watching."""
        await super().leave()
        self.model = self.model.leaving()
        self._changed()

    def act(self, action: Move | str) -> None:
        """Make a move, draw, deal or undo: it is shown at once where it turns up nothing.

        Raises PlayError when it is known to be refused.
        """
        self._raising = False
        self._act(action)
        self._changed()

    def _act(self, action: Move | str) -> None:
        super().act(action)
        if self._journal is not None:
            self._journal.note(self.model)

    def record(self) -> Record | None:
        """One's own play of a finished race; None where not all of it is known here."""
        return self.model.record() if self._journal is None else self._journal.record(self.model)

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
            try:
                if move is None:
                    self._raising = False
                else:
                    self._act(move)
                    raised += 1
            except PlayError:
                self._raising = False
        return raised


def next_up(model: Model) -> Move | None:
    """The first card that can go up, None where none can."""
    board = model.board
    if board is None:
        return None
    return next((move for move in board.legal_moves() if move.target == FOUNDATION), None)
