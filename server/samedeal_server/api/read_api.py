"""The paths of the read API, and the answers to them. ``ROUTES`` is the table of all paths.

An answer has only what everybody may see: nothing of private rooms, no boards, and of races only their records, which
are made when the race is over.
"""

from __future__ import annotations

import asyncio
import http
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import parse_qs

import msgspec
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from samedeal.errors import RequestRefused, SamedealError, UnknownGame
from samedeal.game_json import GameData
from samedeal.games import GAMES, game_named
from samedeal.names import clean_room
from samedeal.protocol.messages import RecordLine, TideTime
from samedeal.sentences import refused
from samedeal_server.api.answers import (
    STATUSES,
    ErrorAnswer,
    GameLine,
    GamesAnswer,
    RaceAnswer,
    RacesAnswer,
    RoomsAnswer,
    SeriesAnswer,
    TidesAnswer,
)
from samedeal_server.api.front import Front, FrontAnswer
from samedeal_server.api.news_listeners import NewsListeners
from samedeal_server.api.openapi import JSON, STREAM, TEXT, Route, document
from samedeal_server.connections.handshake_admission import RETRY_AFTER
from samedeal_server.errors import StoreUnavailable
from samedeal_server.page.files import METHODS, make_file, refuse, respond_with
from samedeal_server.races.public_facts import RaceNews, line_for_programs
from samedeal_server.races.race_record import is_race_id
from samedeal_server.rooms.cached_value import MAX_LISTED, CachedValue
from samedeal_server.rooms.room_list import RoomList
from samedeal_server.store.news import parse_news_id
from samedeal_server.store.store import Store

PREFIX: Final = "/api/v1"

REQUEST_COST: Final = 10
"""Cost, in moves, of a request to the API, in addition to that of its connection."""

_HISTORY_COST: Final = 50
"""Cost, in moves, of reading records that are not in the list of the newest ones."""

_BYTES_PER_MOVE: Final = 100
"""Number of bytes of a record that cost as much as one move."""

