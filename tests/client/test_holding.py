"""What a client holds of what was acked, and what it gives back."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from samedeal.protocol.messages import MOST_HELD, Acked, Act, Held, Recover
from samedeal_client.net.holding import MOST, Holding


def holding(*revisions: int) -> Holding:
    """What is held after acks that have led to these revisions: each has its revision as id, time and receipt."""
    held = Holding()
    for revision in revisions:
        act = Act(id=revision, revision=revision - 1, action="3 5")
        answer = Acked(to=revision, revision=revision, seen=b"", hash=b"", up=0, moves=revision, undos=0)
        held = held.acked(act, replace(answer, at=revision, receipt=receipt(revision)))
    return held


def receipt(revision: int) -> bytes:
    return revision.to_bytes(2, "big")


def each(*revisions: int) -> tuple[Held, ...]:
    return tuple(Held(id=revision, action="3 5", at=revision) for revision in revisions)


@pytest.mark.parametrize(
    ("acks", "server", "behind"),
    [
        ((), 0, False),
        ((1, 2, 3), 3, False),
        ((1, 2, 3), 4, False),
        ((1, 2, 3), 2, True),
        ((1, 2, 3), 0, True),
        ((1, 2, 3), -1, False),  # the cards are not dealt there
        ((7, 8), 6, True),
        ((7, 8), 5, False),  # what came before was acked to another client of this player
        ((1, 2, 7, 8), 2, False),
        ((1, 2, 2, 1), 0, True),
    ],
)
def test_a_server_that_is_behind_is_helped_where_all_that_it_lacks_is_held(
    acks: tuple[int, ...], server: int, behind: bool
) -> None:
    assert holding(*acks).behind(server) == behind


@pytest.mark.parametrize(("server", "given"), [(0, (1, 2, 3)), (1, (2, 3)), (2, (3,))])
def test_what_is_given_back_is_what_is_missing_with_the_last_receipt(server: int, given: tuple[int, ...]) -> None:
    assert holding(1, 2, 3).recover(server) == (Recover(id=0, revision=server, held=each(*given), receipt=receipt(3)),)


def test_what_is_too_much_for_one_goes_in_several_each_with_its_own_receipt() -> None:
    last = 2 * MOST_HELD + 5
    recovers = holding(*range(1, last + 1)).recover(3)
    assert [(one.revision, len(one.held)) for one in recovers] == [
        (3, MOST_HELD),
        (3 + MOST_HELD, MOST_HELD),
        (3 + 2 * MOST_HELD, 2),
    ]
    assert [one.receipt for one in recovers] == [receipt(3 + MOST_HELD), receipt(3 + 2 * MOST_HELD), receipt(last)]
    assert [one.held[0].id for one in recovers] == [4, 4 + MOST_HELD, 4 + 2 * MOST_HELD]


def test_no_more_is_held_than_a_store_can_lose() -> None:
    held = holding(*range(1, MOST + 11))
    assert (len(held.held), len(held.receipts)) == (MOST, MOST)
    assert held.behind(10)
    assert not held.behind(9)
