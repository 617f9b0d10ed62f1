"""What is too much, for a connection or an address: refused with when to try again, and nobody else is worse off."""

from __future__ import annotations

import dataclasses

import pytest
from websockets.exceptions import InvalidStatus

from samedeal.errors import Refused
from samedeal.options import Options, WantedOptions
from samedeal.protocol.codec import encode
from samedeal.protocol.messages import (
    Acked,
    Act,
    Close,
    Create,
    Done,
    Hello,
    Join,
    ListRooms,
    Ping,
    Pong,
    Rematch,
    Resign,
    Rooms,
    Start,
)
from samedeal.protocol.messages import Refused as Refusal
from samedeal_server import limits as limiting
from samedeal_server.door import network_of
from samedeal_server.limits import Bucket, Limits, Pace, Quotas
from tests.server.client import Client
from tests.server.conftest import PLENTY, NodeMaker

# ---------------------------------------------------------------- buckets


def test_a_bucket_lends_and_is_paid_back() -> None:
    bucket = Bucket(rate=10, burst=3, now=0.0)
    assert [bucket.take(0.0) for _ in range(3)] == [0, 0, 0]
    assert bucket.take(0.0) == pytest.approx(0.1)
    assert bucket.take(0.0, 2) == pytest.approx(0.3)
    assert bucket.take(10.0, 3) == 0
    assert bucket.take(10.0) == pytest.approx(0.1)


def test_a_bucket_that_does_not_lend_says_when_there_is_enough() -> None:
    bucket = Bucket(rate=10, burst=3, now=0.0)
    assert bucket.spend(0.0, 2) == 0
    assert bucket.spend(0.0, 2) == pytest.approx(0.1)
    assert bucket.spend(0.0, 3) == pytest.approx(0.2)
    assert bucket.spend(0.1, 2) == 0
    bucket.give(1)
    assert bucket.spend(0.1) == 0
    assert bucket.spend(-5.0) == pytest.approx(0.1)  # a clock that goes back is passed over


# ---------------------------------------------------------------- one connection


def asked(pace: Pace, now: float, cost: int = 1) -> tuple[float, float]:
    """How long a request waits, and after how long it may be asked again where it is refused."""
    try:
        return pace.ask(now, cost), 0.0
    except Refused as refused:
        return 0.0, refused.retry_after or 0.0


def flood(limits: Limits, seconds: float) -> list[str]:
    """What becomes of requests that come one after another for so long, each as soon as the one before is done."""
    now, became = 0.0, []
    pace = Pace(limits, now)
    while now < seconds:
        wait, again = asked(pace, now)
        if again:
            became.append("refused")
            if pace.refused(now):
                return [*became, "closed"]
        else:
            became.append("slowed" if wait else "done")
            now += wait
        now += 1e-4
    return became


def runs(became: list[str]) -> list[str]:
    """The kinds of what became of requests, in the order in which they first came."""
    return list(dict.fromkeys(became))


def test_a_connection_is_slowed_then_refused_then_closed() -> None:
    became = flood(Limits(), 60)
    assert runs(became) == ["done", "slowed", "refused", "closed"]
    limits = Limits()
    assert became.count("done") == pytest.approx(limits.burst, abs=2)
    # While it is slowed it gets its rate; some of the time is forgiven meanwhile.
    assert limits.slow_for < became.count("slowed") / limits.rate < 2.2 * limits.slow_for
    assert became.count("refused") == limits.refusals + 1


def test_who_waits_as_told_is_neither_closed_nor_refused_for_ever() -> None:
    now, refused, done = 0.0, 0, 0
    pace = Pace(Limits(), now)
    while now < 120:
        wait, again = asked(pace, now)
        now += wait + again
        done += not again
        refused += bool(again)
        assert again == 0 or again >= 1
        assert not (again and pace.refused(now))
    assert refused > 5
    assert done > 120 * Limits().rate / 4


def test_who_asks_as_much_as_they_may_is_never_slowed() -> None:
    pace, limits = Pace(Limits(), 0.0), Limits()
    assert not any(pace.ask(number / limits.rate, 1) for number in range(10_000))


def test_a_costly_request_is_let_through_in_the_end_however_low_the_rate() -> None:
    limits, now = Limits(rate=0.1, burst=20, slow_for=0), 0.0
    pace = Pace(limits, now)
    assert pace.ask(now, 20) == 0
    for _ in range(1000):
        _, again = asked(pace, now, 20)
        now += again
        if not again:
            break
    assert 190 < now < 300


async def test_a_flood_over_one_connection_is_refused_and_then_closed(node: NodeMaker) -> None:
    """Invariant 9: everything is bounded, and nobody slows anybody else."""
    one = await node(dataclasses.replace(PLENTY, rate=40, burst=20, slow_for=0.3, refusals=5))
    calm, hasty = await one.player("calm"), await one.player("hasty")
    for number in range(100, 170):
        await hasty.socket.send(encode(Ping(id=number)))
    await calm.want(Pong, Ping)
    assert await hasty.closed() == Close.FLOOD
    refusals = [message for message in hasty.inbox if isinstance(message, Refusal)]
    assert len(refusals) == 6
    for refusal in refusals:
        assert (refusal.code, refusal.revision) == ("rate_limited", -1)
        assert refusal.retry_after >= 1
        assert "try again in" in refusal.message
    answers = [message.to for message in hasty.inbox if isinstance(message, Pong | Refusal)]
    assert answers == list(range(100, 100 + len(answers)))  # each is answered, in order
    await calm.want(Pong, Ping)


