"""Requests that the server has not answered yet. Pure: the time is an argument."""

from __future__ import annotations

from typing import Final, TypeGuard

from samedeal.protocol.messages import (
    Acked,
    Act,
    Begun,
    Create,
    Created,
    Done,
    Join,
    Joined,
    Pong,
    RecordPart,
    Records,
    Refused,
    Rooms,
    SessionCode,
    ToClient,
    ToServer,
    Watching,
    Welcome,
)
from samedeal.protocol_codes import RefusalCode

ServerAnswer = (
    Welcome | Pong | Rooms | Records | RecordPart | Created | Joined | Watching | Done | Begun | SessionCode | Acked
)

MAX_RETRY_AFTER: Final = 15.0
"""Maximum delay, in seconds, after which a rate-limited request other than an action is retried.

If the server asks for a longer delay, the request fails. An action is retried after any delay.
"""


def is_rate_limited(message: ToClient) -> TypeGuard[Refused]:
    """Return whether the server refused a request for now and says when to retry."""
    return isinstance(message, Refused) and message.code == RefusalCode.RATE_LIMITED and message.retry_after > 0


def is_unsaved(message: Refused) -> bool:
    """Return whether the server could not save an action for now. Its revision says that nothing was saved."""
    return message.code == RefusalCode.UNAVAILABLE and message.revision >= 0 and message.retry_after > 0


class PendingRequests:
    """Unanswered requests in the order in which they were made.

    A rate-limited request is deferred: it is sent again, under the same id, once ``retry_at`` has passed. So is an action
    that the server could not save. Actions after a deferred action are deferred too, because each action applies to the
    board that the previous action leads to.
    """

    def __init__(self) -> None:
        self.retry_at: float | None = None
        self._unanswered: dict[int, ToServer] = {}
        self._moved: dict[int, float] = {}
        self._deferred: dict[int, ToServer] = {}

    def add(self, request: ToServer, now: float) -> bool:
        """Record a request. Return False if the request is deferred and must not be sent now."""
        self._unanswered[request.id] = request
        if isinstance(request, Act):
            self._moved[request.id] = now
            if self._defers_actions:
                self._deferred[request.id] = request
                return False
        return True

    @property
    def moved(self) -> float | None:
        """When the oldest unanswered action was made, or None if there is none."""
        return next(iter(self._moved.values()), None)

    def get(self, number: int) -> ToServer | None:
        """Return the unanswered request with the id ``number``, or None if there is none."""
        return self._unanswered.get(number)

    def remove(self, number: int) -> ToServer | None:
        """Remove and return the request with the id ``number``, because it was answered.

        Return None if there is no such request.
        """
        self._moved.pop(number, None)
        return self._unanswered.pop(number, None)

    def in_order(self) -> tuple[ToServer, ...]:
        """Return all unanswered requests, oldest first."""
        return tuple(self._unanswered.values())

    def has(self, kind: type[Join | Create]) -> bool:
        """Return whether a request of this kind is unanswered."""
        return any(isinstance(request, kind) for request in self._unanswered.values())

    @property
    def _defers_actions(self) -> bool:
        return any(isinstance(request, Act) for request in self._deferred.values())

    def defer(self, refusal: Refused, now: float) -> bool:
        """Defer the refused request if retrying may help. Return False if the refusal is final."""
        request = self._unanswered.get(refusal.to)
        if request is None:
            return False
        follows_deferred = isinstance(request, Act) and self._defers_actions
        if isinstance(request, Act):
            retried = is_rate_limited(refusal) or is_unsaved(refusal)
        else:
            retried = is_rate_limited(refusal) and refusal.retry_after <= MAX_RETRY_AFTER
        if not (follows_deferred or retried):
            return False
        self._deferred[request.id] = request
        if refusal.retry_after and self.retry_at is None:
            self.retry_at = now + refusal.retry_after
        return True

    def take_due(self, now: float) -> tuple[ToServer, ...]:
        """Return the deferred requests that can be sent again now, oldest first. They are then no longer deferred.

        If an action is deferred, but another action was sent and has no answer yet, return an empty tuple. Waiting for
        that answer keeps the actions in order.
        """
        if self.retry_at is not None and now < self.retry_at:
            return ()
        self.retry_at = None
        in_flight = any(
            isinstance(request, Act) and request.id not in self._deferred for request in self._unanswered.values()
        )
        if self._defers_actions and in_flight:
            return ()
        deferred, self._deferred = self._deferred, {}
        return tuple(request for _, request in sorted(deferred.items()))

    def stop_deferring(self) -> None:
        """Make all deferred requests ordinary unanswered requests again, because the connection is lost.

        The link sends all unanswered requests at the start of the next connection.
        """
        self.retry_at = None
        self._deferred.clear()

    def remove_unrepeatable(self) -> tuple[Create, ...]:
        """Remove and return the requests that must not be sent twice. A second ``Create`` would open a second room."""
        removed = tuple(request for request in self._unanswered.values() if isinstance(request, Create))
        for request in removed:
            del self._unanswered[request.id]
        return removed

    def clear(self) -> None:
        """Remove all requests, because the link has ended."""
        self.stop_deferring()
        self._unanswered.clear()
        self._moved.clear()
