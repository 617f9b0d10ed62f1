"""The parameters of requests, and an example of each answer, for the OpenAPI document."""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct

from samedeal.data_files import read_data
from samedeal.game_json import GameData
from samedeal.games import DEFAULT_GAME, GAMES
from samedeal.protocol.messages import RecordLine, RoomLine, TableLine, TideTime
from samedeal.record import RecordedPlayer
from samedeal_server.api.answers import (
    GameLine,
    GamesAnswer,
    RaceAnswer,
    RacesAnswer,
    RoomsAnswer,
    SeriesAnswer,
    TidesAnswer,
)
from samedeal_server.api.front import FrontAnswer, FrontBoard, FrontRace, FrontRival, FrontRoom
from samedeal_server.races.public_facts import RaceNews

PARAMETERS: Final = read_data("samedeal_server.api", "parameters.toml", dict[str, dict[str, Any]])
"""What the document says about each parameter, by its name."""

RACE: Final[str] = PARAMETERS["race"]["example"]
PLAYER: Final[str] = PARAMETERS["player"]["example"]

_GAME: Final = GAMES[DEFAULT_GAME]
_RACE: Final[dict[str, Any]] = {"game": _GAME.name, "deal": "#4821", "room": "friday"}
_OVER: Final = {
    **_RACE,
    "race": RACE,
    "started": 1_795_356_343_000,
    "ended": 1_795_356_584_120,
}
_TERMS: Final[dict[str, Any]] = {"round": 1, "undo": "no-reveal", "limit": 900, "terms": "samedeal terms 1\n"}
_HASHES: Final[dict[str, Any]] = {
    "rules": _GAME.rules_hash.hex(),
    "commitment": "00" * 32,
    "seed": "00" * 32,
    "proof": "",
}
_ROOM: Final = RoomLine(phase="open", players=1, seats=8, spectators=True, **_RACE)

_RECORD: Final = RecordLine(players=2, size=4211, winner="mira", time=241_120, **_OVER)
_TIDES: Final = (TideTime(minute=1170, game=_GAME.name),)
_BOARD: Final = FrontBoard(
    race=RACE,
    game=_GAME.name,
    deal="daily 2026-11-21",
    started=_OVER["started"],
    piles=((201, 10), ()),
    rivals=(FrontRival(name="mira", bot=False, time=0, cards=1, reached=(2610,)),),
)
_LIVE: Final = FrontRace(
    race=RACE, room="friday", game=_GAME.name, rivals=(FrontRival(name="mira", bot=False, time=0, cards=14),)
)
EXAMPLES: Final[dict[type[Struct] | None, Struct]] = {
    type(example): example
    for example in (
        RoomsAnswer((_ROOM,)),
        RacesAnswer((_RECORD,)),
        RaceAnswer(
            **_OVER, **_TERMS, **_HASHES, players=(RecordedPlayer(1, "mira", 1, 3, ((1840, "3 0"), (2610, "undo"))),)
        ),
        GamesAnswer((GameLine.of(_GAME),)),
        GameData.of(_GAME),
        SeriesAnswer(("friday", "friday-2"), 3, (TableLine(1, PLAYER, "mira", 2, 1.5, 482_240),)),
        TidesAnswer(_TIDES),
        FrontAnswer(
            time=1_795_356_342_106,
            house=True,
            board=_BOARD,
            race=_LIVE,
            rooms=(FrontRoom(line=_ROOM, names=("mira",), people=1),),
            races=(_RECORD,),
            tides=_TIDES,
        ),
        RaceNews(event="opened", time=1_795_356_342_106, room=_ROOM),
    )
}
