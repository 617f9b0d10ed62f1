"""What Redis keeps: each script's every outcome, on a real Redis."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from importlib.resources import files
from typing import Any

import pytest
from msgspec.structs import replace
from redis.crc import key_slot
from redis.exceptions import ConnectionError as LostConnection

from samedeal.deal import commitment
from samedeal.errors import Refused
from samedeal.options import Options
from samedeal_server import sessions
from samedeal_server.race import Race, Racer, Run
from samedeal_server.store import keys
from samedeal_server.store.commits import Commit, GroupCommit, Verdict
from samedeal_server.store.connect import connect
from samedeal_server.store.events import Changed, Moved, Numbered, Presence, Watched, read, read_announced, write
from samedeal_server.store.redis import (
    CLOSED_LIFETIME,
    GUEST_LIFETIME,
    LIFETIME,
    SESSION_LIFETIME,
    Secret,
    Snapshot,
    Store,
)

SEED = bytes(range(32))
SECRET = Secret(SEED, b"salt", b"")
ANA = Racer("ana", "Ana", 1)
BOB = Racer("bob", "Bob", 2)


@pytest.fixture
async def store(redis_url: str) -> AsyncIterator[Store]:
    async with connect(redis_url) as redis:
        yield Store(redis)


def new_race(room: str = "friday", **fields: Any) -> Race:
    race = Race(
        room=room,
        options=Options(),
        round=0,
        deal="random",
        commitment=commitment(SEED),
        private=False,
        created=1_000,
        idle=1_000,
    )
    return replace(race, **fields)


async def opened(store: Store, race: Race | None = None) -> Snapshot:
    race = race or new_race()
    assert await store.open(race, SECRET)
    return await loaded(store, race.room)


async def loaded(store: Store, room: str = "friday") -> Snapshot:
    snapshot = await store.load(room)
    assert snapshot is not None
    return snapshot


async def racing(store: Store, *, limit: int = 60_000, starts_in: int = -10, **fields: Any) -> int:
    """A room in which ana and bob race; returns ana's generation."""
    before = await opened(store)
    starts = before.now + starts_in
    race = replace(before.race, phase="racing", racers=(ANA, BOB), starts=starts, ends=starts + limit, **fields)
    assert await store.settle(before, race, ("racing",), "")
    return await store.attach("friday", "ana")


def act(generation: int, revision: int = 0, action: str = "draw", **fields: Any) -> Commit:
    """An action of ana's: her request is 100 and the revision unless it is given."""
    commit = Commit(
        room="friday",
        player="ana",
        generation=generation,
        revision=revision,
        request=100 + revision,
        action=action,
        seen=b"\x01\xff\x00",
        up=revision + 1,
        moves=revision + 1,
        undos=0,
        home=False,
        over=False,
        first_home_ends=False,
    )
    return replace(commit, **fields)


async def run_of(store: Store, player: str = "ana") -> Run:
    return (await loaded(store)).runs[player]


async def events(store: Store, after: int = 0) -> list[Numbered]:
    found = await store.events("friday", after)
    assert found is not None
    return found


async def a_millisecond(store: Store) -> None:
    """Wait until Redis's clock, which is the one that counts, shows another time."""
    now = await store.now()
    while await store.now() <= now:
        pass


# ---------------------------------------------------------------- rooms


async def test_a_room_is_opened_once_and_reads_as_it_was_written(store: Store) -> None:
    race = new_race(private=True, follows="thursday")
    assert await store.open(race, Secret(SEED, b"salt\x00\xff", b"hash"))
    snapshot = await loaded(store)
    assert snapshot.race == race
    assert (snapshot.version, snapshot.event, snapshot.watching, snapshot.runs) == (1, 0, 0, {})
    assert await store.secret("friday") == Secret(SEED, b"salt\x00\xff", b"hash")
    assert not await store.open(replace(race, created=1_001), SECRET)
    assert (await loaded(store)).race == race


