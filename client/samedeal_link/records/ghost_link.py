"""A link without a server: practice from a moment of a recorded race, against the ghosts of its players."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from msgspec import structs

from samedeal.board_history import Play, Undo
from samedeal.errors import SamedealError
from samedeal.options import Options
from samedeal.protocol.messages import (
    Act,
    Done,
    Join,
    Joined,
    Leave,
    Ping,
    Pong,
    ProgressUpdate,
    Refused,
    Resign,
    ToClient,
    ToServer,
    Welcome,
)
from samedeal.protocol_codes import RefusalCode
from samedeal.race.commands import ResignCommand, StartCommand
from samedeal.race.held_race import HeldRace
from samedeal.race.openings import first_race
from samedeal.race.room_state import acked, tally_of
from samedeal.race.values import DealSecret, DrawProgress, Racer
from samedeal.record import Record
from samedeal_link.connection.address import ServerAddress
from samedeal_link.connection.link_events import Connected
from samedeal_link.connection.reconnecting_link import Link
from samedeal_link.connection.saved_sessions import MemorySessions
from samedeal_link.records.replay import Moment, Track

ROOM: Final = "practice"
_ME: Final = "you"
_OPTIONS: Final = Options(countdown=3, undo="free", hints=True, spectators=False, end_when_settled=False)
_NEVER: Final = 1 << 46


class GhostLink(Link):
    """A link that answers the player's requests itself, in place of a server.

    The player starts with the board of ``play``, at a ``moment`` of the recorded race. Each ghost repeats the moves of a
    recorded player, at the recorded times.
    """

    def __init__(self, name: str, record: Record, play: Play, moment: Moment, ghosts: Sequence[Track]) -> None:
        super().__init__(ServerAddress("ws://practice.invalid:1"), name, MemorySessions())
        self.witness.is_blind = True
        self._moment = moment
        self._ghosts = {f"ghost-{number}": ghost for number, ghost in enumerate(ghosts, 1)}
        self._held = self._race(record)
        self._starts = self._held.race.starts
        for player, ghost in self._ghosts.items():
            for revision in range(1, ghost.revision_at(moment) + 1):
                self._repeat(player, revision)
        self._held = self._held.with_plays({_ME: Play(play.board, Undo.FREE)}, self._starts + moment.time)
        self._joined = asyncio.Event()
        self._inbox: asyncio.Queue[ToServer] = asyncio.Queue()

    def _race(self, record: Record) -> HeldRace:
        """Return the race of the player and the ghosts, which starts so that the moment is now or soon."""
        begun = self.now() - self._moment.time - (1000 * _OPTIONS.countdown if self._moment.time else 0)
        options = structs.replace(_OPTIONS, games=(record.game.name,))
        race = first_race(ROOM, options, record.deal, b"", begun, private=True)
        names = {_ME: self.name} | {player: f"{ghost.player.name} (ghost)" for player, ghost in self._ghosts.items()}
        racers = [Racer(player, name, seat, ready=True) for seat, (player, name) in enumerate(names.items(), 1)]
        held = HeldRace(structs.replace(race, racers=tuple(racers)), DealSecret(b"")).told(StartCommand(_ME), begun)
        return replace(held, race=structs.replace(held.race, draw=DrawProgress(found=True), ends=_NEVER))

    def now(self) -> int:
        """Return the time of this machine, in milliseconds since 1970."""
        return time.time_ns() // 1_000_000

    def post(self, message: ToServer) -> None:
        """Enqueue a request, which ``run`` will answer."""
        self._inbox.put_nowait(message)

    async def run(self) -> None:
        """Answer requests and make the moves of the ghosts, until this task is cancelled."""
        server = f"samedeal {ROOM}"
        await self.events.put(Welcome(to=0, session="", player=_ME, name=self.name, time=self.now(), server=server))
        await self.events.put(Connected(resumed=False))
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._answer_requests())
            tasks.create_task(self._deal())
            for player in self._ghosts:
                tasks.create_task(self._move_ghost(player))

    async def _answer_requests(self) -> None:
        while True:
            message = await self._inbox.get()
            for answer in self._answers(message):
                await self.receive(answer)

    async def _deal(self) -> None:
        """Send the room and the board once the player has joined and the countdown is over."""
        await self._joined.wait()
        await asyncio.sleep(max(self._starts - self.now(), 0) / 1000)
        self._held = self._held.passed(self.now())
        await self.receive(self._held.state(self.now()))
        await self.receive(self._held.board_state(_ME))

    async def _move_ghost(self, player: str) -> None:
        ghost = self._ghosts[player]
        for revision in range(ghost.revision_at(self._moment) + 1, len(ghost.plays)):
            await asyncio.sleep(max(self._starts + ghost.times[revision - 1] - self.now(), 0) / 1000)
            self._repeat(player, revision)
            tally = tally_of(player, self._held.progress_of(player), self.now())
            await self.receive(ProgressUpdate.of(self._held.race.seated(player).seat, tally))

    def _repeat(self, player: str, revision: int) -> None:
        """Repeat the action of a ghost that led to a revision."""
        ghost = self._ghosts[player]
        self._held = self._held.played(player, "", ghost.plays[revision], self._starts + ghost.times[revision - 1])

    def _answers(self, message: ToServer) -> list[ToClient]:
        match message:
            case Ping():
                return [Pong(to=message.id, time=self.now())]
            case Join():
                self._joined.set()
                return [Joined(to=message.id, room=ROOM, seat=1, generation=1), self._held.state(self.now())]
            case Act():
                return [self._judged(message)]
            case Resign():
                self._held = self._held.told(ResignCommand(_ME), self.now())
                return [Done(to=message.id), self._held.state(self.now())]
            case Leave():
                return [Done(to=message.id)]
            case _:
                sentence = "You can't do that while you practise."
                return [Refused(to=message.id, code=RefusalCode.NOT_RACING, message=sentence)]

    def _judged(self, act: Act) -> ToClient:
        try:
            self._held = self._held.acted(_ME, act.action, self.now(), act.revision)
        except SamedealError as error:
            return Refused(to=act.id, code=error.code, message=str(error), revision=self._held.play(_ME).revision)
        return acked(act, self._held.play(_ME), self._held.progress_of(_ME).last_action_at)
