"""The store on a real Redis and on that of the simulation: every outcome of each script."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from functools import partial
from importlib.resources import files
from itertools import product
from random import Random
from typing import Any, get_args

import pytest
from msgspec.structs import replace
from redis.asyncio import Redis

from samedeal.errors import RequestRefused
from samedeal.options import Options
from samedeal.protocol.messages import Phase, TableLine
from samedeal.protocol_codes import RefusalCode
from samedeal.race import moving
from samedeal.race.commands import ReadyCommand
from samedeal.race.due_times import due_at
from samedeal.race.progress import MoveCommitted, Progress
from samedeal.race.transitions import apply
from samedeal.race.values import DealSecret, DrawProgress, FoundDeal, KickedPlayers, Race, RaceBefore, Racer
from samedeal_server.races.public_facts import RaceNews, room_line
from samedeal_server.races.refusals import commit_refused
from samedeal_server.store import keys
from samedeal_server.store.connect import connect
from samedeal_server.store.events import PresenceChanged, RaceChanged, SequencedEvent, SpectatorCount
from samedeal_server.store.group_commit import Commit, CommitOutcome, CommitResult
from samedeal_server.store.news import NewsId
from samedeal_server.store.pubsub import Announcement, Listener
from samedeal_server.store.redis_client import RedisCommand
from samedeal_server.store.scripts import Script
from samedeal_server.store.sessions import GUEST_LIFETIME, SESSION_LIFETIME
from samedeal_server.store.store import (
    CLOSED_LIFETIME,
    LEASE,
    LIFETIME,
    WAITING_STREAM_LENGTH,
    WAITING_STREAM_SIZE,
    RoomSecret,
    Snapshot,
    Store,
)
from samedeal_server.telemetry.metrics import Metrics
from tests.golden.golden_files import assert_answered, values_on
from tests.server.commits import commit_of
from tests.server.expected_errors import refused
from tests.server.live_nodes import NodeMaker, RedisClient
from tests.shared.race_values import SEED, changed, new_race
from tests.simulation.redis_server import RespServer

SECRET = RoomSecret(DealSecret(SEED), b"salt", b"")
ANA = Racer("ana", "Ana", 1)
BOB = Racer("bob", "Bob", 2)


@pytest.fixture(params=["real", "simulated"])
async def redis_url(request: pytest.FixtureRequest, redis_server: str) -> AsyncIterator[str]:
    """The URL of an empty Redis. What differs between the two would be a mistake of the simulation."""
    if request.param == "real":
        async with Redis.from_url(redis_server) as redis:
            await redis.flushall()
        yield redis_server
        return
    server = await asyncio.get_running_loop().create_server(RespServer().accept, "127.0.0.1", 0)
    async with server:
        yield f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}/0"


@pytest.fixture
async def store(redis_url: str) -> AsyncIterator[Store]:
    async with connect(redis_url) as redis:
        yield Store(redis, Metrics())


async def opened(store: Store, race: Race | None = None) -> Snapshot:
    race = race or new_race()
    assert await store.create_room(race, SECRET)
    return await loaded(store, race.room)


async def loaded(store: Store, room: str = "friday") -> Snapshot:
    snapshot = await store.load(room)
    assert snapshot is not None
    return snapshot


async def racing(store: Store, *, limit: int = 60_000, starts_in: int = -10, **fields: Any) -> int:
    """Open a room in which ana and bob race. Return ana's generation."""
    before = await opened(store)
    starts = before.now + starts_in
    fields = {"phase": "racing", "racers": (ANA, BOB), "starts": starts, "ends": starts + limit, **fields}
    race = replace(before.race, **fields)
    assert await store.compare_and_set(before, race, ("racing",), "")
    return await store.connect_player("friday", "ana")


def act(generation: int, revision: int = 0, action: str = "draw", player: str = "ana", **fields: Any) -> Commit:
    """The commit of a player's action. By default its request id is 100 plus the revision."""
    return commit_of(player, generation, revision, action, **fields)


async def run_of(store: Store, player: str = "ana") -> Progress:
    return (await loaded(store)).progress[player]


async def events(store: Store, after: int = 0) -> list[SequencedEvent]:
    found = await store.load_events("friday", after)
    assert found is not None
    return found


async def a_millisecond(store: Store) -> None:
    """Wait until the clock of Redis shows another time."""
    now = await store.now()
    while await store.now() <= now:
        pass


