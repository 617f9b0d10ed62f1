"""When the next timed change of a race is due."""

from __future__ import annotations

from typing import Final

from samedeal.race.values import Race

ROOM_LIFETIME: Final = 3_600_000
"""Time, in milliseconds, for which a room stays open after its race has finished.

An empty room that was opened for a rematch stays open for the same time.
"""

EMPTY_LIFETIME: Final = 300_000
"""Time, in milliseconds, for which an empty room stays open.

The time is short, because a client can easily open many rooms. It does not apply to a room that was opened for a
rematch, or whose race is scheduled.
"""

HOST_TIMEOUT: Final = 60_000
"""Time, in milliseconds, for which all other persons must have been ready before the next person becomes the host.

Only a new host or another person who is not ready yet starts this time anew.
"""

WINDOW_LIFETIME: Final = 86_400_000
"""Time, in milliseconds, for which a room stays open after a race with a window, whose players come when they can."""

FOLLOW_TIMEOUT: Final = 60_000
"""Time, in milliseconds, in which the only player of a room has to go on to another one. Then the room closes."""


def due_at(race: Race) -> int:
    """Return when the next timed change of a race is due, in milliseconds since 1970, or 0 if there is none.

    A TickCommand makes the change.
    """
    options = race.options
    match race.phase:
        case "open" if race.next:
            return race.changed_at + (FOLLOW_TIMEOUT if race.racers else 0)
        case "open" if options.start == "at":
            return options.start_at - (1000 * options.countdown if race.racers or race.tide else 0)
        case "open" if race.window and race.racers:
            return race.doors_close_at
        case "open":
            empty_until = race.changed_at + (ROOM_LIFETIME if race.before.room else EMPTY_LIFETIME)
            return min(race.doors_close_at, empty_until) if race.window else host_due_at(race) or empty_until
        case "finished" if race.goes_on:
            return race.changed_at
        case "finished":
            return race.changed_at + (WINDOW_LIFETIME if race.window else ROOM_LIFETIME)
        case "countdown" if race.window and race.lacks_deal:
            return race.draw.reveal_by if race.lacks_shares and race.draw.seats else race.ends
        case "countdown":
            return min(race.starts, race.draw.reveal_by) if race.lacks_shares else race.starts
        case "racing":
            return race.ends
        case "closed":
            return 0


def host_due_at(race: Race) -> int:
    """Return when the next person becomes the host of an open room, in milliseconds since 1970.

    Return 0 if the host stays the same.
    """
    if race.window:
        return 0
    return race.ready_since + HOST_TIMEOUT if race.ready_since and race.options.start != "at" else 0


def awaits_next(race: Race, now: int) -> bool:
    """Return whether a race of a standing series is over, and a node has to open the room of the next one.

    A race is also over if nobody has drawn its deal by the end of its window.
    """
    is_missed = race.window > 0 and race.lacks_deal and now >= race.ends
    return race.goes_on and (race.phase == "finished" or is_missed)


def is_alone(race: Race, now: int) -> bool:
    """Return whether a race without a host is due, and only one player came. Nobody is alone in a tide."""
    is_due = race.is_open and now >= due_at(race)
    return is_due and not race.options.hosted and not race.tide and len(race.racers) == 1
