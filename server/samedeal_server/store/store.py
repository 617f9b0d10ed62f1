"""The rooms, races and players' progress in Redis. Most operations are one script or one pipeline."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, cast

from msgspec.structs import replace
from redis.exceptions import TimeoutError as RedisTimeoutError

import samedeal
from samedeal.errors import RequestRefused
from samedeal.protocol.codec import pack, unpack
from samedeal.race.progress import Progress
from samedeal.race.values import DealSecret, FoundDeal, Race, Racer
from samedeal_server.errors import StoreUnavailable
from samedeal_server.races.log_entry import LogEntry
from samedeal_server.races.signed_receipts import KEY_BYTES
from samedeal_server.store import keys, schema
from samedeal_server.store.address import Host
from samedeal_server.store.command_executor import Executor
from samedeal_server.store.data_loss_risk import risk
from samedeal_server.store.earlier_races import EarlierRaces
from samedeal_server.store.events import (
    BEGAN_PREFIX,
    SPECTATORS_PREFIX,
    OperatorMessage,
    PresenceChanged,
    SequencedEvent,
    change_event,
    decode_event,
    encode_event,
    presence_parts,
)
from samedeal_server.store.group_commit import Commit, CommitOutcome, CommitResult, GroupCommit
from samedeal_server.store.house_store import HouseStore
from samedeal_server.store.news import NewsStore, ReportStore
from samedeal_server.store.passphrase_guesses import PassphraseGuesses
from samedeal_server.store.records import RecordStore
from samedeal_server.store.redis_client import RedisCommand, command, converted_errors, unavailable
from samedeal_server.store.redis_cluster import RedisClient
from samedeal_server.store.room_indexes import RoomIndex
from samedeal_server.store.scripts import REPLACE_STRING, Script
from samedeal_server.store.sessions import Sessions
from samedeal_server.store.tide_store import TideStore
from samedeal_server.telemetry.metrics import Metrics

STREAM_LENGTH: Final = 2000
"""Minimum number of events that a room's stream keeps. A reader that missed more events loads a snapshot."""

WAITING_STREAM_LENGTH: Final = 100
"""Minimum number of events that the stream of a room keeps before the race starts, unless the events are large.

The number is small because players may cause many of these events.
"""

WAITING_STREAM_SIZE: Final = 60_000
"""Approximate maximum size, in bytes, of the stream of a room before the race starts.

If ``WAITING_STREAM_LENGTH`` events as large as the newest one would exceed this size, the stream keeps fewer events.
"""

LIFETIME: Final = 8 * 86_400
"""Lifetime, in seconds, of a room's keys. It begins again at each change of the race.

No room waits longer than this for its start.
"""

CLOSED_LIFETIME: Final = 60
"""Lifetime, in seconds, of a closed room's keys.

When the keys expire, all nodes have closed the room and its code is free again.
"""

SPECTATOR_COUNT_LIFETIME: Final = 45_000
"""Time, in milliseconds, for which a node's number of spectators is valid. Nodes renew their numbers more often."""

LEASE: Final = 6_000
"""Time, in milliseconds, after which the lease of a room's duties expires unless it is renewed.

After the same time, a node looks again whether a duty that it did not get has been done.
"""

_PROBE_TIMEOUT: Final = 1.0
"""Timeout, in seconds, for a primary of a cluster to accept a test write. The others are ready without it."""

ENTRIES_PER_READ: Final = 500
"""Maximum number of log entries that are read, and perhaps replayed, before other tasks of the node get a turn."""

OnCommitted = Callable[[str, SequencedEvent, bool], None]
"""A callback with the room and the event of a commit, and whether the event was announced to other nodes."""

_RACE_FIELDS: Final = ("race", "schema", "engine")
_ENTRY_NUMBERS: Final = ("request", "foundation_cards", "moves", "undos", "committed_at")

_PROGRESS_FIELDS: Final = Progress.__struct_fields__

