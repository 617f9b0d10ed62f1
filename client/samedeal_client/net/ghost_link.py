"""A link without a server: practice from a moment of a recorded race, against the ghosts of its players."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Final

from msgspec import structs

from samedeal.board_history import UNDO, Play, Undo
from samedeal.errors import SamedealError
from samedeal.options import Options
from samedeal.protocol.messages import (
    Acked,
    Act,
    BoardState,
    Done,
    Join,
    Joined,
    Leave,
    Ping,
    Pong,
    ProgressUpdate,
    Refused,
    Resign,
    RoomState,
    Seat,
    Tally,
    ToClient,
    ToServer,
    Welcome,
)
from samedeal.protocol_codes import RefusalCode
from samedeal.record import Record
from samedeal_client.net.address import ServerAddress
from samedeal_client.net.link_events import Connected
from samedeal_client.net.reconnecting_link import Link
from samedeal_client.net.saved_sessions import MemorySessions
from samedeal_client.state.progress_history import tally_after
from samedeal_client.state.replay import Moment, Track

ROOM: Final = "practice"
_ME: Final = "you"
_LIMIT: Final = 7_200
_OPTIONS: Final = Options(limit=_LIMIT, undo="free", hints=True, spectators=False, end_when_settled=False)
_COUNTDOWN: Final = 3_000


class GhostLink(Link):
    """A link that answers the player's requests itself, in place of a server.

    The player starts with the board of ``play``, at a ``moment`` of the recorded race. Each ghost repeats the moves of a
    recorded player, at the recorded times.
    """

    def __init__(self, name: str, record: Record, play: Play, moment: Moment, ghosts: Sequence[Track]) -> None:
        super().__init__(ServerAddress("ws://practice.invalid:1"), name, MemorySessions())
        self.witness.is_blind = True
        self._record = record
        self._play = Play(play.board, Undo.FREE)
        self._moment = moment
        self._starts = self.now() - moment.time + (0 if moment.time else _COUNTDOWN)
        self._ghosts = {f"ghost-{number}": ghost for number, ghost in enumerate(ghosts, 1)}
        self._seats = {player: seat for seat, player in enumerate(self._ghosts, 2)}
        own = Tally(
            player=_ME,
            foundation_cards=play.board.foundation_cards,
            last_progress_at=self._starts + moment.time if moment.time else 0,
        )
        self._tallies = {_ME: own, **{player: self._ghost_tally(player, moment) for player in self._ghosts}}
        self._resigned = False
        self._joined = asyncio.Event()
        self._event = 0
        self._inbox: asyncio.Queue[ToServer] = asyncio.Queue()

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
        await self.receive(self._state())
        await self.receive(self._board())

    async def _move_ghost(self, player: str) -> None:
        for elapsed in sorted(set(self._ghosts[player].times)):
            if Moment(elapsed) > self._moment:
                await asyncio.sleep(max(self._starts + elapsed - self.now(), 0) / 1000)
                self._tallies[player] = tally = self._ghost_tally(player, Moment(elapsed))
                await self.receive(ProgressUpdate.of(self._seats[player], tally))

    def _ghost_tally(self, player: str, moment: Moment) -> Tally:
        ghost = self._ghosts[player]
        revision = ghost.revision_at(moment)
        if not revision:
            return Tally(player=player)
        play, progress = ghost.plays[revision], ghost.progress_at(revision)
        progress_at = self._starts + ghost.times[progress - 1] if progress else 0
        tally = Tally(player=player, foundation_cards=play.board.foundation_cards, last_progress_at=progress_at)
        return tally_after(tally, play, self._starts + ghost.times[revision - 1])

    def _answers(self, message: ToServer) -> list[ToClient]:
        match message:
            case Ping():
                return [Pong(to=message.id, time=self.now())]
            case Join():
                self._joined.set()
                return [Joined(to=message.id, room=ROOM, seat=1, generation=1), self._state()]
            case Act():
                return self._judged(message)
            case Resign():
                self._resigned = True
                return [Done(to=message.id), self._state()]
            case Leave():
                return [Done(to=message.id)]
            case _:
                sentence = "You can't do that while you practise."
                return [Refused(to=message.id, code=RefusalCode.NOT_RACING, message=sentence)]

    def _judged(self, act: Act) -> list[ToClient]:
        before = self._play
        try:
            self._play = play = before.act(act.action, act.revision)
        except SamedealError as error:
            return [Refused(to=act.id, code=error.code, message=str(error), revision=before.revision)]
        board, now = play.board, self.now()
        self._tallies[_ME] = tally_after(self._tallies[_ME], play, now)
        piles = board.masked().piles if act.action == UNDO else ()
        return [Acked(to=act.id, time=now, hash=board.state_hash(), receipt=b"", seen=play.seen, piles=piles)]

    def _state(self) -> RoomState:
        self._event += 1
        record = self._record
        ghosts = tuple(
            Seat(player=player, name=f"{ghost.player.name} (ghost)", seat=self._seats[player], ready=True)
            for player, ghost in self._ghosts.items()
        )
        return RoomState(
            room=ROOM,
            event=self._event,
            phase="racing" if self.now() >= self._starts else "countdown",
            game=record.game.name,
            deal=str(record.deal),
            options=structs.replace(_OPTIONS, games=(record.game.name,)),
            private=True,
            host=_ME,
            players=(Seat(player=_ME, name=self.name, seat=1, ready=True, resigned=self._resigned), *ghosts),
            tallies=tuple(self._tallies.values()),
            commitment=record.commitment,
            starts=self._starts,
            ends=self._starts + 1000 * _LIMIT,
        )

    def _board(self) -> BoardState:
        board, revision, game = self._play.board, self._play.revision, self._record.game.name
        piles, digest = board.masked().piles, board.state_hash()
        return BoardState(room=ROOM, revision=revision, game=game, piles=piles, hash=digest, moves=0, undos=0)
