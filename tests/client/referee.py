"""A stand-in for the server in the same process, which judges moves by the rules, and the app connected to it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace
from textual import events
from textual.pilot import Pilot
from textual.widgets import Static

from samedeal.board import Board
from samedeal.board_history import Play
from samedeal.deal import Deal
from samedeal.errors import PlayError
from samedeal.moves import Move
from samedeal.options import Options
from samedeal.protocol.messages import (
    Acked,
    Act,
    Create,
    Created,
    DeclareStuck,
    DelayedMove,
    Done,
    Join,
    Joined,
    KickPlayer,
    Leave,
    ListRecords,
    ListRooms,
    Ping,
    Pong,
    ProgressUpdate,
    RaceNow,
    ReadRecord,
    Ready,
    Refused,
    Rematch,
    Resign,
    RoomLine,
    Rooms,
    RoomState,
    Start,
    ToClient,
    ToServer,
    Watch,
    Watching,
    Welcome,
)
from samedeal.race.commands import JoinCommand, RaceCommand, StartCommand, command_of
from samedeal.race.held_race import HeldRace
from samedeal.race.openings import first_race, rematch, successor_options
from samedeal.race.room_state import acked, tally_of
from samedeal.race.values import DealSecret, DrawProgress, Racer
from samedeal_client.full_screen.app import SamedealApp
from samedeal_client.full_screen.widgets.board import BoardView, RegionView
from samedeal_client.full_screen.widgets.rows_widget import Rows
from samedeal_client.input.bindings import DEFAULT, Bindings
from samedeal_client.panels.race_feed import News, NewsKind
from samedeal_client.panels.race_news import news_text
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import row_text
from samedeal_link.connection.address import ServerAddress
from samedeal_link.connection.link_events import Connected
from samedeal_link.connection.reconnecting_link import Link
from samedeal_link.connection.saved_sessions import MemorySessions
from samedeal_link.session.client_session import ClientSession
from tests.client.server_messages import delayed_board, delayed_move
from tests.textual_internals import has_queued_messages, needs_painting, paint_now, screen_text, wait_for_screen

START = 1_790_000_000_000
OPENED = START - 60_000
ME = "p1"


class Referee(Link):
    """The link of a client in a room with rivals. It answers requests itself.

    ``held`` is the race, and ``time`` the server's time, in milliseconds, which only changes when a test sets it.
    ``requests`` holds all requests so far. Answers wait for ``answers_allowed``. ``refuse_next_action`` is the sentence with
    which the next action is refused, empty for none. ``refusals`` maps types of requests to their refusals.
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
        bots: bool = False,
    ) -> None:
        super().__init__(ServerAddress("ws://referee.test:1"), "ana", MemorySessions(), clock=lambda: self.time / 1000)
        self.time = START + 60_000
        self.player = ME
        self.has_page = True
        # How long the client takes to prove that a player is stuck varies, so only tests of that let it end a race.
        usual = Options(games=(game,), deal=deal, delay=delay, end_when_settled=False, players=max(8, 1 + len(rivals)))
        options = options or usual
        self.seed = Deal.parse(options.deal if options.deal.startswith("#") else deal).public_seed()
        race = first_race("friday", options, Deal.parse(options.deal), self.seed, OPENED)
        racers = [Racer(f"p{at}", name, at, bot=bots and at > 1) for at, name in enumerate(("ana", *rivals), 1)]
        dealt = replace(race, racers=tuple(racers), draw=DrawProgress(found=True))
        self.held = HeldRace(dealt, DealSecret(self.seed))
        if board is not None:
            self.held = self.held.with_plays({each.player: Play(board, options.undo_rule) for each in racers})
        if phase == "countdown":
            self.held = self.held.told(StartCommand(ME), START - 1000 * options.countdown)
        elif phase == "racing":
            self.begin()
        self.requests: list[ToServer] = []
        self.answered = 0
        self.refuse_next_action = ""
        self.refusals: dict[type[ToServer], Refused] = {}
        self.rooms: tuple[RoomLine, ...] = ()
        self._inbox: asyncio.Queue[ToServer] = asyncio.Queue()
        self.answers_allowed = asyncio.Event()
        self.answers_allowed.set()

    @property
    def room(self) -> str:
        """The code of the room."""
        return self.held.race.room

    def begin(self) -> None:
        """Let the race begin, after its countdown."""
        if self.held.race.is_open:
            self.held = self.held.told(StartCommand(ME), START - 1000 * self.held.race.options.countdown)
        self.held = self.held.passed(START)

    def tell(self, command: RaceCommand) -> None:
        """Apply a command to the race."""
        self.held = self.held.told(command, self.time)

    def now(self) -> int:
        return self.time

    def post(self, message: ToServer) -> None:
        self.requests.append(message)
        self.witness.sends(message, self.time)
        self._inbox.put_nowait(message)

    async def answer_requests(self) -> None:
        """Send the welcome, then answer requests in order."""
        await self.events.put(Welcome(to=0, session="s", player=ME, name="ana", time=self.time, server="referee"))
        await self.events.put(Connected(resumed=False))
        while True:
            message = await self._inbox.get()
            await self.answers_allowed.wait()
            for answer in self.answers_to(message):
                await self.receive(answer)
            self.answered += 1

    @property
    def has_unanswered(self) -> bool:
        """Whether a request is unanswered."""
        return self.answered < len(self.requests)

    def answers_to(self, message: ToServer) -> list[ToClient]:
        if refusal := self.refusals.get(type(message)):
            return [replace(refusal, to=message.id)]
        match message:
            case Ping():
                return [Pong(to=message.id, time=self.time)]
            case Act():
                return [self._judge(message)]
            case Join():
                if self.held.race.racer(ME) is None:
                    self.tell(JoinCommand(ME, "ana", self.held.progress_of_all))
                joined = Joined(to=message.id, room=self.room, seat=1, generation=1)
                return [joined, self.state(), *self.board_messages()]
            case Watch():
                watching = Watching(to=message.id, room=self.room, delay=self.held.race.options.delay)
                return [watching, self.state(), *self.delayed_boards()]
            case Create() | RaceNow():
                return [Created(to=message.id, room=self.room)]
            case Rematch():
                return [Created(to=message.id, room=self.open_rematch())]
            case ListRooms():
                return [Rooms(to=message.id, rooms=self.rooms)]
            case Resign() | DeclareStuck() | KickPlayer():
                self.tell(command_of(ME, message, self.held.progress_of_all))
                return [Done(to=message.id), self.state()]
            case Leave() | Ready() | Start():
                return [Done(to=message.id)]
            case ReadRecord() | ListRecords():
                return [Refused(to=message.id, code="no_room", message="There is no record")]
            case _:
                raise AssertionError(message)

    def _judge(self, message: Act) -> Acked | Refused:
        play = self.held.play(ME)
        if self.refuse_next_action:
            sentence, self.refuse_next_action = self.refuse_next_action, ""
            return Refused(to=message.id, code="illegal", message=sentence, revision=play.revision)
        try:
            self.held = self.held.acted(ME, message.action, self.time, message.revision)
        except PlayError as error:
            return Refused(to=message.id, code=error.code, message=str(error), revision=play.revision)
        return acked(message, self.held.play(ME), self.time)

    def open_rematch(self) -> str:
        """Go on with the room of the rematch, in which nobody has a seat yet. Return its code."""
        seed = Deal.parse(successor_options(self.held.race).deal).public_seed()
        self.held = HeldRace(rematch(self.held.race, f"{self.room}-2", seed, self.time), DealSecret(seed))
        return self.room

    def board_messages(self) -> list[ToClient]:
        return [] if self.held.race.is_waiting else [self.held.board_state(ME)]

    def state(self) -> RoomState:
        return replace(self.held.state(self.time), spectator_count=2)

    def rival_acts(self, player: str, action: Move | str) -> DelayedMove:
        """Make a rival's move. Return the message for spectators."""
        self.held = self.held.acted(player, str(action), self.time)
        return delayed_move(player, self.held.play(player), str(action), self.time)

    async def rival_moves(self, player: str, action: Move | str) -> None:
        """Make a rival's move, and send the players the progress."""
        self.rival_acts(player, action)
        await self.deliver_progress(player)

    async def deliver_progress(self, player: str) -> None:
        """Send the players a rival's progress."""
        tally = tally_of(player, self.held.progress_of(player), self.time)
        await self.receive(ProgressUpdate.of(self.held.race.seated(player).seat, tally))

    async def finish(self, **results: Any) -> None:
        """Say that the race has ended four minutes after its start, with these results."""
        if self.held.race.is_waiting:
            self.begin()
        results = {"phase": "finished", "finished_at": START + 240_000, **results}
        await self.receive(replace(self.state(), **results))

    def delayed_boards(self) -> list[ToClient]:
        players = [racer.player for racer in self.held.race.racers]
        return [delayed_board(player, self.held.play(player), self.time) for player in players]