async def test_an_open_that_is_sent_again_is_ones_own(store: Store) -> None:
    assert await store.open(new_race(), SECRET)
    assert await store.open(new_race(), SECRET)
    assert (await loaded(store)).version == 1


async def test_what_is_not_there_is_none(store: Store) -> None:
    assert await store.load("friday") is None
    assert await store.secret("friday") is None
    assert await store.races(["friday"]) == [None]
    assert await store.events("friday", 0) is None
    assert await store.session("nobody") is None


async def test_a_race_is_settled_only_against_the_version_that_it_was_made_from(store: Store) -> None:
    before = await opened(store)
    first = replace(before.race, racers=(ANA,))
    second = replace(before.race, racers=(BOB,))
    assert await store.settle(before, first, ("joined",), "ana")
    assert not await store.settle(before, second, ("joined",), "bob")
    snapshot = await loaded(store)
    (numbered,) = await events(store)
    assert (snapshot.race, snapshot.version, snapshot.event) == (first, 2, numbered.number)
    assert (numbered.after, numbered.event) == (0, Changed(first, ("joined",), "ana"))


async def test_of_many_who_settle_at_once_one_does(store: Store) -> None:
    before = await opened(store)
    races = [replace(before.race, racers=(Racer(f"p{n}", f"P{n}", 1),)) for n in range(20)]
    settled = await asyncio.gather(*(store.settle(before, race, ("joined",), "") for race in races))
    assert sum(settled) == 1
    assert (await loaded(store)).race == races[settled.index(True)]


async def test_a_race_that_starts_gets_its_end_and_one_that_goes_on_keeps_it(store: Store) -> None:
    generation = await racing(store, limit=60_000)
    end = (await loaded(store)).race.ends
    await store.commit(act(generation, home=True, first_home_ends=True))
    before = await loaded(store)
    assert before.race.ends < end
    assert (await store.races(["friday"]))[0] == before.race
    stale = replace(before.race, ends=end, racers=(replace(ANA, out=True), BOB))
    assert await store.settle(before, stale, ("resigned",), "ana")
    assert (await loaded(store)).race.ends == before.race.ends


async def test_the_indexes_say_what_races_say(store: Store) -> None:
    before = await opened(store)
    await opened(store, new_race("saturday", created=2_000, idle=2_000))
    assert await store.newest_rooms(10) == ["saturday", "friday"]
    assert await store.newest_rooms(1) == ["saturday"]
    assert await store.count_rooms() == 2
    due = before.race.due()
    assert await store.due_rooms(due - 1, 10) == []
    assert await store.due_rooms(due, 10) == ["friday"]
    assert await store.settle(before, replace(before.race, phase="closed"), ("closed",), "")
    assert await store.newest_rooms(10) == ["saturday"]
    assert await store.due_rooms(2 * due, 10) == ["saturday"]
    await store.forget("saturday")
    assert await store.newest_rooms(10) == ["saturday"]  # it is still there
    await store.redis.delete(keys.meta("saturday"))
    await store.forget("saturday")
    assert await store.count_rooms() == 0


async def test_a_closed_room_s_code_is_free_when_its_minute_is_over_and_nothing_of_it_is_left(store: Store) -> None:
    generation = await racing(store)
    await store.commit(act(generation))
    await store.watched("friday", "n1", 3)
    before = await loaded(store)
    assert await store.settle(before, replace(before.race, phase="closed"), ("closed",), "")
    left = [key async for key in store.redis.scan_iter(match="*{friday}*")]
    assert len(left) >= 5
    for key in left:
        assert 0 < await store.redis.ttl(key) <= CLOSED_LIFETIME, key
    assert not await store.open(new_race(created=9), SECRET)
    await store.redis.delete(keys.meta("friday"))
    assert await store.open(new_race(created=9), SECRET)
    assert (await loaded(store)).watching == 0
    assert await store.events("friday", 0) == []


