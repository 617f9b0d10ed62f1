"""All rooms, as one node uses them."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from typing import Final
from weakref import WeakValueDictionary

from samedeal.errors import RequestRefused
from samedeal.forbidden_words import ForbiddenWords
from samedeal.protocol.messages import TideTime
from samedeal.protocol_codes import RefusalCode
from samedeal.race.commands import CommandResult, FixDealCommand, RaceAloneCommand, RaceCommand, TickCommand
from samedeal.race.due_times import awaits_next, is_alone
from samedeal.race.progress import Progress
from samedeal.race.transitions import apply
from samedeal.race.values import Race
from samedeal.sentences import refused
from samedeal_server.config.limits import Limits, LiveLimits
from samedeal_server.loop_timers import LOOP_TIMERS, Timers
from samedeal_server.races.earlier import choose
from samedeal_server.races.public_facts import news_of
from samedeal_server.rooms.background_tasks import BackgroundTasks
from samedeal_server.rooms.command_queue import CommandQueue
from samedeal_server.rooms.deal_search import DealSearch
from samedeal_server.rooms.duties import Duties
from samedeal_server.rooms.hub import Hub
from samedeal_server.rooms.race_records import keep_record
from samedeal_server.rooms.room_creation import RoomCreator
from samedeal_server.store.clock import StoreClock
from samedeal_server.store.pubsub import Listener
from samedeal_server.store.store import Snapshot, Store
from samedeal_server.telemetry.logger import get_logger
from samedeal_server.telemetry.metrics import Metrics

_MILESTONES: Final = frozenset(("opened", "countdown", "racing", "finished", "closed", "rematch"))

_log = get_logger()


@dataclass(eq=False, repr=False)
class RoomRegistry:
    """All rooms, as this node uses them. The node follows the rooms that its clients are in.

    No node owns a room. Every node may change any room, and Redis decides which change comes first. Only ``duties`` have
    an owner.
    """

    store: Store
    clock: StoreClock
    node: str
    live_limits: LiveLimits
    metrics: Metrics
    duties: Duties
    deals: DealSearch
    background: BackgroundTasks
    timers: Timers = LOOP_TIMERS
    tides: tuple[TideTime, ...] = ()
    words: ForbiddenWords = field(default_factory=ForbiddenWords)
    """The words that names of players and rooms must not have."""
    draining: bool = False
    """Whether the node is stopping: it opens no more rooms, and accepts no new connections."""
    hubs: dict[str, Hub] = field(default_factory=dict)
    nodes_channel_event: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when an announcement for all nodes arrives: Redis may hold new orders of the operator, or changed bans."""
    _commands: WeakValueDictionary[str, CommandQueue] = field(default_factory=WeakValueDictionary)
    _opening: dict[str, asyncio.Lock] = field(default_factory=dict)
    _refcounts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._listener = Listener(self.store.redis)
        self.creator = RoomCreator(self)
        self.store.on_committed = partial(self._apply_event, Hub.committed)

    @property
    def limits(self) -> Limits:
        """The limits that currently apply."""
        return self.live_limits.current

    async def command(
        self,
        room: str,
        command: RaceCommand | Callable[[Snapshot], RaceCommand],
        by: str,
        generation: int | None = None,
    ) -> Race:
        """Apply a command to a race by compare-and-set. If another change comes first, load the race and try again.

        ``command`` may be a function that makes the command from the newest snapshot. ``by`` is the id of the player
        who sent the command, or empty. If ``generation`` is given and the player has a newer generation, the command is
        refused.

        Return the race after the command. Raise RequestRefused if the room does not exist, if ``race.apply`` refuses
        the command, or if the player has a newer generation.
        """
        queue = self._commands.setdefault(room, CommandQueue())
        async with queue.turn():
            race, changes = await self._compare_and_set(room, command, by, generation)
        if changes:
            self.record(race, changes, by)
            hub = self.hubs.get(room)
            if hub is not None:
                await self.background.guard(hub.pull())
        if race.needs_search and room not in self.deals.searching:
            self.background.spawn(partial(self.deals.search, room, partial(self.command, by="")))
        elif not race.needs_search and "deal_found" not in changes:
            self.deals.stop(room)
        return race

    async def _compare_and_set(
        self, room: str, command: RaceCommand | Callable[[Snapshot], RaceCommand], by: str, generation: int | None
    ) -> CommandResult:
        """Apply a command and return the new race and the changes.

        The arguments are those of the method ``command``.
        """
        wanted: Race | None = None
        while True:
            snapshot = await self.load(room)
            if snapshot.race == wanted:
                await self.store.wait_replicated(room)
                return wanted, ()  # the change was made, though the store's answer was lost
            if generation is not None and snapshot.progress.get(by, Progress()).generation > generation:
                raise refused("fenced")
            given = command(snapshot) if callable(command) else command
            wanted, changes = apply(snapshot.race, given, snapshot.now)
            if not changes:
                if by:
                    await self.store.wait_replicated(room)
                return wanted, ()
            found = given.found if isinstance(given, FixDealCommand) else None
            if await self.store.compare_and_set(snapshot, wanted, changes, by, found):
                return wanted, changes

    def record(self, race: Race, changes: tuple[str, ...], by: str = "") -> None:
        """Log the changes of a race, and add those to the news that everybody may know.

        ``tick`` adds the news of the end of a race, once the race has a record.
        """
        fields: dict[str, object] = {"player": by} if by else {}
        if "opened" in changes:
            fields |= {"game": race.game.name, "deal": race.deal, "previous": race.before.room}
        if "finished" in changes:
            fields["standings"] = [
                {"place": line.place, "player": line.player, "foundation_cards": line.foundation_cards}
                for line in race.result.standings
            ]
        _log.info("race_changed", room=race.room, phase=race.phase, changes=list(changes), **fields)
        for change in _MILESTONES.intersection(changes):
            if change != "finished" and (news := news_of(race, change)):
                self.background.spawn(partial(self.store.news.add, news))

    async def load(self, room: str) -> Snapshot:
        """Load the newest snapshot of a room. Raise RequestRefused ``no_room`` if the room does not exist."""
        snapshot = await self.store.load(room)
        if snapshot is None:
            raise refused("no_room", room=room)
        return snapshot

    async def tick(self, room: str, *, end_wait: bool = False) -> Race | None:
        """Send a TickCommand to the race of a room, and return the race. TickCommand explains ``end_wait``.

        Return None if the room is gone, or if only another version can serve it.
        """
        secret = await self.store.load_secret(room)
        if secret is None:
            await self.store.index.remove_if_gone(room)
            return None
        deal = secret.deal
        try:
            race = await self.command(room, lambda snapshot: TickCommand(snapshot.progress, deal, end_wait), "")
        except RequestRefused as refusal:
            if refusal.code != RefusalCode.OTHER_VERSION:
                raise
            return None
        if is_alone(race, await self.store.now()):
            race = await self._race_alone(race)
        await self.store.index.update(race)
        if (
            race.phase == "finished"
            and await keep_record(self.duties, self.store, self.limits, self.metrics, race)
            and (news := news_of(race, "finished"))
        ):
            await self.store.news.add_once(news)
        if awaits_next(race, await self.store.now()):
            await self.creator.rematch(room)
        return race

    async def _race_alone(self, race: Race) -> Race:
        """Start the race of a player for whom nobody came, or open a room with the deal of an earlier race."""
        (racer,) = race.racers
        races, past = await self.store.earlier.of_game(race.game.name), await self.store.earlier.past(racer.player)
        found = choose([*races.values()], race, past) if race.deal == "winnable" else None
        room = await self.creator.repeat(race, found) if found else ""
        return await self.command(race.room, RaceAloneCommand(room), "")

    async def acquire(self, room: str) -> Hub:
        """Return the hub of a room, and follow the room until ``release`` was called once for each call of ``acquire``.

        Raise RequestRefused if the room does not exist, or if only another version can serve it.
        """
        self._refcounts[room] += 1
        lock = self._opening.setdefault(room, asyncio.Lock())
        try:
            async with lock:
                if room not in self.hubs:
                    await self._listener.subscribe(room)
                    given = (self.store, self.clock, self.timers, self.metrics, await self.load(room))
                    hub = Hub(*given, self.background.spawn, self.tick, self.close, self.release_removed)
                    self.hubs[room] = hub
                    hub.catch_up()  # no hub received the events that were announced while the snapshot was read
                return self.hubs[room]
        except BaseException:
            await self.release(room)
            raise

    async def release_removed(self, hub: Hub) -> None:
        """Release the hub once, for a connection that the hub has removed. Publish the new number of spectators."""
        try:
            await self.publish_spectator_count(hub)
        finally:
            await self.release(hub.room)

    async def release(self, room: str) -> None:
        """Undo one call of ``acquire``. When all calls are undone, the node stops following the room."""
        self._refcounts[room] -= 1
        if self._refcounts[room]:
            return
        del self._refcounts[room], self._opening[room]
        hub = self.hubs.pop(room, None)
        if hub is not None:
            hub.stop()
        await self._listener.unsubscribe(room)

    async def close(self, hub: Hub) -> None:
        """Stop following a closed room and remove this node's clients from it. A later room may have the same code."""
        if self.hubs.get(hub.room) is hub:
            del self.hubs[hub.room]
        hub.stop()
        for _ in range(hub.audience.dismiss()):
            await self.release(hub.room)

    async def publish_spectator_count(self, hub: Hub) -> None:
        """Store how many spectators of a room are connected through this node. Announce the total of all nodes."""
        await self.store.set_spectator_count(hub.room, self.node, len(hub.audience.spectators))

    async def listen(self) -> None:
        """Receive announcements until cancelled. Apply those of events to the rooms that this node follows."""
        async with aclosing(self._listener.announcements()) as announcements:
            async for room, event in announcements:
                if not room:
                    self.nodes_channel_event.set()
                elif event is not None:
                    self._apply_event(Hub.announced, room, event)
                elif room in self.hubs:  # a variable would keep the hub until the next announcement
                    self.hubs[room].catch_up()  # this node did not receive events announced earlier

    def _apply_event(self, apply_event: Callable[..., None], room: str, *event: object) -> None:
        """Call a method of Hub that applies an event to a room, if this node follows the room.

        An error is logged, so that other rooms are not affected.
        """
        if hub := self.hubs.get(room):
            try:
                apply_event(hub, *event)
            except Exception:  # noqa: BLE001  # as in BackgroundTasks.guard
                self.metrics.faults.inc()
                _log.exception("fault")