_CREATE_ROOM: Final = Script("create_room")
_COMPARE_AND_SET: Final = Script("compare_and_set")
_CONNECT_PLAYER: Final = Script("connect_player")
_RECORD_PRESENCE: Final = Script("record_presence")
_COMMIT: Final = Script("commit_action")
_BEGIN: Final = Script("begin_attempt")
_SET_SPECTATOR_COUNT: Final = Script("set_spectator_count")
_BROADCAST: Final = Script("broadcast")
_MARK_REPLICATION: Final = Script("replication_mark")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A room as it was in Redis at the time ``now``, in milliseconds since 1970.

    ``compare_and_set`` compares ``version``. ``last_event`` is the number of the newest event.
    """

    race: Race
    version: int
    last_event: int
    now: int
    progress: dict[str, Progress]
    spectator_count: int


@dataclass(frozen=True, slots=True)
class RoomSecret:
    """The secret that decides the deal of a room, and the salt and the hash of the room's passphrase."""

    deal: DealSecret
    salt: bytes
    hash: bytes


class Store:
    """All data that nodes share. Every method raises StoreUnavailable if Redis fails.

    A write that is acknowledged to a player is durable: the required replicas have it. A read may return data that is
    not durable yet. After a call of ``wait_replicated``, the data is durable.

    ``on_committed`` is called for each commit of this node, before the commit is acknowledged to the player.
    """

    def __init__(self, redis: RedisClient, metrics: Metrics) -> None:
        self.metrics = metrics
        self.redis = redis
        self.executor = Executor(redis)
        self.index = RoomIndex(self.executor)
        self.sessions = Sessions(self.executor)
        self.guesses = PassphraseGuesses(self.executor)
        self.records = RecordStore(self.executor)
        self.earlier = EarlierRaces(self.executor)
        self.house = HouseStore(self.executor)
        self.news = NewsStore(self.executor)
        self.reports = ReportStore(self.executor)
        self.tides = TideStore(self.executor)
        self.receipt_key = b""
        self.on_committed: OnCommitted = lambda _room, _event, _is_announced: None
        self._commits: dict[Host | None, GroupCommit] = {}

    async def check_schema(self) -> None:
        """Raise StartupError if an incompatible release has used this Redis in the last eight days."""
        (records,) = await self.executor.execute(command("HGETALL", keys.SCHEMAS))
        schema.check_records(records.items(), await self.now() - 1000 * LIFETIME)

    async def record_schema(self) -> None:
        """Store the current time as the last time at which a node with this schema version ran."""
        ran = f"{await self.now()} {samedeal.__version__}"
        await self.executor.execute(command("HSET", keys.SCHEMAS, schema.SCHEMA_VERSION, ran))

    async def probe(self) -> str:
        """Test whether Redis accepts writes. Raise StoreUnavailable if no primary does.

        Return a text that names the primaries of a cluster that do not accept writes, or an empty text.
        """
        with converted_errors():
            probe_keys = await self.redis.variants(keys.PROBE)
        seconds = _PROBE_TIMEOUT if len(probe_keys) > 1 else None
        results = await asyncio.gather(*(self._probe(key, seconds) for key in probe_keys.values()))
        failed = {where: error for where, error in zip(probe_keys, results, strict=True) if error is not None}
        if len(failed) == len(probe_keys):
            raise unavailable(next(iter(failed.values())))
        return "; ".join(f"{where} ({str(error) or type(error).__name__})" for where, error in failed.items())

    async def _probe(self, key: str, seconds: float | None) -> Exception | None:
        try:
            async with asyncio.timeout(seconds):
                (answer,) = await self.executor.try_execute([command("SET", key, "1", "PX", 1000)], durable=True)
        except TimeoutError:
            return RedisTimeoutError(f"no answer for {seconds:g} seconds")
        return answer if isinstance(answer, Exception) else None

    async def check_settings(self) -> None:
        """Report to ``availability`` whether the settings of each primary let it lose acknowledged moves."""
        for where, info in (await self.executor.server_info()).items():
            self.redis.availability.set_risk(where, risk(info))

    async def load_receipt_key(self) -> None:
        """Load the key with which all nodes sign receipts.

        If Redis does not have the key, store the key that this node knows, or a new key.
        """
        key = self.receipt_key or secrets.token_bytes(KEY_BYTES)
        _, self.receipt_key = await self.executor.execute(
            command("SET", keys.RECEIPT_KEY, key, "NX"), command("GET", keys.RECEIPT_KEY), durable=True
        )

    async def replace_receipt_key(self) -> None:
        """Store a new key for receipts. All earlier receipts become invalid."""
        self.receipt_key = secrets.token_bytes(KEY_BYTES)
        await self.executor.execute(command("SET", keys.RECEIPT_KEY, self.receipt_key), durable=True)

    async def now(self) -> int:
        """Return the time of Redis, in milliseconds since 1970. All nodes measure races by this time."""
        (time,) = await self.executor.execute(RedisCommand(keys.ROOMS, ("TIME",)))
        return _milliseconds(time)

    async def wait_replicated(self, room: str) -> None:
        """Wait until the required replicas have all earlier writes to a room."""
        if self.redis.replicas:
            await self.executor.execute(_MARK_REPLICATION([keys.meta(room)]), durable=True)

    async def create_room(self, race: Race, secret: RoomSecret) -> bool:
        """Open a room. Return False if the room's code is taken."""
        # The index comes first: an entry without a room is removed later, but a room without an entry would never be found.
        await self.executor.execute(command("ZADD", keys.ROOMS, "NX", race.created, race.room))
        room = race.room
        opening = _CREATE_ROOM(
            [keys.meta(room), keys.secret(room), keys.events(room), keys.spectators(room)],
            *(
                pack(race),
                race.phase,
                secret.deal.seed,
                secret.salt,
                secret.hash,
                LIFETIME,
                *schema.room_versions(race),
            ),
        )
        (opened,) = await self.executor.execute(opening, durable=True)
        await self.index.update(race)
        return bool(opened)

    async def load(self, room: str) -> Snapshot | None:
        """Load a snapshot of a room, or return None if the room does not exist.

        Raise RequestRefused ``other_version`` if only another version of Samedeal can serve the room.
        """
        time, (version, last_event, ends, *race_fields), spectator_count = await self.executor.execute(
            RedisCommand(keys.meta(room), ("TIME",)),
            command("HMGET", keys.meta(room), "version", "last_event", "ends", *_RACE_FIELDS),
            command("HGET", keys.spectators(room), ":total"),
        )
        if version is None:
            return None
        race = _with_end(schema.read_race(*race_fields), ends)
        progress = await self.load_progress(race)
        with schema.reading():
            return Snapshot(
                race,
                int(version),
                int(schema.stored(last_event)),
                _milliseconds(time),
                progress,
                int(spectator_count or 0),
            )

    async def load_races(self, rooms: Sequence[str]) -> list[Race | None]:
        """Load the race of each room. Return None for a room that does not exist or that this version cannot serve."""
        found = await self.executor.execute(
            *(command("HMGET", keys.meta(room), "ends", *_RACE_FIELDS) for room in rooms)
        )
        races: list[Race | None] = [None] * len(rooms)
        for i, (ends, *race_fields) in enumerate(found):
            if ends is not None:
                with suppress(RequestRefused):
                    races[i] = _with_end(schema.read_race(*race_fields), ends)
        return races

    async def load_progress(self, race: Race) -> dict[str, Progress]:
        """Load the progress of each player of a race."""
        found = await self.executor.execute(
            *(command("HMGET", keys.progress(race.room, racer.player), *_PROGRESS_FIELDS) for racer in race.racers)
        )
        with schema.reading():
            return {racer.player: _decode_progress(values) for racer, values in zip(race.racers, found, strict=True)}

    async def compare_and_set(
        self, before: Snapshot, race: Race, changes: tuple[str, ...], player: str, found: FoundDeal | None = None
    ) -> bool:
        """Replace a race, unless it has changed since the snapshot ``before``. Return whether the race was replaced.

        If this change ends the race, its standings must have every committed action. The race is therefore not replaced
        if Redis has other actions of the players than when the snapshot was taken.

        ``changes`` and ``player`` become part of the event. If this change stores a joint or daily deal, ``found`` is
        that deal.
        """
        room = race.room
        event = encode_event(change_event(before.race, race, changes, player))
        seated = _player_keys(room, race.racers)
        unseated = _player_keys(room, (racer for racer in before.race.racers if race.racer(racer.player) is None))
        revisions: list[int] = []
        if race.phase == "finished" and before.race.phase != "finished":
            revisions = [before.progress.get(racer.player, Progress()).revision for racer in race.racers]
            # This comes first: if the node dies, another one soon sees that the race has no record.
            with suppress(StoreUnavailable):  # the part of a cluster that has the index may be unavailable
                await self.index.reschedule(room, before.now, before.now + LEASE)
        replacing = _COMPARE_AND_SET(
            [keys.meta(room), keys.events(room), keys.secret(room), keys.spectators(room), *seated, *unseated],
            before.version,
            pack(race),
            race.phase,
            0 if race.lacks_deal else race.starts,
            0 if race.lacks_deal else race.ends,
            event,
            min(WAITING_STREAM_LENGTH, WAITING_STREAM_SIZE // len(event)) if race.is_waiting else STREAM_LENGTH,
            CLOSED_LIFETIME if race.phase == "closed" else LIFETIME,
            " ".join(racer.player for racer in race.racers if racer.resigned),
            keys.channel(room),
            len(unseated),
            b"" if found is None else pack(found),
            " ".join(map(str, revisions)),
        )
        (number,) = await self.executor.execute(replacing, durable=True)
        if number:
            await self.index.update(race, before.race)
        return bool(number)

    async def load_secret(self, room: str) -> RoomSecret | None:
        """Load the secret of a room, or return None if the room does not exist."""
        (fields,) = await self.executor.execute(command("HMGET", keys.secret(room), "seed", "salt", "hash", "deal"))
        seed, salt, passphrase_hash, deal = fields
        with schema.reading():
            found = None if deal is None else unpack(deal, FoundDeal)
        return None if seed is None else RoomSecret(DealSecret(seed, found), salt, passphrase_hash)

    async def replace_lease(self, room: str, before: str, after: str, lifetime: int) -> bool:
        """Replace the holder of the lease of a room's duties, unless it is no longer ``before``. Return whether it was.

        Nobody is the empty text. ``lifetime`` is in milliseconds.
        """
        (replaced,) = await self.executor.execute(REPLACE_STRING([keys.duty(room)], before, after, lifetime))
        return bool(replaced)

    async def connect_player(self, room: str, player: str) -> int:
        """Give a player's new connection the next generation.

        Commits of the player's older connections are refused from then on. Return the generation. Return 0 if the room
        does not exist or the player has no seat in it.
        """
        connecting = _CONNECT_PLAYER(
            [keys.meta(room), keys.progress(room, player), keys.events(room)],
            pack("player") + pack(player) + pack("name"),
            *(*presence_parts(player), STREAM_LENGTH, LIFETIME, keys.channel(room)),
        )
        (generation,) = await self.executor.execute(connecting, durable=True)
        return int(generation)

    async def record_absence(self, room: str, player: str, generation: int) -> int:
        """Record that a player's connection has ended, and append this to the events of the room.

        ``generation`` identifies the connection. If it is not the player's newest connection, record nothing. Return
        the player's newest generation, or -1 if the player has none or the room does not exist.
        """
        event = encode_event(PresenceChanged(player, generation, connected=False))
        (newest,) = await self.executor.execute(_presence_command(room, player, generation, event))
        return int(newest)

    async def record_present(self, connections: Sequence[tuple[str, str, int]]) -> list[int | None]:
        """Record that connections are still open. Each connection is given as room, player and generation.

        Ignore connections that are not their player's newest. Return for each connection the player's newest
        generation, or -1 if the player has none or the room does not exist, or None if the write failed. Raise
        StoreUnavailable if all writes failed.
        """
        answers = await self.executor.try_execute(
            [_presence_command(room, player, generation) for room, player, generation in connections]
        )
        if answers and all(isinstance(answer, Exception) for answer in answers):
            raise unavailable(answers[0])
        return [None if isinstance(answer, Exception) else int(answer) for answer in answers]

    async def set_spectator_count(self, room: str, node: str, count: int) -> int:
        """Set the number of a node's spectators in a room. Return the total of all nodes."""
        setting = _SET_SPECTATOR_COUNT(
            [keys.meta(room), keys.spectators(room), keys.events(room)],
            *(node, count, SPECTATOR_COUNT_LIFETIME, SPECTATORS_PREFIX, STREAM_LENGTH, LIFETIME, keys.channel(room)),
        )
        (total,) = await self.executor.execute(setting)
        return int(total)

    async def broadcast(self, room: str, text: str) -> bool:
        """Send a message of the operator to everybody in a room. Return False if the room does not exist."""
        broadcasting = _BROADCAST(
            [keys.meta(room), keys.events(room)],
            *(encode_event(OperatorMessage(text)), STREAM_LENGTH, LIFETIME, keys.channel(room)),
        )
        (number,) = await self.executor.execute(broadcasting, durable=True)
        return bool(number)

    async def begin_attempt(self, room: str, player: str, generation: int, time: int = 0) -> CommitResult:
        """Begin the attempt of a player in a race with a window, or return when it began.

        ``time`` is when an attempt began that Redis has lost, or 0. The result has the time as ``committed_at``.
        """
        beginning = _BEGIN(
            [keys.meta(room), keys.progress(room, player), keys.events(room)],
            *(player, generation, f"{BEGAN_PREFIX}{player} ", STREAM_LENGTH, LIFETIME, keys.channel(room), time or ""),
        )
        (answer,) = await self.executor.execute(beginning, durable=True)
        return _commit_result(answer)

    def commit(self, commit: Commit) -> Awaitable[CommitResult]:
        """Commit an action in one batch with the other actions of the same turn of the event loop on the same primary.

        The result is available when the action is durable. A slow primary of a cluster delays only its own rooms.
        """
        primary = self.redis.primary_for(keys.meta(commit.room))
        if (commits := self._commits.get(primary)) is None:
            commits = self._commits[primary] = GroupCommit(self._commit_batch)
        return commits.commit(commit)

    async def _commit_batch(self, commits: Sequence[Commit]) -> list[CommitResult | Exception]:
        commands = [_commit_command(commit) for commit in commits]
        sent = time.perf_counter()
        answers = await self.executor.try_execute(commands, durable=True)
        self.metrics.commit_seconds.observe(time.perf_counter() - sent)
        self.metrics.commit_batch_moves.observe(len(commits))
        results: list[CommitResult | Exception] = [
            unavailable(answer) if isinstance(answer, Exception) else _commit_result(answer, commit.moved.revision)
            for commit, answer in zip(commits, answers, strict=True)
        ]
        for commit, result in zip(commits, results, strict=True):
            if isinstance(result, CommitResult) and result.outcome == "ok":
                numbered = SequencedEvent(result.event, result.previous, result.committed_at, commit.moved)
                self.on_committed(commit.room, numbered, result.is_announced)
        return results

    async def load_log(self, room: str, player: str, first: int = 1, last: int | None = None) -> list[LogEntry]:
        """Load a player's log from revision ``first`` to ``last``, both included.

        If ``last`` is None, load the log to its end.
        """
        end = "+" if last is None else f"{last}-0"
        (found,) = await self.executor.execute(command("XRANGE", keys.log(room, player), f"{first}-0", end))
        with schema.reading():
            return [_decode_entry(id_, fields) for id_, fields in found]

    async def log_parts(
        self, room: str, player: str, first: int = 1, last: int | None = None
    ) -> AsyncIterator[list[LogEntry]]:
        """Yield a player's log in parts of at most ``ENTRIES_PER_READ`` entries. ``first`` and ``last`` are included."""
        while last is None or first <= last:
            end = first + ENTRIES_PER_READ - 1
            part = await self.load_log(room, player, first, end if last is None else min(end, last))
            yield part
            if len(part) < ENTRIES_PER_READ:
                break
            first += len(part)

    async def load_events(self, room: str, after: int) -> list[SequencedEvent] | None:
        """Load all events of a room after the event number ``after``, in order.

        Return None if some of these events are missing or cannot be decoded, or if Redis has lost the event with the
        number ``after``. The room itself tells then what has changed.
        """
        newest, found = await self.executor.execute(
            command("HGET", keys.meta(room), "last_event"), command("XRANGE", keys.events(room), f"({after}-0", "+")
        )
        if newest is None:
            return None
        with suppress(RequestRefused), schema.reading():
            events = [_decode_stream_event(id_, fields) for id_, fields in found]
            numbers = [after, *(event.number for event in events)]
            is_unbroken = numbers[:-1] == [event.previous for event in events]
            is_complete = int(newest) <= numbers[-1] if events else int(newest) == after
            return events if is_unbroken and is_complete else None
        return None


def _with_end(race: Race, ends: bytes) -> Race:
    """Return the race with the end time that Redis stores. The first finish may have moved it to an earlier time."""
    return replace(race, ends=int(ends) or race.ends)


def _player_keys(room: str, racers: Iterable[Racer]) -> list[str]:
    return [key for racer in racers for key in (keys.progress(room, racer.player), keys.log(room, racer.player))]


def _presence_command(room: str, player: str, generation: int, absence: bytes = b"") -> RedisCommand:
    """Return the command that records that a connection is still open, or that it has ended, with the event for that."""
    return _RECORD_PRESENCE(
        [keys.meta(room), keys.progress(room, player), keys.events(room)],
        *(generation, int(not absence), absence, STREAM_LENGTH, keys.channel(room)),
    )


def _commit_command(commit: Commit) -> RedisCommand:
    room, moved = commit.room, commit.moved
    player = moved.player
    return _COMMIT(
        [keys.meta(room), keys.progress(room, player), keys.log(room, player), keys.events(room)],
        player,
        commit.generation,
        moved.revision - 1,
        commit.request,
        moved.action,
        moved.seen,
        moved.foundation_cards,
        moved.moves,
        moved.undos,
        int(moved.finished),
        int(moved.no_moves_left),
        int(commit.first_finish_ends),
        encode_event(moved),
        STREAM_LENGTH,
        keys.channel(room),
        LIFETIME,
        commit.committed_at or "",
        commit.own_limit,
    )


def _commit_result(answer: list[Any], revision: int = -1) -> CommitResult:
    match answer:
        case [b"ok", committed_at, event, previous, is_announced]:
            return CommitResult("ok", int(committed_at), revision, -1, int(event), int(previous), bool(is_announced))
        case [(b"ok" | b"repeated") as outcome, committed_at]:
            return CommitResult(cast("CommitOutcome", outcome.decode()), int(committed_at), revision)
        case [b"fenced", generation]:
            return CommitResult("fenced", generation=int(generation))
        case [b"stale", newest]:
            return CommitResult("stale", revision=int(newest))
        case [reason]:
            return CommitResult(cast("CommitOutcome", reason.decode()))
        case _:
            raise StoreUnavailable(f"a script answered {answer!r}")


def _milliseconds(time: tuple[int, int]) -> int:
    seconds, microseconds = time
    return seconds * 1000 + microseconds // 1000


def _decode_progress(values: Sequence[bytes | None]) -> Progress:
    numbers = {name: int(value or 0) for name, value in zip(_PROGRESS_FIELDS, values, strict=True)}
    return Progress(connected=bool(numbers.pop("connected")), **numbers)


def _decode_entry(id_: bytes, fields: dict[bytes, bytes]) -> LogEntry:
    numbers = {name: int(schema.stored(fields.get(name.encode()))) for name in _ENTRY_NUMBERS}
    action, seen = (schema.stored(fields.get(name)) for name in (b"action", b"seen"))
    return LogEntry(revision=int(id_.split(b"-")[0]), action=action.decode(), seen=seen, **numbers)


def _decode_stream_event(id_: bytes, fields: dict[bytes, bytes]) -> SequencedEvent:
    number = int(id_.split(b"-")[0])
    previous, time, event = (schema.stored(fields.get(name)) for name in (b"previous", b"time", b"event"))
    return SequencedEvent(number, int(previous), int(time), decode_event(event))
