"""The hash chain of a player's actions in a race.

The newest hash of the chain is called the head. The head depends on the race, the player, and all of the player's
actions so far with their times. Clients compute it from the times in the acks. RECORDS.md specifies the chain byte by
byte.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Final, NamedTuple

from samedeal.deal import Deal
from samedeal.game import Game
from samedeal.utc_text import utc_text

HEAD_BYTES: Final = 16
"""The length of a head, in bytes.

A server that wanted to falsify a race unnoticed would have to find other actions with the same head. That takes about
2^128 tries.
"""

_TERMS_LABEL: Final = b"samedeal terms 1\n"
_CHAIN_LABEL: Final = b"samedeal chain 1\n"
_ACTION_LABEL: Final = b"samedeal action 1\n"


class RaceTerms(NamedTuple):
    """Everything about a race that is fixed when it starts.

    ``round`` is 0 for a first race and rises by one with each rematch. ``undo`` is the undo rule as text. ``limit`` is
    the time limit in seconds, and ``start`` is in milliseconds since 1970. ``commitment`` is the hash by which the
    server committed itself to the deal in advance.
    """

    room: str
    round: int
    game: Game
    deal: Deal
    undo: str
    limit: int
    start: int
    commitment: bytes

    def lines(self) -> list[str]:
        """Return the terms as lines of a record."""
        values = self._replace(start=utc_text(self.start), commitment=self.commitment.hex())  # type: ignore[arg-type]  # text
        lines = [f"{name}: {value}" for name, value in zip(self._fields, values, strict=True)]
        return [*lines[:3], f"rules: {self.game.rules_hash.hex()}", *lines[3:]]

    def digest(self) -> bytes:
        """Return the hash of the terms."""
        return _hash(_TERMS_LABEL, *(f"{line}\n".encode() for line in self.lines()))

    def first_head(self, seat: int, name: str, *, bot: bool) -> bytes:
        """Return the head of a player's chain before the first action."""
        player = "".join(f"{line}\n" for line in player_lines(seat, name, bot=bot))
        return _hash(_CHAIN_LABEL, self.digest(), player.encode())


def player_lines(seat: int, name: str, *, bot: bool) -> list[str]:
    """Return the first lines about a player in a record: a line ``player``, and for a bot also a line ``bot``."""
    return [f"player: {seat} {name}", *(["bot: yes"] if bot else [])]


def next_head(head: bytes, revision: int, time: int, action: str) -> bytes:
    """Return the head after an action. ``head`` is the head before it, and ``revision`` is the revision after it.

    ``time`` is in milliseconds since the start of the race.
    """
    return sha256(b"%b%b%d %d %b\n" % (_ACTION_LABEL, head, revision, time, action.encode())).digest()[:HEAD_BYTES]


def _hash(*parts: bytes) -> bytes:
    return sha256(b"".join(parts)).digest()[:HEAD_BYTES]
