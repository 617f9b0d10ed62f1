"""A small server in memory that hosts one room with a joint deal. It is honest, unless a subclass overrides a step.

``LIES`` in ``lies.py`` has the subclasses. A lie may wait until all clients of the test have handled what they were
sent: see ``settle``.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Final

from msgspec.structs import replace as with_fields
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from samedeal.action_chain import first_head, next_head
from samedeal.board import Board
from samedeal.board_history import Play
from samedeal.deal import Deal, commitment
from samedeal.deal_proof import DealProof, LostShare, RevealedShare
from samedeal.difficulty import states_of
from samedeal.errors import SamedealError
from samedeal.games import game_named
from samedeal.joint_deal import (
    HIGHEST_CANDIDATE,
    MAX_DRAWS,
    DealTerms,
    LossReason,
    WonCandidate,
    candidate_board,
    mix,
    share_commitment,
    won_candidates,
)
from samedeal.options import Options
from samedeal.protocol.codec import decode_to_server, encode
from samedeal.protocol.messages import (
    SUBPROTOCOL,
    Acked,
    Act,
    CommitShare,
    DeclareStuck,
    Done,
    Drawn,
    DrawnShare,
    Hello,
    Join,
    Joined,
    Leave,
    Notice,
    Phase,
    Ping,
    Pong,
    ProgressUpdate,
    ReadRecord,
    Ready,
    RecordPart,
    Refused,
    Resign,
    RevealShare,
    RoomState,
    Standing,
    Start,
    ToClient,
    ToServer,
    Welcome,
)
from samedeal.protocol_codes import NoticeCode, RefusalCode
from samedeal.race.endings import standings
from samedeal.race.held_race import PRESENT
from samedeal.race.progress import MoveCommitted, Progress
from samedeal.race.room_state import acked, board_state, room_state, tally_of
from samedeal.race.values import DrawProgress, Race, RaceResult
from samedeal.race.values import Racer as SeatedRacer
from samedeal.record import Record
from samedeal.solver.solve import SOLVER
from samedeal.terms import RoomTerms
from samedeal_server.races.log_entry import LogEntry
from samedeal_server.races.race_record import build_record
from tests.shared.joint_deals import some_bytes

GAME: Final = game_named("ace-of-hearts")
DEAL: Final = "winnable easy"
"""A search with this small limit takes a few hundredths of a second."""

DEADLINE: Final = 60.0


@dataclass
class Racer:
    """A player with a seat, and what the player has sent. A guest is a racer without a program: the server's own."""

    player: str
    name: str
    seat: int = 0
    bot: bool = False
    guest: bool = False
    socket: ServerConnection | None = None
    entries: int = 0
    ready: bool = False
    resigned: bool = False
    commitment: bytes = b""
    share: bytes = b""
    play: Play | None = None
    head: bytes = b""
    progress: Progress = PRESENT
    log: list[LogEntry] = field(default_factory=list)
    answers: dict[int, Acked] = field(default_factory=dict)

    @property
    def is_done(self) -> bool:
        return self.resigned or self.progress.finished_at > 0

    def seated(self, phase: Phase) -> SeatedRacer:
        """Return what the race knows of the racer."""
        own = self.player, self.name, self.seat, self.ready, self.resigned and phase in ("racing", "finished")
        return SeatedRacer(*own, bot=self.bot, commitment=self.commitment, share=self.share)


def millis() -> int:
    return time.time_ns() // 1_000_000


