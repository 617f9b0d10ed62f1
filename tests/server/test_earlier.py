"""A player for whom nobody came races against people who were here before."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Any

import pytest
from msgspec.structs import replace

from samedeal.deal import Deal
from samedeal.deal_proof import DealProof
from samedeal.errors import RequestRefused
from samedeal.options import Options
from samedeal.protocol.messages import (
    Created,
    Done,
    EarlierPlayer,
    Join,
    Leave,
    RaceNow,
    Rematch,
    Resign,
    RoomState,
    Start,
)
from samedeal.race.commands import JoinCommand, KickCommand, RaceAloneCommand, TickCommand
from samedeal.race.due_times import EMPTY_LIFETIME, FOLLOW_TIMEOUT
from samedeal.race.transitions import apply
from samedeal.race.values import DealSecret, Racer
from samedeal.solver.solve import solve
from samedeal_server.races.earlier import EarlierRace, PlayerPast, attempts_near, choose, earlier_race
from samedeal_server.races.log_entry import LogEntry
from tests.server.client import Client
from tests.server.live_nodes import PLENTY, Node
from tests.server.races import QUICK_GAME, ended_race, race_alone, shorten_wait
from tests.server.races import kept as records_kept
from tests.server.waiting import until
from tests.shared.race_values import SEED

GAME = QUICK_GAME


@pytest.fixture(autouse=True)
def _short_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    shorten_wait(monkeypatch)


async def begun(client: Client, room: str) -> RoomState:
    """Wait for the countdown in a room. The client may still have states of the room before."""
    return await client.state(lambda state: (state.room, state.phase) == (room, "countdown"))


async def test_deal_of_an_earlier_race_is_dealt_to_others_once(one: Node, two: Node) -> None:
    ana, bob = await one.player("ana"), await two.player("bob")
    first = await race_alone(ana, GAME)
    assert (first.deal, first.earlier) == ("winnable", ())
    proof = DealProof.parse(first.proof)

    second = await race_alone(bob, GAME)
    assert second.deal == f"again {proof.mixed.hex()}"
    (earlier,) = second.earlier
    assert (earlier.name, earlier.foundation_cards, earlier.time) == ("ana", 1, 0)
    assert len(earlier.reached) == 1
    assert [line.name for line in second.standings] == ["bob"]
    again = DealProof.parse(second.proof)
    again.check_kind(Deal.parse(second.deal))
    assert again.check_deeply() == proof.check()
    assert second.commitment == again.commitment
    assert (second.options.players, second.rooms_before) == (1, ())

    rematch = (await bob.expect(Created, Rematch)).room
    for player in (bob, ana):
        await player.join(rematch)
        await player.expect(Done, Leave)

    for player in (ana, bob):  # both know this deal
        room = (await player.expect(Created, RaceNow, game=GAME)).room
        await player.join(room)
        assert (await begun(player, room)).deal == "winnable"


async def test_room_that_names_another_one_admits_nobody(one: Node, two: Node) -> None:
    """Neither of the two changes its deal or its commitment."""
    await race_alone(await one.player("ana"), GAME)
    bob, cid = await two.player("bob"), await one.player("cid")
    room = (await bob.expect(Created, RaceNow, game=GAME)).room
    await bob.join(room)
    opened = await bob.state()
    named = await bob.state(lambda state: state.next != "")
    assert (named.phase, named.deal, named.commitment) == ("open", "winnable", opened.commitment)
    assert (await cid.expect(Created, RaceNow, game=GAME)).room != room
    await cid.refused("room_closed", Join, room=room)
    await cid.refused("room_full", Join, room=named.next)

    await bob.join(named.next)
    assert not (await one.rooms.load(room)).race.racers  # so that the room need not wait for bob
    begun = await bob.state(lambda state: (state.room, state.phase) == (named.next, "countdown"))
    await bob.phase("racing")
    racing = (await one.rooms.load(named.next)).race
    assert (racing.deal, racing.commitment, racing.private) == (begun.deal, begun.commitment, False)

    async def is_closed() -> bool:
        return (await one.rooms.load(room)).race.phase == "closed"

    await until(is_closed)


@pytest.mark.parametrize("how", ["leaves", "is kicked"])
async def test_room_closes_without_the_player_whom_it_leads_on(one: Node, how: str) -> None:
    await race_alone(await one.player("ana"), GAME)
    bob, eve = await one.player("bob"), await one.player("eve")
    await bob.join((await bob.expect(Created, RaceNow, game=GAME)).room)
    named = await bob.state(lambda state: state.next != "")
    await eve.watch(named.room)
    if how == "leaves":
        await bob.expect(Done, Leave)
    else:
        await one.rooms.command(named.room, KickCommand(bob.player), "")
    assert not (await eve.phase("closed")).players
    await eve.refused("room_full", Join, room=named.next)


async def test_nodes_open_one_room_for_a_player(one: Node, two: Node) -> None:
    """Also if they have chosen different races. A full server opens none."""
    bob = await one.player("bob")
    room = (await bob.expect(Created, RaceNow, game=GAME)).room
    await bob.join(room)
    race = (await one.rooms.load(room)).race
    player = EarlierPlayer(name="ana", foundation_cards=1, time=0, reached=(5,))
    found = [
        EarlierRace(f"again {digit * 64}", race.search.solver, race.search.budget, 9, (player,), ("a",))
        for digit in "12"
    ]
    nodes = zip((one, two), found, strict=True)
    codes = await asyncio.gather(*(node.rooms.creator.repeat(race, each) for node, each in nodes))
    assert len({*codes}) == 1
    assert all(codes)
    repeated = (await one.rooms.load(codes[0])).race
    late = repeated.created + EMPTY_LIFETIME - 1  # the seat is kept as long as the room is there
    with pytest.raises(RequestRefused, match="The only seat is taken"):
        apply(repeated, JoinCommand("x", "x", {}), late)
    assert apply(repeated, JoinCommand(bob.player, "bob", {}), late)[0].phase == "countdown"
    other = replace(race, racers=(replace(race.racers[0], player="x"),))
    assert not await one.rooms.creator.repeat(other, found[0])
    one.rooms.live_limits.current = dataclasses.replace(PLENTY, rooms=2)
    assert not await one.rooms.creator.repeat(race, found[0])


async def test_room_waits_a_minute_for_the_player_to_go_on(one: Node) -> None:
    bob = await one.player("bob")
    room = (await bob.expect(Created, RaceNow, game=GAME)).room
    await bob.join(room)
    race = (await one.rooms.load(room)).race
    due = race.options.start_at
    named, changes = apply(race, RaceAloneCommand("w9"), due)
    assert (named.next, changes) == ("w9", ("repeated",))
    assert named == replace(race, next="w9", changed_at=due)
    for command in (RaceAloneCommand("x7"), RaceAloneCommand("")):
        assert apply(named, command, due + 1) == (named, ())
    tick = TickCommand({}, DealSecret(bytes(32)))
    assert apply(named, tick, due + FOLLOW_TIMEOUT - 1) == (named, ())
    assert apply(named, tick, due + FOLLOW_TIMEOUT)[0].phase == "closed"
    assert apply(race, RaceAloneCommand(""), due)[0].phase == "countdown"


def kept(**changes: Any) -> EarlierRace | None:
    return earlier_race(ended_race(**changes), DealSecret(SEED), {"ana": [LogEntry(1, 1, "draw", b"", 1, 1, 0, 1_500)]})


@pytest.mark.parametrize(
    "changes",
    [
        {"private": True},
        {"options": Options(spectators=False)},
        {"options": Options(repeated=False)},
        {"standings": ()},
        {"deal": "random", "shares": ()},
    ],
    ids=["private", "no spectators", "not allowed", "no card", "random"],
)
def test_deal_that_is_not_for_everybody_is_not_dealt_again(changes: dict[str, Any]) -> None:
    found = kept()
    assert found is not None
    assert (found.pace, found.ids, found.players[0].name) == (1_000, ("ana",), "Ana")
    assert kept(**changes) is None


@pytest.mark.parametrize(("player", "past"), [("ana", ""), ("bob", "again 1")], ids=["raced then", "had the deal"])
def test_deal_is_offered_to_nobody_who_knows_it(player: str, past: str) -> None:
    earlier = kept()
    assert earlier is not None
    earlier = replace(earlier, deal="again 1")
    waiting = ended_race(racers=(Racer(player, player, 1),))
    assert choose([earlier], waiting, PlayerPast(deals=(past,))) is None
    assert choose([earlier], ended_race(racers=(Racer("cid", "Cid", 1),)), PlayerPast()) == earlier


DAILY = "daily 2026-01-01"


def attempt(pace: int, player: str = "", deal: str = DAILY) -> EarlierRace:
    """A race in which one player took 40 times ``pace`` for 40 cards, and in which ``player`` was too, if that is a name."""
    line = EarlierPlayer(name=str(pace), foundation_cards=40, time=0, reached=(5,) * 39 + (40 * pace,))
    return EarlierRace(deal, 1, 1, pace, (line,), (str(pace), player))


@pytest.mark.parametrize(
    ("pace", "expected"),
    [
        (1_000, "1000 1100 1400 700"),
        (1_001, "1000 1100 1400 1500"),
        (600, "699 700"),
        (0, "1000 1100 1400 1500"),
        (9, ""),
    ],
)
def test_attempts_at_a_daily_deal_are_near_ones_own_pace_and_never_the_best(pace: int, expected: str) -> None:
    """Without a pace of the player's own, that of the middle attempt stands for it."""
    races = [attempt(each) for each in (1_500, 500, 1_501, 699, 1_400, 700, 1_000, 1_100)]
    races += [attempt(1_001, "zoe"), attempt(1_002, deal="daily 2026-01-02"), attempt(1_003, deal="again 1")]
    assert " ".join(each.name for each in attempts_near(races, DAILY, "zoe", pace)) == expected


