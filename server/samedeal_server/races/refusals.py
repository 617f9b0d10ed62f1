"""The refusals of commits, and refusals as messages. Pure."""

from __future__ import annotations

from typing import Literal

from samedeal.errors import RequestRefused, SamedealError
from samedeal.protocol.messages import Refused
from samedeal.sentences import refused

CommitRejection = Literal["stale", "fenced", "not_racing", "time_up", "already_finished", "no_room"]
"""The reason why the store rejected a commit."""


def commit_refused(reason: CommitRejection) -> RequestRefused:
    """Return the refusal for a commit that was rejected."""
    return refused("this_room_is_gone") if reason == "no_room" else refused(reason)


def to_message(request: int, error: SamedealError) -> Refused:
    """Convert an error to the message that refuses the request with the id ``request``."""
    wait = error.retry_after or 0 if isinstance(error, RequestRefused) else 0
    return Refused(to=request, code=error.code, message=str(error), retry_after=wait)