@asynccontextmanager
async def rolled_back(redis: RedisClient, store: Store, *names: str) -> AsyncIterator[None]:
    """Let Redis lose what the block writes to some keys, as a failover to an old replica does."""
    values = {name: await redis.dump(name) for name in names}
    await a_millisecond(store)
    yield
    await a_millisecond(store)
    for name, value in values.items():
        await redis.delete(name)
        if value is not None:
            await redis.restore(name, 0, value)


async def test_open_room_is_stored_once(store: Store) -> None:
    race = new_race(private=True, before=RaceBefore("thursday"))
    assert await store.create_room(race, RoomSecret(DealSecret(SEED), b"salt\x00\xff", b"hash"))
    snapshot = await loaded(store)
    assert snapshot.race == race
    assert (snapshot.last_event, snapshot.spectator_count, snapshot.progress) == (0, 0, {})
    assert await store.load_secret("friday") == RoomSecret(DealSecret(SEED), b"salt\x00\xff", b"hash")
    assert not await store.create_room(replace(race, created=1_001), SECRET)
    assert await store.create_room(race, SECRET)  # the same request, sent again
    assert (await loaded(store)).race == race


async def test_compare_and_set_needs_current_version(store: Store) -> None:
    before = await opened(store)
    first = replace(before.race, racers=(ANA,))
    second = replace(before.race, racers=(BOB,))
    assert await store.compare_and_set(before, first, ("joined",), "ana")
    assert not await store.compare_and_set(before, second, ("joined",), "bob")
    snapshot = await loaded(store)
    (numbered,) = await events(store)
    assert (snapshot.race, snapshot.last_event) == (first, numbered.number)
    assert (numbered.previous, numbered.event) == (0, RaceChanged(first, ("joined",), "ana"))


async def test_version_is_not_reused_after_a_rollback(redis: RedisClient, store: Store) -> None:
    before = await opened(store)
    async with rolled_back(redis, store, keys.meta("friday")):
        assert await store.compare_and_set(before, replace(before.race, racers=(ANA,)), ("joined",), "ana")
        lost = await loaded(store)
    assert await store.compare_and_set(before, replace(before.race, racers=(BOB,)), ("joined",), "bob")
    assert not await store.compare_and_set(lost, replace(lost.race, phase="closed"), ("closed",), "")


async def test_version_of_a_reopened_code_is_new(redis: RedisClient, store: Store) -> None:
    first = await opened(store)
    await redis.delete(keys.meta("friday"))
    await a_millisecond(store)
    await opened(store, replace(first.race, created=first.race.created + 1))
    assert not await store.compare_and_set(first, replace(first.race, racers=(ANA,)), ("joined",), "ana")


@pytest.mark.parametrize("player", ["ana", "bob"])
@pytest.mark.parametrize("is_recovered", [False, True])
async def test_race_does_not_end_without_an_acked_action(store: Store, player: str, is_recovered: bool) -> None:
    """The standings belong to a snapshot, and an action that is committed after it would be missing in them."""
    await racing(store)
    generation = await store.connect_player("friday", player)
    assert (await store.commit(act(generation, player=player))).outcome == "ok"
    before = await loaded(store)
    late = act(generation, 1, player=player, committed_at=before.now if is_recovered else 0)
    assert (await store.commit(late)).outcome == "ok"
    ended = replace(before.race, phase="finished")
    events_before = await events(store)
    assert not await store.compare_and_set(before, ended, ("finished",), "")
    assert (await loaded(store)).race == before.race
    assert await events(store) == events_before
    assert await store.compare_and_set(await loaded(store), ended, ("finished",), "")
    assert (await loaded(store)).race == ended
    for committed_at in (0, before.now):
        after = act(generation, 2, player=player, committed_at=committed_at)
        assert (await store.commit(after)).outcome == "not_racing"
    assert len(await store.load_log("friday", player)) == 2


async def test_race_does_not_end_with_an_action_that_was_lost(redis: RedisClient, store: Store) -> None:
    generation = await racing(store)
    async with rolled_back(redis, store, keys.progress("friday", "ana"), keys.log("friday", "ana")):
        assert (await store.commit(act(generation))).outcome == "ok"
        before = await loaded(store)
    assert not await store.compare_and_set(before, replace(before.race, phase="finished"), ("finished",), "")


