"""The events of a room, and their encoding in a Redis stream.

An event is encoded as the name of its kind, a space, and its content. If only a newer version knows the kind, the event
is decoded to None. The kinds ``presence``, ``spectators`` and ``began`` are plain text, because scripts insert numbers
into them.
"""

from __future__ import annotations

from dataclasses import dataclass

from msgspec import Struct

from samedeal.protocol.codec import pack, unpack
from samedeal.race.progress import MoveCommitted
from samedeal.race.values import Race
from samedeal_server.store.race_patches import RacePatch


class RaceChanged(Struct, frozen=True):
    """An event with the new state of the race, which replaces the previous state.

    ``changes`` names the changes. ``player`` is the player whose command changed the race, or empty if no player did.
    """

    race: Race
    changes: tuple[str, ...]
    player: str


class RacePatched(Struct, frozen=True):
    """An event with only the changed fields of a race, for a reader that knows the state before the event.

    ``changes`` and ``player`` have the same meaning as in RaceChanged.
    """

    patch: RacePatch
    changes: tuple[str, ...]
    player: str

    def apply(self, before: Race) -> RaceChanged:
        """Return the event with the whole race. ``before`` is the race before the event."""
        return RaceChanged(self.patch.apply(before), self.changes, self.player)


@dataclass(frozen=True, slots=True)
class PresenceChanged:
    """An event that says that a player's connection was opened or lost. ``generation`` identifies the connection."""

    player: str
    generation: int
    connected: bool


@dataclass(frozen=True, slots=True)
class SpectatorCount:
    """An event that says how many spectators the room has now."""

    count: int


@dataclass(frozen=True, slots=True)
class OperatorMessage:
    """An event with a message of the operator to everybody in the room."""

    text: str


@dataclass(frozen=True, slots=True)
class AttemptBegan:
    """An event that says that a player has begun in a race with a window, at ``began_at``."""

    player: str
    began_at: int


EncodedEvent = RaceChanged | RacePatched | MoveCommitted | PresenceChanged | OperatorMessage
Event = EncodedEvent | AttemptBegan | SpectatorCount


class SequencedEvent(Struct, frozen=True):
    """An event with its number in the room, and with its time in milliseconds since 1970.

    ``previous`` is the number of the event before it, or 0 for the first event. A reader whose newest event has the
    number ``previous`` has therefore missed no event. Numbers rise and are never reused, even if Redis loses its newest
    events.
    """

    number: int
    previous: int
    time: int
    event: Event | None


def change_event(before: Race, after: Race, changes: tuple[str, ...], player: str) -> RaceChanged | RacePatched:
    """Return the event for a change of a race.

    Until its race starts, a room may change often. The event of such a change therefore holds only the changed fields,
    unless the room had no players before the change.
    """
    if before.racers and before.is_waiting and after.is_waiting:
        return RacePatched(RacePatch.between(before, after), changes, player)
    return RaceChanged(after, changes, player)


def presence_parts(player: str) -> tuple[str, str]:
    """Return the text before and after the generation in a presence event.

    ``connect_player.lua`` inserts the generation.
    """
    return f"presence {player} ", " 1"


BEGAN_PREFIX = "began "
"""The text before the player in the event of an attempt that begins. ``begin_attempt.lua`` appends the time."""

SPECTATORS_PREFIX = "spectators "
"""The text before the number in the event ``spectators``. ``set_spectator_count.lua`` appends the number."""


def encode_event(event: EncodedEvent) -> bytes:
    """Encode an event for the stream of its room. Scripts encode the other kinds."""
    match event:
        case MoveCommitted():
            return b"move " + pack(event)
        case RaceChanged():
            return b"race " + pack(event)
        case RacePatched():
            return b"patch " + pack(event)
        case PresenceChanged(player, generation, connected):
            return f"presence {player} {generation} {int(connected)}".encode()
        case OperatorMessage(text):
            return f"message {text}".encode()


def decode_event(data: bytes) -> Event | None:
    """Decode an event, or return None if its kind is unknown. Raise ValueError if the event is malformed."""
    kind, _, rest = data.partition(b" ")
    match kind:
        case b"race":
            return unpack(rest, RaceChanged)
        case b"patch":
            return unpack(rest, RacePatched)
        case b"move":
            return unpack(rest, MoveCommitted)
        case b"presence":
            player, generation, connected = rest.decode().split(" ")[:3]
            return PresenceChanged(player, int(generation), connected == "1")
        case b"began":
            player, began_at = rest.decode().split(" ")[:2]
            return AttemptBegan(player, int(began_at))
        case b"spectators":
            return SpectatorCount(int(rest.split(b" ")[0]))
        case b"message":
            return OperatorMessage(rest.decode())
        case _:
            return None


def decode_announced_event(data: bytes) -> SequencedEvent:
    """Decode an event from an announcement: ``number:previous:time:event``. Raise ValueError if it is malformed."""
    number, previous, time, event = data.split(b":", 3)
    return SequencedEvent(int(number), int(previous), int(time), decode_event(event))
