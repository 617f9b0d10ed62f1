"""Unanswered requests: which wait, which are sent again, and in which order."""

from __future__ import annotations

from typing import get_args

from samedeal.protocol.messages import Act, Join, Ready, Refused, ToClient, ToServer
from samedeal.protocol_codes import RefusalCode
from samedeal_link.connection.unanswered_requests import MAX_RETRY_AFTER, PendingRequests, ServerAnswer
from tests.client.scripted_server import rate_limited


def stale(request: ToServer) -> Refused:
    return Refused(to=request.id, code=RefusalCode.STALE, message="Stale", revision=5)


def unavailable(request: ToServer, revision: int = -1) -> Refused:
    return Refused(to=request.id, code=RefusalCode.UNAVAILABLE, message="Full", revision=revision, retry_after=1.0)


def actions(count: int) -> list[Act]:
    return [Act(id=number, revision=number, action="3 5") for number in range(1, count + 1)]


def pending(*requests: ToServer) -> PendingRequests:
    """Requests that were all sent."""
    made = PendingRequests()
    for request in requests:
        assert made.add(request, 0.0)
    return made


def test_rate_limited_request_is_sent_again_when_due() -> None:
    ready = Ready(id=1)
    requests = pending(ready)
    assert requests.defer(rate_limited(ready, 0.5), now=10.0)
    assert requests.take_due(10.4) == ()
    assert requests.take_due(10.5) == (ready,)
    assert requests.retry_at is None
    assert requests.in_order() == (ready,)


def test_which_refusals_defer_a_request() -> None:
    (act,), join = actions(1), Join(id=1, room="k7")
    assert not pending(join).defer(rate_limited(join, MAX_RETRY_AFTER + 1), now=0.0)
    assert pending(act).defer(rate_limited(act, MAX_RETRY_AFTER + 1), now=0.0)
    assert not pending(act).defer(stale(act), now=0.0)
    assert pending(act).defer(unavailable(act, revision=0), now=0.0)
    assert not pending(act).defer(unavailable(act), now=0.0)  # it may have been saved
    assert not pending(join).defer(unavailable(join, revision=0), now=0.0)
    assert not PendingRequests().defer(rate_limited(act), now=0.0)
    assert pending(act).remove(99) is None


def test_actions_after_a_deferred_one_are_deferred_too() -> None:
    first, second, third = actions(3)
    requests = pending(first, second, third)
    assert requests.defer(rate_limited(first), now=0.0)
    assert requests.take_due(1.0) == ()  # the others are not refused yet
    assert requests.defer(stale(second), now=1.1)
    assert requests.take_due(1.1) == ()
    assert requests.defer(stale(third), now=1.2)
    assert requests.take_due(1.2) == (first, second, third)


def test_second_refusal_does_not_extend_the_delay() -> None:
    first, second = actions(2)
    requests = pending(first, second)
    requests.defer(rate_limited(first, 0.5), now=0.0)
    requests.defer(rate_limited(second, 5.0), now=0.1)
    assert requests.retry_at == 0.5


def test_next_connection_starts_without_deferred_requests() -> None:
    first, second = actions(2)
    requests = pending(first)
    requests.defer(rate_limited(first), now=0.0)
    requests.stop_deferring()
    assert requests.retry_at is None
    assert requests.add(second, 0.0)
    assert requests.in_order() == (first, second)


def test_answers_are_the_messages_with_the_id_of_a_request() -> None:
    """A caller of ``Link.request`` would wait for ever for a message that ``ServerAnswer`` lacks."""
    assert {*get_args(ServerAnswer), Refused} == {kind for kind in get_args(ToClient) if "to" in kind.__struct_fields__}
