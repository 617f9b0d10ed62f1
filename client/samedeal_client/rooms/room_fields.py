"""The fields of the form for a new room: how each is shown, stepped, read and told."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, Final

from samedeal.deal import HIGHEST_NUMBER, Deal
from samedeal.errors import SamedealError
from samedeal.games import GAMES
from samedeal.names import clean_room
from samedeal_client.text.words import GAME_WORDS, START_WORDS, UNDO_WORDS, deal_words, duration, title_of

_MOST_GAMES: Final = 15
_LATEST: Final = timedelta(days=7)


@dataclass(frozen=True)
class Field:
    """A field of the form.

    One with ``choices`` takes only these, each text with what it stands for; others can be typed: ``read`` makes a value of
    the text or raises ValueError with what to write, and ``usual`` are the texts that the arrows step through. ``tell`` says
    what a text that can be read means.
    """

    name: str
    label: str
    tell: Callable[[str], str]
    choices: Mapping[str, Any] | None = None
    usual: tuple[str, ...] = ()
    read: Callable[[str], Any] = str

    @property
    def typed(self) -> bool:
        """Whether it takes what is typed."""
        return self.choices is None

    @property
    def steps(self) -> tuple[str, ...]:
        """The texts that the arrows step through."""
        return self.usual if self.choices is None else tuple(self.choices)

    def beginning(self, typed: str) -> str | None:
        """The choice that begins with what was typed, or else has a word that does; None where there is none."""
        choices = {text: text.replace("-", " ") for text in self.choices or ()}
        start = typed.casefold().replace("-", " ")
        first = next((text for text, plain in choices.items() if plain.startswith(start)), None)
        return first or next((text for text, plain in choices.items() if f" {start}" in plain), None)

    def value(self, text: str) -> Any:
        """What a text stands for. Raises ValueError."""
        return self.read(text) if self.choices is None else self.choices[text]

    def stepped(self, text: str, step: int) -> str:
        """The text so many steps on; from one that is not usual to the first or the last that is."""
        if self.name == "deal" and (number := _deal_number(text)) is not None and 0 < number + step <= HIGHEST_NUMBER:
            return f"#{number + step}"
        steps = self.steps
        if not steps:
            return text
        if text in steps:
            return steps[(steps.index(text) + step) % len(steps)]
        return steps[0 if step > 0 else -1]


# ---------------------------------------------------------------- reading


def _number(low: int, high: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and low <= int(text) <= high):
            raise ValueError(f"write a number from {low} to {high}")
        return int(text)

    return read


def read_duration(text: str) -> int:
    """The seconds of ``15`` (minutes), ``15:00``, ``1:30:00`` or ``90 s``. Raises ValueError."""
    given = text.strip().lower()
    if (minutes := re.fullmatch(r"(\d{1,5})(?: ?min)?", given)) is not None:
        seconds = 60 * int(minutes[1])
    elif (clock := re.fullmatch(r"(?:(\d):)?(\d{1,3}):([0-5]\d)", given)) is not None:
        seconds = 3600 * int(clock[1] or 0) + 60 * int(clock[2]) + int(clock[3])
    elif (short := re.fullmatch(r"(\d{1,5}) ?s", given)) is not None:
        seconds = int(short[1])
    else:
        raise ValueError("write minutes, as 15, or 15:00 or 90 s")
    if not 10 <= seconds <= 7200:
        raise ValueError("a race lasts from 10 s to 2 hours")
    return seconds


def read_start(text: str, now: datetime) -> int:
    """The milliseconds since 1970 of ``20:30``, ``2026-11-21 20:30`` or ``+10`` (minutes), in the time zone of ``now``.

    Raises ValueError.
    """
    try:
        at = _moment(text.strip(), now)
    except (ValueError, OverflowError):
        at = None
    if at is None:
        raise ValueError("write 20:30, 2026-11-21 20:30, or +10")
    if not now < at <= now + _LATEST:
        raise ValueError("it must be within the next seven days")
    return round(at.timestamp() * 1000)


def _moment(text: str, now: datetime) -> datetime | None:
    """Raises ValueError for what looks like a time and is none."""
    if (later := re.fullmatch(r"\+(\d{1,5})", text)) is not None:
        return now + timedelta(minutes=int(later[1]))
    found = re.fullmatch(r"(?:(\d{4})-(\d{1,2})-(\d{1,2}) +)?(\d{1,2}):(\d{2})", text)
    if found is None:
        return None
    at = now.replace(hour=int(found[4]), minute=int(found[5]), second=0, microsecond=0)
    if found[1]:
        return at.replace(year=int(found[1]), month=int(found[2]), day=int(found[3]))
    return at if at > now else at + timedelta(days=1)


def _games(text: str) -> tuple[str, ...]:
    names = tuple(re.findall(r"[^\s,]+", text.lower().replace("ace of hearts", "ace-of-hearts")))
    for name in names:
        if name not in GAMES:
            raise ValueError(f"{name[:12]!r} is no game: {', '.join(GAMES)}")
    if len(names) > _MOST_GAMES:
        raise ValueError(f"at most {_MOST_GAMES} games more")
    return names


def _deal(text: str) -> str:
    try:
        return str(Deal.parse(text))
    except SamedealError:
        raise ValueError("write random, daily, or a number as #4821") from None


def _deal_number(text: str) -> int | None:
    try:
        deal = Deal.parse(text)
    except SamedealError:
        return None
    return deal.number if deal.kind == "number" else None


def _room(text: str) -> str:
    try:
        return clean_room(text) if text.strip() else ""
    except SamedealError:
        raise ValueError("1 to 24 letters, digits, inner dashes") from None


# ---------------------------------------------------------------- telling


def _tell_games(text: str) -> str:
    names = _games(text)
    return f"rematches: {', '.join(title_of(name) for name in names)}" if names else "rematches play the same game"


def _says(text: str) -> Callable[[str], str]:
    return lambda _: text


_NO_YES: Final = {"no": False, "yes": True}
_STARTS: Final = {
    "by the host": "host",
    "when all are ready": "all-ready",
    "when full": "full",
    "at a time": "at",
}

FIELDS: Final = (
    Field("game", "Game", GAME_WORDS.__getitem__, choices={name: name for name in GAMES}),
    Field("then", "Then", _tell_games, usual=("", *GAMES, ", ".join(GAMES)), read=_games),
    Field("deal", "Deal", lambda text: deal_words(Deal.parse(text)), usual=("random", "daily", "#1"), read=_deal),
    Field("players", "Seats", _says("how many can race"), usual=tuple(map(str, range(1, 17))), read=_number(1, 16)),
    Field(
        "limit",
        "Time",
        lambda text: f"the race is over after {duration(read_duration(text))}",
        usual=("5:00", "10:00", "15:00", "20:00", "30:00", "1:00:00"),
        read=read_duration,
    ),
    Field("undo", "Undo", UNDO_WORDS.__getitem__, choices={name: name for name in ("no-reveal", "free", "off")}),
    Field("hints", "Hints", {"no": "no hints", "yes": "? shows a move"}.__getitem__, choices=_NO_YES),
    Field("start", "Starts", lambda text: START_WORDS[_STARTS[text]], choices=_STARTS),
    Field("start_at", "At", _says("20:30, 2026-11-21 20:30, or +10 minutes"), usual=("+5", "+10", "+30", "+60")),
    Field(
        "countdown",
        "Countdown",
        _says("seconds before the cards are dealt"),
        usual=("0", "3", "5", "10", "30"),
        read=_number(0, 60),
    ),
    Field(
        "first_home_ends",
        "First home",
        {"no": "the others play on", "yes": "that ends the race for all"}.__getitem__,
        choices=_NO_YES,
    ),
    Field(
        "spectators",
        "Watching",
        {"yes": "others may watch", "no": "nobody may watch"}.__getitem__,
        choices={"yes": True, "no": False},
    ),
    Field(
        "delay",
        "Delay",
        _says("seconds that those who watch see late"),
        usual=("0", "5", "15", "30", "60"),
        read=_number(0, 600),
    ),
    Field(
        "room", "Room", lambda text: "its code, for the invitation" if text else "its code; empty for any", read=_room
    ),
    Field("passphrase", "Passphrase", lambda text: "who joins must know it" if text else "empty: anyone may join"),
)
"""The fields in the order in which they are shown; the names are those of the options."""

DEFAULTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "game": "willow",
        "then": "",
        "deal": "random",
        "players": "8",
        "limit": "15:00",
        "undo": "no-reveal",
        "hints": "no",
        "start": "by the host",
        "start_at": "+10",
        "countdown": "3",
        "first_home_ends": "no",
        "spectators": "yes",
        "delay": "15",
        "room": "",
        "passphrase": "",
    }
)
"""The form of the default options."""


def left_out(values: Mapping[str, str]) -> frozenset[str]:
    """The fields that mean nothing with what others say."""
    start_at = {"start_at"} if _STARTS[values["start"]] != "at" else set()
    return frozenset(start_at | ({"delay"} if values["spectators"] == "no" else set()))