# ---------------------------------------------------------------- commits


async def test_an_action_is_committed_with_everything_it_changes(store: Store) -> None:
    generation = await racing(store)
    head = (await loaded(store)).event
    verdict = await store.commit(act(generation, up=3, moves=1))
    assert (verdict.outcome, verdict.revision) == ("ok", 1)
    run = await run_of(store)
    assert (run.revision, run.up, run.moves, run.undos) == (1, 3, 1, 0)
    assert run.active == run.risen == run.here == verdict.at
    (entry,) = await store.log("friday", "ana")
    assert (entry.revision, entry.request, entry.action, entry.seen) == (1, 100, "draw", b"\x01\xff\x00")
    (numbered,) = await events(store, head)
    moved = Moved("ana", 1, "draw", b"\x01\xff\x00", 3, 1, 0, home=False, over=False)
    assert numbered == Numbered(max(head + 1, verdict.at), head, verdict.at, moved)


async def test_a_move_that_brings_no_card_up_leaves_when_the_last_one_went_up(store: Store) -> None:
    generation = await racing(store)
    risen = (await store.commit(act(generation, up=1))).at
    await a_millisecond(store)
    later = (await store.commit(act(generation, 1, up=1))).at
    run = await run_of(store)
    assert run.risen == risen < later == run.active


@pytest.mark.parametrize(
    ("commit", "outcome"),
    [
        ({"revision": 2}, "ok"),
        ({"revision": 0}, "again"),
        ({"revision": 1}, "again"),
        ({"revision": 1, "request": 999}, "stale"),
        ({"revision": 1, "action": "3 5"}, "stale"),
        ({"revision": 3}, "stale"),
        ({"revision": 2, "generation": -1}, "fenced"),
        ({"revision": 0, "generation": -1}, "fenced"),
        ({"revision": 2, "player": "cid"}, "fenced"),
        ({"revision": 2, "room": "saturday"}, "no_room"),
    ],
)
async def test_what_becomes_of_a_commit_after_two(store: Store, commit: dict[str, Any], outcome: str) -> None:
    generation = await racing(store)
    first = [await store.commit(act(generation, revision)) for revision in (0, 1)]
    log, head = await store.log("friday", "ana"), (await loaded(store)).event
    verdict = await store.commit(replace(act(generation), **{"request": 100 + commit["revision"], **commit}))
    assert verdict.outcome == outcome
    if outcome == "again":
        entry = log[commit["revision"]]
        assert verdict == Verdict("again", first[commit["revision"]].at, entry.revision, entry)
    if outcome == "stale":
        assert verdict.revision == 2
    if outcome != "ok":
        assert await store.log("friday", "ana") == log
        assert (await loaded(store)).event == head


@pytest.mark.parametrize(
    ("phase", "starts_in", "limit", "outcome"),
    [
        ("racing", -10, 60_000, "ok"),
        ("countdown", -10, 60_000, "ok"),  # run out, though nobody has said so yet
        ("countdown", 5_000, 60_000, "not_racing"),
        ("open", 0, 0, "not_racing"),
        ("finished", -10, 60_000, "not_racing"),
        ("racing", -10, 10, "time_up"),
        ("racing", -10, 5, "time_up"),
    ],
)
async def test_nothing_counts_before_the_start_and_after_the_end(
    store: Store, phase: str, starts_in: int, limit: int, outcome: str
) -> None:
    before = await opened(store)
    starts = before.now + starts_in if limit else 0
    race = replace(before.race, phase=phase, racers=(ANA,), starts=starts, ends=starts + limit)
    await store.settle(before, race, (phase,), "")
    generation = await store.attach("friday", "ana")
    assert (await store.commit(act(generation))).outcome == outcome
    assert len(await store.log("friday", "ana")) == (outcome == "ok")


