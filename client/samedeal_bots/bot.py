"""A bot: an ordinary client that plays by itself and sees only what a player sees."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Final

from samedeal.board_history import Play
from samedeal.errors import PlayError, RequestRefused
from samedeal.moves import Move
from samedeal.protocol.messages import Notice, RoomState
from samedeal.protocol_codes import RefusalCode
from samedeal_bots.action_choice import PAUSE, RESIGN, WAIT, ActionChooser
from samedeal_bots.engine import Engine, EngineFailed
from samedeal_bots.engine_protocol import Clock, Contest
from samedeal_client.local.bot_names import BOT_NAMES
from samedeal_client.panels.final_standings import finish_text
from samedeal_client.text.time_text import ordinal
from samedeal_link.connection.client_error_codes import ClientCode
from samedeal_link.connection.link_events import Connected, Ended, Lost, ModelMessage, SeatLost
from samedeal_link.first_completed import first_of
from samedeal_link.model.rivals import rivals_of
from samedeal_link.session.race_audit import audit_race
from samedeal_link.session.room_client import RoomClient, allowing
from samedeal_link.solving.bot_levels import Level, thought_time
from samedeal_link.solving.strategy import BotMemory
from samedeal_link.solving.temperament import STEADY, Temperament

RECONNECT_TIMEOUT: Final = 60.0
"""Timeout, in seconds, for reconnecting to the server."""

LOOK_INTERVAL: Final = 5.0
"""Interval, in seconds, at which a bot without a room looks for one."""

_TRY_NEXT_ROOM: Final = (
    *(RefusalCode.ROOM_FULL, RefusalCode.RACE_STARTED, RefusalCode.ROOM_CLOSED, RefusalCode.NO_ROOM),
    *(RefusalCode.NAME_TAKEN, RefusalCode.KICKED, RefusalCode.NO_TIDE, RefusalCode.OTHER_VERSION, RefusalCode.NO_BOTS),
)
"""Refusals after which a bot without a room tries the next one."""

_REMATCH_DELAY: Final = 2.0
"""Delay, in seconds, before joining the room of a rematch, so that people take their seats first."""

_REMATCH_TRIES: Final = 15
"""Number of times that a bot of the house tries to join, which has no seat there before a person."""


def bot_name(rng: Random) -> str:
    """Return a random name for a bot."""
    return f"{rng.choice(BOT_NAMES)}{rng.randrange(10, 100)}"


@dataclass(eq=False, repr=False)
class Bot:
    """A player that makes its own moves in the room that ``rooms``, a ``RoomClient``, has joined.

    ``pace`` is in moves a minute, or 0 for that of the game. The level, which may depend on the race, and the bot's
    temperament make it faster or slower than that. If ``stay`` is true, the bot also joins the rematches. If ``roams`` is
    true, it has joined no room yet: it races in one open room after the other in which somebody waits. ``report`` is called
    with each message for the person who started the bot. If there is an ``engine``, it chooses the actions, without a
    temperament. If ``is_house`` is true, the bot keeps people company: it does not stay without them, and trusts its own
    server.
    """

    _rooms: RoomClient
    _level: Level | Callable[[RoomState], Level]
    _pace: float
    _rng: Random
    stay: bool
    report: Callable[[str], None]
    engine: Engine | None = None
    roams: bool = False
    is_house: bool = False
    _engine_failed: bool = False
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self._temperament = STEADY if self.engine else Temperament.random(self._rng)

    async def run(self) -> int:
        """Play to the end of the race, or if ``stay`` is true, until there is no rematch. Return the exit code."""
        while True:
            race = self._roam() if self.roams else self._play()
            async with first_of(self._follow_events(), race) as (following, playing):
                if playing.done():
                    return 0 if playing.result() else 1
                end = following.result()
                if isinstance(end, SeatLost | Ended):
                    self.report(end.sentence)
                if not (self.roams and isinstance(end, SeatLost)):
                    return 1

    async def _follow_events(self) -> SeatLost | Ended:
        """Process events until the link has ended or the seat is lost. Return the reason."""
        try:
            async with asyncio.timeout(None) as outage:
                async for event in self._rooms:
                    if isinstance(event, ModelMessage):
                        self._changed.set()
                        continue
                    match event:
                        case Lost(sentence) if outage.when() is None:
                            self.report(f"{sentence} Reconnecting.")
                            outage.reschedule(asyncio.get_running_loop().time() + RECONNECT_TIMEOUT)
                        case Lost():
                            pass  # another failed attempt to reconnect
                        case Connected():
                            outage.reschedule(None)
                        case Notice(ClientCode.NOT_FAIR, sentence):
                            return Ended(ClientCode.NOT_FAIR, f"{sentence} Leaving.")
                        case Notice(_, sentence):
                            self.report(sentence)
                        case SeatLost() | Ended():
                            return event
        except TimeoutError:
            return Ended(ClientCode.CLOSED, f"The server was unreachable for {RECONNECT_TIMEOUT:g} seconds.")
        return Ended(ClientCode.CLOSED, "The connection has ended.")

    async def _roam(self) -> bool:
        """Play in one room after the other. Return False as ``_play`` does.

        A request may be refused because the bot has just been removed from its room. The news of that may come later than
        the refusal, so the bot says only after a while that it was refused.
        """
        while True:
            try:
                if self._phase:
                    await self._rooms.leave()
                await self._join_open_room()
                if not await self._play():
                    return False
            except RequestRefused as refused:
                await asyncio.sleep(LOOK_INTERVAL)
                self.report(str(refused))

    async def _play(self) -> bool:
        """Play to the end. Return whether the bot had no reason to accuse the server."""
        while True:
            await self._wait_until(lambda: self._phase != "")
            await self._get_ready()
            await self._wait_for_start()
            if self._is_left_alone:
                return True
            await self._race()
            await self._wait_until(lambda: self._phase in ("finished", "closed"))
            self._report_result()
            if not await self._is_fair() or self._engine_failed:
                return False
            if self.roams or not self.stay or self._phase == "closed" or not await self._join_rematch():
                return True

    async def _join_open_room(self) -> None:
        """Join the next open room that admits bots and in which somebody waits, the one whose race starts soonest."""
        while True:
            lines = await self._rooms.list(only_open=True, bots=True)
            for line in sorted((each for each in lines if 0 < each.players < each.seats), key=lambda each: each.starts):
                with allowing(*_TRY_NEXT_ROOM):
                    await self._rooms.join(line.room, line=line)
                    self.report(f"in room {line.room}")
                    return
            await asyncio.sleep(LOOK_INTERVAL)

    @property
    def _is_left_alone(self) -> bool:
        """Whether all others have left the room that this bot has found."""
        model = self._rooms.model
        return self.roams and model.phase == "open" and len(model.this_room.players) == 1

    @property
    def _phase(self) -> str:
        return self._rooms.model.phase

    async def _wait_until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            self._changed.clear()
            await self._changed.wait()

    async def _get_ready(self) -> None:
        seat = self._rooms.model.seat
        if self._phase == "open" and seat is not None and not seat.ready:
            with allowing(RefusalCode.RACE_STARTED):
                await self._rooms.ready()

    async def _wait_for_start(self) -> None:
        """Wait for the race to start. A bot that has become the host starts the race once all players are ready."""
        before = ("", "open", "countdown")  # empty on the way to another room
        while self._phase in before and not self._is_left_alone:
            await self._wait_until(lambda: self._phase not in before or self._must_start or self._is_left_alone)
            if self._must_start:
                with allowing(RefusalCode.NOT_HOST):
                    await self._rooms.start()

    @property
    def _must_start(self) -> bool:
        room = self._rooms.model.room
        if room is None or room.phase != "open" or room.options.start != "host" or not self._rooms.model.hosting:
            return False
        return len(room.players) > 1 and all(seat.ready for seat in room.players)

    async def _race(self) -> None:
        """Act at the bot's pace until the race is over. Give up if nothing helps any more."""
        temperament = self._temperament
        if self.engine is not None:
            self.engine.begin_race()
        level = self._level if isinstance(self._level, str) else self._level(self._rooms.model.this_room)
        chooser = ActionChooser(level, BotMemory(self._rng, temperament=temperament))
        interval = thought_time(level, self._rooms.model.game, self._pace) / temperament.pace
        slack = temperament.unevenness
        loop = asyncio.get_running_loop()
        next_move_at = loop.time() + self._rng.uniform(0, interval)
        while self._phase == "racing":
            await asyncio.sleep(next_move_at - loop.time())
            await self._wait_until(lambda: self._phase != "racing" or self._rooms.model.is_answered)
            own = self._rooms.model.own
            if self._phase != "racing" or own.play is None or own.play.board.won:
                return
            if self.engine is not None:
                action = await self._ask_engine(self.engine, own.play, interval)
            else:
                moves_left, from_deal = self._time_left / interval, own.first is not None
                play = own.play
                action = await asyncio.to_thread(chooser.choose_action, play, moves_left, from_deal=from_deal)
                if self._phase != "racing" or self._rooms.model.own.play != play:
                    continue
            if action == RESIGN:
                await self._give_up()
                action = WAIT if self.engine is not None else PAUSE
            if action == WAIT:
                return
            pause = interval * self._rng.uniform(1 - slack, 1 + slack) * chooser.time_for(action, own.play.board)
            next_move_at = max(next_move_at + pause, loop.time())
            if action == PAUSE:
                continue
            try:
                self._rooms.act(action)
            except PlayError:
                return

    async def _ask_engine(self, engine: Engine, play: Play, interval: float) -> Move | str:
        """Return the action that the engine chooses. Return ``RESIGN`` if it fails, and ``WAIT`` if the race ends first.

        Return ``PAUSE`` if the board has changed meanwhile, because the client had to reconnect.
        """
        model = self._rooms.model
        race = Contest(rivals_of(model), model.this_room.options)
        choice = engine.choose(play, Clock(self._time_left, interval), race)
        async with first_of(choice, self._wait_until(lambda: self._phase != "racing")) as (choosing, _):
            if not choosing.done():
                return WAIT
            try:
                action = choosing.result() or WAIT
            except EngineFailed as failure:
                self.report(str(failure))
                self._engine_failed = True
                return RESIGN
            return action if self._rooms.model.own.play == play else PAUSE

    def _report_result(self) -> None:
        """Report the bot's place, cards and time. A room that was closed has no results."""
        model = self._rooms.model
        if (line := model.standing) is not None:
            racers = len(model.this_room.standings)
            if self.engine is not None:
                self.engine.tell_result(line.place, racers)
            place = f"{ordinal(line.place)} of {racers}"
            self.report(f"{place}, {line.foundation_cards}/{model.game.cards} cards, {finish_text(line)}")

    async def _is_fair(self) -> bool:
        """Verify the race. If it was not fair, report why, and return False."""
        if self._phase != "finished" or self.is_house:
            return True
        found = (await audit_race(self._rooms, lambda _: None)).verdict
        if found is None or found.kind in ("fair", "checked"):
            return True
        self.report(f"{found.sentence} Leaving." if found.kind == "wrong" else found.sentence)
        return found.kind != "wrong"

    @property
    def _time_left(self) -> float:
        """The time until the end of the race, in seconds."""
        room = self._rooms.model.room
        return room.starts / 1000 + room.options.limit - self._rooms.link.now() / 1000 if room is not None else 0.0

    async def _give_up(self) -> None:
        """Say that the bot is stuck, and go on looking. An engine has its own reasons, and resigns."""
        seat = self._rooms.model.seat
        with allowing(RefusalCode.NOT_RACING, RefusalCode.ROOM_CLOSED):  # the race has just ended
            if self.engine is not None:
                self.report("No helpful move found. Resigning.")
                await self._rooms.resign()
            elif seat is None or not seat.stuck:
                self.report("No helpful move found. Looking on.")
                await self._rooms.declare_stuck()

    async def _join_rematch(self) -> bool:
        """Wait until another player asks for a rematch, then join the rematch. Return False if the room closes instead."""
        await self._wait_until(lambda: self._phase == "closed" or self._is_deserted or bool(self.next_room))
        if not self.next_room:
            return False
        room = self.next_room
        for _ in range(_REMATCH_TRIES if self.is_house else 1):
            await asyncio.sleep(_REMATCH_DELAY)
            with allowing(*([RefusalCode.NO_BOTS] if self.is_house else [])):  # no person has come yet
                await self._rooms.join(room)
                await self._wait_until(lambda: self._rooms.model.is_in(room))
                return True
        return False

    @property
    def next_room(self) -> str:
        """The code of the rematch's room, or an empty string if there is none yet."""
        room = self._rooms.model.room
        return room.next if room is not None else ""

    @property
    def room(self) -> str:
        """The code of the bot's room, or an empty string on the way to another one."""
        room = self._rooms.model.room
        return room.room if room is not None else ""

    @property
    def _is_deserted(self) -> bool:
        """Whether this bot is one of the house, and all people are gone."""
        room = self._rooms.model.room
        if room is None or not self.is_house:
            return False
        people = {seat.player for seat in room.players if not seat.bot}
        return not any(tally.connected for tally in room.tallies if tally.player in people)
