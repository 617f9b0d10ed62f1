"""The names of all keys and channels in Redis.

All keys of a room share the hash tag ``{room}``. A script therefore touches a single slot, and the rooms of a cluster
are spread over its primaries. Other keys hold sessions, records of finished races, data about nodes, and two indexes
that are rebuilt from the rooms.
"""

from __future__ import annotations

from typing import Final

PREFIX: Final = "samedeal:"

ROOMS: Final = f"{PREFIX}rooms"
"""Sorted set: room codes by creation time. Every room has an entry, and an entry may outlive its room."""

DUE: Final = f"{PREFIX}due"
"""Sorted set: room codes by the time, in milliseconds, at which the room must be ticked next."""

RECORDS: Final = f"{PREFIX}records"
"""Sorted set: the ids of recorded races by the time, in milliseconds, at which the race ended."""

RECEIPT_KEY: Final = f"{PREFIX}receipt_key"
"""String: the secret key with which all nodes sign receipts."""

SCHEMAS: Final = f"{PREFIX}schemas"
"""Hash: for each schema version, the time (milliseconds) at which a node with it last ran, and the release of that node."""

NODES: Final = f"{PREFIX}nodes"
"""Channel: announcements that concern every node."""

PROBE: Final = f"{PREFIX}probe"
"""String: written to test whether Redis accepts writes; expires after a second. On a cluster a number is appended."""

NODE_COPIES: Final = range(3)
"""The copies of the data about running nodes. Each is complete. On a cluster they are on different primaries."""

ORDERS: Final = f"{PREFIX}nodes:orders"
"""Stream: orders of the operator to nodes; trimmed."""

BANS: Final = f"{PREFIX}bans"
"""Hash: bans (packed) by the player or network that is banned."""


def node_names(copy: int) -> str:
    """Sorted set: node names by the time, in milliseconds, of their last heartbeat."""
    return f"{PREFIX}nodes:{{{copy}}}:names"


def node(copy: int, name: str) -> str:
    """String: a node's last heartbeat (packed); expires soon after the node stops."""
    return f"{PREFIX}nodes:{{{copy}}}:node:{name}"


def player(player: str) -> str:
    """String: the node and address from which a player last connected (packed); expires after a day."""
    return f"{PREFIX}player:{player}"


def player_id(player: str) -> str:
    """String: marks a player's id as taken; expires with the player's session."""
    return f"{PREFIX}player_id:{player}"


def record(race: str) -> str:
    """Hash: the record of a race in compressed parts, its line in the list (packed), and who may read it; expires."""
    return f"{PREFIX}record:{race}"


def last_record(room: str) -> str:
    """String: the id of the newest recorded race of a room; expires with the record."""
    return f"{PREFIX}last_record:{room}"


def meta(room: str) -> str:
    """Hash: the state of a room, and the race (packed).

    The other fields are the schema and engine versions of the room, the version that a compare-and-set compares, the
    number of the newest event (last_event), the phase, and when the race starts and ends. ``starts`` and ``ends`` are 0
    while the race cannot start. The field ``resigned:PLAYER`` exists for each player who has resigned.
    """
    return f"{PREFIX}{{{room}}}:meta"


def secret(room: str) -> str:
    """Hash: the seed of the deal, and the salt and hash of the passphrase.

    For a joint deal the seed is the server's secret, and ``deal`` (packed) is the deal once it has been found.
    """
    return f"{PREFIX}{{{room}}}:secret"


def search(room: str) -> str:
    """String: the node that searches for the joint deal of a room; expires soon after the node stops."""
    return f"{PREFIX}{{{room}}}:search"


def progress(room: str, player: str) -> str:
    """Hash: a player's generation, revision and counts, as in ``races.race.Progress``."""
    return f"{PREFIX}{{{room}}}:progress:{player}"


def log(room: str, player: str) -> str:
    """Stream: a player's committed actions; the id is the revision."""
    return f"{PREFIX}{{{room}}}:log:{player}"


def events(room: str) -> str:
    """Stream: the events of a room; the id is the event number; trimmed."""
    return f"{PREFIX}{{{room}}}:events"


def channel(room: str) -> str:
    """Channel: announcements of a room's events."""
    return f"{PREFIX}{{{room}}}"


def room_of(channel: bytes) -> str:
    """Return the room whose events are announced on a channel."""
    return channel.decode().partition("{")[2].rstrip("}")


def spectators(room: str) -> str:
    """Hash: each node's number of spectators, with the time until which that number counts; ``:total`` holds the sum."""
    return f"{PREFIX}{{{room}}}:spectators"


def guesses(room: str, window: int, network: str = "") -> str:
    """String: how many passphrases were tried for a room in a time window, by one network, or by all if it is empty."""
    return f"{PREFIX}{{{room}}}:guesses:{window}:{network}"


def guest(token_hash: str) -> str:
    """String: the player whose session token has this hash, for a player who has not entered a room yet; expires soon."""
    return f"{PREFIX}guest:{token_hash}"


def session(token_hash: str) -> str:
    """String: the player whose session token has this hash, for a player who has entered a room; expires."""
    return f"{PREFIX}session:{token_hash}"
