"""What the page shows first: a board to try, a race to look at, rooms with the names of their players, and finished races.

The board is that of a deal of the day that is over, and has the race of those who played it. The race to look at is the
newest one that is under way, else the closest finish of the week. The names of strangers are left out if the operator's
words forbid them.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from samedeal.errors import SamedealError
from samedeal.games import GAMES
from samedeal.protocol.messages import RecordLine, RoomLine, TideTime
from samedeal.race.values import Race
from samedeal.record import Record, RecordedPlayer
from samedeal.standings import Result, ranked
from samedeal.utc_text import utc_text
from samedeal_server.races.public_facts import room_line
from samedeal_server.races.race_record import has_started_after, race_id
from samedeal_server.rooms.cached_value import CachedValue
from samedeal_server.rooms.registry import RoomRegistry
from samedeal_server.rooms.room_list import RoomList

_SHOWN: Final = ("open", "countdown", "racing")
_MOST_ROOMS: Final = 24
_MOST_RECORDS: Final = 12
_MOST_RIVALS: Final = 3
_WEEK: Final = 7 * 86_400_000

_READ: Final = 1_000
"""Number of newest records among which that of a deal of the day is looked for."""

_PAST_LIFETIME: Final = 60.0
"""Time, in seconds, for which what is shown of finished races is cached."""


class FrontRival(Struct, frozen=True, kw_only=True):
    """A player of a race.

    ``cards`` is the number of foundation cards. ``reached`` has the times, in milliseconds since the start, at which the
    player first had 1, 2 and more of them, and is empty while the race goes on. ``time`` is that of the finish, or 0.
    """

    name: str
    bot: bool
    time: int
    cards: int
    reached: tuple[int, ...] = ()


class FrontBoard(Struct, frozen=True, kw_only=True):
    """A board to try, as dealt, with all faces. A card that lies face down has the bits 192 set.

    ``started`` is when the race on it started, in milliseconds since 1970.
    """

    race: str
    game: str
    deal: str
    started: int
    piles: tuple[tuple[int, ...], ...]
    rivals: tuple[FrontRival, ...]


class FrontRace(Struct, frozen=True, kw_only=True):
    """A race to look at: the one that has started last and is under way in ``room``, else the closest finish of the week.

    ``room`` is empty if the race is over. ``rivals`` are its best players, the first one first.
    """

    race: str
    room: str
    game: str
    rivals: tuple[FrontRival, ...]


class FrontRoom(Struct, frozen=True, kw_only=True):
    """A public room. ``names`` are those of its people, as far as everybody may see them, and ``people`` is their number.

    ``tide`` is when the tide of the race starts, or 0.
    """

    line: RoomLine
    names: tuple[str, ...]
    people: int
    tide: int = 0


class FrontAnswer(Struct, frozen=True, kw_only=True):
    """What the page shows first, at the time ``time``.

    ``house`` tells whether the server has bots for those who want to race against bots. ``board`` is null until a deal of
    the day is over that somebody has raced on, and ``race`` if there is none to look at. ``races`` are those that somebody
    has finished. Their ``winner`` may be empty.
    """

    time: int
    house: bool
    board: FrontBoard | None
    race: FrontRace | None
    rooms: tuple[FrontRoom, ...]
    races: tuple[RecordLine, ...]
    tides: tuple[TideTime, ...]


class Front:
    """Answers what the page shows first."""

    def __init__(
        self, rooms: RoomRegistry, room_list: RoomList, records: CachedValue[tuple[RecordLine, ...]], *, house: bool
    ) -> None:
        self._rooms = rooms
        self._list = room_list
        self._records = records
        self._house = house
        self.answer = CachedValue(self._read, rooms.timers)
        self._board = CachedValue(self._read_board, rooms.timers, _PAST_LIFETIME)
        self._closest = CachedValue(self._read_closest, rooms.timers, _PAST_LIFETIME)

    async def _read(self) -> FrontAnswer:
        lines = [line.room for line in await self._list.lines() if line.phase in _SHOWN][:_MOST_ROOMS]
        races = await self._rooms.store.load_races(lines)
        records = [line for line in await self._records.get() if line.time][:_MOST_RECORDS]
        board = await self._board.get()
        race = await self._newest(races) or await self._closest.get()
        return FrontAnswer(
            time=self._rooms.clock.now(),
            house=self._house,
            board=board and replace(board, rivals=self._shown(board.rivals)),
            race=race and replace(race, rivals=self._shown(race.rivals)),
            rooms=tuple(self._room(race) for race in races if race is not None and race.is_listed),
            races=tuple(replace(line, winner=self._named(line.winner)) for line in records),
            tides=self._rooms.tides,
        )

    def _named(self, name: str) -> str:
        return "" if self._rooms.words.forbids(name) else name

    def _shown(self, rivals: Iterable[FrontRival]) -> tuple[FrontRival, ...]:
        return tuple(replace(each, name=self._named(each.name)) for each in rivals)

    def _room(self, race: Race) -> FrontRoom:
        people = [racer for racer in race.racers if not racer.bot]
        names = [self._named(racer.shown or racer.name) for racer in people if race.options.spectators]
        return FrontRoom(line=room_line(race), names=tuple(filter(None, names)), people=len(people), tide=race.tide)

    async def _newest(self, races: Iterable[Race | None]) -> FrontRace | None:
        """Return the race that has started last, with the counts that its racers see too. Nobody sees a board."""
        racing = [race for race in races if race is not None and race.phase == "racing" and race.options.spectators]
        race = max(racing, key=lambda race: race.starts, default=None)
        if race is None:
            return None
        results = [
            ((racer, own), Result(racer.seat, own.foundation_cards, own.finished_at, own.last_progress_at))
            for racer, own in race.with_progress(await self._rooms.store.load_progress(race))
        ]
        ordered = [each for _, each in ranked(results)]
        shown = sorted(ordered, key=lambda each: each[0].bot)[:_MOST_RIVALS]  # people come first
        rivals = tuple(
            FrontRival(
                name=racer.shown or racer.name,
                bot=racer.bot,
                time=own.finished_at and own.finished_at - race.starts,
                cards=own.foundation_cards,
            )
            for racer, own in ordered
            if (racer, own) in shown
        )
        return FrontRace(race=race_id(race), room=race.room, game=race.game.name, rivals=rivals)

    async def _read_closest(self) -> FrontRace | None:
        """Return the race of the week whose second player was closest to the first."""
        since = self._rooms.clock.now() - _WEEK
        closest, least = None, math.inf
        for game in GAMES:
            for race, found in (await self._rooms.store.earlier.of_game(game)).items():
                times = [player.time for player in found.players[:2] if player.time]
                if len(times) == 2 and times[1] - times[0] < least and has_started_after(race, since):
                    closest, least = (race, game, found.players), times[1] - times[0]
        if closest is None:
            return None
        race, game, players = closest
        rivals = tuple(
            FrontRival(name=each.name, bot=False, time=each.time, cards=each.foundation_cards, reached=each.reached)
            for each in players[:_MOST_RIVALS]
        )
        return FrontRace(race=race, room="", game=game, rivals=rivals)

    async def _read_board(self) -> FrontBoard | None:
        """Return the board of the newest deal of the day that is over, among those of races in games that people know."""
        store = self._rooms.store
        today = utc_text(self._rooms.clock.now())[:10]
        over = [
            line
            for line in await store.records.before("", _READ, among=_READ)
            if "daily " < line.deal < f"daily {today}" and line.game in GAMES and GAMES[line.game].file.known
        ]
        if not over:
            return None
        line = max(over, key=lambda line: (line.deal, line.time > 0, line.players))
        text = await store.records.text(line.race)
        try:
            return await asyncio.to_thread(_board, line, text)
        except SamedealError:
            return None  # this release does not read the record


def _board(line: RecordLine, text: bytes) -> FrontBoard:
    record = Record.read(text)
    best = sorted(record.players, key=lambda player: player.place)[:_MOST_RIVALS]
    return FrontBoard(
        race=line.race,
        game=line.game,
        deal=line.deal,
        started=line.started,
        piles=tuple(map(tuple, record.first_play.board.piles)),
        rivals=tuple(
            FrontRival(
                name=player.name,
                bot=player.bot,
                time=player.time,
                cards=player.foundation_cards,
                reached=_reached(record, player),
            )
            for player in best
        ),
    )


def _reached(record: Record, player: RecordedPlayer) -> tuple[int, ...]:
    times: list[int] = []
    for (time, _), play in zip(player.actions, record.plays(player)[1:], strict=True):
        times += [time] * (play.board.foundation_cards - len(times))
    return tuple(times)
