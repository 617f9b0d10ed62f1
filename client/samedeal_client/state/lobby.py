"""The state of the lobby: the listed rooms in their order, and which of them fit a quick match or the deal of the day."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from typing import Final

from samedeal.games import GAMES
from samedeal.protocol.messages import RoomLine

_ORDER: Final = ("open", "countdown", "racing", "finished", "closed")


DAILY_GAMES: Final = tuple(GAMES)
"""The games of daily deals, in turn."""


def game_of_the_day(today: date) -> str:
    """Return the game whose daily deal is proposed on a day."""
    return DAILY_GAMES[today.toordinal() % len(DAILY_GAMES)]


@dataclass(frozen=True)
class Lobby:
    """The lobby. ``rooms`` is None until the server has listed its rooms. ``today`` is the server's date.

    ``own_room`` is the code of the room in which the player last had a seat, and ``last_room`` that of the room that the
    player was in last. Unless ``game`` is empty, quick match, daily deal and practice are restricted to that game.
    """

    today: date
    rooms: tuple[RoomLine, ...] | None = None
    own_room: str = ""
    last_room: str = ""
    game: str = ""

    def listed(self, rooms: tuple[RoomLine, ...]) -> Lobby:
        """Return the lobby with a new list of rooms: the player's race first, then by what a player can do there."""
        order = sorted(rooms, key=lambda line: (not self.is_own_race(line), *_sort_key(line, self.last_room)))
        return replace(self, rooms=tuple(order))

    def is_own_race(self, line: RoomLine) -> bool:
        """Whether a room has a race under way in which the player has a seat."""
        return line.room == self.own_room and line.phase in ("countdown", "racing")

    @property
    def own_race(self) -> RoomLine | None:
        """The room with the player's race, or None if there is none under way."""
        return next((line for line in self.rooms or () if self.is_own_race(line)), None)

    def line(self, room: str) -> RoomLine | None:
        """Return a listed room by its code."""
        return next((line for line in self.rooms or () if line.room == room), None)

    @property
    def daily_game(self) -> str:
        """The game of the daily deal: the chosen game, or the game of the day."""
        return self.game or game_of_the_day(self.today)

    @property
    def daily_deal(self) -> str:
        """The text of today's deal."""
        return f"daily {self.today.isoformat()}"

    def matches(self) -> tuple[RoomLine, ...]:
        """Return the rooms that a quick match can join: those with players who wait, the fullest first."""
        fit = [line for line in self.rooms or () if _has_seat(line) and line.players and self._is_match(line)]
        return tuple(sorted(fit, key=lambda line: line.seats - line.players))

    def _is_match(self, line: RoomLine) -> bool:
        """Whether a quick match may join a room: one with the chosen game or, if none is chosen, with any game.

        Phoenix may be impossible to win. So unless it is chosen, a room with Phoenix needs a winnable or daily deal.
        """
        if self.game:
            return line.game == self.game
        return line.game != "phoenix" or line.deal.startswith(("winnable", "daily"))

    def daily_rooms(self) -> tuple[RoomLine, ...]:
        """Return the rooms with a free seat for today's deal."""
        return tuple(
            line
            for line in self.rooms or ()
            if _has_seat(line) and (line.deal, line.game) == (self.daily_deal, self.daily_game)
        )


def _sort_key(line: RoomLine, last_room: str) -> tuple[int, bool, bool, bool, int]:
    """Return the sort key of a room.

    Rooms where players wait come first, then running races, then rooms that everybody has left, and finished races last.
    Among finished races the one that the player was in comes first, then those that started last.
    """
    left = line.phase == "open" and not line.players
    phase = _ORDER.index("finished" if left else line.phase)
    return phase, not left, line.players == line.seats, line.room != last_room, -line.starts


def _has_seat(line: RoomLine) -> bool:
    return line.phase == "open" and not line.private and line.players < line.seats
