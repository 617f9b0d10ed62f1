"""A place at a server: a link and the model of what came over it, kept in step."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

from samedeal.errors import Refused, SamedealError
from samedeal.moves import Move
from samedeal.names import clean_room
from samedeal.options import Options, WantedOptions
from samedeal.protocol.messages import (
    Acked,
    BoardState,
    Create,
    Created,
    Join,
    Leave,
    ListRooms,
    Ready,
    Rematch,
    Resign,
    RoomLine,
    Rooms,
    Start,
    ToClient,
    Watch,
    Watching,
)
from samedeal_client.net.link import Link, News
from samedeal_client.rooms.model import Model

_MOST_ASTRAY: Final = 3


class Table:
    """What one player or spectator does and knows. Iterating it gives the link's news, each once ``model`` has it.

    ``passphrase`` is the one that it entered its room with, empty where there was none. The methods that ask the server
    something raise Refused with its reason.
    """

    def __init__(self, link: Link) -> None:
        self.link = link
        self.model = Model()
        self.passphrase = ""
        self._asking = False
        self._astray = 0

    async def __aiter__(self) -> AsyncIterator[News]:
        """The news, until the link has ended."""
        async for news in self.link:
            if isinstance(news, ToClient):
                try:
                    self.model = self.model.after(news)
                except SamedealError as error:
                    sentence = f"The server sent what can't be ({error}): update this client, or the server"
                    await self.link.end("bad_frame", sentence)
                    continue
                await self._keep_in_step(news)
            yield news

    async def _keep_in_step(self, message: ToClient) -> None:
        """Ask for everything anew once the model has lost its way; give up when that doesn't help."""
        if isinstance(message, BoardState | Watching):
            self._asking = False
        elif isinstance(message, Acked) and not self.model.astray:
            self._astray = 0
        if not self.model.astray or self._asking:
            return
        self._astray += 1
        if self._astray > _MOST_ASTRAY:
            await self.link.end("astray", "This client and the server disagree about the cards: update one of the two")
            return
        self._asking = True
        self.link.sit_again()

    # ---------------------------------------------------------------- rooms

    async def rooms(self) -> tuple[RoomLine, ...]:
        """The rooms that can be joined or watched."""
        answer = await self.link.request(ListRooms(id=0))
        return answer.rooms if isinstance(answer, Rooms) else ()

    async def create(self, options: Options, room: str = "", passphrase: str = "") -> str:
        """Open a room; its code."""
        answer = await self.link.request(
            Create(id=0, options=WantedOptions.of(options), room=room, passphrase=passphrase)
        )
        return answer.room if isinstance(answer, Created) else room

    async def join(self, room: str, passphrase: str = "") -> None:
        """Take a seat, or take it again."""
        await self.link.request(Join(id=0, room=clean_room(room), passphrase=passphrase))
        self.passphrase = passphrase

    async def watch(self, room: str, passphrase: str = "") -> None:
        """Watch a room."""
        await self.link.request(Watch(id=0, room=clean_room(room), passphrase=passphrase))
        self.passphrase = passphrase

    async def leave(self) -> None:
        """Give up the seat, or stop watching."""
        await self.link.request(Leave(id=0))

    async def ready(self, *, ready: bool = True) -> None:
        """Say that one is ready, or not any more."""
        await self.link.request(Ready(id=0, ready=ready))

    async def start(self) -> None:
        """Start the countdown, as the host; that it has started already is as good."""
        try:
            await self.link.request(Start(id=0))
        except Refused as refused:
            if refused.code != "race_started":
                raise

    async def resign(self) -> None:
        """Go out of the race."""
        await self.link.request(Resign(id=0))

    async def rematch(self) -> str:
        """The room of the next race, which the first to ask opens."""
        answer = await self.link.request(Rematch(id=0))
        return answer.room if isinstance(answer, Created) else ""

    # ---------------------------------------------------------------- the board

    def act(self, action: Move | str) -> None:
        """Take an action and send it. Raises PlayError when it is known to be refused."""
        self.model, act = self.model.acting(action, self.link.new_id(), self.link.now())
        self.link.send(act)