def test_only_the_first_attempt_at_a_daily_deal_counts() -> None:
    lone = EarlierPlayer(name="bo", foundation_cards=1, time=0, reached=(9,))
    for had, found in (((), ("Ana",)), (("ana",), ())):
        race = ended_race(deal=DAILY, shares=(), earlier=(lone,))
        earlier = earlier_race(race, DealSecret(SEED), {"ana": [LogEntry(1, 1, "draw", b"", 1, 1, 0, 1_500)]}, had)
        assert tuple(each.name for each in (earlier.players if earlier else ())) == found
        assert not earlier or (earlier.deal, choose([earlier], race, PlayerPast())) == (DAILY, None)


async def test_lone_player_races_on_the_daily_deal_against_others_of_the_same_pace(one: Node) -> None:
    """Nobody does while other people are in the race. Each game has a deal of its own."""
    ana, bob = await one.player("ana"), await one.player("bob")
    for game, *players in (("eight-off", bob), (GAME, bob, ana), (GAME, ana), (GAME, ana)):
        room = await players[0].create(games=(game,), deal="daily")
        for player in players:
            await player.join(room)
        if players == [ana]:
            today = (await player.state()).deal
            for pace in (500, 800, 1_200, 2_000):
                await one.store.earlier.keep(GAME, f"a.{pace}", attempt(pace, deal=today))
            await one.store.earlier.change_past(ana.player, lambda past: replace(past, pace=1_000))
        await players[0].expect(Done, Start)
        for player in players:
            play = await player.dealt()
            for move in solve(play.board, 100_000).line:
                await player.act(str(move))
                if player.play.board.foundation_cards:
                    break
        for player in players:
            await player.expect(Done, Resign)
        states = [await player.phase("finished") for player in players]
        assert [each.name for each in states[0].earlier] == (["1200", "800"] if players == [ana] else [])
        await records_kept(players[0], room)
    first, *others = [each for each in (await one.store.earlier.of_game(GAME)).values() if ana.player in each.ids]
    assert ([each.name for each in first.players], others) == (["bob", "ana"], [])


def test_past_keeps_the_last_deals_and_a_mean_speed() -> None:
    raced = ((1_000, "again 1"), (2_000, ""), (0, "again 2"), (1_250, "again 1"))
    past = PlayerPast()
    for race, (pace, deal) in enumerate(raced):
        past = past.with_race(str(race), pace, deal)
    assert past == PlayerPast(1_250, ("again 1", "again 2"), races=("3", "2", "1", "0"))
    assert past.with_race("1", 9_000, "again 3") == past
