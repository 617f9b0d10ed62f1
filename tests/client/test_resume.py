"""Resuming a seat or a view: what is sent on a new connection, and what follows from each answer."""

from __future__ import annotations

from itertools import count

import pytest

from samedeal.protocol.messages import (
    MAX_ACTIONS_PER_RECOVER,
    AckedAction,
    Act,
    Done,
    Join,
    Joined,
    Recover,
    Refused,
    ToServer,
    Watch,
    Watching,
)
from samedeal.protocol_codes import RefusalCode
from samedeal_link.connection.resume import NextStep, Resumption
from samedeal_link.evidence.evidence import Ack
from tests.client.scripted_server import acked
from tests.golden.golden_files import assert_answers


class Resuming(Resumption):
    """A client in no room, and the acknowledged actions that its evidence has."""

    def __init__(self) -> None:
        ids = count(100)
        self.known: list[Ack] = []
        super().__init__(lambda: next(ids), lambda: self.known)


def enter(resuming: Resumption, room: str) -> None:
    """Let the server accept a request for a seat."""
    join = Join(id=1, room=room)
    resuming.accepted(join, Joined(to=join.id, room=room, seat=1, generation=1))


def seated(revision: int = -1) -> Resuming:
    """A client with a seat and a board of a revision."""
    resuming = Resuming()
    enter(resuming, "k7")
    if revision >= 0:
        resuming.board_received(revision)
    return resuming


def ack(resuming: Resuming, *revisions: int) -> None:
    """Acknowledge the actions that led to these revisions. Each has its revision as its id, time and receipt."""
    for revision in revisions:
        act = Act(id=revision, revision=revision - 1, action="3 5")
        resuming.known.append(Ack(revision, revision, revision, act.action, b""))
        resuming.accepted(act, acked(act))


def joined(request: ToServer, revision: int = -1) -> Joined:
    return Joined(to=request.id, room="k7", seat=1, generation=1, revision=revision)


def refused(request: ToServer, code: RefusalCode, retry_after: float = 0.0) -> Refused:
    return Refused(to=request.id, code=code, message="No", retry_after=retry_after)


def only(step: NextStep) -> ToServer:
    """The one message that a step sends."""
    (message,) = step.send
    return message


def requested_seat(step: NextStep) -> Join:
    message = only(step)
    assert isinstance(message, Join)
    return message


def recovery(step: NextStep) -> Recover:
    message = only(step)
    assert isinstance(message, Recover)
    return message


def test_view_is_requested_and_requests_do_not_wait() -> None:
    resuming = Resuming()
    resuming.accepted(Watch(id=1, room="k7"), Watching(to=1, room="k7", delay=15))
    step = resuming.begin()
    assert step == NextStep(send=(Watch(id=100, room="k7"),), send_pending=True)
    assert resuming.answered(Watching(to=100, room="k7", delay=15)) == NextStep()


def test_client_that_left_resumes_nothing() -> None:
    resuming = seated()
    resuming.left()
    assert resuming.begin() == NextStep(send_pending=True)


def test_another_room_is_resumed_without_a_revision() -> None:
    resuming = seated(revision=4)
    enter(resuming, "k8")
    join = requested_seat(resuming.begin())
    assert (join.room, join.revision) == ("k8", -1)


def test_joining_the_same_room_again_keeps_the_revision() -> None:
    resuming = seated(revision=4)
    enter(resuming, "k7")
    assert requested_seat(resuming.begin()).revision == 4


def test_refused_seat_is_lost_and_requests_go_on() -> None:
    resuming = seated()
    join = only(resuming.begin())
    assert resuming.answered(refused(join, RefusalCode.ROOM_CLOSED)) == NextStep(send_pending=True, seat_lost=True)
    assert resuming.place is None


@pytest.mark.parametrize(("retry_after", "delay"), [(1.0, 1.0), (60.0, 15.0)])
def test_seat_refused_for_now_is_requested_again(retry_after: float, delay: float) -> None:
    resuming = seated()
    join = only(resuming.begin())
    step = resuming.answered(refused(join, RefusalCode.UNAVAILABLE, retry_after))
    assert step == NextStep(reconnect_after=delay)
    assert resuming.awaiting_seat
    assert requested_seat(resuming.begin()).room == "k7"


