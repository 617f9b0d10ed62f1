"""The names of all keys and channels in Redis. Each docstring begins with the type of the value.

All keys of a room share the hash tag ``{room}``. A script therefore touches a single slot, and the rooms of a cluster
are spread over its primaries. Other keys hold sessions, records of finished races, news, data about nodes, and three
indexes that can be rebuilt from the rooms. "Packed" means encoded with ``codec.pack``.
"""

from __future__ import annotations

from typing import Final

PREFIX: Final = "samedeal:"

ROOMS: Final = f"{PREFIX}rooms"
"""Sorted set: room codes by the time, in milliseconds, at which the room was opened.

Every room has an entry. An entry may outlive its room.
"""

LISTED: Final = f"{PREFIX}listed"
"""Sorted set: the rooms in the order in which lists show them, each as its origin, a space and its code.

The score of a room with players is the time, in milliseconds, at which it was opened. That of a room without players is
lower by ``room_indexes.EMPTY``.
"""

WINDOWS: Final = f"{PREFIX}windows"
"""Sorted set: the rooms with a window that is not over, each as in ``LISTED``, by the time at which the window closes."""

DUE: Final = f"{PREFIX}due"
"""Sorted set: room codes by the time, in milliseconds, of the room's next tick."""

RECORDS: Final = f"{PREFIX}records"
"""Sorted set: the ids of recorded races by the time, in milliseconds, at which the race ended."""

HOUSE: Final = f"{PREFIX}house"
"""Sorted set: the rooms to which bots of the house may come, by the time, in milliseconds, until which that may matter."""

HOUSE_LEASE: Final = f"{PREFIX}house_lease"
"""String: the name of the program that runs the house; expires unless it asks for rooms."""

HOUSE_HOME: Final = f"{PREFIX}house_home"
"""String: exists for a while after a node had too much to do, and bots of the house stay at home."""

NEWS: Final = f"{PREFIX}news"
"""Stream: news of public races (packed); trimmed. Hooks read it as groups of consumers."""

RECEIPT_KEY: Final = f"{PREFIX}receipt_key"
"""String: the secret key with which all nodes sign receipts."""

SCHEMAS: Final = f"{PREFIX}schemas"
"""Hash: for each schema version, when a node of that version last ran (in milliseconds), and the node's release."""

LAST_BACKUP: Final = f"{PREFIX}nodes:last_backup"
"""String: when the newest backup was made, in milliseconds."""

NODES: Final = f"{PREFIX}nodes"
"""Channel: announcements for every node."""

PROBE: Final = f"{PREFIX}probe"
"""String: written to test whether Redis accepts writes; expires after a second.

On a cluster the key ends with a number.
"""

NODE_COPIES: Final = range(3)
"""The numbers of the copies of the data about running nodes. Each copy is complete.

The keys of each copy have their own hash tag, so that the copies of a cluster are on different primaries.
"""

ORDERS: Final = f"{PREFIX}nodes:orders"
"""Stream: orders of the operator to nodes; trimmed."""

BANS: Final = f"{PREFIX}bans"
"""Hash: each ban (packed) by the banned player or network."""


WORDS: Final = f"{PREFIX}words"
"""String: the words that names must not have, one in each line."""

REPORTS: Final = f"{PREFIX}reports"
"""Stream: the names that players have reported (packed); trimmed. Hooks read it as groups of consumers."""

REMOVED: Final = f"{PREFIX}removed"
"""Hash: when a player's name was removed, or a race whose record was deleted ended, in milliseconds. Both are for good."""


def reported(origin: str) -> str:
    """String: the number of reports from an origin; expires after an hour."""
    return f"{PREFIX}reported:{origin}"


def node_names(copy: int) -> str:
    """Sorted set: node names by the time, in milliseconds, of their last heartbeat.

    ``copy`` is a number in ``NODE_COPIES``.
    """
    return f"{PREFIX}nodes:{{{copy}}}:names"


def node(copy: int, name: str) -> str:
    """String: a node's last heartbeat (packed); expires soon after the node stops.

    ``copy`` is a number in ``NODE_COPIES``.
    """
    return f"{PREFIX}nodes:{{{copy}}}:node:{name}"


