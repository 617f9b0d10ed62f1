"""Rate limits of connections and addresses."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Final

import pytest
from websockets.exceptions import InvalidStatus

from samedeal.errors import RequestRefused
from samedeal.options import Options, WantedOptions
from samedeal.protocol.codec import encode
from samedeal.protocol.messages import Acked, Act, Create, Done, Hello, Ping, Pong, Rematch, Start
from samedeal.protocol.messages import Refused as Refusal
from samedeal.protocol_codes import CloseCode
from samedeal.race import values
from samedeal_server.config import token_buckets
from samedeal_server.config.limits import Limits
from samedeal_server.config.token_buckets import Pace, Quotas
from samedeal_server.connections.handshake_admission import networks_of
from tests.golden.golden_files import assert_answers
from tests.server.client import Client
from tests.server.live_nodes import PLENTY, NodeMaker
from tests.server.races import finish, race
from tests.server.raw_client import Wire, handshake


def asked(pace: Pace, now: float, cost: int = 1) -> tuple[float, float]:
    """Return the delay of a request and, if it is refused, the seconds after which it may be repeated."""
    try:
        return pace.admit(now, cost), 0.0
    except RequestRefused as refused:
        return 0.0, refused.retry_after or 0.0


STEP: Final = 1e-4
"""Time, in seconds, between two requests of a flood."""


def flood(limits: Limits, seconds: float) -> list[str]:
    """Send requests for ``seconds``, each as soon as the one before is done. Return the outcome of each."""
    now, outcomes = 0.0, []
    pace = Pace(limits, now)
    while now < seconds:
        wait, again = asked(pace, now)
        if again:
            outcomes.append("refused")
            if pace.refused(now):
                return [*outcomes, "closed"]
        else:
            outcomes.append("slowed" if wait else "done")
            now += wait
        now += STEP
    return outcomes


def test_pace_delays_then_refuses_then_reports_a_flood() -> None:
    became = flood(Limits(), 60)
    assert list(dict.fromkeys(became)) == ["done", "slowed", "refused", "closed"]
    limits = Limits()
    assert became.count("done") == pytest.approx(limits.burst, abs=2)
    assert became[: became.index("refused")].count("slowed") / limits.rate == pytest.approx(limits.slow_for, rel=0.05)
    assert len(became) - became.index("refused") < token_buckets.BURST / STEP + 2 * limits.refusals


def test_client_that_sends_ahead_and_obeys_is_not_closed() -> None:
    """It sends all of its requests at once, and those that were refused again after the time that the server names."""
    pace, now, left, bursts = Pace(Limits(), 0.0), 0.0, 4000, 0
    while left:
        refused = [again for _, again in (asked(pace, now) for _ in range(left)) if again]
        assert not any(pace.refused(now) for _ in refused)
        left, bursts = len(refused), bursts + bool(refused)
        now += refused[0] if refused else 0.0
    assert bursts > Limits().refusals


@pytest.mark.parametrize(("each", "together"), [(3, 100), (100, 7)])
async def test_moves_of_a_race_are_limited(
    node: NodeMaker, monkeypatch: pytest.MonkeyPatch, each: int, together: int
) -> None:
    """The more players race, the fewer moves each of them may make."""
    monkeypatch.setattr(values, "MOST_ACTIONS", together)
    one = await node(dataclasses.replace(PLENTY, actions_per_race=each))
    ana, bob = await race(one, games=("athena",))
    await ana.acts(3)
    await bob.acts(3)
    await ana.refused("too_many_actions", Act, revision=3, action=str(ana.play.board.legal_moves()[0]))
    assert len(await one.store.load_log(ana.room, ana.player)) == 3


async def test_burst_over_one_connection_is_one_refusal(node: NodeMaker) -> None:
    one = await node(dataclasses.replace(PLENTY, rate=0.1, burst=20, slow_for=0.3, refusals=5))
    hasty = await one.player("hasty")
    for number in range(100, 170):
        await hasty.socket.send(encode(Act(id=number, revision=number, action="undo")))
    answers = [await hasty.answer(number) for number in range(100, 170)]
    assert [answer.code for answer in answers] == ["no_seat"] * 19 + ["rate_limited"] * 51


async def test_flood_over_one_connection_closes_it(node: NodeMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    """Invariant: everything is bounded. No client slows another one down."""
    monkeypatch.setattr(token_buckets, "BURST", 0.0)
    one = await node(dataclasses.replace(PLENTY, rate=4, burst=20, slow_for=0.3, refusals=5))
    calm, hasty = await one.player("calm"), await one.player("hasty")
    for number in range(100, 170):
        await hasty.socket.send(encode(Ping(id=number)))
    await calm.expect(Pong, Ping)
    assert await hasty.closed() == CloseCode.FLOOD
    refusals = [message for message in hasty.inbox if isinstance(message, Refusal)]
    assert len(refusals) == 6
    for refusal in refusals:
        assert (refusal.code, refusal.revision) == ("rate_limited", -1)
        assert refusal.retry_after >= 1
    answers = [message.to for message in hasty.inbox if isinstance(message, Pong | Refusal)]
    assert answers == list(range(100, 100 + len(answers)))  # each is answered, in order
    await calm.expect(Pong, Ping)


async def test_rooms_of_an_address_are_limited(node: NodeMaker) -> None:
    one = await node()
    ana, bob = await one.player("ana"), await one.player("bob")
    one.rooms.live_limits.current = dataclasses.replace(PLENTY, rooms_per_address=2)
    await ana.create()
    room = await bob.create()
    for client in (ana, bob):
        refusal = await client.refused("rate_limited", Create, options=Options())
        assert 200 < refusal.retry_after <= token_buckets.WINDOW / 2
    await bob.join(room)
    await bob.expect(Done, Start)
    await bob.phase("racing")
    await finish(bob)
    await bob.refused("rate_limited", Rematch)


async def test_scheduled_room_counts_as_several(node: NodeMaker) -> None:
    one = await node(dataclasses.replace(PLENTY, rooms_per_address=20))
    ana = await one.player()
    later = await one.store.now() + 86_400_000
    for _ in range(2):
        await ana.create(start="at", start_at=later)
    await ana.refused("rate_limited", Create, options=WantedOptions())


async def test_log_replay_is_charged(node: NodeMaker) -> None:
    """Invariant: everything is bounded. To repeat an old answer, a node replays all actions up to it."""
    one = await node(dataclasses.replace(PLENTY, rate=0.1, burst=200, slow_for=1))
    (ana,) = await race(one, names=["ana"], undo="free")
    first = await ana.send(Act, revision=0, action=str(ana.play.board.legal_moves()[0]))
    assert isinstance(await ana.answer(first), Acked)
    move = str(ana.play.board.legal_moves()[0])
    requests = [
        await ana.send(Act, revision=revision, action="undo" if revision % 2 else move) for revision in range(1, 60)
    ]
    await ana.until(Acked, lambda acked: acked.to == requests[-1])
    again = {"id": requests[57], "revision": 58, "action": move}
    answers = [await ana.ask(Act, **again) for _ in range(40)]
    assert isinstance(answers[0], Acked)
    assert isinstance(answers[-1], Refusal)
    assert answers[-1].code == "rate_limited"
    replays = sum(isinstance(answer, Acked) for answer in answers)
    assert replays <= 110 / (1 + 59 / 20) + 2


async def test_changes_of_who_is_away_are_charged(node: NodeMaker) -> None:
    """Invariant: everything is bounded. Each of them is told to everybody in the room."""
    one = await node(dataclasses.replace(PLENTY, rate=0.1, burst=60, slow_for=0))
    ana = await one.player()
    await ana.join(await ana.create())
    answers = [await ana.ask(Ping, away=number % 2 == 0) for number in range(8)]
    assert [isinstance(answer, Pong) for answer in answers] == [True] * 3 + [False] * 5


async def test_new_players_of_an_address_are_limited(node: NodeMaker) -> None:
    one = await node(dataclasses.replace(PLENTY, sessions_per_address=2))
    ana = await one.player("ana")
    await one.player("bob")
    third = await Client.connect(one.url)
    refusal = await third.refused("rate_limited", Hello, name="cid")
    assert refusal.retry_after > 0
    again = await one.player("ana", ana.session)  # a known player is admitted
    assert again.player == ana.player


async def connect_and_close(url: str, times: int) -> None:
    for _ in range(times):
        await (await Client.connect(url)).close()


async def test_connections_of_an_address_are_rate_limited(node: NodeMaker) -> None:
    one = await node(dataclasses.replace(PLENTY, address_rate=1, address_burst=100))
    await connect_and_close(one.url, 18)
    with pytest.raises(InvalidStatus) as refused:
        await connect_and_close(one.url, 5)
    assert refused.value.response.status_code == 429
    assert int(refused.value.response.headers["Retry-After"]) > 0


def takes(ask: Callable[..., object], *networks: str, now: float = 0.0) -> bool:
    """Whether a limit lets a client of some networks do something."""
    try:
        ask(networks, now)
    except RequestRefused:
        return False
    return True


def test_player_refused_by_one_limit_is_charged_by_no_other() -> None:
    begin = Quotas(Limits(sessions=2, sessions_per_address=1)).begin_session
    assert [takes(begin, f"192.0.2.{last}") for last in (1, 2, 3)] == [True, True, False]  # by that of all addresses
    assert takes(begin, "192.0.2.3", now=token_buckets.WINDOW / 2)
    begin = Quotas(Limits(sessions=2, sessions_per_address=1)).begin_session
    assert [takes(begin, f"192.0.2.{last}") for last in (1, 1, 2)] == [True, False, True]


def test_buckets_of_addresses_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Invariant: everything is bounded."""
    monkeypatch.setattr(token_buckets, "MAX_NETWORKS", 100)
    take = Quotas(Limits(rooms_per_address=1)).rooms.take
    assert all(takes(take, f"10.0.{number // 250}.{number % 250}") for number in range(1000))
    assert not takes(take, "10.0.3.249")
    assert not takes(take, "10.0.3.150")
    assert takes(take, "10.0.3.149")  # the bucket of the 101st newest address was dropped
    assert takes(take, "10.0.3.249", now=float(token_buckets.WINDOW))