def test_resync_requests_the_whole_board() -> None:
    resuming = seated(revision=4)
    join = requested_seat(resuming.resync())
    assert (join.room, join.revision, join.event) == ("k7", -1, -1)
    assert not resuming.awaiting_seat


def test_resync_without_a_room_requests_nothing() -> None:
    assert Resuming().resync() == NextStep()


def test_answers_to_other_requests_are_not_expected() -> None:
    resuming = seated()
    join = only(resuming.begin())
    assert resuming.expects(joined(join))
    assert not resuming.expects(Done(to=7))


@pytest.mark.parametrize(
    ("code", "retry_after", "delay"),
    [
        (RefusalCode.UNAVAILABLE, 0.0, 0.0),
        (RefusalCode.UNAVAILABLE, 1.0, 1.0),
        (RefusalCode.RATE_LIMITED, 2.0, 2.0),
        (RefusalCode.RATE_LIMITED, 60.0, 15.0),
        (RefusalCode.DRAINING, 1.0, 1.0),
    ],
)
def test_recovery_refused_for_now_is_repeated(code: RefusalCode, retry_after: float, delay: float) -> None:
    resuming = seated(revision=4)
    ack(resuming, 5)
    recover = recovery(resuming.answered(joined(only(resuming.begin()), 4)))
    assert resuming.answered(refused(recover, code, retry_after)) == NextStep(reconnect_after=delay)
    assert recovery(resuming.answered(joined(only(resuming.begin()), 4))).actions == recover.actions


def test_older_board_leads_to_recovery_and_a_resync() -> None:
    """The server sends a board without being asked, as when it deals again after a second countdown."""
    resuming = seated(revision=4)
    ack(resuming, 5)
    recover = recovery(resuming.board_received(4))
    assert requested_seat(resuming.answered(Done(to=recover.id))).revision == -1


def test_moves_are_restored_only_once() -> None:
    resuming = seated(revision=4)
    ack(resuming, 5)
    recovery(resuming.board_received(4))
    assert resuming.board_received(4) == NextStep()


def test_history_is_ahead_as_the_page_says() -> None:
    def is_ahead(_: str, question: str) -> str:
        acks, _, server = question.partition("; the server has ")
        resuming = seated()
        ack(resuming, *map(int, acks.split()))
        return "ahead" if resuming.board_received(int(server)).send else "not ahead"

    assert_answers("lost_actions", is_ahead)


def test_long_recovery_is_split_with_a_receipt_each() -> None:
    most = MAX_ACTIONS_PER_RECOVER
    resuming = seated()
    ack(resuming, *range(1, 2 * most + 6))
    sent = [each for each in resuming.board_received(3).send if isinstance(each, Recover)]
    assert [(each.revision, len(each.actions), each.receipt) for each in sent] == [
        (3, most, str(3 + most).encode()),
        (3 + most, most, str(3 + 2 * most).encode()),
        (3 + 2 * most, 2, str(5 + 2 * most).encode()),
    ]
    assert [each.actions[0] for each in sent] == [
        AckedAction(id=first, action="3 5", time=first) for first in (4, 4 + most, 4 + 2 * most)
    ]


def test_board_older_than_the_history_is_accepted() -> None:
    resuming = seated(revision=4)
    ack(resuming, 5)
    assert resuming.board_received(2) == NextStep()


@pytest.mark.parametrize(
    ("requested", "join_pending", "at", "explained"),
    [(True, False, 20.0, True), (False, True, 20.0, True), (True, False, 70.0, False), (False, False, 11.0, False)],
    ids=["late request", "join of the player", "old request", "answered request"],
)
def test_late_request_explains_one_takeover(requested: bool, join_pending: bool, at: float, explained: bool) -> None:
    resuming = seated()
    join = only(resuming.begin())
    if not requested:
        resuming.answered(joined(join))
    resuming.disconnected(10.0, join_pending=join_pending)
    assert resuming.explains_takeover(at) == explained
    assert not resuming.explains_takeover(at + 1)