class HonestServer:
    """The server of one room. ``wanted`` is the number of players with programs for whom the countdown waits.

    ``guests`` are the names of racers of the server's own.
    """

    keeps_leavers = False

    def __init__(self, room: str, *, wanted: int = 2, guests: Sequence[str] = (), deal: str = DEAL) -> None:
        self.room = room
        self.wanted = wanted
        self.url = ""
        self.options = Options(games=(GAME.name,), deal=deal, start="all-ready", countdown=0, limit=600)
        self.secret = some_bytes(f"the secret of {room}")
        least, budget = states_of(GAME, Deal.parse(deal).difficulty)
        self.search = DealTerms(room, GAME, SOLVER, budget, least)
        self.terms = RoomTerms.of(room, self.options, Deal.parse(deal))
        self.commitment = commitment(self.terms.digest, self.secret)
        self.phase: Phase = "open"
        self.event = 0
        self.racers: list[Racer] = []
        self.kept: dict[str, Racer] = {}
        self.draw = 0
        self.sealed = self.failed = False
        self.lost: list[LostShare] = []
        self.shares: tuple[RevealedShare, ...] = ()
        self.learned: list[tuple[int, str, bytes]] = []
        self.won = WonCandidate(0, (), 0)
        self.starts = self.finished_at = 0
        self.proof = ""
        self.standings: tuple[Standing, ...] = ()
        self.settle: Callable[[], Awaitable[None]] = self.until_idle
        self.hosting: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()
        self._sessions: dict[str, Racer] = {}
        self._sockets: set[ServerConnection] = set()
        for name in guests:
            self.seat_guest(name)

    # What a lie overrides

    async def host(self) -> None:
        """Draw the deal, let the players race, and show the results."""
        await self.until(self.may_start)
        await self.draw_deal()
        await self.deal_cards()
        await self.until(self.is_over)
        await self.finish()

    async def draw_deal(self) -> None:
        while not self.shares:
            if self.phase == "open":
                await self.until(self.may_start)
            await self.begin_draw()
            await self.collect_shares()
            if self.draw == MAX_DRAWS and not self.shares and self.racers:
                raise AssertionError("the last draw failed")
        await self.publish_shares()

    async def collect_shares(self) -> None:
        await self.until(lambda: self.has_ended_draw() or self.is_sealable())
        if self.racers:
            await self.seal()
            await self.until_revealed()
        if not self.racers:
            self.phase = "open"
            await self.push()
        elif not self.failed:
            self.shares = self.revealed_shares()

    def shares_for(self, racer: Racer) -> tuple[RevealedShare, ...]:
        """Return the shares as a racer is shown them."""
        return self.shares

    def find_deal(self) -> WonCandidate:
        """Return the candidate that is dealt."""
        return self.first_won(0)

    def board_of(self, racer: Racer) -> Board:
        """Return the board that a racer is dealt."""
        return candidate_board(self.mixed(), self.won.number, GAME)

    def claimed_proof(self) -> DealProof:
        """Return the proof that the results and the record show."""
        return self.honest_proof()

    def make_proof(self) -> str:
        """Return the text of the proof that the results show."""
        return str(self.claimed_proof())

    def record_text(self, racer: Racer) -> str:
        """Return the record that a racer gets. It is empty if there is none."""
        return str(self.honest_record())

    def state_for(self, racer: Racer) -> RoomState:
        """Return the room as a racer is shown it."""
        return self.honest_state()

    def board_head(self, head: bytes) -> bytes:
        """Return the head that a board is sent with."""
        return head

    async def answer_reveal(self, racer: Racer, message: RevealShare) -> None:
        """Confirm that a share has arrived."""
        await self.send(racer, Done(to=message.id))

    # Steps

    def may_start(self) -> bool:
        seated = [racer for racer in self.racers if not racer.guest]
        return len(seated) >= self.wanted and all(racer.ready for racer in seated)

    def is_sealable(self) -> bool:
        return bool(self.racers) and all(racer.commitment for racer in self.racers)

    def has_ended_draw(self) -> bool:
        return self.failed or not self.racers

    async def draw_once(self, number: int = 0) -> tuple[RevealedShare, ...]:
        """Draw once, and return the shares, which nobody but the server knows yet."""
        await self.collect_commitments(number)
        await self.seal()
        await self.until_revealed()
        return self.revealed_shares()

    async def collect_commitments(self, number: int = 0) -> None:
        await self.begin_draw(number)
        await self.until(self.is_sealable)

    async def begin_draw(self, number: int = 0) -> None:
        self.draw = number or self.draw + 1
        self.phase, self.sealed, self.failed = "countdown", False, False
        self.starts = millis() + 60_000
        for racer in self.racers:
            racer.commitment = racer.share = b""
            if racer.guest:
                racer.share = self.guest_share(racer)
                racer.commitment = self.promise(racer, racer.share)
        await self.push()

    def promise(self, racer: Racer, share: bytes) -> bytes:
        """Return the hash by which a racer commits to a share."""
        place = racer.seat, racer.name, self.draw
        return share_commitment(self.terms.digest, self.commitment, *place, share)

    def guest_share(self, racer: Racer) -> bytes:
        return some_bytes(f"{self.room} {racer.name} {self.draw}")

    async def seal(self) -> None:
        self.sealed = True
        await self.push()

    async def until_revealed(self) -> None:
        """Wait until every player has revealed a share, or a draw fails."""
        await self.until(lambda: self.has_ended_draw() or all(racer.share for racer in self.racers))

    def revealed_shares(self) -> tuple[RevealedShare, ...]:
        return tuple(sorted(RevealedShare(each.seat, each.name, each.commitment, each.share) for each in self.racers))

    async def publish_shares(self) -> None:
        await self.push()
        for racer in list(self.kept.values()):
            await self.send_drawn(racer)

    async def send_drawn(self, racer: Racer) -> None:
        shares = self.shares_for(racer)
        if shares:
            drawn = tuple(DrawnShare(**share._asdict()) for share in shares)
            await self.send(racer, Drawn(room=self.room, draw=self.draw, shares=drawn))

    async def lose(self, racer: Racer, reason: LossReason) -> None:
        """Take a racer's seat during the countdown. A server that ``keeps_leavers`` hides that they have left."""
        if reason == "left" and self.keeps_leavers:
            racer.guest = racer.resigned = True
            return
        self.racers.remove(racer)
        if self.phase == "countdown" and not (self.shares and self.racers):
            self.lost.append(LostShare(self.draw, racer.seat, reason, racer.name))
            self.failed = self.sealed
        if reason != "left" and not racer.guest:
            await self.send(racer, Notice(code=NoticeCode.UNSEATED, message="You lost your seat."))
        if not self.failed or not self.racers:
            await self.push()  # otherwise the next draw begins at once

    def seat_guest(self, name: str) -> Racer:
        guest = Racer(f"g-{name}", name, guest=True, ready=True, resigned=True)
        self._seat(guest)
        return guest

    def _seat(self, racer: Racer) -> None:
        taken = {racer.seat for racer in self.racers}
        racer.seat = next(seat for seat in range(1, 17) if seat not in taken)
        self.racers.append(racer)

    def mixed(self) -> bytes:
        return mix(self.secret, [(share.seat, share.share) for share in self.shares])

    def first_won(self, lowest: int) -> WonCandidate:
        numbers = range(lowest, HIGHEST_CANDIDATE + 1)
        return next(won_candidates(self.mixed(), GAME, self.search.budget, numbers, self.search.least))

    async def deal_cards(self) -> None:
        self.won = self.find_deal()
        self.starts, self.phase = millis(), "racing"
        for racer in self.racers:
            racer.play = Play(self.board_of(racer), self.options.undo_rule)
            racer.head = first_head(self.terms.digest, self.starts, racer.seat, racer.name, bot=racer.bot)
        await self.push()
        for racer in self.racers:
            await self.send_board(racer)

    def is_over(self) -> bool:
        persons = [racer for racer in self.racers if not racer.bot and not racer.guest]
        return all(racer.is_done for racer in persons or self.racers)

    async def finish(self) -> None:
        self.finished_at = millis()
        self.phase = "finished"
        self.standings = self.make_standings()
        self.proof = self.make_proof()
        await self.push()

    # The honest results

    def honest_proof(self) -> DealProof:
        won = self.won
        return DealProof(
            *(self.search, self.terms.digest, self.commitment, self.secret, self.draw),
            *(tuple(self.lost), self.shares, won.number, won.line),
        )

    def make_standings(self) -> tuple[Standing, ...]:
        return standings(self.race, self.progress)

    @property
    def progress(self) -> dict[str, Progress]:
        """The progress of all racers."""
        return {racer.player: racer.progress for racer in self.racers}

    @property
    def race(self) -> Race:
        """The race as it is."""
        deal, starts = str(self.terms.deal), self.starts
        return Race(
            *(self.room, self.options, 0, deal, self.commitment, False, starts, starts),
            description=self.terms.description,
            phase=self.phase,
            racers=tuple(racer.seated(self.phase) for racer in self.racers),
            starts=starts,
            ends=starts + 1000 * self.options.limit if starts else 0,
            draw=DrawProgress(self.draw, shares=self.shares, lost=tuple(self.lost), found=self.phase == "racing"),
            result=RaceResult(self.finished_at, self.standings, b"", self.proof),
        )

    def honest_record(self) -> Record:
        logs = {racer.player: racer.log for racer in self.racers}
        return replace(build_record(self.race, logs), proof=self.claimed_proof())

    def honest_state(self) -> RoomState:
        return room_state(self.race, self.progress, self.event, 0, millis())

    # Connections

    @property
    def has_ended(self) -> bool:
        """Whether the server has done everything that it does by itself."""
        return self.hosting is not None and self.hosting.done()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition holds. It is checked after each message of a client."""
        while not condition():
            self._changed.clear()
            await self._changed.wait()

    async def until_idle(self) -> None:
        """Do nothing. Tests whose clients run in this process replace this by a wait for the clients."""

    def racer_of(self, name: str) -> Racer:
        return next(racer for racer in (*self.kept.values(), *self._sessions.values()) if racer.name == name)

    async def push(self) -> None:
        """Send the room to all players who have entered it, even if they have no seat any more."""
        self.event += 1
        for racer in list(self.kept.values()):
            await self.send(racer, self.state_for(racer))

    async def send(self, racer: Racer, message: ToClient) -> None:
        if racer.socket is not None:
            with suppress(ConnectionClosed):
                await racer.socket.send(encode(message))

    async def send_board(self, racer: Racer) -> None:
        if racer.play is not None:
            state = board_state(self.room, racer.play)
            await self.send(racer, with_fields(state, head=self.board_head(racer.head)))

    async def cut(self, racer: Racer) -> None:
        """Cut a player's connection without a word, and wait until the player's program has returned to the room."""
        before, socket = racer.entries, racer.socket
        assert socket is not None
        racer.socket = None
        socket.transport.abort()
        await self.until(lambda: racer.entries > before)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[str]:
        """Serve on a free port. Yield the address."""
        protocols = [Subprotocol(SUBPROTOCOL)]
        async with serve(
            self._serve, "127.0.0.1", 0, subprotocols=protocols, compression=None, close_timeout=1
        ) as server:
            self.url = f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}"
            self.hosting = asyncio.create_task(self.host(), name=f"host of {self.room}")
            try:
                yield self.url
                if self.hosting.done():
                    self.hosting.result()
            finally:
                self.hosting.cancel()
                await asyncio.gather(self.hosting, return_exceptions=True)
                for socket in self._sockets:
                    socket.transport.abort()

    async def _serve(self, socket: ServerConnection) -> None:
        racer: Racer | None = None
        self._sockets.add(socket)
        with suppress(ConnectionClosed):
            async for frame in socket:
                message = decode_to_server(frame)
                if isinstance(message, Hello):
                    racer = await self._welcome(socket, message)
                elif racer is not None:
                    await self._handle(socket, racer, message)
                self._changed.set()
        self._sockets.discard(socket)

    async def _welcome(self, socket: ServerConnection, message: Hello) -> Racer:
        racer = self._sessions.get(message.session)
        session = message.session
        if racer is None:
            session = f"session {len(self._sessions) + 1}"
            racer = Racer(f"p{len(self._sessions) + 1}", message.name, bot=message.bot)
            self._sessions[session] = racer
        name = racer.name
        welcome = Welcome(to=message.id, session=session, player=racer.player, name=name, time=millis(), server="test")
        await socket.send(encode(welcome))
        return racer

    async def _handle(self, socket: ServerConnection, racer: Racer, message: ToServer) -> None:
        match message:
            case Ping():
                await socket.send(encode(Pong(to=message.id, time=millis())))
            case Join():
                await self._enter(socket, racer, message)
            case ReadRecord():
                await socket.send(encode(self._record_part(racer, message)))
            case Act() if racer.play is not None:
                await self._act(racer, message)
            case Leave():
                await socket.send(encode(Done(to=message.id)))
                await self._leave(racer)
            case CommitShare():
                await socket.send(encode(Done(to=message.id)))
                if message.draw == self.draw and not self.sealed and racer in self.racers:
                    racer.commitment = message.commitment
            case RevealShare():
                self.learned.append((message.draw, racer.name, message.share))
                if message.draw == self.draw and racer.commitment == self.promise(racer, message.share):
                    racer.share = message.share
                if racer in self.racers:
                    await self.answer_reveal(racer, message)
                else:
                    refused = Refused(to=message.id, code=RefusalCode.NO_SEAT, message="You have no seat.")
                    await self.send(racer, refused)
            case Ready() | Start():
                racer.ready = True
                await socket.send(encode(Done(to=message.id)))
                await self.push()
            case Resign():
                racer.resigned = True
                await socket.send(encode(Done(to=message.id)))
                await self.push()
            case DeclareStuck():
                await socket.send(encode(Done(to=message.id)))
            case _:
                await socket.send(encode(Refused(to=message.id, code=RefusalCode.ROOM_CLOSED, message="No.")))

    async def _leave(self, racer: Racer) -> None:
        self.kept.pop(racer.player, None)
        if racer in self.racers and self.phase in ("open", "countdown"):
            await self.lose(racer, "left")
        elif racer in self.racers and self.phase == "racing":
            racer.resigned = True
            await self.push()

    async def _enter(self, socket: ServerConnection, racer: Racer, message: Join) -> None:
        if racer not in self.racers:
            if self.phase != "open":
                refused = Refused(to=message.id, code=RefusalCode.RACE_STARTED, message="The race has started.")
                await socket.send(encode(refused))
                return
            self._seat(racer)
            racer.ready, racer.commitment, racer.share = False, b"", b""
        racer.socket = socket
        racer.entries += 1
        self.kept[racer.player] = racer
        revision = racer.play.revision if racer.play is not None else -1
        joined = Joined(to=message.id, room=self.room, seat=racer.seat, generation=racer.entries, revision=revision)
        await self.send(racer, joined)
        await self.push()
        await self.send_drawn(racer)
        if revision > message.revision:
            await self.send_board(racer)

    def _record_part(self, racer: Racer, message: ReadRecord) -> ToClient:
        text = self.record_text(racer) if self.phase == "finished" else ""
        if not text:
            return Refused(to=message.id, code=RefusalCode.NO_RECORD, message="There is no record.")
        return RecordPart(to=message.id, race=f"{self.room}.20261122-140543", part=0, parts=1, text=text.encode())

    async def _act(self, racer: Racer, message: Act) -> None:
        assert racer.play is not None
        if message.id in racer.answers:
            await self.send(racer, racer.answers[message.id])
            return
        if self.phase != "racing":
            await self.send(racer, Refused(to=message.id, code=RefusalCode.NOT_RACING, message="The race is over."))
            return
        try:
            after = racer.play.act(message.action, message.revision)
        except SamedealError as error:
            refused = Refused(to=message.id, code=RefusalCode.ILLEGAL, message=str(error), revision=racer.play.revision)
            await self.send(racer, refused)
            return
        moved, now = MoveCommitted.of(racer.player, message.action, after), millis()
        racer.play, racer.progress = after, racer.progress.after(moved, now)
        entry = after.revision, message.id, message.action, after.seen
        racer.log.append(LogEntry(*entry, after.board.foundation_cards, after.moves, after.undos, now))
        racer.head = next_head(racer.head, after.revision, now - self.starts, message.action)
        racer.answers[message.id] = acked(message, after, now)
        await self.send(racer, racer.answers[message.id])
        for other in self.kept.values():
            if other is not racer:
                await self.send(other, ProgressUpdate.of(racer.seat, tally_of(racer.player, racer.progress, now)))