def test_networks_of_an_address() -> None:
    assert_answers("networks", lambda _, address: " ".join(networks_of(address)))


@pytest.mark.parametrize(("prefix", "most"), [(64, 2), (56, 8), (48, 32)])
def test_ipv6_networks_have_rising_limits(prefix: int, most: int) -> None:
    """Invariant: everything is bounded, also for a home with a /56 and a server with a /48."""
    take = Quotas(Limits(rooms_per_address=2)).rooms.take
    step = {64: 0, 56: 1, 48: 256}[prefix]
    for number in range(most + 1):
        assert takes(take, *networks_of(f"2001:db8:1:{number * step:x}::1")) == (number < most)
    assert takes(take, *networks_of("2001:db8:2::1"))


def test_refused_request_takes_nothing_from_wider_networks() -> None:
    take = Quotas(Limits(rooms_per_address=1)).rooms.take
    for number in range(3):
        asked = [takes(take, *networks_of(f"2001:db8:1:{number}::1")) for _ in range(6)]
        assert asked == [True, *[False] * 5]
    assert takes(take, *networks_of("2001:db8:1:3::1"))


async def test_connections_of_an_ipv6_network_are_limited(node: NodeMaker) -> None:
    one = await node(dataclasses.replace(PLENTY, connections_per_address=1), trusted_proxies=("127.0.0.1",))
    statuses = []
    for network in ("200", "201", "202", "203", "2ff", "300"):
        wire = await Wire.open(one.url)
        await wire.send(handshake(X_Forwarded_For=f"2001:db8:1:{network}::1"))
        statuses.append(int((await wire.head()).split()[1]))
    assert statuses == [101, 101, 101, 101, 429, 101]
