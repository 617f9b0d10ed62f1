"""Joint and daily deals: deals that nobody chose and that can be won. Players know joint deals as winnable deals.

For a joint deal, the server commits to a secret when a room opens, and each player to a share. The mix of all of them
decides the deal: it is the first candidate that the solver wins. The mix of a daily deal follows from its date. SHA-256 is
the only hash. DEALS.md, *Version 2*, specifies everything byte by byte.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from samedeal.board import Board
from samedeal.deal import shuffle
from samedeal.games import Game
from samedeal.solver.line import Line
from samedeal.solver.solve import Outcome, solve

SHARE_BYTES: Final = 32
"""The length of a share, of a secret, and of all hashes."""

HIGHEST_SEAT: Final = 255
HIGHEST_CANDIDATE: Final = 2**32 - 1

_COMMITMENT_LABEL: Final = b"samedeal commitment v2\n"
_SHARE_LABEL: Final = b"samedeal share v2\n"
_MIX_LABEL: Final = b"samedeal mix v2\n"
_PUBLIC_LABEL: Final = b"samedeal public v2\n"
_CANDIDATE_LABEL: Final = b"samedeal candidate v2\n"
_ORDER_LABEL: Final = b"samedeal order v2\n"


class DealTerms(NamedTuple):
    """What a server commits to, together with its secret, when a room opens.

    ``solver`` is the version of the solver. The solver must win the deal with at least ``least`` and at most ``budget``
    states. A server that chose these terms later could influence which candidate is dealt.
    """

    room: str
    game: Game
    solver: int
    budget: int
    least: int = 1

    @property
    def fields(self) -> dict[str, str]:
        """The texts of all terms by their names. ``least`` is left out if it is 1."""
        texts = {name: str(term) for name, term in zip(self._fields, self, strict=True)}
        return texts if self.least > 1 else {name: text for name, text in texts.items() if name != "least"}


class WonCandidate(NamedTuple):
    """A candidate that the solver won: its number, the winning line, and the number of states that the solver reached."""

    number: int
    line: Line
    states: int


def secret_commitment(terms: DealTerms, secret: bytes) -> bytes:
    """Return the hash that commits a server to the terms of a room and to a secret."""
    return _hash(_COMMITMENT_LABEL, *map(_line, terms.fields.values()), _exactly(secret))


def share_commitment(room: str, name: str, share: bytes) -> bytes:
    """Return the hash that commits a player to a share. It also depends on the room and the player's name."""
    return _hash(_SHARE_LABEL, _line(room), _line(name), _exactly(share))


def mix(secret: bytes, shares: Sequence[tuple[int, bytes]]) -> bytes:
    """Mix the secret with the shares, each with the number of its seat.

    Raises ValueError unless there is a share, and the seats rise and are between 1 and 255.
    """
    seats = [seat for seat, _ in shares]
    if not seats or seats != sorted(set(seats)) or not 1 <= seats[0] <= seats[-1] <= HIGHEST_SEAT:
        raise ValueError(f"the seats of shares must rise, from 1 to {HIGHEST_SEAT} at most: {seats}")
    return _hash(_MIX_LABEL, _exactly(secret), *(bytes([seat]) + _exactly(share) for seat, share in shares))


def public_mix(name: str) -> bytes:
    """Return the mix of a public deal, such as ``daily 2026-11-21``."""
    return _hash(_PUBLIC_LABEL, _line(name))


def candidate_seed(mixed: bytes, number: int) -> bytes:
    """Return the seed of a candidate. Candidates are numbered from 0."""
    return _hash(_CANDIDATE_LABEL, _exactly(mixed), number.to_bytes(4, "big"))


def candidate_order(seed: bytes, decks: int) -> bytes:
    """Return the order of the cards for a candidate's seed, the first card to be dealt first."""
    return shuffle(_stream(_ORDER_LABEL + bytes([decks]) + _exactly(seed)), decks)


def candidate_board(mixed: bytes, number: int, game: Game) -> Board:
    """Deal a candidate."""
    return Board.deal(game, candidate_order(candidate_seed(mixed, number), game.decks))


def won_candidates(
    mixed: bytes, game: Game, budget: int, numbers: Iterable[int], least: int = 1
) -> Iterator[WonCandidate]:
    """Yield the candidates with these numbers that the solver wins with ``least`` to ``budget`` states.

    The deal is the first of all such candidates.

    Candidates do not depend on one another, so that several processes can try different numbers.
    """
    for number in numbers:
        answer = solve(candidate_board(mixed, number, game), budget)
        if answer.outcome is Outcome.WON and answer.states >= least:
            yield WonCandidate(number, answer.line, answer.states)


def _stream(text: bytes) -> Iterator[int]:
    """Yield the bytes of SHA-256 of ``text`` and a block number, for the blocks from 0 on."""
    for block in range(2**32):
        yield from _hash(text, block.to_bytes(4, "big"))


def _hash(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(parts)).digest()


def _line(text: str) -> bytes:
    if "\n" in text:
        raise ValueError("a room or a name can't contain a line feed")
    return text.encode() + b"\n"


def _exactly(part: bytes) -> bytes:
    if len(part) != SHARE_BYTES:
        raise ValueError(f"secrets, shares and seeds are {SHARE_BYTES} bytes, not {len(part)}")
    return part
