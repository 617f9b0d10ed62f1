"""The hash chain of a player's actions in a race.

The newest hash of the chain is called the head. The head depends on the race, the player, and all of the player's
actions so far with their times. Clients compute it from the times in the acks. RECORDS.md specifies the chain byte by
byte.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Final

from samedeal.utc_text import utc_text

HEAD_BYTES: Final = 32
"""The length of a head, in bytes."""

_CHAIN_LABEL: Final = b"samedeal chain 2\n"
_ACTION_LABEL: Final = b"samedeal action 2\n"


def first_head(terms: bytes, start: int, seat: int, name: str, *, bot: bool) -> bytes:
    """Return the head of a player's chain before the first action.

    ``terms`` is the digest of the race's terms, and ``start`` is in milliseconds since 1970.
    """
    player = "".join(f"{line}\n" for line in (f"start: {utc_text(start)}", *player_lines(seat, name, bot=bot)))
    return sha256(_CHAIN_LABEL + terms + player.encode()).digest()


def player_lines(seat: int, name: str, *, bot: bool) -> list[str]:
    """Return the first lines about a player in a record: a line ``player``, and for a bot also a line ``bot``."""
    return [f"player: {seat} {name}", *(["bot: yes"] if bot else [])]


def next_head(head: bytes, revision: int, time: int, action: str) -> bytes:
    """Return the head after an action. ``head`` is the head before it, and ``revision`` is the revision after it.

    ``time`` is in milliseconds since the start of the race.
    """
    return sha256(b"%b%b%d %d %b\n" % (_ACTION_LABEL, head, revision, time, action.encode())).digest()
