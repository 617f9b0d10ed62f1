"""Who tries passphrases has to wait after a few, whatever node they ask and however many at once."""

from __future__ import annotations

import asyncio
import dataclasses

import pytest
from redis import Redis

from samedeal.errors import Refused
from samedeal.protocol.messages import Done, Join, Leave, Ping, Pong, Watch
from samedeal_server.limits import WINDOW, Limits
from samedeal_server.passphrases import Passphrases, hashed
from samedeal_server.store.redis import Secret
from tests.server.client import Client
from tests.server.conftest import PLENTY, Node, NodeMaker

FEW = dataclasses.replace(PLENTY, guesses_per_address=3)
SALT = bytes(16)


@pytest.mark.parametrize("said", ["Sesam", "sesam ", "sésam", "", "x" * 128])
def test_only_the_passphrase_has_its_hash(said: str) -> None:
    assert hashed(said, SALT) != hashed("sesam", SALT) == hashed("sesam", SALT)
    assert hashed("sesam", SALT) != hashed("sesam", b"\x01" * 16)


async def private(one: Node) -> Client:
    """A player who has a seat in the private room ``vault``."""
    ana = await one.player("ana")
    await ana.create("vault", passphrase="sesam")
    await ana.join("vault", passphrase="sesam")
    return ana


async def test_who_guesses_has_to_wait_on_every_node(node: NodeMaker) -> None:
    """Invariant 9: everything is bounded."""
    one, two = await node(FEW), await node(FEW)
    ana = await private(one)
    bob, cid = await one.player("bob"), await two.player("cid")
    await bob.refused("bad_passphrase", Join, room="vault", passphrase="a")
    await cid.refused("bad_passphrase", Watch, room="vault", passphrase="b")
    await bob.refused("bad_passphrase", Join, room="vault", passphrase="c")
    for client in (bob, cid):
        for kind in (Join, Watch):
            refusal = await client.refused("rate_limited", kind, room="vault", passphrase="sesam")
            assert 0 < refusal.retry_after <= WINDOW
            assert "Too many passphrases were tried at this room: try again in" in refusal.message
    again = await one.player("ana", ana.session)
    await again.join("vault")  # who has a seat needs no passphrase to come back to it
    await bob.create("other", passphrase="tamam")
    await cid.join("other", passphrase="tamam")


async def test_what_is_right_or_no_guess_at_all_is_not_counted(node: NodeMaker) -> None:
    one = await node(FEW)
    await private(one)
    bob = await one.player("bob")
    for _ in range(5):
        await bob.join("vault", passphrase="sesam")
        await bob.want(Done, Leave)
        await bob.refused("bad_passphrase", Join, room="vault")


async def test_many_guesses_at_once_are_no_more_guesses(node: NodeMaker) -> None:
    one = await node(FEW)
    await private(one)
    guessers = [await one.player(f"g{number}") for number in range(12)]
    answers = await asyncio.gather(
        *(client.ask(Join, room="vault", passphrase=f"guess {number}") for number, client in enumerate(guessers))
    )
    codes = sorted(getattr(answer, "code", "") for answer in answers)
    assert codes == ["bad_passphrase"] * 3 + ["rate_limited"] * 9


async def tried(passphrases: Passphrases, secret: Secret, said: str, network: str, limits: Limits) -> str:
    try:
        await passphrases.check("vault", secret, said, network, limits)
    except Refused as refused:
        return refused.code
    return ""


async def test_a_room_is_guessed_at_from_many_addresses_not_much_faster(node: NodeMaker, redis_url: str) -> None:
    one = await node()
    passphrases = Passphrases(one.store, one.rooms.clock)
    limits = dataclasses.replace(PLENTY, guesses_per_address=2, guesses_per_room=5)
    secret = Secret(b"", SALT, hashed("sesam", SALT))
    codes = [await tried(passphrases, secret, "x", f"192.0.2.{number // 3}", limits) for number in range(9)]
    assert codes == ["bad_passphrase", "bad_passphrase", "rate_limited"] * 1 + [
        *("bad_passphrase", "bad_passphrase", "rate_limited"),
        *("rate_limited", "rate_limited", "rate_limited"),
    ]
    with Redis.from_url(redis_url) as redis:
        kept = list(redis.scan_iter("*guesses*"))
        assert len(kept) == 4
        assert all(0 < redis.ttl(key) <= 2 * WINDOW for key in kept)


async def test_a_flood_of_guesses_does_not_starve_the_node(node: NodeMaker) -> None:
    """Invariant 9: everything is bounded, and nobody slows anybody else."""
    one = await node(dataclasses.replace(PLENTY, guesses_waiting=4))
    ana = await private(one)
    guessers = [await one.player(f"g{number}") for number in range(20)]
    asking = [asyncio.create_task(client.ask(Join, room="vault", passphrase="x")) for client in guessers]
    while not all(task.done() for task in asking):
        await ana.want(Pong, Ping)
        assert one.rooms._passphrases._waiting <= 4
    codes = {getattr(task.result(), "code", "") for task in asking}
    assert codes == {"bad_passphrase", "rate_limited"}
    await guessers[0].join("vault", passphrase="sesam")