_CORS: Final = {"Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "ETag, Retry-After"}

_PREFLIGHT: Final = {
    "Access-Control-Allow-Methods": ", ".join(METHODS),
    "Access-Control-Allow-Headers": "If-None-Match, Last-Event-ID",
    "Access-Control-Max-Age": "86400",
    "Connection": "close",
}

Charge = Callable[[float], None]


@dataclass(frozen=True)
class Asked:
    """A request to the API. ``name`` is what its path has in the place of the name in braces.

    ``network`` is the largest network of the client's address that has limits.
    ``charge`` charges the client for work that costs as much as so many moves.
    """

    request: Request
    name: str
    network: str
    charge: Charge

    def query(self, name: str, default: str = "") -> str:
        """Return a parameter in the query. A flag without a value is empty."""
        return parse_qs(self.request.path.partition("?")[2], keep_blank_values=True).get(name, [default])[0]

    @property
    def prefers_json(self) -> bool:
        """Whether the client asks for JSON, and for text only after it."""
        if self.name.endswith(".txt"):
            return False
        return JSON in ",".join(self.request.headers.get_all("Accept")).partition("text/")[0]


@dataclass(eq=False, repr=False)
class ReadApi:
    """Answers the requests below ``/api/v1``."""

    _store: Store
    _rooms: RoomList
    _records: CachedValue[tuple[RecordLine, ...]]
    listeners: NewsListeners
    _tides: tuple[TideTime, ...]
    _front: Front

    async def respond(self, request: Request, network: str, charge: Charge) -> Response:
        """Return the response to a request whose path is one of the API."""
        if request.method == "OPTIONS":  # what a browser asks before it sends If-None-Match from another site
            response = Response(
                http.HTTPStatus.NO_CONTENT.value, http.HTTPStatus.NO_CONTENT.phrase, Headers(_PREFLIGHT)
            )
        else:
            response = await self._answer(request, network, charge)
        return _for_everybody(request, response)

    async def _answer(self, request: Request, network: str, charge: Charge) -> Response:
        try:
            if request.method not in METHODS:
                raise RequestRefused("bad_method", "Only GET and HEAD are supported.")
            route, name = _find(request.path.partition("?")[0])
            answer = await route.answer(self, Asked(request, name, network, charge))
        except SamedealError as error:
            return _refusal(error.code, str(error))
        except StoreUnavailable:
            return _refusal("unavailable", "The server can't reach its store. Try again in a few seconds.")
        if isinstance(answer, Response):
            return answer
        content = answer.encode() if isinstance(answer, str) else msgspec.json.encode(answer)
        is_text = isinstance(answer, str) and TEXT in route.kinds
        response = respond_with(make_file("record.txt" if is_text else "answer.json", content), request.headers)
        response.headers["Vary"] = "Accept"
        return response

    async def front(self, _asked: Asked) -> FrontAnswer:
        """Return what the page shows first: a board to try, rooms with names, and finished races."""
        return await self._front.answer.get()

    async def rooms(self, asked: Asked) -> RoomsAnswer:
        """Return the public rooms, perhaps only those of a game, those that can be joined, or those that admit bots."""
        only_open, bots = (asked.query(name, "false") != "false" for name in ("open", "bots"))
        lines = await self._rooms.lines(asked.query("game"), only_open=only_open, bots=bots)
        return RoomsAnswer(tuple(map(line_for_programs, lines)))

    async def races(self, asked: Asked) -> RacesAnswer:
        """Return the newest records that everybody may read, perhaps only those before a race, or those of a player."""
        before, player = asked.query("before"), asked.query("player")
        if not before and not player:
            return RacesAnswer(await self._records.get())
        if before:
            await self._check_public(before)
        asked.charge(_HISTORY_COST)
        return RacesAnswer(await self._store.records.before(before, MAX_LISTED, player))

    async def _check_public(self, race: str) -> None:
        """Raise RequestRefused unless everybody may read the record of a race."""
        access = await self._store.records.access(race) if is_race_id(race) else None
        if access is None or not access.is_public:
            raise refused("no_record")

    async def race(self, asked: Asked) -> RaceAnswer | str:
        """Return the record of a race as text, or as JSON if the client prefers it."""
        race = asked.name.removesuffix(".txt")
        return await (self.race_json(replace(asked, name=race)) if asked.prefers_json else self._text(asked, race))

    async def race_json(self, asked: Asked) -> RaceAnswer:
        """Return the record of a race as JSON."""
        return await asyncio.to_thread(RaceAnswer.of, asked.name, await self._text(asked, asked.name))

    async def _text(self, asked: Asked, race: str) -> str:
        await self._check_public(race)
        text = await self._store.records.text(race)
        if not text:
            raise refused("no_record")
        asked.charge(len(text) / _BYTES_PER_MOVE)
        return text.decode()

    async def games(self, _asked: Asked) -> GamesAnswer:
        """Return all games of the server."""
        return GamesAnswer(tuple(GameLine.of(game) for game in GAMES.values()))

    async def game(self, asked: Asked) -> GameData:
        """Return the description of a game, with which a program can play it."""
        try:
            return GameData.of(game_named(asked.name))
        except UnknownGame as error:
            raise RequestRefused("no_game", str(error)) from None

    async def series(self, asked: Asked) -> SeriesAnswer:
        """Return the table of the series that the race in a room belongs to."""
        room = clean_room(asked.name)
        (race,) = await self._store.load_races([room])
        if race is None or race.phase == "closed" or race.private or not race.options.spectators:
            raise refused("no_room", room=room)
        if race.options.series == 1:
            raise RequestRefused("no_room", f"The race in {room!r} belongs to no series. Its result is in its record.")
        return SeriesAnswer((*race.before.rooms, room), race.options.series, race.table)

    async def tides(self, _asked: Asked) -> TidesAnswer:
        """Return the tides of each day."""
        return TidesAnswer(self._tides)

    async def events(self, asked: Asked) -> Response:
        """Send news of public races as server-sent events, perhaps first those after an event."""
        after = asked.query("after")
        last = parse_news_id(asked.request.headers.get("Last-Event-ID", "")) or parse_news_id(after)
        if after and last is None:
            raise RequestRefused("malformed", f"{after[:40]!r} is not the id of an event. 0-0 is before all events.")
        return self.listeners.admit(asked.request.method, last, asked.network)

    async def openapi(self, _asked: Asked) -> str:
        """Return this document."""
        return document(PREFIX, ROUTES)


ROUTES: Final = (
    Route("/front", ReadApi.front, FrontAnswer),
    Route("/rooms", ReadApi.rooms, RoomsAnswer, query=("game", "open", "bots"), refusals=("unknown_game",)),
    Route("/races", ReadApi.races, RacesAnswer, query=("before", "player"), refusals=("no_record",)),
    Route("/races/{race}.json", ReadApi.race_json, RaceAnswer, refusals=("no_record", "bad_record")),
    Route("/races/{race}", ReadApi.race, RaceAnswer, kinds=(TEXT, JSON), refusals=("no_record", "bad_record")),
    Route("/games", ReadApi.games, GamesAnswer),
    Route("/games/{game}", ReadApi.game, GameData, refusals=("no_game",)),
    Route("/series/{room}", ReadApi.series, SeriesAnswer, refusals=("malformed", "no_room")),
    Route("/tides", ReadApi.tides, TidesAnswer),
    Route("/events", ReadApi.events, RaceNews, ("after", "Last-Event-ID"), (STREAM,), refusals=("malformed",)),
    Route("/openapi.json", ReadApi.openapi),
)


def is_for_api(request: Request) -> bool:
    """Return whether a request is for a path of the API, whether the path exists or not."""
    return request.path.startswith(f"{PREFIX}/")


def refused_early(request: Request, rejection: Response) -> Response:
    """Return the response that the API gives to a request that was rejected before the API got it."""
    code = "rate_limited" if rejection.status_code == http.HTTPStatus.TOO_MANY_REQUESTS else "unavailable"
    return _for_everybody(request, _refusal(code, rejection.body.decode().strip()))


def _for_everybody(request: Request, response: Response) -> Response:
    """Return a response that pages of other sites may read, without its body if only its head was asked for."""
    for name, value in _CORS.items():
        response.headers[name] = value
    if request.method == "HEAD":
        response.body = b""
    return response


def _find(path: str) -> tuple[Route, str]:
    """Return the route of a path, and what the path has in the place of the name."""
    for route in ROUTES:
        pattern = re.sub(r"\\\{\w+\\\}", "([^/]{1,64})", re.escape(PREFIX + route.path))
        if match := re.fullmatch(pattern, path):
            return route, match[1] if match.groups() else ""
    raise RequestRefused("no_such_path", f"There is no such path. {PREFIX}/openapi.json lists all paths.")


def _refusal(code: str, sentence: str) -> Response:
    status = STATUSES.get(code, http.HTTPStatus.BAD_REQUEST)
    response = refuse(status, make_file("error.json", msgspec.json.encode(ErrorAnswer(code, sentence))))
    if code in ("rate_limited", "server_full", "unavailable"):
        response.headers["Retry-After"] = RETRY_AFTER
    return response
