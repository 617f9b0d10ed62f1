"""The rooms as one node serves them: commands to races, hubs for those with somebody here, and the passing of time."""

from __future__ import annotations

import asyncio
import datetime
import secrets
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from itertools import product
from typing import Any, Final

import structlog
from msgspec.structs import replace
from redis.asyncio.client import PubSub
from redis.exceptions import RedisError

from samedeal.deal import SEED_BYTES, Deal, commitment
from samedeal.errors import BadOptions, Refused
from samedeal.games import GAMES
from samedeal.options import Options
from samedeal.protocol.messages import RoomLine
from samedeal_server.clock import EVERY, Clock
from samedeal_server.hub import Hub
from samedeal_server.limits import Limits
from samedeal_server.metrics import PHASES
from samedeal_server.passphrases import Passphrases
from samedeal_server.race import Command, Link, Race, Run, Tick, after
from samedeal_server.store import keys
from samedeal_server.store.events import read_announced
from samedeal_server.store.redis import Secret, Snapshot, Store
from samedeal_server.tasks import end

_CODE_ALPHABET: Final = "abcdefghjkmnpqrstuvwxyz23456789"
_LISTED: Final = 100
_SWEEP_EVERY: Final = 1.0
_LOOK_EVERY: Final = 3.0
"""Seconds after which a room is read whose news may have been lost on the way."""

_REFRESH_EVERY: Final = 15.0
_LOOP_LOOK_EVERY: Final = 0.25
SILENCE: Final = 5.0
"""Seconds without an announcement after which Redis is asked for a sign, and given up after as many more."""

_FOR_OTHERS: Final = 60_000
"""Milliseconds for which a room that is due is left to nodes of its own version."""

_RETRY_EVERY: Final = 0.5
_TRIES: Final = 5
_MILESTONES: Final = frozenset(("opened", "countdown", "racing", "finished", "closed", "rematch"))

_log: structlog.stdlib.BoundLogger = structlog.get_logger("rooms")


