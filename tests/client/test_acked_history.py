"""The history of acknowledged actions, and the recovery of lost ones."""

from __future__ import annotations

import pytest

from samedeal.protocol.messages import MAX_ACTIONS_PER_RECOVER, Acked, AckedAction, Act, Recover
from samedeal_client.net.acked_history import MAX_ACTIONS, AckedHistory
from tests.golden.golden_files import assert_answers


def history(*revisions: int) -> AckedHistory:
    """Return the history after acks that led to ``revisions``. Each has its revision as id, time and receipt."""
    known = AckedHistory()
    for revision in revisions:
        act = Act(id=revision, revision=revision - 1, action="3 5")
        known = known.acked(act, Acked(to=revision, time=revision, hash=b"", receipt=receipt(revision)))
    return known


def receipt(revision: int) -> bytes:
    return revision.to_bytes(2, "big")


def acked_actions(*revisions: int) -> tuple[AckedAction, ...]:
    return tuple(AckedAction(id=revision, action="3 5", time=revision) for revision in revisions)


def is_ahead(_: str, question: str) -> str:
    acks, _, server = question.partition("; the server has ")
    return "ahead" if history(*map(int, acks.split())).is_ahead_of(int(server)) else "not ahead"


def test_history_is_ahead_as_the_page_says() -> None:
    assert_answers("lost_actions", is_ahead)


@pytest.mark.parametrize(("server", "given"), [(0, (1, 2, 3)), (1, (2, 3)), (2, (3,))])
def test_recovery_has_the_missing_actions_and_last_receipt(server: int, given: tuple[int, ...]) -> None:
    assert history(1, 2, 3).recover(server) == (
        Recover(id=0, revision=server, actions=acked_actions(*given), receipt=receipt(3)),
    )


def test_long_recovery_is_split_with_a_receipt_each() -> None:
    last = 2 * MAX_ACTIONS_PER_RECOVER + 5
    recovers = history(*range(1, last + 1)).recover(3)
    assert [(one.revision, len(one.actions)) for one in recovers] == [
        (3, MAX_ACTIONS_PER_RECOVER),
        (3 + MAX_ACTIONS_PER_RECOVER, MAX_ACTIONS_PER_RECOVER),
        (3 + 2 * MAX_ACTIONS_PER_RECOVER, 2),
    ]
    assert [one.receipt for one in recovers] == [
        receipt(3 + MAX_ACTIONS_PER_RECOVER),
        receipt(3 + 2 * MAX_ACTIONS_PER_RECOVER),
        receipt(last),
    ]
    assert [one.actions[0].id for one in recovers] == [4, 4 + MAX_ACTIONS_PER_RECOVER, 4 + 2 * MAX_ACTIONS_PER_RECOVER]


def test_history_is_bounded() -> None:
    longest = history(*range(1, MAX_ACTIONS + 11))
    assert (len(longest.actions), len(longest.receipts)) == (MAX_ACTIONS, MAX_ACTIONS)
    assert longest.is_ahead_of(10)
    assert not longest.is_ahead_of(9)
