"""The shares of joint deals that a client commits to and reveals."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from samedeal.joint_deal import share_commitment
from samedeal.options import Options
from samedeal.protocol.messages import RoomState, Seat
from samedeal_client.net.joint_shares import CHAIN_LENGTH, JointShares, share_chain
from tests.shared.joint_deals import some_bytes

LAST = some_bytes("the last share")
CHAIN = share_chain("friday", "ana", LAST)


def state(commitment: bytes, phase: str = "countdown") -> RoomState:
    """A room in which ana, the player p1, is committed to a share."""
    return RoomState(
        room="friday",
        event=1,
        phase=phase,  # type: ignore[arg-type]  # one of its words
        game="willow",
        deal="winnable",
        options=Options(deal="winnable"),
        private=False,
        host="p1",
        players=(Seat(player="p1", name="ana", seat=1, share_commitment=commitment),),
        tallies=(),
        commitment=bytes(32),
    )


@pytest.fixture
def shares() -> JointShares:
    """The shares of a player who has joined once."""
    shares = JointShares()
    assert shares.commit("friday", "ana", LAST) == CHAIN[0]
    return shares


def test_each_share_is_the_commitment_to_the_next() -> None:
    assert len(CHAIN) == CHAIN_LENGTH + 1
    assert CHAIN[-1] == LAST
    assert all(share_commitment("friday", "ana", CHAIN[at + 1]) == CHAIN[at] for at in range(CHAIN_LENGTH))


def test_shares_are_revealed_one_after_another(shares: JointShares) -> None:
    assert [shares.to_reveal(state(CHAIN[at]), "p1") for at in (0, 0, 1, 2)] == [CHAIN[1], b"", CHAIN[2], CHAIN[3]]
    assert shares.revealed == set(CHAIN[1:4])


def test_new_connection_reveals_the_share_again(shares: JointShares) -> None:
    assert shares.to_reveal(state(CHAIN[0]), "p1") == CHAIN[1]
    shares.connected()
    assert shares.to_reveal(state(CHAIN[0]), "p1") == CHAIN[1]


@pytest.mark.parametrize(
    "told",
    [
        state(CHAIN[0], "open"),
        state(CHAIN[0], "racing"),
        state(b""),
        state(CHAIN[-1]),  # no share is left
        state(some_bytes("of another player")),
        replace(state(CHAIN[0]), room="saturday"),
        replace(state(CHAIN[0]), players=(Seat(player="p2", name="ana", seat=1, share_commitment=CHAIN[0]),)),
        replace(state(CHAIN[0]), players=(Seat(player="p1", name="eve", seat=1, share_commitment=CHAIN[0]),)),
    ],
)
def test_nothing_else_reveals_a_share(shares: JointShares, told: RoomState) -> None:
    assert shares.to_reveal(told, "p1") == b""
    assert not shares.revealed


def test_earlier_commitment_can_still_be_opened(shares: JointShares) -> None:
    for number in range(5):
        shares.commit("friday", "ana", some_bytes(f"{number}"))
    assert shares.in_use(state(CHAIN[0]), "p1") == LAST
    assert shares.to_reveal(state(CHAIN[0]), "p1") == CHAIN[1]


def test_restarted_client_opens_its_commitment() -> None:
    assert JointShares(LAST).to_reveal(state(CHAIN[1]), "p1") == CHAIN[2]
    assert JointShares(b"damaged").to_reveal(state(CHAIN[1]), "p1") == b""
