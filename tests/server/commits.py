"""Commits of moves that nobody has checked by the rules."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from samedeal.race.progress import MoveCommitted
from samedeal_server.store.group_commit import Commit

_OWN_FIELDS = ("room", "request", "first_finish_ends", "committed_at")


def commit_of(player: str, generation: int = 1, revision: int = 0, action: str = "draw", **fields: Any) -> Commit:
    """Return the commit of an action on the board at ``revision``. By default the request id is 100 plus the revision.

    ``fields`` replace fields of the commit or of its event.
    """
    own = {name: fields.pop(name) for name in _OWN_FIELDS if name in fields}
    moved = MoveCommitted(player, revision + 1, action, b"\x01\xff\x00", revision + 1, revision + 1, 0, False, False)
    commit = Commit("friday", generation, 100 + revision, False, replace(moved, **fields))
    return replace(commit, **own)
