"""The terms of a race: everything about it that is fixed when its room is created.

As text, they are the first lines of a record::

    room: friday
    round: 0
    game: willow
    rules: 5816...
    description: 90b1...
    deal: winnable
    undo: no-reveal
    limit: 900
    seats: 2

An option with its default value has no line, apart from the undo rule and the limit. ``RoomTerms.digest`` is the hash of
these lines. Commitments, shares, chains, proofs and the words of a deal all depend on it, so a server cannot show
different terms to different players, or change them later. RECORDS.md, *The terms*, specifies the lines byte by byte.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from itertools import zip_longest
from typing import Any, Final

import msgspec
from msgspec.structs import FieldInfo, fields, replace

from samedeal.deal import Deal
from samedeal.errors import MalformedTerms, MalformedText, SamedealError, UnknownGame, UnknownTerms
from samedeal.game import Game
from samedeal.games import game_named
from samedeal.names import clean_room
from samedeal.options import Options
from samedeal.solver.estimate import weights_of
from samedeal.solver.solve import SOLVER
from samedeal.tagged_lines import TaggedLines, number_between, read_hash

_TERMS_LABEL: Final = b"samedeal terms 2\n"
_DESCRIPTION_LABEL: Final = b"samedeal description 1\n"

_TAGS: Final = {"players": "seats", "start": "start-rule"}
"""Tags of options whose names mean something else in a record."""

_number: Final = number_between(0, 10**16 - 1)

_OWN_LINES: Final = ("games", "deal", "undo", "limit")
"""Options with lines of their own."""

_FIELDS: Final = {field.name: field for field in fields(Options)}
_OPTIONS: Final = {
    _TAGS.get(name, name.replace("_", "-")): field for name, field in _FIELDS.items() if name not in _OWN_LINES
}
"""The options that have a line only if their value is not the default, by their tags, in the order of the lines."""


def description_hash(game: Game) -> bytes:
    """Return the hash of all that decides which deals of a game are dealt and how it is played.

    That is its rules, the weights of its searches, its difficulties, and the version of the solver. RECORDS.md, *The
    terms*, specifies it byte by byte.
    """
    search = {"solver": SOLVER, "difficulty": game.file.difficulty, "search": weights_of(game)}
    return sha256(_DESCRIPTION_LABEL + game.rules_hash + msgspec.json.encode(search)).digest()


@dataclass(frozen=True)
class RoomTerms:
    """The terms of a race.

    ``round`` is 0 for a first race and rises by one with each rematch. ``description`` is the ``description_hash`` of the
    game, as the server had it when the room was opened. ``tide`` is when the tide of the race starts, in milliseconds
    since 1970, or 0. ``options`` are those of the room, with ``deal`` as their deal. ``window`` is the length of the
    window of the race in seconds, or 0.
    """

    room: str
    round: int
    game: Game
    description: bytes
    deal: Deal
    private: bool
    tide: int
    options: Options
    window: int = 0

    @staticmethod
    def options_with(options: Options, deal: Deal) -> Options:
        """Return options with ``deal`` as their deal, such as a daily deal with its date."""
        return options if options.deal == str(deal) else replace(options, deal=str(deal))

    @property
    def is_described(self) -> bool:
        """Whether this release describes the game as the server did, so that it can repeat the search for the deal."""
        return self.description == description_hash(self.game)

    def lines(self) -> list[str]:
        """Return the terms as lines of text."""
        options = self.options
        lines = [
            f"room: {self.room}",
            f"round: {self.round}",
            f"game: {self.game}",
            f"rules: {self.game.rules_hash.hex()}",
            f"description: {self.description.hex()}",
            f"deal: {self.deal}",
            f"undo: {options.undo}",
            f"limit: {options.limit}",
        ]
        if self.private:
            lines.append("private: yes")
        if self.tide:
            lines.append(f"tide: {self.tide}")
        if self.window:
            lines.append(f"window: {self.window}")
        if options.games != (self.game.name,):
            lines.append(f"games: {' '.join(options.games)}")
        for tag, field in _OPTIONS.items():
            if (value := getattr(options, field.name)) != field.default:
                lines.append(f"{tag}: {_text(value)}")
        return lines

    def __str__(self) -> str:
        return "".join(f"{line}\n" for line in self.lines())

    @cached_property
    def digest(self) -> bytes:
        """The hash of the terms, 32 bytes."""
        return sha256(_TERMS_LABEL + str(self).encode()).digest()

    @classmethod
    def parse(cls, text: str) -> RoomTerms:
        """Return the terms for a text that ``str`` has written.

        Raise MalformedTerms if there is no such text. Raise UnknownTerms if another release may have written it: it has
        a line that this release does not know, or a game that is not known here or has other rules here.
        """
        *lines, rest = text.split("\n")
        if rest:
            raise MalformedTerms("The text is cut off: it must end with a line break.", len(lines))
        return cls.read(lines)

    @classmethod
    def read(cls, lines: Sequence[str]) -> RoomTerms:
        """Return the terms with these lines. Raise errors as ``parse`` does."""
        reader = TaggedLines(lines, _wrong)
        room, number = reader.take("room", clean_room), reader.take("round", number_between(0, 999_999_999))
        game, rules = reader.take("game", _game), reader.take("rules", read_hash)
        if game.rules_hash != rules:
            raise UnknownTerms(f"There are other rules of the game {game.name!r} here.", 3)
        description, deal = reader.take("description", read_hash), reader.take("deal", _deal)
        options: dict[str, Any] = {name: reader.take(name, _value_of(_FIELDS[name])) for name in ("undo", "limit")}
        private, tide = reader.take_if("private", _flag, default=False), reader.take_if("tide", _number, default=0)
        window = reader.take_if("window", _number, default=0)
        games = reader.take_if("games", _games, default=[game.name])
        for tag, field in _OPTIONS.items():
            options[field.name] = reader.take_if(tag, _value_of(field), default=field.default)
        if reader.at < len(lines):
            raise UnknownTerms(f"This release does not know what {reader.line[:40]!r} means.", reader.at)
        try:
            wanted = Options(deal=str(deal), games=tuple(games), **options)
        except ValueError as error:
            raise MalformedTerms(f"The options of the race contradict one another. {error}", -1) from None
        terms = cls(room, number, game, description, deal, private, tide, wanted, window)
        for at, (found, line) in enumerate(zip_longest(lines, terms.lines())):
            if found != line:
                why = f"The line should read {line!r}." if line else "An option with its default value has no line."
                raise MalformedTerms(why, at)
        if terms.options.game(number) != game:
            raise MalformedTerms(f"Race {number} of these games is not one of {game.title}.", -1)
        return terms


def _wrong(error: SamedealError, line: int) -> SamedealError:
    return (UnknownTerms if isinstance(error, UnknownGame) else MalformedTerms)(str(error), line)


def _text(value: Any) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _value_of(field: FieldInfo) -> Callable[[str], Any]:
    """Return the function that reads the text of an option."""
    read = _flag if isinstance(field.default, bool) else str if isinstance(field.default, str) else _number

    def value(text: str) -> Any:
        try:
            return msgspec.convert(read(text), field.type)
        except msgspec.ValidationError:
            raise MalformedText(f"This option can't be {text[:20]!r}.") from None

    return value


def _game(text: str) -> Game:
    try:
        return game_named(text)
    except UnknownGame:
        raise UnknownGame(f"There are no rules of the game {text[:40]!r} here.") from None


def _games(text: str) -> list[str]:
    return [_game(name).name for name in text.split(" ")]


def _flag(text: str) -> bool:
    if text not in ("yes", "no"):
        raise MalformedText(f"{text[:20]!r} is neither yes nor no.")
    return text == "yes"


def _deal(text: str) -> Deal:
    deal = Deal.parse(text)
    if deal.kind == "daily" and not deal.date:
        raise MalformedText("The daily deal has no date. Write one, as in 'daily 2026-11-21'.")
    return deal
