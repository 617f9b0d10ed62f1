"""Joint and daily deals: deals that nobody chose and that can be won. Players know joint deals as winnable deals.

For a joint deal, the server commits to a secret when a room opens, and each player commits to a share when the
countdown begins. Once all have committed, the players reveal their shares. The mix is a hash of the secret and all
shares. It decides a sequence of candidate deals, and the first candidate that the solver wins is dealt. The mix of a
daily deal depends only on its date. SHA-256 is the only hash function. DEALS.md, *Version 2*, specifies everything byte
by byte.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import Final, Literal, NamedTuple

from samedeal.board import Board
from samedeal.deal import Deal, shuffle, shuffled
from samedeal.difficulty import SEARCH_BUDGET
from samedeal.game import Game
from samedeal.solver.line import Line
from samedeal.solver.solve import Outcome, solve

SHARE_BYTES: Final = 32
"""The length, in bytes, of a share, of a secret, and of each hash in this module."""

HIGHEST_SEAT: Final = 255

HIGHEST_CANDIDATE: Final = 999
"""The highest number of a candidate.

A room may only search in a game of which the solver wins at least one deal in fifty. So fewer than one honest search in
10^8 gets this far.
"""

MAX_DRAWS: Final = 5
"""Maximum number of draws of a deal. If the last one fails too, the room closes, or the host may open its doors again.

A server that plays together with players of its own can make a draw fail after it has seen the deal. Each failed draw
costs a seat, and this bound holds however many seats there are.
"""

MAX_OPENINGS: Final = 4
"""Maximum number of times that the doors of a race with a window are opened: at first, and each time its draws were lost.

Each opening has ``MAX_DRAWS`` draws, whose numbers go on where those of the opening before end.
"""

HIGHEST_DRAW: Final = MAX_DRAWS * MAX_OPENINGS
"""The highest number of a draw."""


def opening_of(draw: int) -> int:
    """Return in which opening of the doors a draw belongs, from 0 on. Without a window there is only one."""
    return (draw - 1) // MAX_DRAWS


LossReason = Literal["left", "kicked", "silent"]
"""Why a player lost the seat during a draw. A silent player did not commit or did not reveal in time."""

_SHARE_LABEL: Final = b"samedeal share 4\n"
_MIX_LABEL: Final = b"samedeal mix v2\n"
_PUBLIC_LABEL: Final = b"samedeal public v2\n"
_REPEATED: Final = re.compile("again ([0-9a-f]{64})")
_CANDIDATE_LABEL: Final = b"samedeal candidate v2\n"
_ORDER_LABEL: Final = b"samedeal order v2\n"


class DealTerms(NamedTuple):
    """The conditions of the search for a deal. They follow from the terms of the race (``samedeal.terms``).

    ``solver`` is the version of the solver. The solver must win the deal, and its search must reach at least ``least``
    and at most ``budget`` states.
    """

    room: str
    game: Game
    solver: int
    budget: int
    least: int = 1

    @property
    def fields(self) -> dict[str, str]:
        """The terms as texts, by their names. ``least`` is left out if it is 1."""
        texts = {name: str(term) for name, term in zip(self._fields, self, strict=True)}
        return texts if self.least > 1 else {name: text for name, text in texts.items() if name != "least"}


class WonCandidate(NamedTuple):
    """A candidate deal that the solver has won. ``line`` holds the winning moves.

    ``number`` is the number of the candidate. ``states`` is the number of states that the solver has reached.
    """

    number: int
    line: Line
    states: int


def share_commitment(terms: bytes, commitment: bytes, seat: int, name: str, draw: int, share: bytes) -> bytes:
    """Return the hash by which a player commits to a share.

    ``terms`` is the digest of the race's terms, and ``commitment`` that of the server. The hash also depends on the
    player's seat and name, and on the number of the draw. So nobody can use the hash of another player, or of another
    draw, and players whom a server shows different terms cannot take part in the same draw.
    """
    place = (_line(str(seat)), _line(name), _line(str(draw)))
    return _hash(_SHARE_LABEL, _exactly(terms), _exactly(commitment), *place, _exactly(share))


def mix(secret: bytes, shares: Sequence[tuple[int, bytes]]) -> bytes:
    """Return the hash of a secret and of shares. Each share is given with the number of its player's seat.

    Raise ValueError unless there are shares, and their seats rise and are between 1 and 255.
    """
    seats = [seat for seat, _ in shares]
    if not seats or seats != sorted(set(seats)) or not 1 <= seats[0] <= seats[-1] <= HIGHEST_SEAT:
        raise ValueError(f"the seats of shares must rise, from 1 to {HIGHEST_SEAT} at most: {seats}")
    return _hash(_MIX_LABEL, _exactly(secret), *(bytes([seat]) + _exactly(share) for seat, share in shares))


def public_mix(name: str) -> bytes:
    """Return the mix of a public deal from its name, such as ``daily 2026-11-21``. That of ``again MIX`` is in its name."""
    if repeated := _REPEATED.fullmatch(name):
        return bytes.fromhex(repeated[1])
    return _hash(_PUBLIC_LABEL, _line(name))


def candidate_seed(mixed: bytes, number: int) -> bytes:
    """Return the seed of a candidate deal, from the mix and the candidate's number. The first number is 0."""
    return _hash(_CANDIDATE_LABEL, _exactly(mixed), number.to_bytes(4, "big"))


def candidate_order(seed: bytes, decks: int) -> bytes:
    """Return the cards in the order that a candidate's seed produces. The first card is dealt first."""
    return shuffle(_stream(_ORDER_LABEL + bytes([decks]) + _exactly(seed)), decks)


def candidate_board(mixed: bytes, number: int, game: Game) -> Board:
    """Return the board of a candidate deal, from the mix and the candidate's number."""
    return Board.deal(game, candidate_order(candidate_seed(mixed, number), game.decks))


def won_candidates(
    mixed: bytes, game: Game, budget: int, numbers: Iterable[int], least: int = 1
) -> Iterator[WonCandidate]:
    """Try the candidates with these numbers. Yield those that the solver wins with ``least`` to ``budget`` states.

    The first of all such candidates is dealt. Candidates do not depend on one another, so several processes can try
    different numbers.
    """
    for number in numbers:
        answer = solve(candidate_board(mixed, number, game), budget)
        if answer.outcome is Outcome.WON and answer.states >= least:
            yield WonCandidate(number, answer.line, answer.states)


def public_board(game: Game, deal: Deal) -> Board:
    """Return the board of a numbered deal, or of a daily deal with its date.

    A daily deal is searched for, which may take seconds. Raise BadArgument for deals of other kinds.
    """
    if deal.kind != "daily" or not deal.date:
        return Board.deal(game, shuffled(deal.public_seed(), game.decks))
    mixed = public_mix(str(deal))
    return candidate_board(mixed, next(won_candidates(mixed, game, SEARCH_BUDGET, count())).number, game)


def _stream(text: bytes) -> Iterator[int]:
    """Yield the bytes of many hashes: of ``text`` followed by the number 0, of ``text`` followed by 1, and so on."""
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