@pytest.mark.parametrize("last", [{"home": True}, {"over": True}])
async def test_who_is_home_or_over_does_nothing_more(store: Store, last: dict[str, Any]) -> None:
    generation = await racing(store)
    at = (await store.commit(act(generation, **last))).at
    assert (await store.commit(act(generation, 1))).outcome == "done"
    assert (await store.commit(act(generation, 1, "undo"))).outcome == "done"
    assert (await store.commit(act(generation, **last))).outcome == "again"
    run = await run_of(store)
    assert (run.home, run.over) == ((at, 0) if "home" in last else (0, at))


async def test_who_resigned_does_nothing_more(store: Store) -> None:
    generation = await racing(store)
    before = await loaded(store)
    await store.settle(before, replace(before.race, racers=(replace(ANA, out=True), BOB)), ("resigned",), "ana")
    assert (await store.commit(act(generation))).outcome == "done"


async def test_the_first_home_ends_the_race_for_all_where_the_room_says_so(store: Store) -> None:
    generation = await racing(store)
    theirs = await store.attach("friday", "bob")
    at = (await store.commit(act(generation, home=True, first_home_ends=True))).at
    assert (await loaded(store)).race.ends == at
    assert (await store.commit(act(theirs, player="bob"))).outcome == "time_up"


async def test_an_older_connection_is_fenced_by_a_newer_one(store: Store) -> None:
    """Invariant 5: two tabs, or a node that woke up late, can't both write."""
    old = await racing(store)
    assert (await store.commit(act(old))).outcome == "ok"
    new = await store.attach("friday", "ana")
    assert new > old
    assert (await store.commit(act(old, 1))).outcome == "fenced"
    assert (await store.commit(act(old))).outcome == "fenced"
    assert (await store.commit(act(new))).outcome == "again"
    assert (await store.commit(act(new, 1))).outcome == "ok"


async def test_of_two_copies_of_a_move_at_once_one_counts(store: Store) -> None:
    """Invariant 6: sent again, it gets the first answer again."""
    generation = await racing(store)
    verdicts = await asyncio.gather(*(store.commit(act(generation)) for _ in range(10)))
    assert sorted(verdict.outcome for verdict in verdicts) == ["again"] * 9 + ["ok"]
    assert len({verdict.at for verdict in verdicts}) == 1
    assert len(await store.log("friday", "ana")) == 1


async def test_who_comes_while_a_batch_finds_the_store_away_waits_no_longer_than_it() -> None:
    sent: list[int] = []
    under_way, away = asyncio.Event(), asyncio.Event()

    async def send(batch: list[Commit]) -> list[Verdict | Exception]:
        sent.append(len(batch))
        under_way.set()
        if len(sent) == 1:
            await away.wait()
            return [LostConnection("away")] * len(batch)
        return [Verdict("ok")] * len(batch)

    commits = GroupCommit(send)
    one = Commit("friday", "ana", 1, 0, 1, "3 5", b"", 0, 1, 0, home=False, over=False, first_home_ends=False)
    first = asyncio.create_task(commits.commit(one))
    await under_way.wait()
    others = [asyncio.create_task(commits.commit(one)) for _ in range(3)]
    await asyncio.sleep(0)
    away.set()
    found = await asyncio.gather(first, *others, return_exceptions=True)
    assert [type(each) for each in found] == [LostConnection] * 4
    assert sent == [1]
    assert (await commits.commit(one)).outcome == "ok"


async def test_a_batch_has_a_verdict_for_each(store: Store) -> None:
    generation = await racing(store)
    commits = [act(generation, revision) for revision in range(400)] + [act(-1)]
    verdicts = await asyncio.gather(*map(store.commit, commits))
    assert [verdict.outcome for verdict in verdicts] == ["ok"] * 400 + ["fenced"]
    assert [entry.revision for entry in await store.log("friday", "ana", 399)] == [399, 400]
    assert [entry.revision for entry in await store.log("friday", "ana", 1, 2)] == [1, 2]