async def test_action_outdates_only_the_end_of_a_race(store: Store) -> None:
    generation = await racing(store)
    before = await loaded(store)
    assert (await store.commit(act(generation))).outcome == "ok"
    resigned = replace(before.race, racers=(ANA, replace(BOB, resigned=True)))
    assert await store.compare_and_set(before, resigned, ("resigned",), "bob")
    before = await loaded(store)
    ended = replace(before.race, phase="finished")
    assert await store.compare_and_set(before, ended, ("finished",), "")
    before = await loaded(store)
    assert await store.compare_and_set(before, replace(ended, next="saturday"), ("rematch",), "")


async def test_end_is_set_at_start_and_then_kept(store: Store) -> None:
    generation = await racing(store, limit=60_000)
    end = (await loaded(store)).race.ends
    finish = act(generation, finished=True, first_finish_ends=True)
    assert [(await store.commit(finish)).outcome for _ in range(2)] == ["ok", "repeated"]
    before = await loaded(store)
    assert before.race.ends < end
    assert (await store.load_races(["friday"]))[0] == before.race
    stale = replace(before.race, ends=end, racers=(replace(ANA, resigned=True), BOB))
    assert await store.compare_and_set(before, stale, ("resigned",), "ana")
    assert (await loaded(store)).race.ends == before.race.ends


async def test_indexes_follow_races(redis: RedisClient, store: Store) -> None:
    before = await opened(store)
    await opened(store, new_race("saturday", created=2_000, changed_at=2_000))
    assert await store.index.newest(10) == ["saturday", "friday"]
    assert await store.index.newest(1) == ["saturday"]
    assert await store.index.count() == 2
    due = due_at(before.race)
    assert await store.index.due(due - 1, 10) == []
    assert await store.index.due(due, 10) == ["friday"]
    assert await store.compare_and_set(before, replace(before.race, phase="closed"), ("closed",), "")
    assert await store.index.newest(10) == ["saturday"]
    assert await store.index.due(2 * due, 10) == ["saturday"]
    await store.index.remove_if_gone("saturday")
    assert await store.index.newest(10) == ["saturday"]  # it is still there
    await redis.delete(keys.meta("saturday"))
    await store.index.remove_if_gone("saturday")
    assert await store.index.count() == 0


async def test_outdated_race_does_not_delay_a_tick(store: Store) -> None:
    before = await opened(store)
    due = due_at(before.race)
    later = replace(before.race, changed_at=before.race.changed_at + 1_000)
    assert await store.compare_and_set(before, later, ("ready",), "")
    await store.index.update(replace(before.race, phase="racing", ends=50))
    await store.index.update(later)
    assert await store.index.due(50, 10) == ["friday"]
    await store.index.reschedule("friday", 49, due)
    assert await store.index.due(50, 10) == ["friday"]
    await store.index.reschedule("friday", 50, due)
    assert await store.index.due(due - 1, 10) == []
    assert await store.index.due(due, 10) == ["friday"]


async def test_closed_room_code_is_free_after_a_minute(redis: RedisClient, store: Store) -> None:
    generation = await racing(store)
    await store.commit(act(generation))
    await store.set_spectator_count("friday", "n1", 3)
    before = await loaded(store)
    assert await store.compare_and_set(before, replace(before.race, phase="closed"), ("closed",), "")
    left = [key async for key in redis.scan_iter(match="*{friday}*")]
    assert len(left) >= 5
    for key in left:
        assert 0 < await redis.ttl(key) <= CLOSED_LIFETIME, key
    assert not await store.create_room(new_race(created=9), SECRET)
    await redis.delete(keys.meta("friday"))
    assert await store.create_room(new_race(created=9), SECRET)
    assert (await loaded(store)).spectator_count == 0
    assert await store.load_events("friday", 0) == []


async def test_commit_updates_progress_log_and_events(store: Store) -> None:
    generation = await racing(store)
    head = (await loaded(store)).last_event
    verdict = await store.commit(act(generation, foundation_cards=3, moves=1))
    assert (verdict.outcome, verdict.revision) == ("ok", 1)
    run = await run_of(store)
    assert (run.revision, run.foundation_cards, run.moves, run.undos) == (1, 3, 1, 0)
    assert run.last_action_at == run.last_progress_at == run.last_seen == verdict.committed_at
    (entry,) = await store.load_log("friday", "ana")
    assert (entry.revision, entry.request, entry.action, entry.seen) == (1, 100, "draw", b"\x01\xff\x00")
    (numbered,) = await events(store, head)
    moved = MoveCommitted("ana", 1, "draw", b"\x01\xff\x00", 3, 1, 0, finished=False, no_moves_left=False)
    assert numbered == SequencedEvent(max(head + 1, verdict.committed_at), head, verdict.committed_at, moved)


