"""The commits of moves: the rules allow a move, Redis commits it, and the player gets the ack."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Callable

from samedeal.action_chain import next_head
from samedeal.board_history import Play
from samedeal.errors import StaleRevision
from samedeal.protocol.messages import Acked, Act, Begin, Begun, Recover
from samedeal.race.endings import opens_at
from samedeal.race.progress import MoveCommitted
from samedeal.race.room_state import acked
from samedeal.sentences import refused
from samedeal_server.races.race_record import first_head, follow_all
from samedeal_server.races.refusals import commit_refused
from samedeal_server.rooms.hub import Hub
from samedeal_server.rooms.player_connection import PlayerConnection
from samedeal_server.rooms.registry import RoomRegistry
from samedeal_server.rooms.seated_player import SeatedPlayer
from samedeal_server.store.group_commit import Commit, CommitResult
from samedeal_server.telemetry.logger import get_logger

_log = get_logger()


class MoveService:
    """Commits the moves of this node's players.

    ``charge`` is called with a connection and the number of actions that were replayed for it. It delays the next
    requests of the connection accordingly.
    """

    def __init__(self, rooms: RoomRegistry, charge: Callable[[PlayerConnection, int], None]) -> None:
        self._rooms = rooms
        self._charge = charge

    async def act(self, connection: PlayerConnection, message: Act) -> Acked:
        """Commit an action and return its ack. A repeated request gets its first ack again.

        Raise SamedealError if the action is refused.
        """
        hub, seat = connection.require_seat()
        play = seat.play or await hub.replay.load_play(seat)
        if play is None:
            raise refused("not_dealt")
        if message.revision < play.revision:
            return await self._repeat_answer(connection, hub, seat, play, message)
        after = play.act(message.action, message.revision)
        most = min(self._rooms.limits.actions_per_race, hub.race.most_actions)
        if after.revision > most:
            raise refused("too_many_actions", limit=most)
        result = await self._rooms.store.commit(_commit(hub, seat, after, message.action, message.id))
        if result.outcome == "ok" or result.outcome == "repeated":
            if result.outcome == "repeated":
                hub.catch_up()  # the answer to the first commit was lost, and with it the move's event
            time = result.committed_at - hub.model.began_at(seat.player)
            seat.play, seat.head = after, next_head(seat.head, after.revision, time, message.action)
            self._rooms.metrics.moves[result.outcome].inc()
            return acked(message, after, result.committed_at, hub.replay.receipt(seat.head))
        await self._handle_failed_commit(hub, seat, play, result)
        raise commit_refused(result.outcome)

    async def begin(self, connection: PlayerConnection, message: Begin) -> Begun:
        """Begin the player's attempt in a window. A player who has begun gets the first answer again.

        Raise RequestRefused if the attempt is refused.
        """
        hub, seat = connection.require_seat()
        if not hub.race.window:
            raise refused("not_racing")
        racer = hub.race.seated(seat.player)
        if message.time:
            receipt = hub.replay.receipt(first_head(hub.race, racer, message.time))
            if not hmac.compare_digest(receipt, message.receipt):
                raise refused("bad_receipt")
        async with seat.loading:  # so that the player gets the answer before the board
            result = await self._rooms.store.begin_attempt(hub.room, seat.player, seat.generation, message.time)
            if result.outcome == "fenced":
                hub.audience.fence(seat.player, result.generation)
            if result.outcome != "ok" and result.outcome != "repeated":
                raise commit_refused(result.outcome)
            await hub.pull()
            opens = opens_at(hub.race, hub.progress)
            await self._rooms.store.index.reschedule(hub.room, self._rooms.clock.now(), opens)
        time = result.committed_at
        return Begun(to=message.id, time=time, receipt=hub.replay.receipt(first_head(hub.race, racer, time)))

    async def recover(self, connection: PlayerConnection, message: Recover) -> None:
        """Repeat the commits of acknowledged actions that Redis has lost. Raise SamedealError if this is not possible."""
        hub, seat = connection.require_seat()
        play = seat.play or await hub.replay.load_play(seat)
        if play is None:
            raise refused("not_racing")
        lost = message.actions[max(0, play.revision - message.revision) :]
        if message.revision > play.revision:
            raise StaleRevision(message.revision, play.revision)
        if not lost:
            await self._check_log(hub, seat, message)
            return
        head = follow_all(seat.head, play.revision, hub.model.began_at(seat.player), lost)
        if not hmac.compare_digest(hub.replay.receipt(head), message.receipt):
            raise refused("bad_receipt")
        after = play
        commits = []
        for action in lost:
            after = after.act(action.action)
            commits.append(_commit(hub, seat, after, action.action, action.id, action.time))
        results = await asyncio.gather(*map(self._rooms.store.commit, commits))
        for result in results:
            if result.outcome != "ok" and result.outcome != "repeated":
                seat.play = None
                await self._handle_failed_commit(hub, seat, play, result)
                raise commit_refused(result.outcome)
        seat.play, seat.head = after, head
        for _ in lost:
            self._rooms.metrics.moves["recovered"].inc()
        _log.info("moves_recovered", **connection.ids, actions=len(lost))

    async def _check_log(self, hub: Hub, seat: SeatedPlayer, message: Recover) -> None:
        """Raise RequestRefused ``stale`` unless the log already has all actions that the client wants to recover."""
        last = message.revision + len(message.actions)
        entries = await self._rooms.store.load_log(hub.room, seat.player, message.revision + 1, last)
        if [(entry.action, entry.committed_at) for entry in entries] != [
            (action.action, action.time) for action in message.actions
        ]:
            raise refused("stale")

    async def _handle_failed_commit(self, hub: Hub, seat: SeatedPlayer, play: Play, result: CommitResult) -> None:
        """Load the play of ``seat`` again after a ``stale`` commit. Close the connection after a ``fenced`` commit.

        If Redis has lost moves that this node has seen, disconnect the player and raise RequestRefused.
        """
        if -1 < result.revision < play.revision or -1 < result.generation < seat.generation:
            hub.audience.force_resync(seat)
            raise refused("unavailable")
        if result.outcome == "stale":
            seat.play = None
            await hub.replay.load_play(seat)
        elif result.outcome == "fenced":
            hub.audience.fence(seat.player, result.generation)

    async def _repeat_answer(
        self, connection: PlayerConnection, hub: Hub, seat: SeatedPlayer, play: Play, message: Act
    ) -> Acked:
        """Return the first ack of a repeated request.

        If the request was never committed, its action is for an older board. In that case raise StaleRevision.
        """
        revision = message.revision + 1
        if hub.model.progress_of(seat.player).revision < revision:
            hub.catch_up()  # as above: the play was loaded since
        entries = await self._rooms.store.load_log(hub.room, seat.player, revision, revision)
        if not entries or (entries[0].request, entries[0].action) != (message.id, message.action):
            raise StaleRevision(message.revision, play.revision)
        replayed: tuple[Play, bytes] | None = (play, seat.head)
        if play.revision != revision:
            self._charge(connection, revision)
            replayed = await hub.replay.replay(seat.player, revision)
        if replayed is None:
            raise refused("not_racing")
        await self._rooms.store.wait_replicated(hub.room)
        self._rooms.metrics.moves["repeated"].inc()
        then, head = replayed
        return acked(message, then, entries[0].committed_at, hub.replay.receipt(head))


def _commit(hub: Hub, seat: SeatedPlayer, after: Play, action: str, request: int, time: int = 0) -> Commit:
    """Return the commit of an action that led to ``after``.

    ``time`` is the time of the first commit of a recovered action, or 0 for a new action.
    """
    moved = MoveCommitted.of(seat.player, action, after)
    options = hub.race.options
    own_limit = 1000 * options.limit if hub.race.window else 0
    return Commit(hub.room, seat.generation, request, options.first_finish_ends, moved, time, own_limit)
