"""Guesses of passphrases are limited, on all nodes together and when made concurrently."""

from __future__ import annotations

import asyncio
import dataclasses
import threading

import pytest
from redis import Redis

from samedeal.errors import RequestRefused
from samedeal.options import WantedOptions
from samedeal.protocol.messages import Create, Created, Done, Join, Leave, Ready, Rematch, Resign, Watch
from samedeal.race.commands import CloseCommand, KickCommand
from samedeal.race.values import DealSecret
from samedeal_server.config.limits import Limits
from samedeal_server.config.token_buckets import WINDOW
from samedeal_server.rooms import passphrases as passphrases_module
from samedeal_server.rooms.passphrases import Passphrases, hashed
from samedeal_server.store.clock import StoreClock
from samedeal_server.store.store import RoomSecret
from tests.server.client import Client
from tests.server.live_nodes import PLENTY, Node, NodeMaker, RedisClient
from tests.server.races import finish, race, seated

FEW = dataclasses.replace(PLENTY, guesses_per_address=3)
SALT = bytes(16)


class StillClock(StoreClock):
    def now(self) -> int:
        return 0


@pytest.fixture(autouse=True)
def one_window(monkeypatch: pytest.MonkeyPatch) -> None:
    """All guesses are made in the same window, even if a test begins just before the end of one."""
    begin = Passphrases.__init__
    monkeypatch.setattr(Passphrases, "__init__", lambda self, store, _clock: begin(self, store, StillClock(store)))


def test_only_the_passphrase_in_any_form_has_its_hash() -> None:
    right = hashed("s\u00e9sam offne dich", SALT)
    for same in ("se\u0301sam offne dich", " s\u00e9sam  offne dich "):
        assert hashed(same, SALT) == right
    for other in ("S\u00e9sam offne dich", "sesam offne dich", "", "x" * 128):
        assert hashed(other, SALT) != right
    assert hashed("s\u00e9sam offne dich", b"\x01" * 16) != right


async def test_blank_passphrase_is_refused(one: Node) -> None:
    """A room whose passphrase is blank in its normal form would be public."""
    ana = await one.player()
    await ana.refused("malformed", Create, options=WantedOptions(), passphrase="  ")


async def private(one: Node) -> Client:
    """A player who has a seat in the private room ``vault``."""
    (ana,) = await seated(one, names=["ana"], room="vault", passphrase="sesam")
    return ana


async def test_guesses_are_limited_on_all_nodes_together(node: NodeMaker) -> None:
    """Invariant: everything is bounded."""
    one, two = await node(FEW), await node(FEW)
    ana = await private(one)
    bob, cid = await one.player("bob"), await two.player("cid")
    await bob.refused("bad_passphrase", Join, room="vault", passphrase="a")
    await cid.refused("bad_passphrase", Watch, room="vault", passphrase="b")
    await bob.refused("bad_passphrase", Join, room="vault", passphrase="c")
    for client in (bob, cid):
        for kind in (Join, Watch):
            refusal = await client.refused("rate_limited", kind, room="vault", passphrase="sesam")
            assert refusal.retry_after == WINDOW
    again = await one.player("ana", ana.session)
    await again.join("vault")  # a player with a seat needs no passphrase to rejoin
    await bob.create("other", passphrase="tamam")
    await cid.join("other", passphrase="tamam")


async def test_right_passphrase_costs_tokens(node: NodeMaker) -> None:
    one, two = await node(), await node(dataclasses.replace(PLENTY, rate=0.1, burst=45, slow_for=0))
    await private(one)
    bob = await two.player("bob")
    await bob.join("vault", passphrase="sesam")
    await bob.refused("rate_limited", Ready)


async def test_right_or_missing_passphrase_is_not_counted(node: NodeMaker) -> None:
    one = await node(FEW)
    await private(one)
    bob = await one.player("bob")
    for _ in range(5):
        await bob.join("vault", passphrase="sesam")
        await bob.expect(Done, Leave)
        await bob.refused("bad_passphrase", Join, room="vault")


async def tried(passphrases: Passphrases, secret: RoomSecret, said: str, network: str, limits: Limits) -> str:
    try:
        await passphrases.check("vault", secret, said, network, limits)
    except RequestRefused as refused:
        return refused.code
    return ""


SECRET = RoomSecret(DealSecret(b""), SALT, hashed("sesam", SALT))


@pytest.fixture
def passphrases(one: Node) -> Passphrases:
    return Passphrases(one.store, one.rooms.clock)


async def test_guesses_from_many_addresses_are_limited(passphrases: Passphrases, redis_url: str) -> None:
    limits = dataclasses.replace(PLENTY, guesses_per_address=3, guesses_per_room=5)
    codes = [await tried(passphrases, SECRET, "x", f"192.0.2.{number // 4}", limits) for number in range(12)]
    assert codes == [
        *("bad_passphrase", "bad_passphrase", "bad_passphrase", "rate_limited"),
        *("bad_passphrase", "bad_passphrase", "rate_limited", "rate_limited"),
        *("bad_passphrase", "rate_limited", "rate_limited", "rate_limited"),  # the first one is always compared
    ]
    with Redis.from_url(redis_url) as redis:
        kept = list(redis.scan_iter("*guesses*"))
        assert len(kept) == 4
        assert all(0 < redis.ttl(key) <= 2 * WINDOW for key in kept)