def player(player: str) -> str:
    """String: the node and the address of a player's last connection (packed); expires after a day."""
    return f"{PREFIX}player:{player}"


def earlier(game: str) -> str:
    """Hash: the earlier races of a game whose deals can be dealt again (packed), by the ids of the races; expires."""
    return f"{PREFIX}earlier_races:{game}"


def past(player: str) -> str:
    """String: the speed, the last races and the last deals of a player (packed); expires."""
    return f"{PREFIX}past:{player}"


def series(code: str) -> str:
    """String: the room of the newest race of a standing series, by the code of its first room; expires."""
    return f"{PREFIX}series:{code}"


def tide_claims(tide: str) -> str:
    """Hash: the number of the room, the origin and the end of the claim, by the players who were sent to a tide; expires."""
    return f"{PREFIX}tide_claims:{tide}"


def record(race: str) -> str:
    """Hash: the record of a race in compressed parts, its summary for lists (packed), and who may read it; expires."""
    return f"{PREFIX}record:{race}"


def told(race: str, finished_at: int) -> str:
    """String: present once the news that a race finished at this time, in milliseconds, was added; expires."""
    return f"{PREFIX}told:{race}:{finished_at}"


def last_record(room: str) -> str:
    """String: the id of a room's newest recorded race; expires with the record."""
    return f"{PREFIX}last_record:{room}"


def meta(room: str) -> str:
    """Hash: the state of a room.

    ``race`` holds the race (packed). ``schema`` and ``engine`` hold the versions with which the room was opened.
    ``version`` is the number that a compare-and-set compares. ``last_event`` is the number of the newest event.
    ``phase`` is the phase of the race. ``starts`` and ``ends`` are the times, in milliseconds, at which the race starts
    and ends. Both are 0 while the race lacks its deal. The field ``resigned:PLAYER`` exists for each player who has
    resigned.
    """
    return f"{PREFIX}{{{room}}}:meta"


def secret(room: str) -> str:
    """Hash: the seed of the deal, and the salt and the hash of the room's passphrase.

    For a joint deal, ``seed`` is the server's secret. When a joint or daily deal has been found, ``deal`` (packed) is
    added.
    """
    return f"{PREFIX}{{{room}}}:secret"


def duty(room: str) -> str:
    """String: the lease of a room's duties: the node that has it, and a random number; expires unless it is renewed."""
    return f"{PREFIX}{{{room}}}:duty"


def progress(room: str, player: str) -> str:
    """Hash: a player's progress, with the fields of the class ``Progress``."""
    return f"{PREFIX}{{{room}}}:progress:{player}"


def log(room: str, player: str) -> str:
    """Stream: the log of a player; the id of an entry is the revision."""
    return f"{PREFIX}{{{room}}}:log:{player}"


def events(room: str) -> str:
    """Stream: the events of a room; the id of an entry is the number of the event; trimmed."""
    return f"{PREFIX}{{{room}}}:events"


def channel(room: str) -> str:
    """Channel: announcements of a room's events."""
    return f"{PREFIX}{{{room}}}"


def room_of(channel: bytes) -> str:
    """Return the room whose events are announced on a channel."""
    return channel.decode().partition("{")[2].rstrip("}")


def spectators(room: str) -> str:
    """Hash: each node's number of spectators, and until when this number is valid.

    The field ``:total`` holds the sum of the numbers of all nodes.
    """
    return f"{PREFIX}{{{room}}}:spectators"


def guesses(room: str, window: int, network: str = "") -> str:
    """String: how many passphrases were tried for a room in a time window.

    The number counts the guesses from ``network``, or from all networks if ``network`` is empty.
    """
    return f"{PREFIX}{{{room}}}:guesses:{window}:{network}"


def guest(token_hash: str) -> str:
    """String: the player who has the session token with this hash and has not entered a room yet; expires soon."""
    return f"{PREFIX}guest:{token_hash}"


def moving(code_hash: str) -> str:
    """String: the player whose session another device gets with the code with this hash; expires soon."""
    return f"{PREFIX}moving:{code_hash}"


def session(token_hash: str) -> str:
    """String: the player who has the session token with this hash and has entered a room; expires."""
    return f"{PREFIX}session:{token_hash}"
