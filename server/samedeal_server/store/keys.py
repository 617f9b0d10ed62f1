"""The names of everything in Redis.

All keys of a room share the hash tag ``{room}``, so that a script touches one slot and a cluster spreads rooms. Outside the
tag there are sessions, two indexes that are rebuilt from the rooms, and what concerns all nodes.
"""

from __future__ import annotations

from typing import Final

PREFIX: Final = "samedeal:"

ROOMS: Final = f"{PREFIX}rooms"
"""Sorted set of room codes by when they were opened; an entry may outlive its room, never the other way round."""

DUE: Final = f"{PREFIX}due"
"""Sorted set of room codes by when time next changes them, in milliseconds."""

RECEIPTS: Final = f"{PREFIX}receipts"
"""String: the key under which all nodes make receipts."""

LAYOUTS: Final = f"{PREFIX}layouts"
"""Hash: by the number of each layout, when a node that writes it last ran, in milliseconds, and the version of that node."""

NODES: Final = f"{PREFIX}nodes"
"""Where what concerns every node is announced."""

PROBE: Final = f"{PREFIX}probe"
"""What is written to see whether Redis takes writes, and gone a second later; with a number behind it on a cluster."""

NODE_NAMES: Final = f"{PREFIX}nodes:names"
"""Sorted set of nodes by when they were last heard of, in milliseconds."""

ORDERS: Final = f"{PREFIX}nodes:orders"
"""Stream: what the operator has told nodes to do; trimmed."""

BANS: Final = f"{PREFIX}bans"
"""Hash: each ban (packed) by whom it keeps away."""


def node(name: str) -> str:
    """String: what a node said of itself (packed), for as long as it is heard of."""
    return f"{PREFIX}node:{name}"


def player(player: str) -> str:
    """String: where a player was when they last said hello (packed), for a day."""
    return f"{PREFIX}player:{player}"


def meta(room: str) -> str:
    """Hash: layout, engine, version, race (packed), phase, starts, ends, event; an ``out:PLAYER`` for each who resigned."""
    return f"{PREFIX}{{{room}}}:meta"


def secret(room: str) -> str:
    """Hash: the seed, and the passphrase's salt and hash."""
    return f"{PREFIX}{{{room}}}:secret"


def run(room: str, player: str) -> str:
    """Hash: a player's generation, revision and counts."""
    return f"{PREFIX}{{{room}}}:run:{player}"


def log(room: str, player: str) -> str:
    """Stream: a player's accepted actions, id = revision."""
    return f"{PREFIX}{{{room}}}:log:{player}"


def events(room: str) -> str:
    """Stream: what happened in the room, id = event number; trimmed."""
    return f"{PREFIX}{{{room}}}:events"


def channel(room: str) -> str:
    """Where events are announced."""
    return f"{PREFIX}{{{room}}}"


def watchers(room: str) -> str:
    """Hash: how many watch the room, by node, each with the time until which that holds; ``:all`` is their sum."""
    return f"{PREFIX}{{{room}}}:watchers"


def guesses(room: str, window: int, network: str = "") -> str:
    """String: how many passphrases were tried at a room in a window of time, from a network or from all."""
    return f"{PREFIX}{{{room}}}:guesses:{window}:{network}"


def guest(token_hash: str) -> str:
    """String: the player whose session token has this hash, and who has not been in any room yet."""
    return f"{PREFIX}guest:{token_hash}"


def session(token_hash: str) -> str:
    """String: the player whose session token has this hash."""
    return f"{PREFIX}session:{token_hash}"
