"""The answers of the read API, as msgspec encodes them in JSON. Times are in milliseconds since 1970."""

from __future__ import annotations

import http
from typing import Final

import msgspec
from msgspec import Struct

from samedeal.game import Game
from samedeal.protocol.messages import RecordLine, RoomLine, TableLine, TideTime
from samedeal.record import Record, RecordedPlayer


class RoomsAnswer(Struct, frozen=True):
    """The rooms that can be joined or watched, those with players first, the newest ones first."""

    rooms: tuple[RoomLine, ...]


class RacesAnswer(Struct, frozen=True):
    """The newest finished races that everybody may read, the newest one first."""

    races: tuple[RecordLine, ...]


class RaceAnswer(Struct, frozen=True, kw_only=True):
    """A finished race, with every action of every player. Hashes and seeds are hexadecimal.

    ``limit`` is in seconds. ``terms`` is the text of all terms. ``seed`` is empty if the deal has a ``proof``, and
    ``proof`` is empty if it has none. In ``players``, each of ``actions`` is the time since the start of the race in
    milliseconds, and the action.
    """

    race: str
    room: str
    round: int
    game: str
    rules: str
    deal: str
    undo: str
    limit: int
    terms: str
    started: int
    ended: int
    commitment: str
    seed: str
    proof: str
    players: tuple[RecordedPlayer, ...]

    @classmethod
    def of(cls, race: str, text: str) -> RaceAnswer:
        """Return a race from its record. Raise BadRecord if this release does not read such records."""
        record = Record.parse(text)
        facts = dict(line.split(": ", 1) for line in record.terms.lines())
        times = {"started": record.start, "ended": record.end}
        bound = {"terms": str(record.terms), "commitment": record.commitment.hex()}
        proven = {"seed": record.seed.hex(), "proof": str(record.proof or ""), "players": record.players}
        return msgspec.convert(
            {**facts, **times, **bound, **proven, "race": race}, cls, strict=False, from_attributes=True
        )


class GameLine(Struct, frozen=True):
    """A game. ``rules`` is the hash of its rules, in hexadecimal. ``/games/NAME`` has the rules themselves."""

    name: str
    title: str
    blurb: str
    decks: int
    cards: int
    rules: str
    wins: float

    @classmethod
    def of(cls, game: Game) -> GameLine:
        """Return the line of a game."""
        file = game.file
        rules = game.rules_hash.hex()
        return cls(game.name, game.title, file.blurb, game.decks, game.cards, rules, file.wins)


class GamesAnswer(Struct, frozen=True):
    """The games that can be played on this server."""

    games: tuple[GameLine, ...]


class SeriesAnswer(Struct, frozen=True):
    """The table of a series, with the race in the last of ``rooms`` if it is over.

    ``rooms`` are the rooms of the races so far, in order, and ``races`` is the number of races of the series.
    """

    rooms: tuple[str, ...]
    races: int
    table: tuple[TableLine, ...]


class TidesAnswer(Struct, frozen=True):
    """The tides of each day."""

    tides: tuple[TideTime, ...]


class ErrorAnswer(Struct, frozen=True):
    """Why a request was refused, as a code and a sentence for people."""

    code: str
    message: str


STATUSES: Final = {
    "bad_record": http.HTTPStatus.NOT_ACCEPTABLE,
    "bad_method": http.HTTPStatus.METHOD_NOT_ALLOWED,
    "rate_limited": http.HTTPStatus.TOO_MANY_REQUESTS,
    **dict.fromkeys(("server_full", "unavailable"), http.HTTPStatus.SERVICE_UNAVAILABLE),
    **dict.fromkeys(("no_such_path", "no_game", "no_room", "no_record"), http.HTTPStatus.NOT_FOUND),
}
"""The HTTP status for each code of an error. It is 400 for all other codes."""
