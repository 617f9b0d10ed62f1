"""A small server in memory that hosts one room with a joint deal. It applies commands to the race, and is honest.

``lies.py`` has subclasses that lie. They change messages and what the commands get, and never the race.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Final

from msgspec.structs import replace as with_fields
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from samedeal.deal import Deal
from samedeal.errors import SamedealError
from samedeal.games import game_named
from samedeal.joint_deal import HIGHEST_CANDIDATE, WonCandidate, won_candidates
from samedeal.options import Options
from samedeal.protocol.codec import decode_to_server, encode
from samedeal.protocol.messages import (
    SUBPROTOCOL,
    Act,
    Done,
    Hello,
    Join,
    Joined,
    Leave,
    Ping,
    Pong,
    ProgressUpdate,
    ReadRecord,
    RecordPart,
    Refused,
    RevealShare,
    ToClient,
    ToServer,
    Watch,
    Watching,
    Welcome,
)
from samedeal.protocol_codes import RefusalCode
from samedeal.race.commands import CommandRequest, FixDealCommand, JoinCommand, LeaveCommand, command_of
from samedeal.race.draws import mixed
from samedeal.race.held_race import HeldRace
from samedeal.race.openings import first_race
from samedeal.race.room_state import acked, drawn, tally_of
from samedeal.race.values import DealSecret, FoundDeal
from samedeal.record import Record
from samedeal_server.page.files import PageFiles
from samedeal_server.races.log_entry import LogEntry
from samedeal_server.races.race_record import build_record, first_head, race_id
from tests.shared.joint_deals import some_bytes

GAME: Final = game_named("ace-of-hearts")
DEAL: Final = "winnable easy"
"""A search with this small limit takes a few hundredths of a second."""


@dataclass(eq=False)
class Player:
    """A player who has connected. ``shares`` are those that the server has learned, and ``log`` has the actions."""

    id: str
    name: str
    bot: bool
    socket: ServerConnection
    is_here: bool = False
    entries: int = 0
    shares: set[bytes] = field(default_factory=set)
    log: list[LogEntry] = field(default_factory=list)


class HonestServer:
    """The server of one room."""

    def __init__(self, room: str) -> None:
        self.room, self.url = room, ""
        self.players: dict[str, Player] = {}
        options = Options(games=(GAME.name,), deal=DEAL, start="all-ready", countdown=0, limit=600)
        seed = some_bytes(f"the secret of {room}")
        self.held = HeldRace(first_race(room, options, Deal.parse(DEAL), seed, self.now()), DealSecret(seed))
        self._shown = self.held

    # What a lie overrides

    def told(self, player: Player, message: ToClient) -> Sequence[ToClient]:
        """Return what a player is sent in place of a message."""
        return (message,)

    def now(self) -> int:
        """Return the time."""
        return time.time_ns() // 1_000_000

    def answer(self, player: Player, message: ToServer) -> ToClient:
        """Return the answer to a request. Raise SamedealError if it is refused."""
        match message:
            case Ping():
                return Pong(to=message.id, time=self.now())
            case Watch():
                player.is_here = True
                return Watching(to=message.id, room=self.room, delay=0)
            case Join():
                self.held = self.held.told(JoinCommand(player.id, player.name, {}, bot=player.bot), self.now())
                player.is_here, player.entries = True, player.entries + 1
                seat = self.held.race.seated(player.id).seat
                return Joined(to=message.id, room=self.room, seat=seat, generation=player.entries)
            case Leave():
                player.is_here = False
                self.held = self.held.told(LeaveCommand(player.id), self.now())
                return Done(to=message.id)
            case Act():
                return self._judged(player, message)
            case ReadRecord():
                text, race = str(self.record()).encode(), race_id(self.held.race)
                return RecordPart(to=message.id, race=race, part=0, parts=1, text=text)
            case _ if isinstance(message, CommandRequest):
                if isinstance(message, RevealShare):
                    player.shares.add(message.share)
                command = command_of(player.id, message, self.held.progress_of_all)
                self.held = self.held.told(command, self.now())
                return Done(to=message.id)
            case _:
                return Refused(to=message.id, code=RefusalCode.ROOM_CLOSED, message="No.")

    async def go_on(self) -> None:
        """Do what is due: find the deal once all shares are known, begin the race, and end it."""
        race = self.held.race
        if race.needs_search:
            won = self.first_won()
            line = ", ".join(map(str, won.line))
            found = FoundDeal(race.draw.number, race.draw.shares, won.number, line)
            self.held = replace(self.held, secret=with_fields(self.held.secret, found=found))
            self.held = self.held.told(FixDealCommand(found), self.now())
            await self.show()
        if not self.held.race.lacks_deal:  # it waits for the shares of all
            self.held = self.held.passed(self.now())
            await self.show()

    # What is honest

    def first_won(self) -> WonCandidate:
        race = self.held.race
        mix, numbers = mixed(self.held.secret.seed, race.draw.shares), range(HIGHEST_CANDIDATE + 1)
        return next(won_candidates(mix, race.game, race.search.budget, numbers, race.search.least))

    def record(self) -> Record:
        return build_record(self.held.race, {player.id: player.log for player in self.players.values()})

    async def show(self) -> None:
        """Send everybody in the room what has changed."""
        before, self._shown = self._shown.race, self.held
        for player in [each for each in self.players.values() if each.is_here]:
            if self.held.race != before:
                await self.send(player, self.held.state(self.now()))
            if not before.draw.shares:
                await self.send_drawn(player)
            if before.phase != "racing":
                await self.send_board(player)

    async def send_drawn(self, player: Player) -> None:
        if (shares := drawn(self.held.race)) is not None:
            await self.send(player, shares)

    async def send_board(self, player: Player) -> None:
        race = self.held.race
        if race.phase == "racing" and (racer := race.racer(player.id)) is not None:
            await self.send(player, self.held.board_state(player.id, first_head(race, racer)))

    async def send(self, player: Player, message: ToClient) -> None:
        for told in self.told(player, message):
            with suppress(ConnectionClosed):
                await player.socket.send(encode(told))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve on a free port, also the page."""
        page, sockets = PageFiles(), set[ServerConnection]()

        async def talk(socket: ServerConnection) -> None:
            sockets.add(socket)
            with suppress(ConnectionClosed):
                await self._serve(socket)

        async with serve(
            talk,
            "127.0.0.1",
            0,
            subprotocols=[Subprotocol(SUBPROTOCOL)],
            process_request=lambda _, request: page.respond(request),
            compression=None,
            close_timeout=1,
        ) as server:
            self.url = f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}"
            yield
            for socket in sockets:
                socket.transport.abort()

    async def _serve(self, socket: ServerConnection) -> None:
        player: Player | None = None
        async for frame in socket:
            message = decode_to_server(frame)
            if isinstance(message, Hello):
                session = message.session or f"session {len(self.players) + 1}"
                new = Player(f"p{len(self.players) + 1}", message.name, message.bot, socket)
                player = self.players.setdefault(session, new)
                player.name, player.socket = message.name, socket  # the page has a name only once it has a seat
                known = session, player.id, player.name
                await self.send(player, Welcome(message.id, *known, time=self.now(), server="test"))
            elif player is not None:
                try:
                    answer = self.answer(player, message)
                except SamedealError as error:
                    answer = Refused(to=message.id, code=error.code, message=str(error))
                await self.send(player, answer)
                if isinstance(message, Join | Watch):
                    await self.send(player, self.held.state(self.now()))
                    await self.send_drawn(player)
                await self.show()
                await self.go_on()
                if isinstance(message, Act):
                    await self._show_progress(player)

    def _judged(self, player: Player, act: Act) -> ToClient:
        time = self.now()
        self.held = self.held.acted(player.id, act.action, time, act.revision)
        play = self.held.play(player.id)
        entry = play.revision, act.id, act.action, play.seen
        player.log.append(LogEntry(*entry, play.board.foundation_cards, play.moves, play.undos, time))
        return acked(act, play, time)

    async def _show_progress(self, player: Player) -> None:
        tally = tally_of(player.id, self.held.progress_of(player.id), self.now())
        update = ProgressUpdate.of(self.held.race.seated(player.id).seat, tally)
        for rival in [each for each in self.players.values() if each.is_here and each is not player]:
            await self.send(rival, update)
