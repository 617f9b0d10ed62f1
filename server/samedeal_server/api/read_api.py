"""The paths of the read API, and the answers to them. ``ROUTES`` is the table of all paths.

An answer has only what everybody may see: nothing of private rooms, no boards, and of races only their records, which
are made when the race is over.
"""

from __future__ import annotations

import asyncio
import http
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final
from urllib.parse import parse_qs

import msgspec
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from samedeal.errors import SamedealError
from samedeal.games import GAMES
from samedeal.names import clean_room
from samedeal.protocol.messages import RecordLine
from samedeal_server.api.answers import (
    ApiError,
    ErrorAnswer,
    GameLine,
    GamesAnswer,
    RaceAnswer,
    RacesAnswer,
    RoomsAnswer,
    SeriesAnswer,
)
from samedeal_server.api.news_listeners import NewsListeners
from samedeal_server.api.openapi import Described, document
from samedeal_server.errors import StoreUnavailable
from samedeal_server.page.files import METHODS, make_file, respond_with
from samedeal_server.races import refusals
from samedeal_server.races.race_record import is_race_id
from samedeal_server.rooms.cached_list import CachedList
from samedeal_server.rooms.room_list import RoomList
from samedeal_server.store.store import Store

PREFIX: Final = "/api/v1"

REQUEST_COST: Final = 10
"""Cost, in moves, of a request to the API, in addition to that of its connection."""

_BYTES_PER_MOVE: Final = 100
"""Number of bytes of a record that cost as much as one move."""

_JSON: Final = "application/json"

_STATUSES: Final = {
    "no_such_path": http.HTTPStatus.NOT_FOUND,
    "no_room": http.HTTPStatus.NOT_FOUND,
    "no_record": http.HTTPStatus.NOT_FOUND,
    "bad_record": http.HTTPStatus.NOT_ACCEPTABLE,
    "bad_method": http.HTTPStatus.METHOD_NOT_ALLOWED,
    "server_full": http.HTTPStatus.SERVICE_UNAVAILABLE,
    "unavailable": http.HTTPStatus.SERVICE_UNAVAILABLE,
}
"""The HTTP status for each code of an error. It is 400 for all other codes."""