async def test_concurrent_guesses_are_all_counted(passphrases: Passphrases) -> None:
    codes = await asyncio.gather(*(tried(passphrases, SECRET, "x", "192.0.2.1", FEW) for _ in range(12)))
    assert sorted(codes) == ["bad_passphrase"] * 3 + ["rate_limited"] * 9


async def test_guess_that_is_not_compared_is_not_counted(passphrases: Passphrases) -> None:
    limits = dataclasses.replace(PLENTY, guesses_per_address=1, guesses_waiting_per_address=1)
    crowd = [tried(passphrases, SECRET, "sesam", "192.0.2.1", limits) for _ in range(10)]
    assert await asyncio.gather(*crowd) == ["", *["rate_limited"] * 9]
    codes = [await tried(passphrases, SECRET, "x", "192.0.2.1", limits) for _ in range(2)]
    assert codes == ["bad_passphrase", "rate_limited"]


async def test_waiting_guesses_are_limited(passphrases: Passphrases) -> None:
    """Those of an address, and those of all addresses together."""
    limits = dataclasses.replace(PLENTY, guesses_waiting=4, guesses_waiting_per_address=3)
    crowd = [tried(passphrases, SECRET, "x", "192.0.2.1", limits) for _ in range(5)]
    friends = [tried(passphrases, SECRET, "sesam", f"192.0.2.{number}", limits) for number in (2, 3)]
    codes = await asyncio.gather(*crowd, *friends)
    assert codes == [*["bad_passphrase"] * 3, *["rate_limited"] * 2, "", "rate_limited"]
    assert passphrases.waiting == 0


async def test_cancelled_guess_keeps_its_slot(passphrases: Passphrases, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread goes on after its request was cancelled. Otherwise more of them could run than the node has slots."""
    started, finish = threading.Event(), threading.Event()

    def held(_passphrase: str, _salt: bytes) -> bytes:
        started.set()
        finish.wait(10)
        return b""

    monkeypatch.setattr(passphrases_module, "hashed", held)
    guess = asyncio.create_task(tried(passphrases, SECRET, "x", "192.0.2.1", PLENTY))
    await asyncio.to_thread(started.wait, 10)
    guess.cancel()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert passphrases.waiting == 1
    finish.set()
    with pytest.raises(asyncio.CancelledError):
        await guess
    assert passphrases.waiting == 0


async def locked_rematch(one: Node) -> tuple[Client, Client, Client]:
    """The rematch ``vault-2`` of a private room, whose guesses are used up: two players of the race before, a stranger."""
    (ana, bob), cid = await race(one, room="vault", passphrase="sesam"), await one.player("cid")
    await finish(ana, bob)
    assert (await ana.expect(Created, Rematch)).room == "vault-2"
    await cid.refused("bad_passphrase", Join, room="vault-2", passphrase="x")
    await cid.refused("rate_limited", Join, room="vault-2", passphrase="sesam")
    return ana, bob, cid


async def test_players_of_the_race_before_need_no_passphrase(node: NodeMaker) -> None:
    one = await node(dataclasses.replace(PLENTY, guesses_per_room=1))
    ana, bob, _ = await locked_rematch(one)
    await ana.watch("vault-2")
    await ana.join("vault-2")
    await bob.join("vault-2")


async def test_kicked_player_needs_the_passphrase(node: NodeMaker) -> None:
    one = await node(FEW)
    ana, bob = await race(one, room="vault", passphrase="sesam")
    await one.rooms.command("vault", KickCommand(bob.player), "")
    await finish(ana)
    await ana.expect(Created, Rematch)
    await bob.refused("bad_passphrase", Join, room="vault-2")


async def test_reused_code_admits_nobody_to_the_rematch(node: NodeMaker, redis: RedisClient) -> None:
    one = await node(dataclasses.replace(PLENTY, guesses_per_room=1))
    _, bob, cid = await locked_rematch(one)
    await one.rooms.command("vault", CloseCommand(), "")
    await bob.phase("closed")
    await redis.delete("samedeal:{vault}:meta")  # as when the room's keys have expired
    await cid.create("vault")
    await cid.join("vault")
    await cid.refused("rate_limited", Join, room="vault-2", passphrase="sesam")


async def test_player_with_a_seat_watches_without_passphrase(node: NodeMaker) -> None:
    one = await node(FEW)
    (ana,) = await race(one, names=["ana"], room="vault", passphrase="sesam")
    await ana.expect(Done, Resign)
    await ana.watch("vault")