async def wait_until(condition: Callable[[], object]) -> None:
    """Wait for a condition, without letting real time pass."""
    for _ in range(10_000):
        if condition():
            return
        await asyncio.sleep(0)
    raise AssertionError("the condition was never met")


@contextlib.asynccontextmanager
async def session_in(room: str, link: Link, serving: Coroutine[Any, Any, None]) -> AsyncIterator[ClientSession]:
    """A running session with a seat and a board, on a link that answers while ``serving`` runs."""
    client = ClientSession(link, clock=lambda: 100.0)
    tasks = [asyncio.create_task(serving), asyncio.create_task(client.run())]
    try:
        await client.join(room)
        await wait_until(lambda: client.model.board is not None)
        yield client
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@dataclass
class RunningApp:
    """A running app, connected to a referee."""

    app: SamedealApp
    pilot: Pilot[int]
    referee: Referee

    @property
    def has_quit(self) -> bool:
        """Whether the app has quit."""
        return self.app.return_code is not None

    def text(self) -> str:
        """The screen as text, without blanks at the ends of lines."""
        return screen_text(self.app)

    def line(self, selector: str) -> str:
        """A line of the frame: ``#header``, ``#sentence`` or ``#keys``."""
        widget = self.app.screen.query_one(selector)
        if isinstance(widget, Static):
            return " ".join(str(widget.content).split())
        assert isinstance(widget, Rows)
        return row_text(widget.rows[0]).strip()

    @property
    def board(self) -> Board:
        """The board that is shown."""
        board = self.app.client.model.board
        assert board is not None
        return board

    async def press(self, *keys: str) -> None:
        """Type keys, and wait after each until it is answered and shown. A number is typed digit by digit."""
        for key in keys:
            for typed in key if key.isdigit() else [key]:
                self.app.simulate_key(typed)
                await self.settle()

    def position_of(self, pile: str, card: int | None = None) -> tuple[int, int]:
        """The column and row on the screen of a pile, or of one of its cards."""
        view = self.app.screen.query_one(BoardView)
        for part in [
            shown.region_shown for shown in self.app.screen.query(RegionView) if shown.region_shown is not None
        ]:
            for spot in part.hit_areas:
                if spot.target.pile == pile and spot.target.card == card:
                    return view.region.x + part.place.x + spot.x + 2, view.region.y + part.place.y + spot.y
        raise AssertionError(f"{pile} {card} is not shown")

    async def click(self, pile: str, card: int | None = None, button: int = 1) -> None:
        await self.drag(pile, card, pile, card, button)

    async def click_hint(self, words: str) -> None:
        """Click on a key in the last line."""
        await self.pilot.click("#keys", offset=(self.line("#keys").index(words) + 1, 0))
        await self.settle()

    async def drag(
        self, pile: str, card: int | None, target: str, target_card: int | None = None, button: int = 1
    ) -> None:
        start, end = self.position_of(pile, card), self.position_of(target, target_card)
        self._mouse(events.MouseDown, start, button)
        await self.settle()
        if start != end:
            self._mouse(events.MouseMove, end, button)
        self._mouse(events.MouseUp, end, button)
        await self.settle()

    def quick_drag(self, pile: str, target: str) -> None:
        """Post all events of a drag at once, as they arrive over a slow connection."""
        start, end = self.position_of(pile), self.position_of(target)
        self._mouse(events.MouseDown, start, 1)
        self._mouse(events.MouseMove, end, 1)
        self._mouse(events.MouseUp, end, 1)

    async def mouse(self, event: type[events.MouseEvent], pile: str, card: int | None = None) -> None:
        """Press the mouse button on a card, move with the button down, or release it there."""
        self._mouse(event, self.position_of(pile, card), 1)
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
    def message(self) -> str:
        """The message line."""
        return self.line("#sentence")

    @property
    def message_style(self) -> str:
        """The style of the message line: ``notice``, ``you`` for what the player asked for, ``label`` for a prompt."""
        (row,) = self.app.screen.query_one("#sentence", Rows).rows
        return next((span.style for span in row if span.text.strip()), "")

    def news(self, kind: NewsKind, player: str) -> str:
        """A news item about a player, as the app words it."""
        room = self.app.client.model.room
        assert room is not None
        return news_text(News(0, kind, player), {seat.player: seat for seat in room.players}, ME, self.app.look)

    @property
    def acts(self) -> list[str]:
        """The actions that were sent."""
        return [request.action for request in self.referee.requests if isinstance(request, Act)]

    async def settle(self) -> None:
        """Wait until all messages are processed and the screen is painted."""
        async with asyncio.timeout(30):
            quiet = 0
            while quiet < 3:
                await asyncio.sleep(0)
                quiet = 0 if self._is_busy() else quiet + 1

    def _is_busy(self) -> bool:
        app, referee = self.app, self.referee
        if has_queued_messages(app) or app.update_pending or not referee.events.empty():
            return True
        if app.client.is_proving:
            return True
        if referee.answers_allowed.is_set() and (referee.has_unanswered or app.client.model.own.pending):
            return True
        if app.screen.is_current and needs_painting(app.screen):
            paint_now(app.screen)
            return True
        return False

    async def wait_until(self, condition: Callable[[], bool]) -> None:
        """Wait for a condition."""
        await wait_for_screen(self.pilot, condition)

    async def resize(self, width: int, height: int) -> None:
        """Resize the window, and wait until everything is painted in the new size."""
        await self.pilot.resize_terminal(width, height)
        await self.wait_until(lambda: tuple(self.app.screen.size) == (width, height))
        await self.settle()


@contextlib.asynccontextmanager
async def running_app(
    referee: Referee,
    size: tuple[int, int] = (80, 24),
    look: Look | None = None,
    bindings: Bindings = DEFAULT,
    *,
    watch: bool = False,
    **settings: Any,
) -> AsyncIterator[RunningApp]:
    """Run the app with some settings in the referee's room, as a player or with ``watch`` as a spectator."""
    answering = asyncio.create_task(referee.answer_requests())
    client = ClientSession(referee, clock=lambda: 0.0)
    client.entering = True
    app = SamedealApp(client, look or Look(), bindings, **settings)
    try:
        async with app.run_test(size=size) as pilot:
            await (client.watch(referee.room) if watch else client.join(referee.room))
            ui = RunningApp(app, pilot, referee)
            await ui.settle()
            yield ui
    finally:
        answering.cancel()
        await asyncio.gather(answering, return_exceptions=True)