async def test_clock_that_is_set_back_does_not_reorder_actions(redis: RedisClient, store: Store) -> None:
    """Redis seems to have had a later time at the player's last action."""
    generation = await racing(store)
    await store.commit(act(generation, foundation_cards=1))
    later = await store.now() + 30_000
    await redis.hset(keys.progress("friday", "ana"), "last_action_at", later)
    result = await store.commit(act(generation, 1, foundation_cards=2))
    assert (result.outcome, result.committed_at) == ("ok", later)
    run = await run_of(store)
    assert run.last_action_at == run.last_progress_at == later > run.last_seen
    assert [entry.committed_at for entry in await store.load_log("friday", "ana")][1:] == [later]
    assert (await events(store))[-1].time == later
    theirs = await store.connect_player("friday", "bob")
    assert (await store.commit(act(theirs, player="bob"))).committed_at < later
    await redis.hset(keys.progress("friday", "ana"), "last_action_at", (await loaded(store)).race.ends)
    assert (await store.commit(act(generation, 2))).outcome == "time_up"


def test_commit_outcomes_are_those_of_the_script() -> None:
    script = files("samedeal_server.store").joinpath("lua/commit_action.lua").read_text()
    body = re.sub(r"--[^\n]*", "", script)
    assert set(re.findall(r"return \{'(\w+)'", body)) == set(get_args(CommitOutcome))


async def test_commits_have_their_outcomes(redis: RedisClient, store: Store) -> None:
    """Commits after those of revisions 0 and 1, as the page says. The next test has other races."""
    given = values_on("commit_outcomes", {"dict": dict})

    async def answer(_: str, question: str) -> str:
        await redis.flushall()
        outcome = await third_commit(store, **given[question])
        assert len(await store.load_log("friday", "ana")) == 2 + (outcome == "ok")
        return outcome

    await assert_answered("commit_outcomes", answer)


async def test_core_commits_as_the_script_does(redis: RedisClient, store: Store) -> None:
    """Ghosts and stand-ins for the server commit moves by ``moving.commit``, and nodes by the script."""
    states = product(("countdown", "racing", "finished"), (False, True), ("", "finished_at", "no_moves_left_at"))
    moves = product((1_999, 2_000, 60_999, 61_000), (4, 5, 6), (3, 4), ("", "finished", "no_moves_left"), (False, True))
    ran = Counter[str]()
    for (phase, resigned, done), (at, revision, cards, effect, first_finish_ends) in Random(1).sample(
        list(product(states, moves)), 160
    ):
        await redis.flushall()
        options = Options(first_finish_ends=first_finish_ends)
        generation = await racing(
            store, phase=phase, starts=2_000, ends=61_000, racers=(replace(ANA, resigned=resigned),), options=options
        )
        counts = {"revision": 4, "foundation_cards": 3, "moves": 3, "undos": 1, "last_progress_at": 2_000}
        await redis.hset(keys.progress("friday", "ana"), mapping=counts | ({done: 2_000} if done else {}))
        given = await loaded(store)
        commit = act(generation, revision - 1, foundation_cards=cards, moves=4, undos=1, committed_at=at)
        moved = replace(commit.moved, **{effect: True} if effect else {})
        result = await store.commit(replace(commit, moved=moved, first_finish_ends=first_finish_ends))
        told, race, progress = "ok", given.race, given.progress["ana"]
        try:
            race, progress = moving.commit(race, progress, moved, at)
        except RequestRefused as refused:
            told = refused.code
        outcome = result.outcome
        assert outcome != "repeated"
        assert told == (outcome if outcome == "ok" else commit_refused(outcome).code)
        ran[outcome] += 1
        after = await loaded(store)
        assert (after.race, after.progress["ana"]) == (
            race,
            replace(progress, last_seen=after.progress["ana"].last_seen),
        )
    assert set(ran) == {"ok", "stale", "not_racing", "time_up", "already_finished"}


def told_by(judge: Callable[[], object]) -> str:
    """What the core says to a request: a code, or ok."""
    try:
        judge()
    except RequestRefused as refused:
        return refused.code
    return "ok"