async def test_scripts_that_redis_has_forgotten_are_sent_again(store: Store) -> None:
    generation = await racing(store)
    await store.redis.script_flush()
    verdicts = await asyncio.gather(*(store.commit(act(generation, revision)) for revision in range(3)))
    assert [verdict.outcome for verdict in verdicts] == ["ok"] * 3
    await store.redis.script_flush()
    assert await store.attach("friday", "ana") > generation
    await store.redis.script_flush()
    before = await loaded(store)
    assert await store.settle(before, replace(before.race, racers=(ANA,)), ("left",), "bob")


# ---------------------------------------------------------------- who is there


async def test_generations_rise_and_never_come_twice_even_when_a_room_of_the_same_code_does(store: Store) -> None:
    first = await racing(store)
    assert await store.attach("friday", "ana") > first
    await store.redis.flushall()
    await a_millisecond(store)
    assert await racing(store) > first + 1


async def test_presence_is_told_for_the_newest_connection_only(store: Store) -> None:
    old = await racing(store)
    new = await store.attach("friday", "ana")
    head = (await loaded(store)).event
    assert await store.presence("friday", "ana", old, here=False, tell=True) == new
    assert (await run_of(store)).here > 0
    assert await store.presence("friday", "ana", new, here=False, tell=True) == new
    assert (await run_of(store)).here < 0
    assert await store.presence("friday", "ana", new, here=True, tell=False) == new
    assert (await run_of(store)).here > 0
    assert [each.event for each in await events(store, head)] == [Presence("ana", new, here=False)]


async def test_watchers_are_counted_over_all_nodes_and_told_when_their_number_changes(store: Store) -> None:
    await opened(store)
    assert await store.watched("friday", "n1", 2) == 2
    assert await store.watched("friday", "n2", 1) == 3
    assert await store.watched("friday", "n2", 1) == 3
    assert await store.watched("friday", "n1", 0) == 1
    assert (await loaded(store)).watching == 1
    await store.redis.hset(keys.watchers("friday"), "n3", "7 1")  # a node that died long ago
    assert await store.watched("friday", "n2", 1) == 1
    assert [each.event for each in await events(store)] == [Watched(2), Watched(3), Watched(1)]


async def test_nothing_is_made_for_a_room_that_is_no_more(store: Store) -> None:
    generation = await racing(store)
    await store.redis.delete(keys.meta("friday"))
    assert await store.attach("friday", "ana") == 0
    assert await store.presence("friday", "ana", generation, here=False, tell=True) == -1
    assert await store.watched("friday", "n1", 1) == 0
    assert (await store.commit(act(generation))).outcome == "no_room"
    assert await store.redis.exists(keys.meta("friday"), keys.watchers("friday"), keys.log("friday", "ana")) == 0


# ---------------------------------------------------------------- events


async def test_each_event_names_the_one_before_it_whoever_makes_them(store: Store) -> None:
    generation = await racing(store)
    await asyncio.gather(
        *(store.commit(act(generation, revision)) for revision in range(20)),
        *(store.watched("friday", f"n{number}", 1) for number in range(20)),
    )
    found = await events(store)
    numbers = [0, *(each.number for each in found)]
    assert len(found) == 42
    assert numbers == sorted(set(numbers))
    assert numbers[:-1] == [each.after for each in found]
    assert (await loaded(store)).event == numbers[-1]


@pytest.mark.parametrize(("after", "found"), [(0, None), (2, None), (3, [4, 5]), (4, [5]), (5, []), (6, None)])
async def test_a_gap_in_the_events_is_seen(store: Store, after: int, found: list[int] | None) -> None:
    await opened(store)
    for number in range(5):
        await store.watched("friday", "n1", number + 1)
    numbers = [0, *(each.number for each in await events(store))]
    numbers.append(numbers[-1] + 1)
    await store.redis.xtrim(keys.events("friday"), maxlen=2, approximate=False)
    got = await store.events("friday", numbers[after])
    assert (None if got is None else [each.number for each in got]) == (found and [numbers[each] for each in found])


