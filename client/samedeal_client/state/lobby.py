"""The state of the lobby: the listed rooms, the selected room, and the meaning of keys and clicks.

A key or click that needs the server, or another screen, returns a ``LobbyRequest``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from typing import Final, NamedTuple, TypeAlias

from samedeal.games import GAMES
from samedeal.protocol.messages import RoomLine
from samedeal_client.text.text_input import after_key, after_paste

NUMBERED_ROOMS: Final = 9
"""Number of rooms that can be selected with a digit."""

_DIGITS: Final = "123456789"
_ORDER: Final = ("open", "countdown", "racing", "finished", "closed")


class EnterRoom(NamedTuple):
    """Take a seat in a room, or return to it. A race that has started is watched instead, if that is allowed."""

    room: str
    passphrase: str = ""


class WatchRoom(NamedTuple):
    """Watch a room."""

    room: str
    passphrase: str = ""


class QuickMatch(NamedTuple):
    """Join the first of these rooms that has a free seat, or open a room for a game."""

    rooms: tuple[str, ...]
    game: str


class DailyDeal(NamedTuple):
    """Race the deal of the day: join the first of these rooms that has a free seat, or open one."""

    rooms: tuple[str, ...]
    game: str


class Practise(NamedTuple):
    """Race bots on this machine."""

    game: str


class OpenRoomForm(NamedTuple):
    """Show the form for a new room, with ``game`` chosen unless that is empty."""

    game: str


class ShowHelp(NamedTuple):
    """Show the help."""


class Quit(NamedTuple):
    """End the program."""


LobbyRequest: TypeAlias = EnterRoom | WatchRoom | QuickMatch | DailyDeal | Practise | OpenRoomForm | ShowHelp | Quit


class Prompt(NamedTuple):
    """A passphrase that is being typed to join or watch a room."""

    room: str
    watch: bool
    text: str = ""


@dataclass(frozen=True)
class Lobby:
    """The lobby. ``rooms`` is None until the server has listed its rooms. ``today`` is the server's date.

    ``chosen`` is the code of the selected room, and ``picked`` says that the player selected that room. ``own_room`` is the
    code of the room in which the player last had a seat, or empty. Unless ``game`` is
    empty, quick match, daily deal and practice are restricted to that game. ``message`` is a sentence for the player.
    """

    today: date
    rooms: tuple[RoomLine, ...] | None = None
    chosen: str = ""
    picked: bool = False
    own_room: str = ""
    game: str = ""
    prompt: Prompt | None = None
    message: str = ""

    def listed(self, rooms: tuple[RoomLine, ...]) -> Lobby:
        """Return the lobby with a new list of rooms, sorted. A selected room that is still listed stays selected."""
        order = tuple(sorted(rooms, key=lambda line: (not self.is_own_race(line), *_sort_key(line))))
        codes = [line.room for line in order]
        chosen = self.chosen if self.chosen in codes else codes[0] if codes else ""
        return replace(self, rooms=order, chosen=chosen, picked=self.picked and chosen == self.chosen)

    def is_own_race(self, line: RoomLine) -> bool:
        """Whether a room has a race under way in which the player has a seat."""
        return line.room == self.own_room and line.phase in ("countdown", "racing")

    @property
    def own_race(self) -> str:
        """The code of the room with the player's race, or empty if there is none under way."""
        return next((line.room for line in self.rooms or () if self.is_own_race(line)), "")

    @property
    def line(self) -> RoomLine | None:
        """The selected room."""
        return next((line for line in self.rooms or () if line.room == self.chosen), None)

    @property
    def daily_game(self) -> str:
        """The game of the daily deal: the chosen game, or the game of the day."""
        return self.game or list(GAMES)[self.today.toordinal() % len(GAMES)]

    @property
    def daily_deal(self) -> str:
        """The text of today's deal."""
        return f"daily {self.today.isoformat()}"

    def matches(self) -> tuple[RoomLine, ...]:
        """Return the rooms that a quick match can join: those with players who wait, the fullest first."""
        fit = [line for line in self.rooms or () if _has_seat(line) and self.game in ("", line.game) and line.players]
        return tuple(sorted(fit, key=lambda line: line.seats - line.players))

    def daily_rooms(self) -> tuple[RoomLine, ...]:
        """Return the rooms with a free seat for today's deal."""
        fit = [
            line
            for line in self.rooms or ()
            if _has_seat(line) and line.deal == self.daily_deal and line.game == self.daily_game
        ]
        return tuple(fit)

    def handles(self, key: str) -> bool:
        """Whether a key has a meaning now."""
        return self.prompt is not None or key in _KEYS or (len(key) == 1 and key in _DIGITS)

    def press(self, key: str) -> tuple[Lobby, LobbyRequest | None]:
        """Return the lobby after a key, and the request that the key makes, if any."""
        if self.prompt is not None:
            return self._press_prompt(self.prompt, key)
        if len(key) == 1 and key in _DIGITS:
            index = int(key) - 1
            if self.rooms is None or index >= len(self.rooms):
                return replace(self, message=f"There is no room {key} in the list."), None
            return replace(self, chosen=self.rooms[index].room, message="").do("enter")
        return self.do(_KEYS[key]) if key in _KEYS else (self, None)

    def do(self, command: str) -> tuple[Lobby, LobbyRequest | None]:
        """Return the lobby after the command of a key or click, and the request that the command makes, if any."""
        word, _, rest = command.partition(" ")
        match word:
            case "up" | "down":
                return self._with_selection_moved(-1 if word == "up" else 1), None
            case "choose":
                clicked_twice = self.picked and rest == self.chosen
                return (
                    self.do("enter") if clicked_twice else (replace(self, chosen=rest, picked=True, message=""), None)
                )
            case "cancel":
                return replace(self, prompt=None, message=""), None
            case "game":
                return self._with_game_moved(-1 if rest == "-" else 1), None
            case _:
                return self._request(word)

    def _request(self, word: str) -> tuple[Lobby, LobbyRequest | None]:
        quiet = replace(self, message="", prompt=None)
        line = self.line
        match word:
            case "enter" if self.prompt is not None:
                prompt = self.prompt
                kind = WatchRoom if prompt.watch else EnterRoom
                return quiet, kind(prompt.room, prompt.text)
            case "enter" if line is not None:
                return quiet, EnterRoom(line.room)
            case "watch" if line is not None and not line.spectators:
                return replace(
                    quiet, message=f"The host of room {line.room!r} allows no spectators. Choose another room."
                ), None
            case "watch" if line is not None:
                return quiet, WatchRoom(line.room)
            case "enter" | "watch":
                return replace(
                    quiet, message="There are no rooms yet. Open one with n, or press q for a quick match."
                ), None
            case "quick":
                rooms = tuple(line.room for line in self.matches())
                return quiet, QuickMatch(rooms, self.game or self.daily_game)
            case "daily":
                return quiet, DailyDeal(tuple(line.room for line in self.daily_rooms()), self.daily_game)
            case "practise":
                return quiet, Practise(self.game or self.daily_game)
            case "new":
                return quiet, OpenRoomForm(self.game)
            case "help":
                return quiet, ShowHelp()
            case "quit":
                return quiet, Quit()
            case _:
                raise ValueError(f"the lobby has no command {word!r}")

    def _press_prompt(self, prompt: Prompt, key: str) -> tuple[Lobby, LobbyRequest | None]:
        if key in ("enter", "escape"):
            return self.do("enter" if key == "enter" else "cancel")
        text = after_key(prompt.text, key)
        return (self, None) if text is None else (replace(self, prompt=prompt._replace(text=text)), None)

    def paste(self, text: str) -> Lobby:
        """Return the lobby after a paste, which changes only a passphrase."""
        if self.prompt is None:
            return self
        return replace(self, prompt=self.prompt._replace(text=after_paste(self.prompt.text, text)))

    def with_prompt(self, room: str, *, watch: bool, wrong: bool) -> Lobby:
        """Return the lobby with a prompt for the passphrase of ``room``. ``wrong`` says that the last answer was wrong."""
        message = "Wrong passphrase. Try again." if wrong else ""
        return replace(self, prompt=Prompt(room, watch), message=message)

    def _with_selection_moved(self, step: int) -> Lobby:
        codes = [line.room for line in self.rooms or ()]
        if not codes:
            return self
        index = codes.index(self.chosen) if self.chosen in codes else 0
        return replace(self, chosen=codes[max(0, min(index + step, len(codes) - 1))], picked=True, message="")

    def _with_game_moved(self, step: int) -> Lobby:
        games = ["", *GAMES]
        return replace(self, game=games[(games.index(self.game) + step) % len(games)], message="")


_KEYS: Final = {
    "up": "up",
    "down": "down",
    "k": "up",
    "j": "down",
    "enter": "enter",
    "w": "watch",
    "q": "quick",
    "n": "new",
    "d": "daily",
    "p": "practise",
    "g": "game",
    "right": "game",
    "left": "game -",
    "f1": "help",
    "?": "help",
    "ctrl+q": "quit",
}


def _sort_key(line: RoomLine) -> tuple[int, bool, bool]:
    """Return the sort key of a room. First rooms where players wait, then running races, then abandoned rooms."""
    left = line.phase == "open" and not line.players
    return _ORDER.index("finished" if left else line.phase), not left, line.players == line.seats


def _has_seat(line: RoomLine) -> bool:
    return line.phase == "open" and not line.private and line.players < line.seats