_CORS: Final = {"Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "ETag"}

_PREFLIGHT: Final = {
    "Access-Control-Allow-Methods": ", ".join(METHODS),
    "Access-Control-Allow-Headers": "If-None-Match, Last-Event-ID",
    "Access-Control-Max-Age": "86400",
    "Connection": "close",
}

Charge = Callable[[float], None]


@dataclass(frozen=True)
class Asked:
    """A request to the API. ``name`` is what its path has in the place of ``{}``.

    ``charge`` charges the client for work that costs as much as so many moves.
    """

    name: str
    query: Mapping[str, list[str]]
    accept: str
    charge: Charge

    def wants_json(self) -> bool:
        """Return whether the client names JSON, and text only after it."""
        return _JSON in self.accept.partition("text/")[0]


@dataclass(frozen=True, kw_only=True)
class Route(Described):
    """A path of the API. ``answer`` makes its answer: a struct, or a text that is sent as it is."""

    answer: Callable[[ReadApi, Asked], Awaitable[msgspec.Struct | str]]


class ReadApi:
    """Answers the requests below ``/api/v1``."""

    def __init__(
        self, store: Store, rooms: RoomList, records: CachedList[RecordLine], listeners: NewsListeners
    ) -> None:
        self.listeners = listeners
        self._store = store
        self._rooms = rooms
        self._records = records

    @cached_property
    def _document(self) -> str:
        return document(PREFIX, ROUTES)

    async def respond(self, request: Request, charge: Charge) -> Response:
        """Return the response to a request whose path is one of the API."""
        if request.method == "OPTIONS":  # what a browser asks before it sends If-None-Match from another site
            response = Response(
                http.HTTPStatus.NO_CONTENT.value, http.HTTPStatus.NO_CONTENT.phrase, Headers(_PREFLIGHT)
            )
        else:
            response = await self._answer(request, charge)
        for name, value in _CORS.items():
            response.headers[name] = value
        if request.method == "HEAD":
            response.body = b""
        return response

    async def _answer(self, request: Request, charge: Charge) -> Response:
        path, _, query = request.path.partition("?")
        try:
            if request.method not in METHODS:
                raise ApiError("bad_method", "Only GET and HEAD are supported.")
            if path == f"{PREFIX}/events":
                return self.listeners.admit(request)
            route, name = _find(path)
            accept = ",".join(request.headers.get_all("Accept"))
            answer = await route.answer(self, Asked(name, parse_qs(query, keep_blank_values=True), accept, charge))
        except SamedealError as error:
            return _refusal(error.code, str(error))
        except StoreUnavailable:
            return _refusal("unavailable", "The server can't reach its store. Try again in a few seconds.")
        if isinstance(answer, str):
            is_json = answer.startswith("{")
            file = make_file("document.json" if is_json else "record.txt", answer.encode())
        else:
            file = make_file("answer.json", msgspec.json.encode(answer))
        response = respond_with(file, request.headers)
        if route.is_negotiated:
            del response.headers["Vary"]
            response.headers["Vary"] = "Accept, Accept-Encoding"
        return response

    async def rooms(self, asked: Asked) -> RoomsAnswer:
        """Return the public rooms, perhaps only those of a game, or those that can be joined."""
        game, only_open = asked.query.get("game", [""])[0], "open" in asked.query
        lines = await self._rooms.lines(game, only_open=only_open)
        return RoomsAnswer(tuple(line for line in lines if not line.private))

    async def races(self, _asked: Asked) -> RacesAnswer:
        """Return the newest records that everybody may read."""
        return RacesAnswer(await self._records.lines())

    async def race(self, asked: Asked) -> RaceAnswer | str:
        """Return the record of a race as text, or as JSON if the path ends with it or the client prefers it."""
        race = asked.name.removesuffix(".json").removesuffix(".txt")
        records = self._store.records
        access = await records.access(race) if is_race_id(race) else None
        if access is None or not access.is_public:
            raise refusals.no_record()
        first = await records.part(race, 0)
        if first is None:
            raise refusals.no_record()
        rest = [await records.part(race, number) for number in range(1, first[0])]
        text = b"".join(part[1] for part in (first, *rest) if part)
        asked.charge(len(text) / _BYTES_PER_MOVE)
        if asked.name.endswith(".json") or (not asked.name.endswith(".txt") and asked.wants_json()):
            return await asyncio.to_thread(RaceAnswer.of, race, text.decode())
        return text.decode()

    async def games(self, _asked: Asked) -> GamesAnswer:
        """Return all games of the server."""
        return GamesAnswer(tuple(GameLine.of(game) for game in GAMES.values()))

    async def series(self, asked: Asked) -> SeriesAnswer:
        """Return the table of the series that the race in a room belongs to."""
        room = clean_room(asked.name)
        (race,) = await self._store.load_races([room])
        if race is None or race.phase == "closed" or race.private or not race.options.spectators:
            raise refusals.no_room(room)
        if race.options.series == 1:
            raise ApiError("no_room", f"The race in {room!r} belongs to no series. Its result is in its record.")
        return SeriesAnswer(room, race.round, race.options.series, race.table)

    async def openapi(self, _asked: Asked) -> str:
        """Return the description of the API."""
        return self._document


ROUTES: Final = (
    Route(
        path="/rooms",
        summary="Rooms that can be joined or watched",
        schema=RoomsAnswer,
        answer=ReadApi.rooms,
        query=("game", "open"),
    ),
    Route(path="/races", summary="Finished races", schema=RacesAnswer, answer=ReadApi.races),
    Route(
        path="/races/{race}",
        summary="A finished race: its record as text, or JSON",
        schema=RaceAnswer,
        answer=ReadApi.race,
        is_negotiated=True,
    ),
    Route(path="/games", summary="Games", schema=GamesAnswer, answer=ReadApi.games),
    Route(path="/series/{room}", summary="The table of a series", schema=SeriesAnswer, answer=ReadApi.series),
    # Other tables are added here, such as /tides/{tide}, each with a method that reads it from the store.
    Route(path="/openapi.json", summary="This document", answer=ReadApi.openapi),
)


def is_for_api(request: Request) -> bool:
    """Return whether a request is for a path of the API, whether the path exists or not."""
    return request.path.startswith(f"{PREFIX}/")


def _find(path: str) -> tuple[Route, str]:
    """Return the route of a path, and what the path has in the place of the name."""
    for route in ROUTES:
        pattern = re.sub(r"\\\{\w+\\\}", "([^/]{1,64})", re.escape(PREFIX + route.path))
        if match := re.fullmatch(pattern, path):
            return route, match[1] if match.groups() else ""
    raise ApiError("no_such_path", f"There is no such path. {PREFIX}/openapi.json lists all paths.")


def _refusal(code: str, sentence: str) -> Response:
    response = respond_with(make_file("error.json", msgspec.json.encode(ErrorAnswer(code, sentence))), Headers())
    status = _STATUSES.get(code, http.HTTPStatus.BAD_REQUEST)
    response.status_code, response.reason_phrase = status.value, status.phrase
    if status is http.HTTPStatus.METHOD_NOT_ALLOWED:
        response.headers["Allow"] = ", ".join(METHODS)
    return response
