"""Functions that make the refusals of players' requests, each with its code and its sentence. Pure.

Other refusals are made elsewhere. The package ``samedeal`` refuses illegal moves, malformed messages and what the rules
of a race forbid (``race_refusals``), and ``config.token_buckets`` refuses requests that exceed a rate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final, Literal

from samedeal.errors import BadOptions, MalformedText, RequestRefused, SamedealError, refusal
from samedeal.protocol.messages import Refused
from samedeal.protocol_codes import RefusalCode
from samedeal.race import race_refusals

CommitRejection = Literal["stale", "fenced", "not_racing", "time_up", "already_finished", "no_room"]
"""The reason why the store rejected a commit."""


def banned(sentence: str) -> RequestRefused:
    """Refusal because the player or their address is banned. ``sentence`` says until when."""
    return RequestRefused(RefusalCode.BANNED, sentence)


bad_passphrase: Final = refusal(
    RefusalCode.BAD_PASSPHRASE, "That is not the passphrase of this room. Ask its host for it."
)
"""Refusal because the passphrase of a private room is missing or wrong."""


blank_passphrase: Final = partial(
    MalformedText, "A passphrase can't be blank. Choose another one, or leave it out for a public room."
)
"""Refusal because the passphrase of a new room consists of spaces."""


bad_receipt: Final = refusal(
    RefusalCode.BAD_RECEIPT, "The server never accepted these moves. They can't be restored: play on from here."
)
"""Refusal because a client wants to recover moves with a receipt that no node made for these moves."""


bad_start_time: Final = partial(
    BadOptions, "The start is too soon for the countdown, or more than seven days away. Choose another start time."
)
"""Refusal because the start time of a room is too early for its countdown, or too far in the future."""


no_record: Final = refusal(
    RefusalCode.NO_RECORD, "There is no record of this race. It may not be over, or its record was deleted."
)
"""Refusal because the race has no record, or the record does not have the requested part."""


def tide_not_open(seconds: int) -> RequestRefused:
    """Refusal because a tide opens later, at least for this player."""
    wait = f"{seconds} s" if seconds < 60 else f"{-(-seconds // 60)} min"
    return RequestRefused(
        RefusalCode.NO_TIDE, f"This tide opens for you in {wait}. Come back then.", retry_after=seconds
    )


draining: Final = refusal(
    RefusalCode.DRAINING, "This server is stopping. Open the room on another server.", retry_after=1
)
"""Refusal because the node is stopping and opens no more rooms."""


fault: Final = refusal(RefusalCode.FAULT, "The server made a mistake. Reconnect to resume.")
"""Refusal because of a programming error in the server."""


fenced: Final = refusal(
    RefusalCode.FENCED, "You are connected from somewhere else now. Continue there, or reconnect here."
)
"""Refusal because the player has a newer connection."""


hello_first: Final = refusal(
    RefusalCode.HELLO_FIRST, "The server does not know you yet. Send Hello with your name first."
)
"""Refusal because the client has sent another request before Hello."""


hello_once: Final = refusal(
    RefusalCode.HELLO_ONCE, "Hello was already sent on this connection. Reconnect to change your name."
)
"""Refusal because the client has sent Hello a second time on the same connection."""


def reserved_name(name: str) -> MalformedText:
    """Refusal because the name has a word that makes its player look like the server, the operator or a host."""
    return MalformedText(
        f"The name '{name}' could make players think that you are the server or a host. Choose another name."
    )


def no_room(room: str) -> RequestRefused:
    """Refusal because the room does not exist."""
    return RequestRefused(RefusalCode.NO_ROOM, f"There is no room {room!r}. List the rooms, or open one.")


this_room_is_gone: Final = refusal(
    RefusalCode.NO_ROOM, "This room does not exist any more. List the rooms, or open one."
)
"""Refusal because the room that the player is in does not exist any more."""


no_seat: Final = refusal(RefusalCode.NO_SEAT, "You have no seat in a room. Join one first.")
"""Refusal because the player has no seat in any room."""


no_spectators: Final = refusal(
    RefusalCode.NO_SPECTATORS, "This room admits no spectators. Join it, or choose another one."
)
"""Refusal because the room does not admit spectators."""


no_session: Final = refusal(
    RefusalCode.NO_SESSION, "This session has expired. Send Hello without a session to start a new one."
)
"""Refusal because the session of a Hello is unknown or has expired."""


def other_version(room: str, version: str, retry_after: float) -> RequestRefused:
    """Refusal because another version of Samedeal opened the room, and this version cannot serve it.

    ``version`` is the version of this server. ``retry_after`` is the time, in seconds, after which the client retries.
    """
    return RequestRefused(
        RefusalCode.OTHER_VERSION,
        f"The room {room!r} has a game that this server lacks or describes differently, or is of another version of "
        f"Samedeal; this is {version}. "
        "Reconnect: another server may be the right one.",
        retry_after=retry_after,
    )


racing: Final = refusal(
    RefusalCode.RACING, "You have a seat in this race, and racers see no other boards. Leave your seat first."
)
"""Refusal because a player wants to watch a race in which the player has a seat and is not done."""


def room_exists(room: str) -> RequestRefused:
    """Refusal because the code of a new room already belongs to another room."""
    return RequestRefused(
        RefusalCode.ROOM_EXISTS, f"There is already a room {room!r}. Join it, or choose another code."
    )


too_many_spectators: Final = refusal(
    RefusalCode.ROOM_FULL, "This room has as many spectators as this server allows. Try again later.", retry_after=30
)
"""Refusal because the room has the maximum number of spectators on this node."""


server_full: Final = refusal(
    RefusalCode.SERVER_FULL,
    "This server has as many rooms as it can hold. Join one of them, or try again later.",
    retry_after=60,
)
"""Refusal because the server has the maximum number of rooms."""


def too_many_actions(limit: int) -> RequestRefused:
    """Refusal because the player has already made ``limit`` actions, the maximum in a race."""
    return RequestRefused(
        RefusalCode.TOO_MANY_ACTIONS, f"A player can make {limit} moves in a race. You have made all of them."
    )


store_unavailable: Final = refusal(
    RefusalCode.UNAVAILABLE,
    "The server has lost contact with its database. Your last action may or may not have been saved. "
    "Try again in a second.",
    retry_after=1.0,
)
"""Refusal because the store can't be reached."""


no_free_code: Final = refusal(RefusalCode.UNAVAILABLE, "No free room code was found. Try again.", retry_after=1)
"""Refusal because no unused room code was found."""


def to_message(request: int, error: SamedealError) -> Refused:
    """Convert an error to the message that refuses the request with the id ``request``."""
    wait = error.retry_after or 0 if isinstance(error, RequestRefused) else 0
    return Refused(to=request, code=error.code, message=str(error), retry_after=wait)


def commit_refused(reason: CommitRejection) -> RequestRefused:
    """Return the refusal for a commit that was rejected."""
    return _COMMIT_REFUSALS[reason]()


_COMMIT_REFUSALS: Final[Mapping[CommitRejection, Callable[[], RequestRefused]]] = {
    "stale": race_refusals.stale,
    "fenced": fenced,
    "not_racing": race_refusals.not_racing,
    "time_up": race_refusals.time_up,
    "already_finished": race_refusals.race_done,
    "no_room": this_room_is_gone,
}
