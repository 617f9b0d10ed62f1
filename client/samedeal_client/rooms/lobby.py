"""What the lobby knows and does, pure: the rooms, the one that is chosen, and what a key or a click asks for.

What is asked of the server or of the machine comes out as a ``Wish``; the lobby itself does none of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from typing import Final, NamedTuple, TypeAlias

from samedeal.games import GAMES
from samedeal.protocol.messages import RoomLine
from samedeal_client.text.entry import pasted, typed

DIRECT: Final = 9
"""The rooms that have a digit."""

_DIGITS: Final = "123456789"
_ORDER: Final = ("open", "countdown", "racing", "finished", "closed")


class EnterRoom(NamedTuple):
    """Take a seat in a room, or take it again; a race that runs without one is watched where that is allowed."""

    room: str
    passphrase: str = ""


class WatchRoom(NamedTuple):
    """Watch a room."""

    room: str
    passphrase: str = ""


class QuickMatch(NamedTuple):
    """Join one of these rooms, the first that has a seat, or open one for a game."""

    rooms: tuple[str, ...]
    game: str


class DailyDeal(NamedTuple):
    """Race the deal of a day: join one of these rooms, or open one."""

    rooms: tuple[str, ...]
    game: str


class Practise(NamedTuple):
    """Race bots on this machine."""

    game: str


class NewRoom(NamedTuple):
    """Open a room with options that are yet to be chosen; ``game`` is the one to begin with, empty for any."""

    game: str


class ShowHelp(NamedTuple):
    """Show the help."""


class Quit(NamedTuple):
    """End the program."""


Wish: TypeAlias = EnterRoom | WatchRoom | QuickMatch | DailyDeal | Practise | NewRoom | ShowHelp | Quit


class Prompt(NamedTuple):
    """A passphrase being typed for a room that is to be joined, or watched."""

    room: str
    watch: bool
    text: str = ""


@dataclass(frozen=True)
class Lobby:
    """The lobby. ``rooms`` is None until the server has listed them; ``today`` is the server's date.

    ``chosen`` is the code of the room that Enter is for, and ``picked`` says that the player chose it; ``game`` narrows
    quick match, daily deal and practice, empty for any; ``said`` is the last sentence for the player, empty for none.
    """

    today: date
    rooms: tuple[RoomLine, ...] | None = None
    chosen: str = ""
    picked: bool = False
    game: str = ""
    prompt: Prompt | None = None
    said: str = ""

    def listed(self, rooms: tuple[RoomLine, ...]) -> Lobby:
        """The lobby with a new list, in the order in which it is shown; the chosen room stays chosen while it is there."""
        order = tuple(sorted(rooms, key=_place))
        codes = [line.room for line in order]
        chosen = self.chosen if self.chosen in codes else codes[0] if codes else ""
        return replace(self, rooms=order, chosen=chosen, picked=self.picked and chosen == self.chosen)

    @property
    def line(self) -> RoomLine | None:
        """The chosen room."""
        return next((line for line in self.rooms or () if line.room == self.chosen), None)

    @property
    def daily_game(self) -> str:
        """The game of the daily deal: the one chosen, or that of the day."""
        return self.game or list(GAMES)[self.today.toordinal() % len(GAMES)]

    @property
    def daily_deal(self) -> str:
        """The text of today's deal."""
        return f"daily {self.today.isoformat()}"

    def matches(self) -> tuple[RoomLine, ...]:
        """The rooms in which somebody waits that a quick match can join, those that miss the fewest first."""
        fit = [line for line in self.rooms or () if _has_seat(line) and self.game in ("", line.game) and line.players]
        return tuple(sorted(fit, key=lambda line: line.seats - line.players))

    def daily_rooms(self) -> tuple[RoomLine, ...]:
        """The rooms with a seat for today's deal."""
        fit = [
            line
            for line in self.rooms or ()
            if _has_seat(line) and line.deal == self.daily_deal and line.game == self.daily_game
        ]
        return tuple(fit)

    # ---------------------------------------------------------------- keys and clicks

    def takes(self, key: str) -> bool:
        """Whether a key means anything now."""
        return self.prompt is not None or key in _KEYS or (len(key) == 1 and key in _DIGITS)

    def press(self, key: str) -> tuple[Lobby, Wish | None]:
        """The lobby after a key, and what it asks for."""
        if self.prompt is not None:
            return self._press_prompt(self.prompt, key)
        if len(key) == 1 and key in _DIGITS:
            at = int(key) - 1
            if self.rooms is None or at >= len(self.rooms):
                return replace(self, said=f"There is no room {key} in the list"), None
            return replace(self, chosen=self.rooms[at].room, said="").do("enter")
        return self.do(_KEYS[key]) if key in _KEYS else (self, None)

    def do(self, what: str) -> tuple[Lobby, Wish | None]:
        """The lobby after what a key or a click stands for, and what that asks for."""
        word, _, rest = what.partition(" ")
        match word:
            case "up" | "down":
                return self._chosen_by(-1 if word == "up" else 1), None
            case "choose":
                again = self.picked and rest == self.chosen
                return self.do("enter") if again else (replace(self, chosen=rest, picked=True, said=""), None)
            case "cancel":
                return replace(self, prompt=None, said=""), None
            case "game":
                return self._game_by(-1 if rest == "-" else 1), None
            case _:
                return self._wish(word)

    def _wish(self, word: str) -> tuple[Lobby, Wish | None]:
        quiet = replace(self, said="", prompt=None)
        line = self.line
        match word:
            case "enter" if self.prompt is not None:
                prompt = self.prompt
                kind = WatchRoom if prompt.watch else EnterRoom
                return quiet, kind(prompt.room, prompt.text)
            case "enter" if line is not None:
                return quiet, EnterRoom(line.room)
            case "watch" if line is not None and not line.spectators:
                return replace(quiet, said=f"Nobody may watch {line.room}: its host has said so"), None
            case "watch" if line is not None:
                return quiet, WatchRoom(line.room)
            case "enter" | "watch":
                return replace(quiet, said="There is no room yet: n opens one, q finds company"), None
            case "quick":
                rooms = tuple(line.room for line in self.matches())
                return quiet, QuickMatch(rooms, self.game or self.daily_game)
            case "daily":
                return quiet, DailyDeal(tuple(line.room for line in self.daily_rooms()), self.daily_game)
            case "practise":
                return quiet, Practise(self.game or self.daily_game)
            case "new":
                return quiet, NewRoom(self.game)
            case "help":
                return quiet, ShowHelp()
            case "quit":
                return quiet, Quit()
            case _:
                raise ValueError(f"the lobby can't do {word!r}")

    def _press_prompt(self, prompt: Prompt, key: str) -> tuple[Lobby, Wish | None]:
        if key in ("enter", "escape"):
            return self.do("enter" if key == "enter" else "cancel")
        text = typed(prompt.text, key)
        return (self, None) if text is None else (replace(self, prompt=prompt._replace(text=text)), None)

    def paste(self, text: str) -> Lobby:
        """The lobby after a paste, which only a passphrase takes."""
        if self.prompt is None:
            return self
        return replace(self, prompt=self.prompt._replace(text=pasted(self.prompt.text, text)))

    def asking(self, room: str, *, watch: bool, wrong: bool) -> Lobby:
        """The lobby that asks for a room's passphrase, because there was none yet or a wrong one."""
        said = "That is not the passphrase of this room: try again" if wrong else ""
        return replace(self, prompt=Prompt(room, watch), said=said)

    def _chosen_by(self, step: int) -> Lobby:
        codes = [line.room for line in self.rooms or ()]
        if not codes:
            return self
        at = codes.index(self.chosen) if self.chosen in codes else 0
        return replace(self, chosen=codes[max(0, min(at + step, len(codes) - 1))], picked=True, said="")

    def _game_by(self, step: int) -> Lobby:
        games = ["", *GAMES]
        return replace(self, game=games[(games.index(self.game) + step) % len(games)], said="")


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


def _place(line: RoomLine) -> tuple[int, bool, bool]:
    """Where a room stands in the list: first where somebody waits; one that all have left comes after what goes on."""
    left = line.phase == "open" and not line.players
    return _ORDER.index("finished" if left else line.phase), not left, line.players == line.seats


def _has_seat(line: RoomLine) -> bool:
    return line.phase == "open" and not line.private and line.players < line.seats
