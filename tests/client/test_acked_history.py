"""The history of acknowledged actions, and the recovery of lost ones."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from samedeal.protocol.messages import MAX_HELD_PER_RECOVER, Acked, Act, Held, Recover
from samedeal_client.net.acked_history import MAX_HELD, AckedHistory


def history(*revisions: int) -> AckedHistory:
    """Return the history after acks that led to ``revisions``. Each has its revision as id, time and receipt."""
    held = AckedHistory()
    for revision in revisions:
        act = Act(id=revision, revision=revision - 1, action="3 5")
        answer = Acked(to=revision, revision=revision, seen=b"", hash=b"", foundation_cards=0, moves=revision, undos=0)
        held = held.acked(act, replace(answer, at=revision, receipt=receipt(revision)))
    return held


def receipt(revision: int) -> bytes:
    return revision.to_bytes(2, "big")


def held_actions(*revisions: int) -> tuple[Held, ...]:
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
        ((1, 2, 7, 8), 5, False),  # 1 and 2 are dropped, since 3 to 6 are missing
        ((1, 2, 2, 1), 0, True),
    ],
)
def test_history_is_ahead_if_it_holds_all_lost_actions(acks: tuple[int, ...], server: int, behind: bool) -> None:
    assert history(*acks).is_ahead_of(server) == behind


@pytest.mark.parametrize(("server", "given"), [(0, (1, 2, 3)), (1, (2, 3)), (2, (3,))])
def test_recovery_has_the_missing_actions_and_last_receipt(server: int, given: tuple[int, ...]) -> None:
    assert history(1, 2, 3).recover(server) == (
        Recover(id=0, revision=server, held=held_actions(*given), receipt=receipt(3)),
    )


def test_long_recovery_is_split_with_a_receipt_each() -> None:
    last = 2 * MAX_HELD_PER_RECOVER + 5
    recovers = history(*range(1, last + 1)).recover(3)
    assert [(one.revision, len(one.held)) for one in recovers] == [
        (3, MAX_HELD_PER_RECOVER),
        (3 + MAX_HELD_PER_RECOVER, MAX_HELD_PER_RECOVER),
        (3 + 2 * MAX_HELD_PER_RECOVER, 2),
    ]
    assert [one.receipt for one in recovers] == [
        receipt(3 + MAX_HELD_PER_RECOVER),
        receipt(3 + 2 * MAX_HELD_PER_RECOVER),
        receipt(last),
    ]
    assert [one.held[0].id for one in recovers] == [4, 4 + MAX_HELD_PER_RECOVER, 4 + 2 * MAX_HELD_PER_RECOVER]


def test_history_is_bounded() -> None:
    held = history(*range(1, MAX_HELD + 11))
    assert (len(held.held), len(held.receipts)) == (MAX_HELD, MAX_HELD)
    assert held.is_ahead_of(10)
    assert not held.is_ahead_of(9)
