"""The state of the lobby: the listed rooms, and those that have the daily deal."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from typing import Final

from samedeal.data_files import read_data
from samedeal.games import game_named
from samedeal.protocol.messages import RoomLine

_ORDER: Final = ("open", "countdown", "racing", "finished", "closed")

_ROTATION: Final = read_data("samedeal_client.menus", "daily_games.toml", dict[str, list[str]])
DAILY_GAMES: Final = tuple(map(game_named, _ROTATION["days"]))
"""The games that take turns as the game of the daily deal."""


def game_of_the_day(today: date) -> str:
    """Return the game whose daily deal is proposed on a day."""
    return DAILY_GAMES[today.toordinal() % len(DAILY_GAMES)].name


@dataclass(frozen=True)
class Lobby:
    """The listed rooms, and what the lobby knows about the player.

    ``today`` is the server's date. ``rooms`` is None until the server has listed its rooms. ``own_room`` is the code of
    the room in which the player last had a seat. ``last_room`` is the code of the room that this client was in last.
    ``game`` is the game of race now, practice and new rooms. If ``game`` is empty, the player has not chosen one.
    """

    today: date
    rooms: tuple[RoomLine, ...] | None = None
    own_room: str = ""
    last_room: str = ""
    game: str = ""

    def listed(self, rooms: tuple[RoomLine, ...]) -> Lobby:
        """Return the lobby with a new list of rooms, which this method sorts.

        The player's own race comes first. The other rooms are sorted by what the player can do in them.
        """
        order = sorted(rooms, key=lambda line: (not self.is_own_race(line), *_sort_key(line, self.last_room)))
        return replace(self, rooms=tuple(order))

    def is_own_race(self, line: RoomLine) -> bool:
        """Return whether a room has a race under way in which the player has a seat."""
        return line.room == self.own_room and line.phase in ("countdown", "racing")

    @property
    def own_race(self) -> RoomLine | None:
        """The room in which the player's race is under way, or None if there is none."""
        return next((line for line in self.rooms or () if self.is_own_race(line)), None)

    def line(self, room: str) -> RoomLine | None:
        """Return the room with the code ``room``, or None if the list has no such room."""
        return next((line for line in self.rooms or () if line.room == room), None)

    @property
    def daily_game(self) -> str:
        """The game of the daily deal."""
        return game_of_the_day(self.today)

    @property
    def game_or_default(self) -> str:
        """The chosen game, or the game of the daily deal."""
        return self.game or self.daily_game

    @property
    def daily_deal(self) -> str:
        """The daily deal as text, as in ``daily 2026-11-22``."""
        return f"daily {self.today.isoformat()}"

    def daily_rooms(self) -> tuple[RoomLine, ...]:
        """Return the rooms that have the daily deal and a free seat."""
        return tuple(
            line
            for line in self.rooms or ()
            if line.phase == "open"
            and line.players < line.seats
            and (line.deal, line.game) == (self.daily_deal, self.daily_game)
        )


def _sort_key(line: RoomLine, last_room: str) -> tuple[int, bool, bool, bool, int]:
    """Return the sort key of a room.

    Rooms where players wait come first, then countdowns and running races, then rooms that everybody has left, and
    finished races last. In each of these groups, rooms with a free seat come first. Among rooms that are equal so far,
    ``last_room`` comes first, then the latest race.
    """
    left = line.phase == "open" and not line.players
    phase = _ORDER.index("finished" if left else line.phase)
    return phase, not left, line.players == line.seats, line.room != last_room, -line.starts