async def test_core_judges_attempts_as_the_scripts_do(redis: RedisClient, store: Store) -> None:
    """In a window, each player's time is their own: of ten seconds here."""
    phases: tuple[Phase, ...] = ("countdown", "racing", "finished")
    cases = product(phases, (False, True), (0, 30_000), (1_999, 29_999, 30_000, 39_999, 40_000, 60_999, 61_000))
    ran = Counter[str]()
    for phase, resigned, began, at in cases:
        await redis.flushall()
        race = new_race(window=3_600, options=Options(limit=10), draw=DrawProgress(found=True))
        racers = (replace(ANA, resigned=resigned),)
        before = await opened(store, race)
        race = replace(race, phase=phase, starts=2_000, ends=61_000, racers=racers)
        assert await store.compare_and_set(before, race, ("racing",), "")
        generation = await store.connect_player("friday", "ana")
        await redis.hset(keys.progress("friday", "ana"), "began_at", began)
        given = await loaded(store)
        moved = replace(act(generation, committed_at=at), own_limit=10_000)
        beginning, committed = await store.begin_attempt("friday", "ana", generation, at), await store.commit(moved)
        begun = await run_of(store)
        told = (
            told_by(partial(moving.begin, given.race, given.progress["ana"], "ana", at)),
            told_by(partial(moving.commit, given.race, replace(begun, revision=0), moved.moved, at)),
        )
        assert (beginning.outcome, committed.outcome) == told, (phase, resigned, began, at)
        assert not beginning.committed_at or beginning.committed_at == begun.began_at
        ran.update(told)
    assert set(ran) == {"ok", "not_racing", "time_up", "already_finished"}


async def third_commit(store: Store, **commit: Any) -> CommitOutcome:
    generation = await racing(store)
    first = [await store.commit(act(generation, revision)) for revision in (0, 1)]
    log, head = await store.load_log("friday", "ana"), (await loaded(store)).last_event
    result = await store.commit(act(**{"generation": generation, **commit}))
    if result.outcome == "repeated":
        entry = log[commit["revision"]]
        assert result == CommitResult("repeated", entry.committed_at, entry.revision)
        assert entry.committed_at == first[commit["revision"]].committed_at
    if result.outcome == "stale":
        assert result.revision == 2
    if result.outcome != "ok":
        assert await store.load_log("friday", "ana") == log
        assert (await loaded(store)).last_event == head
    return result.outcome


async def test_joint_race_starts_only_with_its_deal(store: Store) -> None:
    found = FoundDeal(0, (), 3, "1 2")
    generation = await racing(store, deal="winnable", phase="countdown")
    before = await loaded(store)
    assert before.race.ends == before.race.starts + 60_000
    assert (await store.commit(act(generation))).outcome == "not_racing"
    assert (await store.load_secret("friday")) == SECRET
    race = changed(before.race, found=True)
    assert await store.compare_and_set(before, race, ("deal_found",), "", found)
    assert (await loaded(store)).race == race
    assert (await store.load_secret("friday")) == RoomSecret(DealSecret(SEED, found), b"salt", b"")
    assert (await store.commit(act(generation))).outcome == "ok"


@pytest.mark.parametrize(
    ("due", "next_tick", "then"),
    [(900, 2_000, 2_000), (1_500, 2_000, 1_500), (3_000, 2_000, 2_000), (1_000, 1_001, 1_001)],
    ids=["overdue", "earlier", "later", "just due"],
)
async def test_next_tick_is_the_earliest_to_come(store: Store, due: int, next_tick: int, then: int) -> None:
    await store.index.reschedule("friday", 1_000, next_tick)
    assert await store.index.due(9_999, 1) == []  # a room that is gone is not scheduled
    await store.index.update(new_race(phase="countdown", starts=due))
    await store.index.reschedule("friday", 1_000, next_tick)
    assert await store.index.due(then, 1) == ["friday"]
    assert await store.index.due(then - 1, 1) == []


async def test_race_that_ends_early_is_ticked_again_soon(store: Store) -> None:
    """The node that ends it may die before it has made the record."""
    await racing(store, limit=3_600_000)
    before = await loaded(store)
    await store.index.reschedule("friday", before.now, before.race.ends)
    assert await store.index.due(before.now + LEASE, 1) == []
    finished = changed(before.race, phase="finished", finished_at=before.now, changed_at=before.now)
    assert await store.compare_and_set(before, finished, ("finished",), "")
    assert await store.index.due(before.now + LEASE, 1) == ["friday"]


