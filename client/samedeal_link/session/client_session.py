"""The state of a player's session for a front end: the room, the connection, and messages for the player."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final, Literal

from samedeal.board import Board
from samedeal.board_history import Play
from samedeal.errors import PlayError, RequestRefused
from samedeal.laws.safe_cards import homeward_move, safe_move
from samedeal.laws.stuck import is_stuck_for_good
from samedeal.moves import Move
from samedeal.protocol.messages import Acked, Joined, Notice, Ping, RoomLine, RoomState, Watching
from samedeal.protocol_codes import NoticeCode, RefusalCode
from samedeal.series import place_of
from samedeal_link.connection.address import ServerAddress
from samedeal_link.connection.client_error_codes import ClientCode
from samedeal_link.connection.link_events import Connected, Ended, LinkEvent, Lost, ModelMessage, SeatLost
from samedeal_link.connection.reconnecting_link import Link
from samedeal_link.evidence.evidence import Evidence
from samedeal_link.machine.terminal import terminal
from samedeal_link.model.connection_status import ConnectionStatus
from samedeal_link.model.model import Model
from samedeal_link.model.own_play import OwnPlay
from samedeal_link.session.race_audit import Audit, audit_race, is_same_race, judged
from samedeal_link.session.room_client import RoomClient

NOTHING_TO_COLLECT: Final = "No card fits on a foundation now."
COLLECT_AGAIN: Final = "You may still need the cards that fit. Collect again to send them all."

PING_INTERVAL: Final = 5.0
"""Interval, in seconds, between two measurements of the round trip."""

PERSON_INTERVAL: Final = 2.0
"""Interval, in seconds, at which the session of a player who races only bots of the house looks for somebody else."""

SOON: Final = (4_000, 23_000)
"""Minimum and maximum time, in milliseconds, until the start of a race that the player may go to: that of *race now*."""


@dataclass(frozen=True, slots=True)
class StatusMessage:
    """A sentence for the player about a refusal, a notice, an extended countdown, a lost seat, or a closed room."""

    kind: Literal["refusal", "notice", "wait", "seat_lost", "room_closed"]
    sentence: str


ENDING_TIME: Final = 60_000
"""Time, in milliseconds, from the notice ``ending`` to the end of the race (PROTOCOL.md, *Notices*)."""


class ClientSession:
    """A player's session as a front end shows it: a ``RoomClient``, the state of the connection, and messages.

    Events are handled only while ``run`` is running. ``entering`` is true from a request to join or watch a room until
    the room's state arrives or the request fails. ``shared_address`` is the server's address for other players, by
    default the address of ``link``.

    ``ending_at`` is the server time, in milliseconds, at which the race ends unless one of the absent players makes a move.
    It is None if the server has not announced that, or if something has happened since. ``person`` is the row of a room in
    which somebody waits for a race that starts soon, if this player races only bots of the house.
    """

    def __init__(
        self, link: Link, *, clock: Callable[[], float] = time.monotonic, shared_address: ServerAddress | None = None
    ) -> None:
        self.link = link
        self.shared_address = shared_address or link.address
        self.rooms = RoomClient(link)
        self.connection = ConnectionStatus()
        self.entering = False
        self.ending_at: int | None = None
        self.person: RoomLine | None = None
        self._clock = clock
        self._subscribers: list[Callable[[], None]] = []
        self._messages: list[StatusMessage] = []
        self._collecting: Callable[[Board], Move | None] | None = None
        self._warned_at = -1
        self._saved_room = ""
        self._proving: asyncio.Task[None] | None = None
        self._proved: Play | None = None
        self._auditing: asyncio.Future[Audit] | None = None
        self._audited: Evidence | None = None

    @property
    def model(self) -> Model:
        """The client's knowledge of the room and of the room's boards."""
        return self.rooms.model

    def now(self) -> int:
        """Return the server's time, in milliseconds since 1970."""
        return self.link.now()

    def retry_in(self) -> float:
        """Return the seconds until the next attempt to reconnect."""
        return max(0.0, self.connection.retry_at - self._clock())

    def subscribe(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call ``callback`` after each change from now on. Return a function that ends the subscription."""
        self._subscribers.append(callback)
        return lambda: self._subscribers.remove(callback)

    def _notify(self) -> None:
        for callback in list(self._subscribers):
            callback()

    def take_messages(self) -> list[StatusMessage]:
        """Return the messages for the player that were added since the last call."""
        unsaved = (StatusMessage("notice", sentence) for sentence in terminal().unsaved.take_sentences())
        messages, self._messages = [*self._messages, *unsaved], []
        return messages

    async def run(self) -> Ended:
        """Handle events until the link has ended. Return the event that says why it ended."""
        pinging = asyncio.create_task(self._ping_regularly(), name="ping")
        try:
            async for event in self.rooms:
                self._handle(event)
                self._save_room()
                self._search_for_dead_end()
                self._audit_finished_race()
                self._notify()
                if isinstance(event, Ended):
                    return event
        finally:
            background = [task for task in (pinging, self._proving, self._auditing) if task is not None]
            for task in background:
                task.cancel()
            await asyncio.gather(*background, return_exceptions=True)
        return Ended(ClientCode.CLOSED, "This client closed the connection.")

    def _handle(self, event: LinkEvent) -> None:
        if isinstance(event, ModelMessage):
            if isinstance(event, RoomState):
                self.entering = False
            elif self.model.room is None and isinstance(event, (Joined, Watching)):
                self.entering = True  # also if the link does so by itself
            if isinstance(event, (Acked, RoomState)):
                self.ending_at = None
            self._handle_play()
            return
        match event:
            case Connected():
                self.connection = ConnectionStatus(ping=self.connection.ping)
            case Lost(sentence, retry_in, server_gone):
                self.connection = ConnectionStatus("lost", None, self._clock() + retry_in, sentence, server_gone)
            case Ended(_, sentence):
                self.connection = ConnectionStatus("ended", reason=sentence)
            case SeatLost(code, sentence):
                closed = code in (RefusalCode.NO_ROOM, RefusalCode.ROOM_CLOSED)
                self._messages.append(StatusMessage("room_closed" if closed else "seat_lost", sentence))
            case Notice(NoticeCode.ENDING, text):
                self.ending_at = self.now() + ENDING_TIME
                self._messages.append(StatusMessage("notice", text))
            case Notice(NoticeCode.WAITING, text):
                self._messages.append(StatusMessage("wait", text))
            case Notice():
                self._messages.append(StatusMessage("notice", event.message))

    def _save_room(self) -> None:
        """Keep the saved room up to date: the room in which the player has a seat, or none."""
        model = self.model
        if self.entering:
            return  # the seat is known when the room's state arrives
        room = model.room.room if model.room is not None and model.has_live_seat else ""
        if model.room is not None and model.seat is not None and (room or len(model.room.opens) > 1):
            room = place_of(model.room)
        if room != self._saved_room:
            self._saved_room = room
            self.link.save_room(room)

    def _handle_play(self) -> None:
        if self.model.own.rollback is not None:
            self._collecting = None
            self._messages.append(StatusMessage("refusal", self.model.own.rollback.sentence))
        if self._collecting and not self.model.own.awaiting_face:
            self._collect(self._collecting)

    async def _ping_regularly(self) -> None:
        while True:
            if self.connection.state == "up":
                with suppress(RequestRefused):
                    await self.link.request(Ping(id=0))
                    self.connection = replace(self.connection, ping=round(1000 * self.link.round_trip))
                    self.person = await self._look_for_person() if self._meets_nobody else None
                    self._notify()
            await asyncio.sleep(PERSON_INTERVAL if self._meets_nobody else PING_INTERVAL)

    @property
    def _meets_nobody(self) -> bool:
        return self.model.racing and self.model.phase == "racing" and self.model.meets_only_house

    async def _look_for_person(self) -> RoomLine | None:
        """Return the room of the race that starts soonest, if somebody waits there and there is time to go there."""
        lines = await self.rooms.list(only_open=True)
        soon = [line for line in lines if line.players and line.starts and SOON[0] < line.starts - self.now() < SOON[1]]
        return min(soon, key=lambda line: line.starts, default=None)

    def _search_for_dead_end(self) -> None:
        """Search in the background for a proof that the player is stuck, at most once after each action."""
        play = self.model.own.play
        if play is not self._proved and self.model.may_be_stuck and not self.is_proving:
            self._proved = play
            self._proving = asyncio.create_task(self._declare_if_stuck(self.model.own))

    @property
    def is_proving(self) -> bool:
        """Whether a search for a proof that the player is stuck is still running.

        Also true while the client is declaring to the server that the player is stuck.
        """
        return self._proving is not None and not self._proving.done()

    async def _declare_if_stuck(self, own: OwnPlay) -> None:
        """Search for a proof that the player is stuck. If there is one, declare to the server that the player is stuck.

        The search runs in a thread because it takes up to 0.2 s.
        """
        if own.play is None:
            return
        stuck = await asyncio.to_thread(is_stuck_for_good, own.play, from_deal=own.first is not None)
        if stuck and self.model.own.play is own.play:
            with suppress(RequestRefused):  # the race is over, or the server does not know the request
                await self.rooms.declare_stuck()

    def _audit_finished_race(self) -> None:
        """Begin to verify the race in the background, once it is finished."""
        room, evidence = self.model.room, self.link.evidence
        if room is None or evidence is None:
            return
        if self._audited is not None and is_same_race(self._audited, evidence):
            self._judge_again(evidence)
            return
        if not room.standings:  # whatever phase the server says
            return
        if self._auditing is not None:
            self._auditing.cancel()
        self._audited = evidence
        self._auditing = asyncio.create_task(self._audit(evidence))

    def _judge_again(self, evidence: Evidence) -> None:
        """Judge a race again if the server has shown more of it since, or the player has come back to it."""
        auditing, known = self._auditing, self._audited
        if auditing is None or not auditing.done() or auditing.cancelled() or known is None:
            return
        if self.model.verdict is None or known.size != evidence.size:
            reading = auditing.result().reading
            audit = Audit(judged(self.rooms, evidence, reading), reading)
            self._auditing, self._audited = asyncio.get_running_loop().create_future(), evidence
            self._auditing.set_result(audit)
            self.rooms.model = replace(self.model, verdict=audit.verdict, whole_record=reading.record)

    async def _audit(self, evidence: Evidence) -> Audit:
        def show(**changes: object) -> None:
            if self.link.evidence is not None and is_same_race(self.link.evidence, evidence):
                self.rooms.model = replace(self.model, **changes)  # type: ignore[arg-type]  # fields of a model
                self._notify()

        audit = await audit_race(
            self.rooms, lambda words: show(checking=words), lambda record: show(whole_record=record)
        )
        show(verdict=audit.verdict, whole_record=audit.reading.record, checking="")
        return audit

    async def audit(self) -> Audit:
        """Return the result of verifying the finished race, when it is known. Outside a finished race it is empty."""
        return await asyncio.shield(self._auditing) if self._auditing is not None else Audit()

    async def join(self, room: str, passphrase: str = "", line: RoomLine | None = None) -> None:
        """Take a seat in ``room``, or return to the seat that the player already has. ``line`` is as in ``RoomClient``."""
        await self._enter(self.rooms.join(room, passphrase, line))
        if room == self.link.saved_room:
            self._saved_room = room
            self._save_room()

    async def watch(self, room: str, passphrase: str = "", line: RoomLine | None = None) -> None:
        """Start watching ``room`` as a spectator."""
        await self._enter(self.rooms.watch(room, passphrase, line))

    async def _enter(self, request: Awaitable[object]) -> None:
        self.entering = True
        try:
            await request
        except BaseException:
            self.entering = False
            raise

    def mute(self, player: str) -> None:
        """Hide the name of a player on this screen until the program ends, or show it again."""
        self.rooms.model = self.model.with_muted(player)
        self._notify()

    async def leave(self) -> None:
        """Give up the seat or stop watching. A player who leaves during a race resigns from it.

        After the doors of a race with a window have closed, the seat is kept, and so is the saved room.
        """
        room = self.model.room
        await self.rooms.leave()
        if room is not None and room.window and room.phase != "open":
            self._saved_room = ""  # as if the client had never been there
        self._notify()

    def act(self, action: Move | str) -> None:
        """Make a move or an undo, and send it to the server. A draw or deal from the stock is a move too.

        The effect is shown at once, unless the action turns up an unseen card. Raise PlayError if the server is
        certain to refuse the action.
        """
        self._collecting = None
        self.rooms.act(action)
        self._notify()

    def collect(self) -> str:
        """Play every card that is safe on the foundations. Return a sentence if none is, or otherwise an empty text.

        If none was, the next call plays every card that fits, unless the player does something else before. If a move
        turns up an unseen card, the client plays on later, when the server has sent that card's face.
        """
        now = self.model.own.next_revision
        if self._collect(safe_move) or (now == self._warned_at and self._collect(homeward_move)) or self._collecting:
            self._notify()
            return ""
        self._warned_at = now
        board = self.model.board
        return COLLECT_AGAIN if board and homeward_move(board) else NOTHING_TO_COLLECT

    def _collect(self, next_move: Callable[[Board], Move | None]) -> int:
        played = 0
        with suppress(PlayError):
            while not self.model.own.awaiting_face and (board := self.model.board) and (move := next_move(board)):
                self.rooms.act(move)
                played += 1
        self._collecting = next_move if self.model.own.awaiting_face else None
        return played