async def test_events_of_a_store_that_has_gone_back_are_not_taken_for_those_that_were_there(store: Store) -> None:
    """The numbers of what is lost are never given again, so that who has seen them is told that they are no more."""
    await opened(store)
    await store.watched("friday", "n1", 1)
    before = await store.redis.dump(keys.meta("friday")), await store.redis.dump(keys.events("friday"))
    await store.watched("friday", "n1", 2)
    seen = (await loaded(store)).event
    await a_millisecond(store)
    for key, value in zip((keys.meta("friday"), keys.events("friday")), before, strict=True):
        await store.redis.restore(key, 0, value, replace=True)
    assert await store.events("friday", seen) is None
    await store.watched("friday", "n1", 3)
    assert (await loaded(store)).event > seen
    assert await store.events("friday", seen) is None


async def test_events_that_are_gone_altogether_are_a_gap(store: Store) -> None:
    await racing(store)
    first, second = [each.number for each in await events(store)]
    await store.redis.delete(keys.events("friday"))
    assert await store.events("friday", 0) is None
    assert await store.events("friday", first) is None
    assert await store.events("friday", second) == []


async def test_what_is_announced_is_what_the_stream_keeps(store: Store) -> None:
    await opened(store)
    async with store.announcements() as pubsub:
        await pubsub.subscribe(keys.channel("friday"))
        assert await pubsub.get_message(timeout=5)
        await store.redis.delete(keys.meta("friday"))
        generation = await racing(store)
        await store.commit(act(generation))
        await store.presence("friday", "ana", generation, here=False, tell=True)
        await store.watched("friday", "n1", 1)
        announced = []
        for _ in range(5):
            message = await pubsub.get_message(timeout=5)
            assert message
            announced.append(read_announced(message["data"]))
    assert announced == await events(store)


@pytest.mark.parametrize(
    "event",
    [
        Changed(new_race(racers=(ANA, BOB), seed=SEED), ("finished",), "ana"),
        Moved("ana", 7, "3 5 x2", b"\x00\xff:", 3, 5, 2, home=True, over=False),
        Presence("ana", 1_790_000_000_123, here=True),
        Presence("ana", 3, here=False),
        Watched(12),
    ],
)
def test_events_read_as_they_were_written(event: Changed | Moved | Presence | Watched) -> None:
    assert read(write(event)) == event
    assert read_announced(b"3:2:1790000000123:" + write(event)) == Numbered(3, 2, 1_790_000_000_123, event)


@pytest.mark.parametrize("data", [b"?", b"X \xff\x00", b""])
def test_an_event_of_a_kind_that_is_not_known_is_none(data: bytes) -> None:
    assert read(data) is None


@pytest.mark.parametrize(
    ("data", "event"), [(b"H ana 3 1 more", Presence("ana", 3, here=True)), (b"W 12 more", Watched(12))]
)
def test_what_an_event_says_beside_what_is_known_is_passed_over(data: bytes, event: Presence | Watched) -> None:
    assert read(data) == event


def test_what_is_no_event_is_an_error() -> None:
    with pytest.raises(ValueError, match="not msgpack"):
        read(b"M\xc1")


# ---------------------------------------------------------------- bounds


async def test_everything_that_belongs_to_a_room_or_a_session_ends_some_day(store: Store) -> None:
    """Invariant 9: nothing is kept for ever but the two indexes."""
    generation = await racing(store)
    await store.attach("friday", "bob")
    await store.commit(act(generation))
    await store.watched("friday", "n1", 1)
    await sessions.begin(store, "")
    found = {key.decode() async for key in store.redis.scan_iter()}
    assert {keys.meta("friday"), keys.secret("friday"), keys.events("friday"), keys.watchers("friday")} < found
    assert {keys.run("friday", "ana"), keys.run("friday", "bob"), keys.log("friday", "ana")} < found
    for key in found - {keys.ROOMS, keys.DUE}:
        kept = await store.redis.ttl(key)
        assert kept > 0, key
        assert kept <= LIFETIME or key.startswith(keys.session("")), key