async def test_losing_a_seat_deletes_the_players_keys(redis: RedisClient, store: Store) -> None:
    generation = await racing(store)
    assert (await store.commit(act(generation))).outcome == "ok"
    before = await loaded(store)
    assert await store.compare_and_set(before, replace(before.race, racers=(BOB,)), ("left",), "ana")
    assert await redis.exists(keys.progress("friday", "ana"), keys.log("friday", "ana")) == 0
    assert (await store.commit(act(generation, 1))).outcome == "fenced"
    assert await store.connect_player("friday", "ana") == 0
    assert await redis.exists(keys.progress("friday", "ana")) == 0


@pytest.mark.parametrize("name", ["ana", "ŋ" * 20])
async def test_line_in_the_table_is_no_seat(redis: RedisClient, store: Store, name: str) -> None:
    """The table of a series has players of earlier races, who have no seat in this one."""
    lines = tuple(TableLine(place, player, name, 1, 1.0, 60_000) for place, player in ((1, "ana"), (2, "eve")))
    await racing(store, before=RaceBefore("monday", table=lines), racers=(replace(ANA, name=name), BOB))
    assert await store.connect_player("friday", "ana")
    assert await store.connect_player("friday", "bob")
    assert await store.connect_player("friday", "eve") == 0
    assert await redis.exists(keys.progress("friday", "eve")) == 0


async def test_repeated_commit_writes_too(redis: RedisClient, store: Store) -> None:
    """WAIT is documented to cover only what its own connection has written. Without a write it would cover nothing."""
    generation = await racing(store)
    await store.commit(act(generation))
    await redis.hset(keys.progress("friday", "ana"), "last_seen", 0)
    assert (await store.commit(act(generation))).outcome == "repeated"
    assert (await run_of(store)).last_seen > 0


async def test_unknown_scripts_are_sent_again(redis: RedisClient, store: Store) -> None:
    generation = await racing(store)
    await redis.script_flush()
    verdicts = await asyncio.gather(*(store.commit(act(generation, revision)) for revision in range(3)))
    assert [verdict.outcome for verdict in verdicts] == ["ok"] * 3
    await redis.script_flush()
    assert await store.connect_player("friday", "ana") > generation
    await redis.script_flush()
    before = await loaded(store)
    assert await store.compare_and_set(before, replace(before.race, racers=(ANA,)), ("left",), "bob")


