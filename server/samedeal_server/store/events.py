"""What happened in a room, as its stream keeps it: a letter for the kind, then the rest.

A kind that is not known here, of a newer version, may be passed over: ``read`` gives None for it.

The scripts write the two that carry a number of theirs (``H`` and ``W``) as plain text.
"""

from __future__ import annotations

from dataclasses import dataclass

from msgspec import Struct

from samedeal.protocol.codec import pack, unpack
from samedeal_server.race import Race


class Changed(Struct, frozen=True):
    """The race is another now; ``what`` names what happened to it, ``by`` the player whose command it was, or empty."""

    race: Race
    what: tuple[str, ...]
    by: str


class Moved(Struct, frozen=True):
    """A player's action was committed, as revision ``revision``."""

    player: str
    revision: int
    action: str
    seen: bytes
    up: int
    moves: int
    undos: int
    home: bool
    over: bool


@dataclass(frozen=True, slots=True)
class Presence:
    """A player's connection of this generation came (``here``) or went."""

    player: str
    generation: int
    here: bool


@dataclass(frozen=True, slots=True)
class Watched:
    """So many watch the room now."""

    count: int


@dataclass(frozen=True, slots=True)
class Said:
    """The operator says something to everybody here."""

    text: str


Event = Changed | Moved | Presence | Watched | Said


@dataclass(frozen=True, slots=True)
class Numbered:
    """An event with its number in the room, that of the event before it, 0 for none, and its time in milliseconds.

    Numbers rise, and none is ever used for two events, also where a Redis has lost the newest: who has seen ``after`` and
    sees this has missed nothing.
    """

    number: int
    after: int
    at: int
    event: Event | None


def write(event: Event) -> bytes:
    """An event as it is kept."""
    match event:
        case Changed():
            return b"R" + pack(event)
        case Moved():
            return b"M" + pack(event)
        case Presence(player, generation, here):
            return f"H {player} {generation} {int(here)}".encode()
        case Watched(count):
            return f"W {count}".encode()
        case Said(text):
            return f"S {text}".encode()


def read(data: bytes) -> Event | None:
    """Read what ``write`` wrote. Raises ValueError."""
    match data[:1]:
        case b"R":
            return unpack(data[1:], Changed)
        case b"M":
            return unpack(data[1:], Moved)
        case b"H":
            player, generation, here = data.decode().split(" ")[1:4]
            return Presence(player, int(generation), here == "1")
        case b"W":
            return Watched(int(data.split(b" ")[1]))
        case b"S":
            return Said(data[2:].decode())
    return None


def read_announced(data: bytes) -> Numbered:
    """Read an event as it is announced: ``number:after:at:event``."""
    number, after, at, event = data.split(b":", 3)
    return Numbered(int(number), int(after), int(at), read(event))