class Rooms:
    """All rooms, through one node. Nothing here is owned: any node may do any of it, and the store decides who was first."""

    def __init__(self, store: Store, clock: Clock, node: str, limits: Limits) -> None:
        self.store = store
        self.clock = clock
        self.node = node
        self.limits = limits
        self.metrics = store.metrics
        self.hubs: dict[str, Hub] = {}
        self.called = asyncio.Event()
        """Set when something was announced that concerns every node."""
        self._opening: dict[str, asyncio.Lock] = {}
        self._guests: Counter[str] = Counter()
        self._passphrases = Passphrases(store, clock)
        self._tasks: set[asyncio.Task[None]] = set()
        self._pubsub: PubSub | None = None
        self._following: asyncio.Task[None] | None = None
        self._subscribed: set[str] = set()

    # ---------------------------------------------------------------- commands

    async def command(
        self,
        room: str,
        command: Command | Callable[[Snapshot], Command],
        by: str,
        generation: int | None = None,
    ) -> Race:
        """Have a command, or what is made of the race as it stands, take effect, whoever else is changing the race.

        ``by`` is the player whose command it is, ``generation`` that of the connection it came over, where that must be
        the newest. Returns the race as it is then. Raises Refused as ``race.after`` does, and when fenced.
        """
        wanted: Race | None = None
        while True:
            snapshot = await self._load(room)
            if snapshot.race == wanted:
                await self.store.confirm(room)
                return wanted  # settled, though the answer was lost
            if generation is not None and snapshot.runs.get(by, Run()).generation > generation:
                raise Refused(
                    "fenced", "You are connected from somewhere else now: this connection can do nothing more"
                )
            given = command(snapshot) if callable(command) else command
            wanted, what = after(snapshot.race, given, snapshot.now)
            if not what:
                if by:
                    await self.store.confirm(room)
                return wanted
            if await self.store.settle(snapshot, wanted, what, by):
                self._record(wanted, what, by)
                hub = self.hubs.get(room)
                if hub is not None:
                    await self._guard(hub.pull())
                return wanted

    def _record(self, race: Race, what: tuple[str, ...], by: str) -> None:
        """Log and count what has become of a race."""
        fields: dict[str, object] = {"by": by} if by else {}
        if "opened" in what:
            fields |= {"game": race.game.name, "deal": race.deal, "follows": race.follows}
        if "finished" in what:
            fields["standings"] = [
                {"place": each.place, "player": each.player, "up": each.up} for each in race.standings
            ]
        _log.info("race", room=race.room, phase=race.phase, what=list(what), **fields)
        for change in _MILESTONES.intersection(what):
            self.metrics.races[race.game.name, change].inc()

    async def _load(self, room: str) -> Snapshot:
        snapshot = await self.store.load(room)
        if snapshot is None:
            raise Refused("no_room", f"There is no room {room!r}: list the rooms, or open one")
        return snapshot

    async def tick(self, room: str) -> None:
        """Let time pass for a room: start, finish or close its race where that is due."""
        secret = await self.store.secret(room)
        if secret is None:
            await self.store.forget(room)
            return
        seed = secret.seed
        try:
            race = await self.command(room, lambda found: Tick(found.runs, seed), "")
        except Refused as refused:
            if refused.code != "other_version":
                raise
            await self.store.postpone(room, self.clock.now() + _FOR_OTHERS)
        else:
            await self.store.index(race)

    # ---------------------------------------------------------------- opening

    async def create(self, options: Options, code: str, passphrase: str) -> str:
        """Open a room and return its code, the wanted one or a new one. Raises Refused."""
        if await self.store.count_rooms() >= self.limits.rooms:
            raise Refused(
                "server_full", "There are as many rooms as this server holds: join one of them", retry_after=60
            )
        now = await self.store.now()
        if options.start == "at" and not now < options.start_at <= now + 7 * 86_400_000:
            raise BadOptions("A race can start within the next seven days: choose another start_at")
        date = _date(now)
        deal = Deal.parse(options.deal).on(date)
        secret = Secret(_seed(deal), *await self._passphrases.lock(passphrase, self.limits))
        for _ in range(_TRIES):
            name = code or _random_code()
            if await self._open(_race(name, options, 0, deal, secret, now), secret):
                return name
            if code:
                raise Refused("room_exists", f"There is a room {code!r} already: join it, or choose another code")
        raise _no_code()

    async def rematch(self, room: str) -> str:
        """The room of the next race, opened by whoever asks first. Raises Refused."""
        snapshot = await self._load(room)
        race = snapshot.race
        after(race, Link("-"), snapshot.now)
        if not race.next:
            name = await self._open_successor(race, snapshot.now)
            race = await self.command(room, Link(name), "")
        return race.next

    async def _open_successor(self, race: Race, now: int) -> str:
        """Open a room for the rematch, or find the one that another who asked has just opened."""
        door = await self.store.secret(race.room)
        if door is None:
            raise Refused("no_room", f"There is no room {race.room!r} any more: open one")
        options = replace(race.options, start="host", start_at=0) if race.options.start == "at" else race.options
        deal = Deal.parse(race.successor_deal())
        secret = Secret(_seed(deal), door.salt, door.hash)
        name = _successor(race)
        for _ in range(_TRIES):
            if await self._open(_race(name, options, race.round + 1, deal, secret, now, race.room), secret):
                return name
            (there,) = await self.store.races([name])
            if there is not None and there.follows == race.room and there.created >= race.idle:
                return name
            name = _random_code()
        raise _no_code()

    async def _open(self, race: Race, secret: Secret) -> bool:
        opened = await self.store.open(race, secret)
        if opened:
            self._record(race, ("opened",), "")
        return opened

    async def list(self, most: int = _LISTED) -> tuple[RoomLine, ...]:
        """The rooms that can be joined or watched, so many at the most, newest first."""
        races = await self.store.races(await self.store.newest_rooms(most))
        return tuple(
            RoomLine(
                room=race.room,
                game=race.game.name,
                deal=race.deal,
                phase=race.phase,
                players=len(race.racers),
                seats=race.options.players,
                private=race.private,
                spectators=race.options.spectators,
                starts=race.starts,
                delay=race.options.delay,
            )
            for race in races
            if race is not None and race.phase != "closed"
        )

    async def check_passphrase(self, race: Race, passphrase: str, network: str) -> None:
        """Raises Refused unless a passphrase, tried from a network, opens the room, or the room needs none."""
        if not race.private:
            return
        secret = await self.store.secret(race.room)
        if secret is None:
            raise Refused("no_room", f"There is no room {race.room!r} any more: list the rooms, or open one")
        await self._passphrases.check(race.room, secret, passphrase, network, self.limits)

    # ---------------------------------------------------------------- hubs

    async def enter(self, room: str) -> Hub:
        """The hub of a room, which follows it until each who entered was let go. Raises Refused without a room."""
        self._guests[room] += 1
        lock = self._opening.setdefault(room, asyncio.Lock())
        try:
            async with lock:
                if room not in self.hubs:
                    await self._subscribe(room)
                    hub = Hub(self.store, self.clock, await self._load(room), self.spawn, self.tick, self.close)
                    self.hubs[room] = hub
                    # What was announced while the snapshot was read reached no hub.
                    hub.catch_up()
                return self.hubs[room]
        except BaseException:
            await self._release(room)
            raise

    async def let_go(self, hub: Hub) -> None:
        """Take back one ``enter``; the room is followed no more when it was the last."""
        await self._release(hub.room)

    async def _release(self, room: str) -> None:
        self._guests[room] -= 1
        if self._guests[room]:
            return
        del self._guests[room], self._opening[room]
        hub = self.hubs.pop(room, None)
        if hub is not None:
            hub.shut()
        await self._unsubscribe(room)

    async def close(self, hub: Hub) -> None:
        """Have nobody in a room that is closed, so that its code is free for another."""
        if self.hubs.get(hub.room) is hub:
            del self.hubs[hub.room]
        hub.shut()
        for _ in range(hub.dismiss()):
            await self._release(hub.room)

    async def say_watching(self, hub: Hub) -> None:
        """Tell the room how many watch through this node."""
        await self.store.watched(hub.room, self.node, len(hub.spectators))

    async def _subscribe(self, room: str) -> None:
        self._subscribed.add(keys.channel(room))
        if self._pubsub is not None:
            await self._over(self._pubsub.subscribe(keys.channel(room)))

    async def _unsubscribe(self, room: str) -> None:
        self._subscribed.discard(keys.channel(room))
        if self._pubsub is not None:
            await self._over(self._pubsub.unsubscribe(keys.channel(room)))
            if keys.channel(room) in self._subscribed:  # somebody has come meanwhile
                await self._subscribe(room)

    async def _over(self, asking: Awaitable[None]) -> None:
        """Ask something over the listener's connection; where that fails, listen anew to all that is wanted."""
        try:
            await asking
        except Exception as error:  # noqa: BLE001  # with any error: the listener may be reconnecting what is used here
            _log.debug("redis", error=str(error), doing="subscribing")
            if self._following is not None:
                self.spawn(end([self._following]))

    # ---------------------------------------------------------------- what runs all the time

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something aside; what goes wrong is logged, and made good by the next look at the room."""
        task = asyncio.create_task(self._guard(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _guard(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except Refused as refusal:
            _log.debug("refused", code=refusal.code)
        except (RedisError, TimeoutError, OSError) as error:
            _log.debug("redis", error=str(error))
        except Exception:  # noqa: BLE001  # a mistake in one room's work must not end the node's; it is logged whole
            self.metrics.faults.inc()
            _log.exception("fault")

    async def run(self) -> None:
        """Listen, sweep and refresh until cancelled."""
        tasks = [
            asyncio.create_task(work)
            for work in (
                self._listen(),
                self._watch_loop(),
                self._repeat(_SWEEP_EVERY, self._sweep),
                self._repeat(_LOOK_EVERY, self._look),
                self._repeat(_REFRESH_EVERY, self._refresh),
                self._repeat(EVERY, self.clock.look),
                self._repeat(4 * _REFRESH_EVERY, self._repair),
            )
        ]
        try:
            await asyncio.gather(*tasks)
        finally:
            await end(tasks)

    async def stop(self) -> None:
        """Give up what is still being done aside, so that nothing asks a store that is closed."""
        await end(self._tasks)

    async def _repeat(self, seconds: float, work: Any) -> None:
        while True:
            await asyncio.sleep(seconds)
            await self._guard(work())

    async def _watch_loop(self) -> None:
        """Measure how late the event loop wakes what asked to be woken."""
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + _LOOP_LOOK_EVERY
            await asyncio.sleep(_LOOP_LOOK_EVERY)
            self.metrics.loop_lag.observe(max(0.0, loop.time() - due))

    async def _listen(self) -> None:
        while True:
            self._following = following = asyncio.create_task(self._follow())
            try:
                await asyncio.wait((following,))
            finally:
                await end([following])
            if not following.cancelled():
                # Whether Redis can be reached its connections say; that it is silent only a listener finds.
                error = following.exception()
                if isinstance(error, TimeoutError):
                    _log.warning("redis_silent", error=str(error))
                else:
                    _log.debug("redis", error=str(error), doing="listening")
            await asyncio.sleep(_RETRY_EVERY)

    async def _follow(self) -> None:
        async with self.store.announcements() as pubsub:
            asked: set[str] = set()
            while missing := {keys.NODES, *self._subscribed} - asked:  # rooms are entered meanwhile
                await pubsub.subscribe(*missing)
                asked |= missing
            self._pubsub = pubsub
            try:
                await self._hear(pubsub)
            finally:
                self._pubsub = None  # before the connection is closed: nothing must be asked over it any more

    async def _hear(self, pubsub: PubSub) -> None:
        asked_for_a_sign = False
        while True:
            message = await pubsub.get_message(timeout=SILENCE)
            if message is None:
                if asked_for_a_sign:
                    raise TimeoutError("nothing is heard from Redis any more")
                await pubsub.ping()
            asked_for_a_sign = message is None
            if message and message["channel"] == keys.NODES.encode():
                self.called.set()
            hub = self.hubs.get(_room_of(message["channel"])) if message and message["channel"] else None
            if hub is None:
                continue
            if message["type"] == "subscribe":
                hub.catch_up()  # what was announced before reached nobody here
            elif message["type"] == "message":
                await self._guard(self._announced(hub, message["data"]))

    async def _announced(self, hub: Hub, data: bytes) -> None:
        hub.announced(read_announced(data))

    async def _sweep(self) -> None:
        for room in await self.store.due_rooms(self.clock.now(), _LISTED):
            await self._guard(self.tick(room))

    async def _repair(self) -> None:
        await self.store.mark_layout()
        rooms = await self.store.newest_rooms(self.limits.rooms)
        counted = Counter[tuple[str, str]]()
        for first in range(0, len(rooms), _LISTED):  # reading all at once would keep everybody else waiting
            some = rooms[first : first + _LISTED]
            for room, race in zip(some, await self.store.races(some), strict=True):
                if race is None:
                    await self.store.forget(room)
                else:
                    counted[race.game.name, race.phase] += 1
                    await self.store.index(race)
        for game, phase in product(GAMES, PHASES):
            self.metrics.rooms.labels(game, phase).set(counted[game, phase])

    async def _look(self) -> None:
        for hub in list(self.hubs.values()):
            await self._guard(hub.pull())  # of a cluster one room may be out of reach, and the next is not

    async def _refresh(self) -> None:
        for hub in list(self.hubs.values()):
            await self._guard(self._refresh_room(hub))

    async def _refresh_room(self, hub: Hub) -> None:
        for seat, _ in list(hub.seats.values()):
            newest = await self.store.presence(hub.room, seat.player, seat.generation, here=True, tell=False)
            if 0 <= newest < seat.generation:
                hub.send_back(seat)
            hub.fence(seat.player, newest)
        if hub.spectators or hub.watching:
            await self.say_watching(hub)
        await hub.refresh()


def _race(room: str, options: Options, number: int, deal: Deal, secret: Secret, now: int, follows: str = "") -> Race:
    return Race(
        room=room,
        options=options,
        round=number,
        deal=str(deal),
        commitment=commitment(secret.seed),
        private=bool(secret.hash),
        created=now,
        idle=now,
        follows=follows,
    )


def _seed(deal: Deal) -> bytes:
    return deal.public_seed() if deal.public else secrets.token_bytes(SEED_BYTES)


def _no_code() -> Refused:
    return Refused("unavailable", "No free code for a room was found: try again", retry_after=1)


def _random_code() -> str:
    return "".join(secrets.choice(_CODE_ALPHABET) for _ in range(6))


def _room_of(channel: bytes) -> str:
    return channel.decode().partition("{")[2].rstrip("}")


def _successor(race: Race) -> str:
    base = race.room
    if race.round:
        base = base.removesuffix(f"-{race.round + 1}")
    suffix = f"-{race.round + 2}"
    return base[: 24 - len(suffix)].rstrip("-") + suffix


def _date(now: int) -> str:
    return datetime.datetime.fromtimestamp(now / 1000, datetime.UTC).date().isoformat()
