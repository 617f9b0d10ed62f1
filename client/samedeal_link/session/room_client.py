"""A player's or spectator's requests to a server, and the model that the server's messages update."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from samedeal.errors import BadRecord, RequestRefused, SamedealError
from samedeal.moves import Move
from samedeal.names import SERIES, clean_place
from samedeal.options import Options, WantedOptions
from samedeal.protocol.messages import (
    Acked,
    Begin,
    BoardState,
    Create,
    Created,
    DeclareStuck,
    Join,
    KickPlayer,
    Leave,
    ListHouseRooms,
    ListRecords,
    ListRooms,
    MoveSession,
    RaceNow,
    ReadRecord,
    Ready,
    RecordLine,
    RecordPart,
    Records,
    Rematch,
    Report,
    Resign,
    RoomLine,
    Rooms,
    SessionCode,
    Start,
    ToClient,
    Watch,
    Watching,
)
from samedeal.protocol_codes import RefusalCode
from samedeal.record import LARGEST_RECORD
from samedeal_link.connection.client_error_codes import ClientCode
from samedeal_link.connection.link_events import LinkEvent, SeatLost
from samedeal_link.connection.reconnecting_link import Link
from samedeal_link.connection.unanswered_requests import ServerAnswer
from samedeal_link.evidence.facts import ANYTHING, Role, Wanted
from samedeal_link.model.model import Model

_MAX_RESYNCS: Final = 3
"""Maximum number of resyncs without an acknowledged move in between."""


@contextmanager
def allowing(*codes: RefusalCode) -> Iterator[None]:
    """Ignore a refusal with one of these codes inside the context."""
    try:
        yield
    except RequestRefused as refused:
        if refused.code not in codes:
            raise


class RoomClient:
    """A link, and the model that the server's messages update.

    Iterating yields the link's events. When an event is yielded, ``model`` already includes it. ``passphrase`` is the
    passphrase of the room that was entered last. Each request raises RequestRefused if the server refuses it.
    """

    def __init__(self, link: Link) -> None:
        self.link = link
        self.model = Model()
        self.passphrase = ""
        self._resyncing = False
        self._resyncs = 0
        self._wanted: dict[str, Wanted] = {}

    async def __aiter__(self) -> AsyncIterator[LinkEvent]:
        """Yield events until the link has ended."""
        async for event in self.link:
            if isinstance(event, SeatLost):
                self.model = self.model.without_room()
            elif isinstance(event, ToClient):
                try:
                    self.model = replace(self.model.after(event), evidence=self.link.evidence)
                except SamedealError as error:
                    sentence = f"The server sent something impossible. {error} Update this client or the server."
                    await self.link.end(ClientCode.BAD_MESSAGE, sentence)
                    continue
                await self._check_sync(event)
            yield event

    async def _check_sync(self, message: ToClient) -> None:
        """Resync if the model does not agree with the server. End the link if several resyncs do not help."""
        if isinstance(message, BoardState | Watching):
            self._resyncing = False
        elif isinstance(message, Acked) and not self.model.out_of_sync:
            self._resyncs = 0
        if not self.model.out_of_sync or self._resyncing:
            return
        self._resyncs += 1
        if self._resyncs > _MAX_RESYNCS:
            sentence = "This client and the server disagree about the cards. Update this client or the server."
            await self.link.end(ClientCode.OUT_OF_SYNC, sentence)
            return
        self._resyncing = True
        self.link.resync()

    async def list(self, game: str = "", *, only_open: bool = False, bots: bool = False) -> tuple[RoomLine, ...]:
        """Return the rooms that players can join or watch: those of ``game``, and only open ones if asked.

        With ``bots``, return only rooms that admit bots.
        """
        answer = await self.link.request(ListRooms(id=0, game=game, open=only_open, bots=bots))
        return answer.rooms if isinstance(answer, Rooms) else ()

    async def house_rooms(self, house: str) -> tuple[RoomLine, ...]:
        """Return the rooms to which bots of the house may come. ``house`` is a random name of this program."""
        answer = await self.link.request(ListHouseRooms(id=0, house=house))
        return answer.rooms if isinstance(answer, Rooms) else ()

    async def race_now(self, game: str = "", tide: int = 0) -> str:
        """Return the code of the public room whose race starts soonest, in ``game`` unless it is empty.

        With ``tide``, return that of a room of the tide that starts at this time.
        """
        answer = await self.link.request(RaceNow(id=0, game=game, tide=tide))
        return self._given(answer, Wanted(game=game, tide=tide))

    async def records(self) -> tuple[RecordLine, ...]:
        """Return a line for each of the newest records of races."""
        answer = await self.link.request(ListRecords(id=0))
        return answer.records if isinstance(answer, Records) else ()

    async def read_record(self, race: str, passphrase: str = "") -> bytes:
        """Return the record of a race, joined from the parts that the server sends. The record has not been checked.

        ``race`` is the id of a race, or a room code, which stands for the newest recorded race with this code. Raise
        BadRecord if the server sends an empty part, or if the parts together are too long for a record.
        """
        text, number, parts = b"", 0, 1
        while number < parts:
            answer = await self.link.request(ReadRecord(id=0, race=race, part=number, passphrase=passphrase))
            if not isinstance(answer, RecordPart):
                break
            race, number, parts = answer.race, number + 1, answer.parts
            text += answer.text
            if len(text) > LARGEST_RECORD or not answer.text:
                raise BadRecord("The server sent something that is not a record.")
        return text

    async def create(
        self,
        options: Options,
        room: str = "",
        passphrase: str = "",
        house: int = 0,
        window: int = 0,
        opens: tuple[int, ...] = (),
    ) -> str:
        """Open a room and return its code. If ``room`` is empty, the server chooses the code.

        ``house`` is how many bots of the house are wanted. ``window`` and ``opens`` are as in ``Create``.
        """
        wanted = WantedOptions.of(options)
        answer = await self.link.request(
            Create(id=0, options=wanted, room=room, passphrase=passphrase, house=house, window=window, opens=opens)
        )
        asked = Wanted(options=options, round=0, private=bool(passphrase), window=window)
        return self._given(answer, asked) or room

    def _given(self, answer: ServerAnswer, wanted: Wanted) -> str:
        """Return the room that the server has named, and remember what the player asked for."""
        room = answer.room if isinstance(answer, Created) else ""
        self._wanted[room] = wanted
        return room

    async def join(self, room: str, passphrase: str = "", line: RoomLine | None = None) -> str:
        """Take a seat in ``room``, or return to the seat that the player already has. Return the code of the room.

        ``room`` may also be a standing series, such as ``s/friday``, and then stands for its race that is open. ``line`` is
        the row that the player chose in a list of rooms, if there was one.
        """
        code = await self._asked("player", room, line)
        await self.link.request(Join(id=0, room=code, passphrase=passphrase))
        self._entered(code, passphrase)
        return code

    async def watch(self, room: str, passphrase: str = "", line: RoomLine | None = None) -> None:
        """Start watching ``room`` as a spectator. ``room`` and ``line`` are as for ``join``."""
        code = await self._asked("spectator", room, line)
        await self.link.request(Watch(id=0, room=code, passphrase=passphrase))
        self._entered(code, passphrase)

    async def _asked(self, role: Role, room: str, line: RoomLine | None) -> str:
        """Begin the evidence of a race, and return the code of its room."""
        code = clean_place(room)
        if code.startswith(SERIES):
            answer = await self.link.request(RaceNow(id=0, series=code.removeprefix(SERIES)))
            code = answer.room if isinstance(answer, Created) else ""
        wanted = self._wanted.get(code) or Wanted(line=line)
        self.link.witness.asks(role, code, wanted, self.link.player, self.link.name)
        return code

    def _entered(self, code: str, passphrase: str) -> None:
        """Forget what the player wanted from a room: a later room with its code is another one."""
        self.passphrase = passphrase
        self._wanted.pop(code, None)

    async def leave(self) -> None:
        """Give up the seat or stop watching. A player who leaves during a race without a window resigns from it."""
        await self.link.request(Leave(id=0))
        self.model = self.model.without_room()

    async def ready(self, *, ready: bool = True) -> None:
        """Declare that the player is ready, or that the player is no longer ready."""
        await self.link.request(Ready(id=0, ready=ready))

    async def start(self) -> None:
        """Start the countdown, as the host. Does nothing if the countdown has already started."""
        with allowing(RefusalCode.RACE_STARTED):
            await self.link.request(Start(id=0))

    async def kick(self, player: str) -> None:
        """Remove a player from the room before the race starts, as the host. ``player`` is an id."""
        await self.link.request(KickPlayer(id=0, player=player))

    async def report(self, player: str = "") -> None:
        """Report the name of a player, or of the room, to the operator. ``player`` is an id, or empty for the room."""
        await self.link.request(Report(id=0, player=player))

    async def begin(self) -> None:
        """Begin the player's attempt in a race with a window."""
        await self.link.request(Begin(id=0))

    async def move_session(self) -> str:
        """Return a code with which another device of the player goes on, once and within ten minutes."""
        answer = await self.link.request(MoveSession(id=0))
        self.link.has_given_code = True
        return answer.code if isinstance(answer, SessionCode) else ""

    async def resign(self) -> None:
        """Resign from the race."""
        await self.link.request(Resign(id=0))

    async def declare_stuck(self) -> None:
        """Declare that the player is stuck."""
        await self.link.request(DeclareStuck(id=0))

    async def rematch(self) -> str:
        """Open the room of the next race if no other player has opened it. Return the room's code."""
        before = self.link.evidence.terms if self.link.evidence else None
        answer = await self.link.request(Rematch(id=0))
        if before is None:
            return self._given(answer, ANYTHING)
        options = before.options.successor(before.deal)
        wanted = Wanted(options=options, round=before.round + 1, private=before.private, window=before.window)
        return self._given(answer, wanted)

    def act(self, action: Move | str) -> None:
        """Show an action on the player's board and send it.

        Raise PlayError if the server is certain to refuse the action.
        """
        self.model, act = self.model.with_action(action, self.link.new_id(), self.link.now())
        self.link.send(act)