async def test_what_is_refused_as_too_much_has_changed_nothing(node: NodeMaker) -> None:
    one = await node(dataclasses.replace(PLENTY, rate=0.1, burst=30, slow_for=0))
    ana = await one.player("ana")
    room = await ana.create()
    await ana.refused("rate_limited", Join, room=room)
    (line,) = (await (await one.player("bob")).want(Rooms, ListRooms)).rooms
    assert (line.room, line.players) == (room, 0)


# ---------------------------------------------------------------- one address


async def test_an_address_may_ask_so_much_over_all_its_connections(node: NodeMaker) -> None:
    """Invariant 9: everything is bounded."""
    one = await node(dataclasses.replace(PLENTY, address_rate=1, address_burst=107))
    clients = [await one.player(f"p{number}") for number in range(5)]
    codes: list[str] = []
    for client in clients * 4:
        answer = await client.ask(ListRooms)
        codes.append(answer.code if isinstance(answer, Refusal) else "")
        if isinstance(answer, Refusal):
            assert 1 <= answer.retry_after <= 11
    assert 5 <= codes.count("") <= 8
    assert set(codes) == {"", "rate_limited"}
    await clients[0].want(Pong, Ping)  # who pays little still gets something


async def test_an_address_may_open_so_many_rooms(node: NodeMaker) -> None:
    one = await node(dataclasses.replace(PLENTY, rooms_per_address=2))
    ana, bob = await one.player("ana"), await one.player("bob")
    await ana.create()
    room = await bob.create()
    for client in (ana, bob):
        refusal = await client.refused("rate_limited", Create, options=Options())
        assert 200 < refusal.retry_after <= limiting.WINDOW / 2
        assert "5 minutes" in refusal.message
    await bob.join(room)
    await bob.want(Done, Start)
    await bob.phase("racing")
    await bob.want(Done, Resign)
    await bob.phase("finished")
    await bob.refused("rate_limited", Rematch)


async def test_a_room_that_waits_for_days_counts_as_several(node: NodeMaker) -> None:
    one = await node(dataclasses.replace(PLENTY, rooms_per_address=20))
    ana = await one.player()
    later = await one.store.now() + 86_400_000
    for _ in range(2):
        await ana.create(start="at", start_at=later)
    await ana.refused("rate_limited", Create, options=WantedOptions())


async def test_who_has_logs_played_again_pays_for_it(node: NodeMaker) -> None:
    """Invariant 9: everything is bounded: to ask for an old answer again costs a node as many actions as led to it."""
    one = await node(dataclasses.replace(PLENTY, rate=0.1, burst=200, slow_for=1))
    ana = await one.player()
    await ana.join(await ana.create(undo="free"))
    await ana.want(Done, Start)
    await ana.dealt()
    assert ana.play
    first = await ana.send(Act, revision=0, action=str(ana.play.board.legal_moves()[0]))
    assert isinstance(await ana.answer(first), Acked)
    for revision in range(1, 60):
        await ana.send(Act, revision=revision, action="undo" if revision % 2 else str(ana.play.board.legal_moves()[0]))
    await ana.until(Acked, lambda acked: acked.revision == 60)
    again = {"id": ana._id - 1, "revision": 58, "action": str(ana.play.board.legal_moves()[0])}
    answers = [await ana.ask(Act, **again) for _ in range(40)]
    assert isinstance(answers[0], Acked)
    assert isinstance(answers[-1], Refusal)
    assert answers[-1].code == "rate_limited"
    replays = sum(isinstance(answer, Acked) for answer in answers)
    assert replays <= 110 / (1 + 59 / 20) + 2


async def test_an_address_may_bring_so_many_new_players(node: NodeMaker) -> None:
    one = await node(dataclasses.replace(PLENTY, sessions_per_address=2))
    ana = await one.player("ana")
    await one.player("bob")
    third = await Client.connect(one.url)
    refusal = await third.refused("rate_limited", Hello, name="cid")
    assert refusal.retry_after > 0
    again = await one.player("ana", ana.session)  # who is known comes in
    assert again.player == ana.player


async def come_and_go(url: str, times: int) -> None:
    for _ in range(times):
        await (await Client.connect(url)).close()


async def test_an_address_may_come_only_so_often(node: NodeMaker) -> None:
    one = await node(dataclasses.replace(PLENTY, address_rate=1, address_burst=100))
    await come_and_go(one.url, 18)
    with pytest.raises(InvalidStatus) as refused:
        await come_and_go(one.url, 5)
    assert refused.value.response.status_code == 429
    assert int(refused.value.response.headers["Retry-After"]) > 0


async def test_a_node_takes_so_many_new_players_from_all_addresses_together() -> None:
    quotas = Quotas(Limits(sessions=3))
    for number in range(3):
        quotas.begin_session(f"192.0.2.{number}", 1.0)
    with pytest.raises(Refused, match="Too many new players come just now"):
        quotas.begin_session("192.0.2.9", 1.0)


def test_the_buckets_of_addresses_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Invariant 9: everything is bounded."""
    monkeypatch.setattr(limiting, "_MOST_ADDRESSES", 100)
    quotas = Quotas(Limits(rooms_per_address=1))
    for number in range(1000):
        quotas.open_room(f"10.0.{number // 250}.{number % 250}", 0.0)
    assert len(quotas._rooms._buckets) == 100
    with pytest.raises(Refused):
        quotas.open_room("10.0.3.249", 0.0)
    quotas.open_room("10.0.3.249", float(limiting.WINDOW))


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("2001:db8:1:3::9", "2001:db8:1:3::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::1", "::/64"),
        ("local", "local"),
        ("", ""),
    ],
)
def test_what_counts_as_one_address(address: str, network: str) -> None:
    assert network_of(address) == network
