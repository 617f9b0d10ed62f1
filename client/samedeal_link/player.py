"""A player for other programs: connect, take a seat, race with a strategy, and watch.

This module is public: LIBRARY.md describes it. It reconnects, takes part in draws, gives back what the server has lost, and
verifies the race.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from samedeal.board import Board
from samedeal.board_history import Play
from samedeal.errors import BadArgument, RequestRefused
from samedeal.game import Game
from samedeal.moves import Move
from samedeal.names import clean_room
from samedeal.options import Options
from samedeal.protocol.messages import RoomState, Standing
from samedeal.protocol_codes import RefusalCode
from samedeal_link.connection.address import home_path, parse_address
from samedeal_link.connection.client_error_codes import ClientCode
from samedeal_link.connection.link_events import Ended, SeatLost
from samedeal_link.connection.reconnecting_link import Link
from samedeal_link.connection.saved_sessions import FileSessions, MemorySessions
from samedeal_link.model.rivals import Rival, rivals_of
from samedeal_link.session.race_audit import audit_race
from samedeal_link.session.room_client import RoomClient, allowing

__all__ = ["RESIGN", "Player", "RaceView", "Rival"]

RESIGN: Final = "resign"
"""The answer of a strategy that gives up."""


@dataclass(frozen=True)
class RaceView:
    """What a player or a spectator sees of a race.

    ``phase`` is that of the room (PROTOCOL.md). ``play`` is the player's own, without hidden cards, and None before the
    deal and for a spectator. ``rivals`` are the other players, or all of them for a spectator, who also sees their
    ``boards``, by name and later by the delay. ``time_left`` is in seconds. ``standings`` and ``verdict`` (*fair*,
    *checked*, *unsure* or *wrong*) are empty until the race is over. Who did not begin in a window has the place 0.
    """

    phase: str
    game: Game
    options: Options
    time_left: float
    play: Play | None
    rivals: tuple[Rival, ...]
    boards: Mapping[str, Board]
    standings: tuple[Standing, ...] = ()
    verdict: str = ""


Strategy = Callable[[RaceView], Move | str | None]
"""A function that chooses an action: a move, ``undo`` or ``RESIGN``. It is asked again after None when something changes."""


class Player:
    """A player on a server. Entering the context connects.

    ``address`` is what ``samedeal join`` takes. ``keep`` is a directory that keeps the session and the evidence: with it, a
    program that was killed gets its seat back. Each method raises RequestRefused if the server refuses the request, or if
    the connection has ended for good.
    """

    def __init__(self, address: str, name: str, *, bot: bool = True, room: str = "", keep: Path | None = None) -> None:
        sessions = FileSessions(keep / "sessions.json") if keep else MemorySessions()
        home, evidence = home_path(room) if room else "", keep / "evidence" if keep else None
        self._link = Link(parse_address(address), name, sessions, bot=bot, home=home, evidence_root=evidence)
        self._rooms = RoomClient(self._link)
        self._changed = asyncio.Event()
        self._following: asyncio.Task[None] | None = None
        self._ended: RequestRefused | None = None

    async def __aenter__(self) -> Self:
        await self._link.__aenter__()
        self._following = asyncio.create_task(self._follow())
        return self

    async def __aexit__(self, *_: object) -> None:
        """Disconnect. The seat stays the player's."""
        await self._link.close()
        if self._following is not None:
            await self._following

    async def open(self, games: Sequence[str], deal: str = "winnable", passphrase: str = "", **options: Any) -> str:
        """Open a room, and return its code. ``options`` are those of PROTOCOL.md. Raise BadArgument if they are wrong."""
        try:
            chosen = Options(games=tuple(games), deal=deal, **options)
        except (TypeError, ValueError) as error:
            raise BadArgument(str(error)) from None
        return await self._rooms.create(chosen, passphrase=passphrase)

    async def join(self, room: str, passphrase: str = "") -> None:
        """Take a seat in a room, or return to it."""
        self._ended = None  # that of another room
        code = await self._rooms.join(room, passphrase)
        await self._until(lambda: self._rooms.model.is_in(code))

    async def start(self) -> None:
        """Begin the countdown, as the host."""
        await self._rooms.start()

    async def race(self, strategy: Strategy, pace: float = 0.0) -> RaceView:
        """Wait for the start, race, and return the view of the finished race. ``pace`` is the seconds between two actions.

        The strategy runs in a thread. Raise the errors of ``Play.act`` if it chooses an action that can't be made.
        """
        if self._phase == "open":
            with allowing(RefusalCode.RACE_STARTED):
                await self._rooms.ready()
        await self._until(lambda: self._phase not in ("open", "countdown"))
        while await self._can_act():
            view = self.view
            action = await asyncio.to_thread(strategy, view)
            if self._phase != "racing" or self._rooms.model.own.play != view.play:
                continue
            if action == RESIGN:
                await self._rooms.resign()
                break
            if action is None:
                await self._change()
                continue
            self._rooms.act(action)
            await asyncio.sleep(pace)
        await self._until(lambda: self._phase in ("finished", "closed"))
        verdict = (await audit_race(self._rooms, lambda _: None)).verdict if self._phase == "finished" else None
        return self._seen(verdict.kind if verdict else "")

    async def watch(self, room: str, passphrase: str = "") -> AsyncIterator[RaceView]:
        """Watch the race in a room. Yield what a spectator sees after each change, until the race is over."""
        self._ended = None  # that of another room
        await self._rooms.watch(room, passphrase)
        await self._until(lambda: self._rooms.model.is_in(clean_room(room)))
        while True:
            yield self.view
            if self._phase in ("finished", "closed"):
                return
            await self._change()

    @property
    def view(self) -> RaceView:
        """What the player sees of the race now. Raise RequestRefused if the player is in no room."""
        return self._seen()

    def _seen(self, verdict: str = "") -> RaceView:
        model, room = self._rooms.model, self._room
        return RaceView(
            phase=room.phase,
            game=model.game,
            options=room.options,
            time_left=model.time_left(self._link.now()) / 1000,
            play=model.own.play if model.delay is None else None,
            rivals=rivals_of(model),
            boards={
                seat.name: model.watched[seat.player].play.board
                for seat in room.players
                if seat.player in model.watched
            },
            standings=room.standings,
            verdict=verdict,
        )

    @property
    def _room(self) -> RoomState:
        room = self._rooms.model.room
        if room is None:
            raise self._ended or RequestRefused(RefusalCode.NO_SEAT, "You are in no room. Join or watch one first.")
        return room

    @property
    def _phase(self) -> str:
        return self._room.phase

    async def _can_act(self) -> bool:
        """Wait until the player can act or is done. Return whether the player can act."""
        await self._until(lambda: self._phase != "racing" or self._rooms.model.is_answered)
        play = self._rooms.model.own.play
        return self._phase == "racing" and play is not None and not play.board.won and not play.no_moves_left

    async def _follow(self) -> None:
        async for event in self._rooms:
            if isinstance(event, SeatLost | Ended):
                self._ended = RequestRefused(event.code, event.sentence)
            self._changed.set()
        self._ended = self._ended or RequestRefused(ClientCode.CLOSED, "This client closed the connection.")
        self._changed.set()

    async def _change(self) -> None:
        self._changed.clear()
        await self._changed.wait()
        if self._ended is not None:
            raise self._ended

    async def _until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            await self._change()