async def test_commits_keep_order_if_a_script_is_loaded_meanwhile(
    redis: RedisClient, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    generation = await racing(store)
    await redis.script_flush()
    execute = store.redis.try_execute

    async def execute_slowly(commands: Sequence[RedisCommand], **options: Any) -> list[Any]:
        """Execute the first half as a Redis that knows no scripts, and the rest after another client has loaded them."""
        monkeypatch.undo()
        half = len(commands) // 2
        first = await execute(commands[:half], **options)
        for source in Script.sources.values():
            await redis.script_load(source)
        return first + await execute(commands[half:], **options)

    monkeypatch.setattr(store.redis, "try_execute", execute_slowly)
    results = await asyncio.gather(*(store.commit(act(generation, revision)) for revision in range(200)))
    assert [result.outcome for result in results] == ["ok"] * 200


async def test_nodes_agree_on_the_receipt_key_after_its_loss(redis: RedisClient, node: NodeMaker) -> None:
    one = await node()
    key = one.store.receipt_key
    await redis.flushdb()
    await one.upkeep.repair()
    other = await node()
    assert one.store.receipt_key == other.store.receipt_key == key
    await redis.set(keys.RECEIPT_KEY, b"another key")  # a node has started before the others repaired the store
    await one.upkeep.repair()
    assert one.store.receipt_key == b"another key"


async def test_generations_never_repeat_in_a_reused_room_code(redis: RedisClient, store: Store) -> None:
    first = await racing(store)
    assert await store.connect_player("friday", "ana") > first
    await redis.flushall()
    await a_millisecond(store)
    assert await racing(store) > first + 1


async def test_presence_is_recorded_for_newest_connection_only(store: Store) -> None:
    old = await racing(store)
    new = await store.connect_player("friday", "ana")
    head = (await loaded(store)).last_event
    assert await store.record_absence("friday", "ana", old) == new
    assert (await run_of(store)).connected
    assert await store.record_absence("friday", "ana", new) == new
    assert not (await run_of(store)).connected
    assert await store.record_present([("friday", "ana", new)]) == [new]
    assert (await run_of(store)).connected
    assert [each.event for each in await events(store, head)] == [PresenceChanged("ana", new, connected=False)]


async def test_spectators_are_counted_over_all_nodes(redis: RedisClient, store: Store) -> None:
    await opened(store)
    assert await store.set_spectator_count("friday", "n1", 2) == 2
    assert await store.set_spectator_count("friday", "n2", 1) == 3
    assert await store.set_spectator_count("friday", "n2", 1) == 3
    assert await store.set_spectator_count("friday", "n1", 0) == 1
    assert (await loaded(store)).spectator_count == 1
    await redis.hset(keys.spectators("friday"), "n3", "7 1")  # a node that died long ago
    assert await store.set_spectator_count("friday", "n2", 1) == 1
    assert [each.event for each in await events(store)] == [SpectatorCount(2), SpectatorCount(3), SpectatorCount(1)]


async def test_missing_room_gets_no_keys(redis: RedisClient, store: Store) -> None:
    generation = await racing(store)
    await redis.delete(keys.meta("friday"))
    assert await store.connect_player("friday", "ana") == 0
    assert await store.record_absence("friday", "ana", generation) == -1
    assert await store.set_spectator_count("friday", "n1", 1) == 0
    assert (await store.commit(act(generation))).outcome == "no_room"
    assert await redis.exists(keys.meta("friday"), keys.spectators("friday"), keys.log("friday", "ana")) == 0


async def test_each_event_names_the_one_before_it(store: Store) -> None:
    generation = await racing(store)
    await asyncio.gather(
        *(store.commit(act(generation, revision)) for revision in range(20)),
        *(store.set_spectator_count("friday", f"n{number}", 1) for number in range(20)),
    )
    found = await events(store)
    numbers = [0, *(each.number for each in found)]
    assert len(found) == 42
    assert numbers == sorted(set(numbers))
    assert numbers[:-1] == [each.previous for each in found]
    assert (await loaded(store)).last_event == numbers[-1]


@pytest.mark.parametrize(("after", "found"), [(0, None), (2, None), (3, [4, 5]), (4, [5]), (5, []), (6, None)])
async def test_gap_in_events_is_detected(redis: RedisClient, store: Store, after: int, found: list[int] | None) -> None:
    await opened(store)
    for number in range(5):
        await store.set_spectator_count("friday", "n1", number + 1)
    numbers = [0, *(each.number for each in await events(store))]
    numbers.append(numbers[-1] + 1)
    await redis.xtrim(keys.events("friday"), maxlen=2, approximate=False)
    got = await store.load_events("friday", numbers[after])
    assert (None if got is None else [each.number for each in got]) == (found and [numbers[each] for each in found])


async def test_event_numbers_are_not_reused_after_a_rollback(redis: RedisClient, store: Store) -> None:
    """Numbers of lost events are never reused, so that a node that saw such an event notices the rollback."""
    await opened(store)
    await store.set_spectator_count("friday", "n1", 1)
    async with rolled_back(redis, store, keys.meta("friday"), keys.events("friday")):
        await store.set_spectator_count("friday", "n1", 2)
        seen = (await loaded(store)).last_event
    assert await store.load_events("friday", seen) is None
    await store.set_spectator_count("friday", "n1", 3)
    assert (await loaded(store)).last_event > seen
    assert await store.load_events("friday", seen) is None


async def test_deleted_event_stream_is_a_gap(redis: RedisClient, store: Store) -> None:
    await racing(store)
    first, second = [each.number for each in await events(store)]
    await redis.delete(keys.events("friday"))
    assert await store.load_events("friday", 0) is None
    assert await store.load_events("friday", first) is None
    assert await store.load_events("friday", second) == []


async def test_announced_events_equal_stream_events(redis: RedisClient, store: Store) -> None:
    await opened(store)
    listener = Listener(store.redis)
    await listener.subscribe("friday")
    async with asyncio.timeout(5), aclosing(listener.announcements()) as announcements:
        while await anext(announcements) != Announcement("friday"):
            pass
        other = redis.pubsub()
        await other.ssubscribe(keys.channel("friday"))
        await redis.delete(keys.meta("friday"))
        generation = await racing(store)
        await store.commit(act(generation))
        await store.record_absence("friday", "ana", generation)
        await store.set_spectator_count("friday", "n1", 1)
        announced: list[SequencedEvent] = []
        while len(announced) < 5:
            announcement = await anext(announcements)
            # The tests share a Redis. A node of an earlier test may still announce something to all nodes.
            if announcement.room:
                assert announcement.event is not None
                announced.append(announcement.event)
    assert announced == await events(store)


async def test_all_room_and_session_keys_expire(redis: RedisClient, store: Store) -> None:
    """Invariant: everything is bounded. Of these keys, only the two indexes never expire."""
    generation = await racing(store)
    await store.connect_player("friday", "bob")
    await store.commit(act(generation))
    await store.set_spectator_count("friday", "n1", 1)
    await store.sessions.begin("")
    found = {key.decode() async for key in redis.scan_iter()}
    assert {keys.meta("friday"), keys.secret("friday"), keys.events("friday"), keys.spectators("friday")} < found
    assert {keys.progress("friday", "ana"), keys.progress("friday", "bob"), keys.log("friday", "ana")} < found
    for key in found - {keys.ROOMS, keys.LISTED, keys.DUE}:
        kept = await redis.ttl(key)
        assert kept > 0, key
        assert kept <= LIFETIME or key.startswith(keys.session("")), key


async def test_room_that_waits_for_its_race_stays_small(redis: RedisClient, store: Store) -> None:
    """Invariant: everything is bounded, even the events of eight players who change their minds again and again."""
    racers = tuple(Racer(f"p{seat}", f"a player with a name {seat}", seat) for seat in range(1, 9))
    room = await opened(store, new_race(racers=racers))
    for number in range(3 * WAITING_STREAM_LENGTH):
        race, changes = apply(room.race, ReadyCommand("p1", ready=number % 2 == 0), 1_000 + number)
        assert await store.compare_and_set(room, race, changes, "p1")
        room = await loaded(store)
    sizes = [await redis.memory_usage(key) or 0 async for key in redis.scan_iter(f"{keys.channel('friday')}*")]
    assert await redis.xlen(keys.events("friday")) >= WAITING_STREAM_LENGTH
    assert sum(sizes) < 40_000


async def test_waiting_room_keeps_fewer_of_large_events(redis: RedisClient, store: Store) -> None:
    room = await opened(store, new_race(racers=(ANA,)))
    for number in range(WAITING_STREAM_LENGTH):
        kicked = tuple(f"{number:02}-{each:08}" for each in range(100))
        assert await store.compare_and_set(room, replace(room.race, kicked=KickedPlayers(kicked)), ("kicked",), "")
        room = await loaded(store)
    assert (
        0.5 * WAITING_STREAM_SIZE < (await redis.memory_usage(keys.events("friday")) or 0) < 1.5 * WAITING_STREAM_SIZE
    )


async def lifetimes(redis: RedisClient, family: str) -> list[int]:
    """The remaining lifetimes of all keys with a prefix, in seconds."""
    return [await redis.ttl(key) async for key in redis.scan_iter(f"samedeal:{family}:*")]


async def test_session_is_extended_on_entering_a_room(redis: RedisClient, store: Store) -> None:
    session = await store.sessions.begin("")
    assert (session.extended, await lifetimes(redis, "session"), len(await lifetimes(redis, "guest"))) == (False, [], 1)
    again = await store.sessions.begin(session.token)
    assert (again.extended, await lifetimes(redis, "session")) == (False, [])
    assert all(0 < left <= GUEST_LIFETIME for left in await lifetimes(redis, "guest"))
    assert (await store.sessions.extend(again)).extended
    assert [GUEST_LIFETIME < left <= SESSION_LIFETIME for left in await lifetimes(redis, "session")] == [True]
    async for key in redis.scan_iter("samedeal:guest:*"):
        await redis.delete(key)
    kept = await store.sessions.begin(session.token)
    assert (kept.player, kept.extended) == (session.player, True)


async def test_only_the_token_resumes_a_session(redis: RedisClient, store: Store) -> None:
    session = await store.sessions.extend(await store.sessions.begin(""))
    names = [key.decode() async for key in redis.scan_iter("samedeal:*:*")]
    values = [(await redis.get(name)).decode() for name in names]
    parts = [part for name in names for part in name.split(":")]
    for other in (session.player, session.token.upper(), session.token[:-1], *names, *values, *parts):
        with refused(RefusalCode.NO_SESSION):
            await store.sessions.begin(other)


async def test_news_whose_answer_was_lost_are_told_once(store: Store) -> None:
    first, second = (RaceNews(event="opened", time=time, room=room_line(new_race())) for time in (1, 2))
    for news in (first, first, second, first):
        await store.news.add(news)
    assert [news for _, news in await store.news.after(NewsId(0, 0))] == [first, second]
