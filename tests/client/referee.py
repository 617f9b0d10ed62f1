"""A link whose other end is in the same process: a race judged by the engine that the server judges with."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from msgspec.structs import replace
from textual import events
from textual.pilot import Pilot

from samedeal.board import Board
from samedeal.deal import Deal, commitment, shuffled
from samedeal.errors import PlayError
from samedeal.games import Game
from samedeal.moves import Move
from samedeal.options import Options
from samedeal.play import UNDO, Play
from samedeal.protocol.messages import (
    Acked,
    Act,
    BoardState,
    Create,
    Created,
    Done,
    Join,
    Joined,
    LateBoard,
    LateMove,
    Leave,
    ListRooms,
    Ping,
    Pong,
    Progress,
    Ready,
    Refused,
    Rematch,
    Resign,
    RoomLine,
    Rooms,
    RoomState,
    Seat,
    Start,
    Tally,
    ToClient,
    ToServer,
    Watch,
    Watching,
    Welcome,
)
from samedeal_client.app import SamedealApp
from samedeal_client.board.bindings import DEFAULT, Bindings
from samedeal_client.net.address import Address
from samedeal_client.net.client import Client
from samedeal_client.net.link import Connected, Link
from samedeal_client.net.sessions import BriefSessions
from samedeal_client.text.look import Look
from samedeal_client.text.spans import row_text
from samedeal_client.widgets.board import BoardView, PartView
from samedeal_client.widgets.rows import Rows

START = 1_790_000_000_000
ME = "p1"


class Referee(Link):
    """The link of a player, or a spectator, in a room with rivals.

    The referee's clock, ``time``, stands still until it is set. While ``held`` nothing is answered. What was asked is in
    ``asked``; the next action is refused with ``refuse``, a sentence, where that is set, and requests with what ``denied``
    has for their type.
    """

    def __init__(
        self,
        game: str = "willow",
        *,
        deal: str = "#7",
        board: Board | None = None,
        rivals: tuple[str, ...] = ("mira", "k0ji"),
        phase: str = "racing",
        delay: int = 15,
        options: Options | None = None,
    ) -> None:
        super().__init__(Address("ws://referee.test:1"), "ana", BriefSessions())
        self.game = Game.named(game)
        self.options = options or Options(games=(game,), deal=deal, delay=delay)
        self.phase = phase
        self.seed = Deal.parse(deal).public_seed()
        dealt = board or Board.deal(self.game, shuffled(self.seed, self.game.decks))
        self.play = Play(dealt, self.options.undo_rule)
        self.plays = {f"p{at}": Play(dealt, self.options.undo_rule) for at in range(2, 2 + len(rivals))}
        self.names = {ME: "ana"} | {f"p{at}": name for at, name in enumerate(rivals, 2)}
        self.tallies: dict[str, Tally] = {}
        self.out: set[str] = set()
        self.time = START + 60_000
        self.asked: list[ToServer] = []
        self.judged = 0
        self.refuse = ""
        self.denied: dict[type[ToServer], Refused] = {}
        self.room = "friday"
        self.rooms: tuple[RoomLine, ...] = ()
        self.event = 0
        self._inbox: asyncio.Queue[ToServer] = asyncio.Queue()
        self._free = asyncio.Event()
        self._free.set()

    # ---------------------------------------------------------------- the link's side

    def now(self) -> int:
        return self.time

    def _post(self, message: ToServer) -> None:
        self.asked.append(message)
        self._inbox.put_nowait(message)

    async def judge(self) -> None:
        """Answer what is asked, one thing after another."""
        await self.tell(Welcome(to=0, session="s", player=ME, name="ana", time=self.time, server="referee"))
        await self._news.put(Connected(again=False))
        while True:
            message = await self._inbox.get()
            await self._free.wait()
            for answer in self.answers(message):
                await self._heard(answer)
            self.judged += 1

    @property
    def behind(self) -> bool:
        """Whether something that was asked is not answered yet."""
        return self.judged < len(self.asked)

    async def tell(self, message: ToClient) -> None:
        await self._heard(message)

    def hold(self) -> None:
        self._free.clear()

    def release(self) -> None:
        self._free.set()

    # ---------------------------------------------------------------- the judge's side

    def answers(self, message: ToServer) -> list[ToClient]:
        if denial := self.denied.get(type(message)):
            return [replace(denial, to=message.id)]
        match message:
            case Ping():
                return [Pong(to=message.id, time=self.time)]
            case Act():
                return [self._judge(message)]
            case Join():
                return [Joined(to=message.id, room=self.room, seat=1, generation=1), self.state(), *self._board()]
            case Watch():
                late = self.late_boards()
                return [Watching(to=message.id, room=self.room, delay=self.options.delay), self.state(), *late]
            case Create() | Rematch():
                return [Created(to=message.id, room=self.room)]
            case ListRooms():
                return [Rooms(to=message.id, rooms=self.rooms)]
            case Resign():
                self.out.add(ME)
                return [Done(to=message.id), self.state()]
            case Leave() | Ready() | Start():
                return [Done(to=message.id)]
            case _:
                raise AssertionError(message)

    def _judge(self, message: Act) -> Acked | Refused:
        if self.refuse:
            sentence, self.refuse = self.refuse, ""
            return Refused(to=message.id, code="illegal", message=sentence, revision=self.play.revision)
        try:
            self.play = self.play.act(message.action, message.revision)
        except PlayError as error:
            return Refused(to=message.id, code=error.code, message=str(error), revision=self.play.revision)
        board = self.play.board
        return Acked(
            to=message.id,
            revision=self.play.revision,
            seen=self.play.seen,
            hash=board.state_hash(),
            up=board.cards_up,
            moves=self.play.moves,
            undos=self.play.undos,
            stuck=board.stuck,
            piles=board.masked().piles if message.action == UNDO else (),
        )

    def _board(self) -> list[ToClient]:
        if self.phase not in ("racing", "finished"):
            return []
        play = self.play
        return [
            BoardState(
                room=self.room,
                revision=play.revision,
                game=self.game.name,
                piles=play.board.masked().piles,
                hash=play.board.state_hash(),
                moves=play.moves,
                undos=play.undos,
            )
        ]

    def state(self) -> RoomState:
        self.event += 1
        racing = self.phase != "open"
        return RoomState(
            room=self.room,
            event=self.event,
            phase=self.phase,  # type: ignore[arg-type]  # a test names one of the phases
            game=self.game.name,
            deal=self.options.deal,
            options=self.options,
            private=False,
            host=ME,
            players=tuple(
                Seat(player=player, name=name, seat=at, out=player in self.out)
                for at, (player, name) in enumerate(self.names.items(), 1)
            ),
            tallies=tuple(self.tally(player) for player in self.names),
            commitment=commitment(self.seed),
            starts=START if racing else 0,
            ends=START + 1000 * self.options.limit if racing else 0,
            watching=2,
        )

    def tally(self, player: str) -> Tally:
        play = self.play if player == ME else self.plays[player]
        known = self.tallies.get(player, Tally(player=player))
        return Tally(
            player=player,
            up=play.board.cards_up,
            moves=play.moves,
            undos=play.undos,
            active=known.active,
            risen=known.risen,
            home=known.home,
            connected=known.connected,
        )

    # ---------------------------------------------------------------- what rivals do

    def rival_acts(self, player: str, action: Move | str) -> LateMove:
        """A rival moves: what a spectator will see of it."""
        before = self.plays[player]
        after = self.plays[player] = before.act(action)
        rose = after.board.cards_up != before.board.cards_up
        known = self.tallies.get(player, Tally(player=player))
        self.tallies[player] = Tally(
            player=player,
            active=self.time,
            risen=self.time if rose else known.risen,
            home=self.time if after.board.won else 0,
        )
        return LateMove(player=player, revision=after.revision, action=str(action), seen=after.seen, at=self.time)

    async def rival_moves(self, player: str, action: Move | str) -> None:
        """A rival moves, and the players hear of it."""
        self.rival_acts(player, action)
        await self.tell_progress(player)

    async def tell_progress(self, player: str) -> None:
        """The players hear how far a rival is."""
        await self.tell(Progress(tallies=(self.tally(player),)))

    def late_boards(self) -> list[ToClient]:
        plays = {ME: self.play, **self.plays}
        return [
            LateBoard(
                player=player,
                revision=play.revision,
                piles=play.board.masked().piles,
                moves=play.moves,
                undos=play.undos,
                at=self.time,
            )
            for player, play in plays.items()
        ]


@dataclass
class Sitting:
    """A player at the app, with the referee at the other end."""

    app: SamedealApp
    pilot: Pilot[int]
    referee: Referee

    @property
    def board(self) -> Board:
        """The board that is shown."""
        board = self.app.client.model.board
        assert board is not None
        return board

    async def press(self, *keys: str) -> None:
        """Type keys, ``"35"`` as good as ``"3", "5"``, and wait until all is answered and shown."""
        for key in keys:
            for one in key if key.isdigit() else [key]:
                self.app.simulate_key(one)
                await self.settle()

    def where(self, pile: str, card: int | None = None) -> tuple[int, int]:
        """The column and row of the screen at which a card of a pile, or the pile, is found."""
        view = self.app.screen.query_one(BoardView)
        for part in [shown.part for shown in self.app.screen.query(PartView) if shown.part is not None]:
            for spot in part.spots:
                if spot.hit.pile == pile and spot.hit.card == card:
                    return view.region.x + part.place.x + spot.x + 2, view.region.y + part.place.y + spot.y
        raise AssertionError(f"{pile} {card} is not shown")

    async def click(self, pile: str, card: int | None = None, button: int = 1) -> None:
        await self.drag(pile, card, pile, card, button)

    async def drag(self, pile: str, card: int | None, to: str, on: int | None = None, button: int = 1) -> None:
        start, end = self.where(pile, card), self.where(to, on)
        self._mouse(events.MouseDown, start, button)
        await self.settle()
        if start != end:
            self._mouse(events.MouseMove, end, button)
        self._mouse(events.MouseUp, end, button)
        await self.settle()

    def fling(self, pile: str, to: str) -> None:
        """Drag all at once, as a slow line brings it."""
        start, end = self.where(pile), self.where(to)
        self._mouse(events.MouseDown, start, 1)
        self._mouse(events.MouseMove, end, 1)
        self._mouse(events.MouseUp, end, 1)

    async def hold(self, pile: str, card: int | None = None) -> None:
        """Press the button on a card, and keep it down."""
        self._mouse(events.MouseDown, self.where(pile, card), 1)
        await self.settle()

    async def move(self, pile: str, card: int | None = None) -> None:
        """Move the mouse to a card with the button down."""
        self._mouse(events.MouseMove, self.where(pile, card), 1)
        await self.settle()

    async def let_go(self, pile: str, card: int | None = None) -> None:
        """Let go of the button over a card."""
        self._mouse(events.MouseUp, self.where(pile, card), 1)
        await self.settle()

    def _mouse(self, event: type[events.MouseEvent], at: tuple[int, int], button: int) -> None:
        x, y = at
        self.app.post_message(
            event(self.app.screen, x, y, 0, 0, button, shift=False, meta=False, ctrl=False, screen_x=x, screen_y=y)
        )

    @property
    def screen(self) -> str:
        """The name of the screen that is shown."""
        return type(self.app.screen).__name__

    @property
    def sentence(self) -> str:
        """The line for sentences."""
        return self.line("#sentence")

    @property
    def acts(self) -> list[str]:
        """The actions that were sent."""
        return [asked.action for asked in self.referee.asked if isinstance(asked, Act)]

    async def settle(self) -> None:
        """Wait until nothing is on its way and all of it is shown."""
        async with asyncio.timeout(10):
            quiet = 0
            while quiet < 3:
                await asyncio.sleep(0)
                quiet = 0 if self._busy() else quiet + 1

    def _busy(self) -> bool:
        app, screen = self.app, self.app.screen
        held = not self.referee._free.is_set()
        if (
            any(not pump._message_queue.empty() for pump in app._registry)
            or app._stale
            or not self.referee._news.empty()
        ):
            return True
        if not held and (self.referee.behind or app.client.model.pending):
            return True
        if screen.is_current and (screen._layout_required or screen._dirty_widgets or screen._repaint_required):
            screen._on_timer_update()  # at once, not with the next frame
            return True
        return False

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait for what is to come about soon."""
        async with asyncio.timeout(10):
            while not holds():
                await self.pilot.pause(0.01)

    def text(self) -> str:
        """The screen as text, lines without blanks at their ends."""
        self.app.screen._compositor_refresh()
        return screen_text(self.app)

    def line(self, selector: str) -> str:
        """A line of the frame: ``#header``, ``#sentence`` or ``#keys``."""
        return row_text(self.app.screen.query_one(selector, Rows).rows[0]).strip()


def screen_text(app: SamedealApp) -> str:
    strips = app.screen._compositor.render_strips()
    return "\n".join(strip.text.rstrip() for strip in strips) + "\n"


@contextlib.asynccontextmanager
async def sitting(
    referee: Referee,
    size: tuple[int, int] = (80, 24),
    look: Look | None = None,
    bindings: Bindings = DEFAULT,
    *,
    watch: bool = False,
) -> AsyncIterator[Sitting]:
    """The app in a room of the referee's, its board on the screen."""
    judging = asyncio.create_task(referee.judge())
    client = Client(referee, clock=lambda: 0.0)
    client.entering = True
    app = SamedealApp(client, look or Look(), bindings)
    try:
        async with app.run_test(size=size) as pilot:
            await (client.watch(referee.room) if watch else client.join(referee.room))
            table = Sitting(app, pilot, referee)
            await table.settle()
            yield table
    finally:
        judging.cancel()
        await asyncio.gather(judging, return_exceptions=True)
