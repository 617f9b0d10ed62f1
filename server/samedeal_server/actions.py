"""What players do on their boards: judged by the engine, committed, acked; asked for again, and given back."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Callable
from typing import Final

import structlog

from samedeal.errors import Refused, StaleRevision
from samedeal.play import UNDO, Play
from samedeal.protocol.messages import Acked, Act, Recover
from samedeal_server.connection import Connection, Seat
from samedeal_server.receipts import follow, follow_all
from samedeal_server.rooms import Rooms
from samedeal_server.store.commits import Commit, Verdict

UNAVAILABLE: Final = Refused(
    "unavailable", "The server can't reach its store: nothing was lost, try again", retry_after=1.0
)

_REFUSALS: Final = {
    "stale": ("stale", "The move was made on another revision of the board: look at the present one"),
    "fenced": ("fenced", "You are connected from somewhere else now; this connection can't move any more"),
    "not_racing": ("not_racing", "There is no race under way: it has not begun, or is over"),
    "time_up": ("time_up", "The race is over: its time is up"),
    "done": ("done", "Your race is over: you are home, or out"),
    "no_room": ("no_room", "This room is no more: list the rooms for another one, or open one"),
}

_log: structlog.stdlib.BoundLogger = structlog.get_logger("actions")


class Actions:
    """The commit path of one node. ``charge`` has who had so many actions of logs played again pay for it."""

    def __init__(self, rooms: Rooms, charge: Callable[[Connection, int], None]) -> None:
        self._rooms = rooms
        self._charge = charge

    async def act(self, connection: Connection, message: Act) -> Acked:
        """Commit an action that the engine lets a player make, once however often it is asked for. Raises SamedealError."""
        seat = connection.seated
        hub = seat.hub
        play = seat.play or await hub.set_up(seat)
        if play is None:
            raise Refused("not_racing", "The race has not begun: the cards are dealt when the countdown ends")
        if message.revision < play.revision:
            return await self._again(connection, seat, play, message)
        after = play.act(message.action, message.revision)
        if after.revision > self._rooms.limits.actions_per_race:
            raise Refused(
                "too_many_actions",
                f"A race has room for {self._rooms.limits.actions_per_race} actions a player: these were all",
            )
        verdict = await self._rooms.store.commit(_commit(seat, after, message.action, message.id))
        if verdict.outcome in ("ok", "again"):
            seat.play, seat.chain = after, follow(seat.chain, message.action, verdict.at)
            self._rooms.metrics.moves[verdict.outcome].inc()
            return _acked(message, seat, after, seat.chain, verdict.at)
        await self._refuse(seat, play, verdict)
        raise Refused(*_REFUSALS[verdict.outcome])

    async def _refuse(self, seat: Seat, play: Play, verdict: Verdict) -> None:
        """Do what follows from a commit that was refused. Raises Refused where the store has gone back."""
        if -1 < verdict.revision < play.revision or -1 < verdict.generation < seat.generation:
            seat.hub.send_back(seat)
            raise UNAVAILABLE
        if verdict.outcome == "stale":
            seat.play = None
            await seat.hub.set_up(seat)
        elif verdict.outcome == "fenced":
            seat.hub.fence(seat.player, verdict.generation)

    async def _again(self, connection: Connection, seat: Seat, play: Play, message: Act) -> Acked:
        """The first answer to an action that was sent before, or the refusal of one made on an old board."""
        revision, hub = message.revision + 1, seat.hub
        entries = await self._rooms.store.log(hub.room, seat.player, revision, revision)
        if not entries or (entries[0].request, entries[0].action) != (message.id, message.action):
            raise StaleRevision(
                f"The move was made on revision {message.revision}, the board is at revision {play.revision}"
            )
        found: tuple[Play, bytes] | None = (play, seat.chain)
        if play.revision != revision:
            self._charge(connection, revision)
            found = await hub.replay(seat.player, revision)
        if found is None:
            raise Refused(*_REFUSALS["not_racing"])
        await self._rooms.store.confirm(hub.room)
        self._rooms.metrics.moves["again"].inc()
        return _acked(message, seat, *found, entries[0].at)

    async def recover(self, connection: Connection, message: Recover) -> None:
        """Commit again what was acked to a player and is lost, with its times, when the receipt is one of ours."""
        seat = connection.seated
        play = seat.play or await seat.hub.set_up(seat)
        if play is None:
            raise Refused(*_REFUSALS["not_racing"])
        held = message.held[max(0, play.revision - message.revision) :]
        if message.revision > play.revision:
            raise StaleRevision(f"What is held begins on revision {message.revision}, the board is at {play.revision}")
        if not held:
            return
        last = message.revision + len(message.held)
        chain = follow_all(seat.chain, held)
        if not hmac.compare_digest(seat.hub.receipt(seat.player, last, chain), message.receipt):
            raise Refused("bad_receipt", "These moves are not known to have counted: they can't be taken back up")
        before = play
        commits = []
        for each in held:
            after = play.act(each.action)
            commits.append(_commit(seat, after, each.action, each.id, each.at))
            play = after
        verdicts = await asyncio.gather(*map(self._rooms.store.commit, commits))
        for verdict in verdicts:
            if verdict.outcome not in ("ok", "again"):
                seat.play = None
                await self._refuse(seat, before, verdict)
                raise Refused(*_REFUSALS[verdict.outcome])
        seat.play, seat.chain = play, chain
        for _ in held:
            self._rooms.metrics.moves["recovered"].inc()
        _log.info("recovered", **connection.ids, actions=len(held))


def _commit(seat: Seat, after: Play, action: str, request: int, at: int = 0) -> Commit:
    """What the store is to keep of an action that has led to ``after``."""
    return Commit(
        room=seat.hub.room,
        player=seat.player,
        generation=seat.generation,
        revision=after.revision - 1,
        request=request,
        action=action,
        seen=after.seen,
        up=after.board.cards_up,
        moves=after.moves,
        undos=after.undos,
        home=after.board.won,
        over=after.over,
        first_home_ends=seat.hub.race.options.first_home_ends,
        at=at,
    )


def _acked(message: Act, seat: Seat, play: Play, chain: bytes, at: int) -> Acked:
    board = play.board
    return Acked(
        to=message.id,
        revision=play.revision,
        seen=play.seen,
        hash=board.state_hash(),
        up=board.cards_up,
        moves=play.moves,
        undos=play.undos,
        stuck=board.stuck,
        piles=board.masked().piles if message.action == UNDO else (),
        at=at,
        receipt=seat.hub.receipt(seat.player, play.revision, chain),
    )
