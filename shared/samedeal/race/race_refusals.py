"""Functions that make the refusals of the rules of a race, each with its code and its sentence."""

from __future__ import annotations

from typing import Final

from samedeal.errors import RequestRefused, refusal
from samedeal.protocol_codes import RefusalCode

no_tide: Final = refusal(RefusalCode.NO_TIDE, "There is no such tide any more. Choose the next one.")
"""Refusal because there is no such tide, or because its race has begun."""


kicked: Final = refusal(RefusalCode.KICKED, "You were removed from this room. Choose another one.")
"""Refusal because the operator or the host removed the player from the room."""


address_kicked: Final = refusal(
    RefusalCode.KICKED, "A player from your address was removed from this room. Choose another one."
)
"""Refusal because the operator or the host removed somebody from the player's address from a public room."""


def name_taken(name: str) -> RequestRefused:
    """Refusal because the player's name is too similar to ``name``, the name of a player with a seat in the room."""
    return RequestRefused(
        RefusalCode.NAME_TAKEN,
        f"A player in this room is already called {name}. Reconnect with a name that looks different.",
    )


no_seat_here: Final = refusal(RefusalCode.NO_SEAT, "You have no seat in this room. Join it first.")
"""Refusal because the player has no seat in this room."""


player_has_no_seat: Final = refusal(RefusalCode.NO_SEAT, "That player has no seat in this room.")
"""Refusal because the player to be removed has no seat, or is the host who sent the request."""


no_bots: Final = refusal(RefusalCode.NO_BOTS, "This room admits no bots. Choose another room.")
"""Refusal because the room does not admit bots."""


bad_share: Final = refusal(
    RefusalCode.BAD_SHARE,
    "The draw does not wait for this. Send the hash of a random number first, "
    "and the number itself once all players have sent theirs.",
)
"""Refusal because the room does not wait for this hash or share, or because the share has another hash."""


not_host: Final = refusal(RefusalCode.NOT_HOST, "Only the host can do that. Wait for the host.")
"""Refusal because only the host may start the race or kick a player."""


not_over: Final = refusal(RefusalCode.NOT_OVER, "You can ask for a rematch once this race is over.")
"""Refusal because a rematch was requested while the race is not over."""


not_racing: Final = refusal(RefusalCode.NOT_RACING, "No race is under way. It has not started, or it is over.")
"""Refusal because no race is under way."""


race_started: Final = refusal(RefusalCode.RACE_STARTED, "This race has already started.")
"""Refusal because the countdown or the race has begun, which is too late for the request."""


race_started_without_you: Final = refusal(
    RefusalCode.RACE_STARTED, "This race has started without you. Watch it, or wait for the rematch."
)
"""Refusal because a player without a seat wants to join after the countdown has begun."""


room_closed: Final = refusal(RefusalCode.ROOM_CLOSED, "This room is closed. List the rooms, or open one.")
"""Refusal because the room is closed."""


def room_full(seats: int) -> RequestRefused:
    """Refusal because all seats are taken."""
    return RequestRefused(
        RefusalCode.ROOM_FULL,
        f"{'The only seat is' if seats == 1 else f'All {seats} seats are'} taken. "
        "Watch the race, or choose another room.",
    )


def seats_kept(seconds: int) -> RequestRefused:
    """Refusal because the free seats of a rematch are still kept for the players of the previous race.

    ``seconds`` is the time until any player may take these seats.
    """
    return RequestRefused(
        RefusalCode.ROOM_FULL,
        f"The free seats are kept for the players of the last race. Try again in {seconds} s.",
        retry_after=seconds,
    )


too_many_from_address: Final = refusal(
    RefusalCode.ROOM_FULL,
    "Players from your address already have all seats that they may take. Watch the race, or open another room.",
)
"""Refusal because players from this player's address already have half of the seats in a public room, or four of many.

In a room of at most 16 seats, players from the host's address are never refused for this reason.
"""


stale: Final = refusal(RefusalCode.STALE, "The move was made on an older board. Look at the current one.")
"""Refusal because a move was made on an older board."""


time_up: Final = refusal(RefusalCode.TIME_UP, "The race is over. Its time is up.")
"""Refusal because the race's time limit has passed."""


race_done: Final = refusal(
    RefusalCode.ALREADY_FINISHED, "Your race is over. You finished, resigned, or have no moves left."
)
"""Refusal because the player has finished, resigned, or has no moves left."""


not_dealt: Final = refusal(
    RefusalCode.NOT_RACING, "The race has not started. The cards are dealt when the countdown ends."
)
"""Refusal because a move was sent before the cards were dealt."""
