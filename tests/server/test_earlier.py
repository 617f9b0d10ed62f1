"""A player for whom nobody came races against people who were here before."""

from __future__ import annotations

import pytest

from samedeal.deal import Deal
from samedeal.deal_proof import DealProof
from samedeal.protocol.messages import Created, RaceNow, RoomState
from samedeal_server.races.earlier import PlayerPast
from tests.server.client import Client
from tests.server.live_nodes import Node
from tests.server.races import race_alone, shorten_wait

GAME = "freecell"


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

    for player in (ana, bob):  # both know this deal
        room = (await player.expect(Created, RaceNow, game=GAME)).room
        await player.join(room)
        assert (await begun(player, room)).deal == "winnable"


def test_past_keeps_the_last_deals_and_a_mean_speed() -> None:
    past = (
        PlayerPast().with_race(1_000, "again 1").with_race(2_000, "").with_race(0, "again 2").with_race(1250, "again 1")
    )
    assert past == PlayerPast(1_250, ("again 1", "again 2"))