def test_the_keys_of_each_script_share_a_slot() -> None:
    room, player = "friday-2", "0123456789ab"
    named = [keys.meta(room), keys.secret(room), keys.events(room), keys.watchers(room), keys.channel(room)]
    named += [keys.run(room, player), keys.log(room, player)]
    assert len({key_slot(key.encode()) for key in named}) == 1
    for script in files("samedeal_server.store").joinpath("lua").iterdir():
        body = re.sub(r"--[^\n]*", "", script.read_text())
        assert "samedeal:" not in body, f"{script.name} must be given its keys"


# ---------------------------------------------------------------- sessions


async def test_a_session_is_known_by_its_token_of_which_only_a_hash_is_kept(store: Store) -> None:
    session = await sessions.begin(store, "")
    assert (await sessions.begin(store, session.token)).player == session.player
    assert (await sessions.begin(store, "")).player != session.player
    kept = b" ".join([key async for key in store.redis.scan_iter()])
    assert session.token.encode() not in kept
    with pytest.raises(Exception, match="say hello without one"):
        await sessions.begin(store, session.token + "x")


async def lifetimes(store: Store, family: str) -> list[int]:
    """Seconds that each key of a family has to live."""
    return [await store.redis.ttl(key) async for key in store.redis.scan_iter(f"samedeal:{family}:*")]


async def test_a_session_is_kept_for_long_only_once_it_takes_part_in_something(store: Store) -> None:
    session = await sessions.begin(store, "")
    assert (session.kept, await lifetimes(store, "session"), len(await lifetimes(store, "guest"))) == (False, [], 1)
    again = await sessions.begin(store, session.token)
    assert (again.kept, await lifetimes(store, "session")) == (False, [])
    assert all(0 < left <= GUEST_LIFETIME for left in await lifetimes(store, "guest"))
    assert (await sessions.keep(store, again)).kept
    assert [GUEST_LIFETIME < left <= SESSION_LIFETIME for left in await lifetimes(store, "session")] == [True]
    async for key in store.redis.scan_iter("samedeal:guest:*"):
        await store.redis.delete(key)
    kept = await sessions.begin(store, session.token)
    assert (kept.player, kept.kept) == (session.player, True)


async def test_a_session_that_has_expired_is_no_more(store: Store) -> None:
    session = await sessions.begin(store, "")
    async for key in store.redis.scan_iter("samedeal:guest:*"):
        await store.redis.pexpire(key, 1)
    async with asyncio.timeout(5):
        while await lifetimes(store, "guest"):
            await store.now()
    with pytest.raises(Refused, match="say hello without one"):
        await sessions.begin(store, session.token)


async def test_nothing_but_its_token_is_good_for_a_session(store: Store) -> None:
    session = await sessions.keep(store, await sessions.begin(store, ""))
    names = [key.decode() async for key in store.redis.scan_iter("samedeal:*:*")]
    values = [(await store.redis.get(name)).decode() for name in names]
    parts = [part for name in names for part in name.split(":")]
    for other in (session.player, session.token.upper(), session.token[:-1], *names, *values, *parts):
        with pytest.raises(Refused, match="say hello without one"):
            await sessions.begin(store, other)


async def test_tokens_can_t_be_guessed(store: Store) -> None:
    tokens = [(await sessions.begin(store, "")).token for _ in range(50)]
    assert len(set(tokens)) == 50
    assert min(len(token) for token in tokens) >= 43  # 256 bits in characters of 6
    assert len({token[:3] for token in tokens}) > 40
