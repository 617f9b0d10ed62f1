"""Proofs of joint and daily deals: all values from which a deal was computed, as a text that anybody can check.

::

    samedeal deal 5
    room: friday
    game: phoenix
    solver: 2
    budget: 100000
    terms: 09ab...
    commitment: 5f1c...
    secret: 03ab...
    draw: 2
    lost: 1 3 silent cid
    seat: 1 41d2... 9be0... ana
    seat: 2 77c0... 1f3a... ben
    candidate: 3
    line: 3 5, r 0, 2 4 x3, ...

A ``seat`` line has the number of the seat, the hash by which the player committed to a share, the share itself, and the
player's name. ``draw`` is the number of the draw in which these shares were revealed. A ``lost`` line is about a player
who lost the seat while the deal was being drawn. It has the draw, the seat, the reason and the name. For a medium or hard
deal, a line ``least`` follows after the budget. A daily deal has the line ``public``, with its name, instead of the
secret, the draw and the seats.

``terms`` is the digest of the race's terms. DEALS.md explains all values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple, get_args

from samedeal.board import Board
from samedeal.deal import Deal, commitment
from samedeal.difficulty import search_limits, states_of
from samedeal.errors import DealNotCheckable, DealNotProven, MalformedText, SamedealError
from samedeal.games import game_named
from samedeal.joint_deal import (
    HIGHEST_CANDIDATE,
    HIGHEST_DRAW,
    HIGHEST_SEAT,
    DealTerms,
    LossReason,
    candidate_board,
    mix,
    opening_of,
    public_mix,
    share_commitment,
)
from samedeal.moves import Move
from samedeal.names import clean_name, clean_room, removed_name
from samedeal.sentences import mistake
from samedeal.solver.line import Line, wins
from samedeal.solver.solve import SOLVER, Answer, Outcome, solve
from samedeal.tagged_lines import TaggedLines, number_between, read_hash

FIRST_LINE: Final = "samedeal deal 5"


class RevealedShare(NamedTuple):
    """A share that its player has revealed. ``commitment`` is the share's hash, which the player sent earlier."""

    seat: int
    name: str
    commitment: bytes
    share: bytes


class LostShare(NamedTuple):
    """A player who lost the seat while the deal was being drawn, in the draw with the number ``draw``."""

    draw: int
    seat: int
    reason: LossReason
    name: str


@dataclass(frozen=True)
class DealProof:
    """The proof of a joint or daily deal: all values that decided the deal, and the moves that win it.

    ``digest`` is that of the race's terms. ``candidate`` is the number of the candidate deal that was dealt, and ``line``
    holds the solver's winning moves. ``draw`` is the number of the draw that decided the deal, and ``lost`` has the
    players who lost their seats in this draw or an earlier one. Only in a race with a window there may be more than
    ``MAX_DRAWS``: its doors may be opened again, and then the other draws of the opening before are skipped. ``public``
    is the name of a daily deal, and empty for a joint deal. A daily deal has no draw and no shares, and its ``secret`` is
    a hash of its name.
    """

    terms: DealTerms
    digest: bytes
    commitment: bytes
    secret: bytes
    draw: int
    lost: tuple[LostShare, ...]
    shares: tuple[RevealedShare, ...]
    candidate: int
    line: Line
    public: str = ""

    @property
    def mixed(self) -> bytes:
        """The mix that decides the candidate deals: a hash of the secret and all shares, or of the name of a daily deal."""
        return self.secret if self.public else mix(self.secret, [(share.seat, share.share) for share in self.shares])

    @property
    def is_of_other_solver(self) -> bool:
        """Whether another version of the solver found the deal. Such a version may count states differently."""
        return self.terms.solver != SOLVER

    def board(self) -> Board:
        """Return the board as it was dealt in the race."""
        return candidate_board(self.mixed, self.candidate, self.terms.game)

    def check(self) -> Board:
        """Check the hashes, the lost seats and the winning line.

        Return the board as dealt. Raise DealNotProven if the proof is wrong, and DealNotCheckable if a name was removed.
        """
        draws = {lost.draw for lost in self.lost}
        for draw in range(1, self.draw):
            is_skipped = opening_of(draw) < opening_of(self.draw) and opening_of(draw) == opening_of(draw - 1)
            if draw not in draws and not is_skipped:
                raise DealNotProven(f"The proof does not say who lost a seat in draw {draw}, so why was there another?")
        if commitment(self.digest, self.secret) != self.commitment:
            raise DealNotProven(mistake("other_secret"))
        for seat, name, promised, share in self.shares:
            if name == removed_name(seat):
                raise DealNotCheckable("The operator removed a name from this proof, so it can't be checked.")
            if share_commitment(self.digest, self.commitment, seat, name, self.draw, share) != promised:
                raise DealNotProven(mistake("other_share", name=name, seat=seat))
        board = self.board()
        if not wins(board, self.line):
            raise DealNotProven(f"The moves in the proof do not win candidate deal {self.candidate}.")
        return board

    def check_kind(self, deal: Deal) -> None:
        """Raise DealNotProven unless the proof fits ``deal``: its kind and its date.

        Raise DealNotCheckable if the search had other limits than this version of the solver has for such a deal. The
        limits are not checked if another version found the deal.
        """
        _, game, _, budget, least = self.terms
        if self.public != (str(deal) if deal.public else ""):
            raise DealNotProven(f"This is not the proof of the deal '{deal}'.")
        try:
            wanted = states_of(game, deal.difficulty)
        except ValueError:
            raise DealNotProven(f"{game.title} has no deal '{deal}'.") from None
        if (least, budget) != wanted and not self.is_of_other_solver:
            fewest, most = wanted
            raise DealNotCheckable(
                mistake("other_limits", deal=deal, fewest=fewest, most=most, least=least, budget=budget)
            )

    def check_deeply(self) -> Board:
        """Check the proof and return the board, as ``check`` does.

        Also check that the candidate that was dealt is the first one that the solver wins. This takes as long as
        finding the deal. Raise DealNotProven if the proof is wrong. Raise DealNotCheckable if another version of the
        solver found the deal, or with limits that no deal of this version has.
        """
        board = self.check()
        self.check_limits()
        _, game, _, budget, _ = self.terms
        for number in range(self.candidate + 1):
            self.check_candidate(number, solve(candidate_board(self.mixed, number, game), budget))
        return board

    def check_limits(self) -> None:
        """Raise DealNotCheckable unless this version of the solver can repeat the search for the deal."""
        _, game, solver, budget, least = self.terms
        if self.is_of_other_solver:
            raise DealNotCheckable(mistake("other_solver", solver=solver, own=SOLVER))
        if (least, budget) not in search_limits(game):
            raise DealNotCheckable(mistake("unknown_limits", least=least, budget=budget))

    def check_candidate(self, number: int, answer: Answer) -> None:
        """Check what the solver says about the candidate with this number, which is at most that of the dealt one.

        Raise DealNotProven if an earlier candidate should have been dealt, or if the dealt one should not.
        """
        is_won = answer.outcome is Outcome.WON and answer.states >= self.terms.least
        if is_won and number < self.candidate:
            raise DealNotProven(mistake("earlier_candidate", number=number, dealt=self.candidate))
        if number == self.candidate and not is_won:
            _, _, _, budget, least = self.terms
            raise DealNotProven(mistake("candidate_not_won", number=number, least=least, budget=budget))

    def __str__(self) -> str:
        seats = [f"seat: {seat} {promise.hex()} {share.hex()} {name}" for seat, name, promise, share in self.shares]
        lost = [f"lost: {draw} {seat} {reason} {name}" for draw, seat, reason, name in self.lost]
        joint = [f"secret: {self.secret.hex()}", f"draw: {self.draw}", *lost, *seats]
        lines = [
            FIRST_LINE,
            *(f"{name}: {term}" for name, term in self.terms.fields.items()),
            f"terms: {self.digest.hex()}",
            f"commitment: {self.commitment.hex()}",
            *([f"public: {self.public}"] if self.public else joint),
            f"candidate: {self.candidate}",
            f"line: {', '.join(map(str, self.line))}",
        ]
        return "\n".join(lines) + "\n"

    @classmethod
    def parse(cls, text: str) -> DealProof:
        """Return the proof for a text that ``str`` has written.

        Raise MalformedText with a sentence about the mistake if the text is not a proof. Raise UnknownGame if it names
        an unknown game.
        """
        lines = text.splitlines()
        if lines[:1] != [FIRST_LINE]:
            raise MalformedText(f"This is not the proof of a deal. Its first line must be {FIRST_LINE!r}.")
        reader = TaggedLines(lines, _wrong, at=1)
        terms = DealTerms(
            reader.take("room", clean_room),
            reader.take("game", game_named),
            reader.take("solver", number_between(0, 999_999_999)),
            reader.take("budget", _positive),
            reader.take_if("least", _positive, default=1),
        )
        digest, promise = reader.take("terms", read_hash), reader.take("commitment", read_hash)
        if public := reader.take_if("public", str, default=""):
            secret, draw, lost, shares = public_mix(public), 0, [], []
        else:
            secret, draw = reader.take("secret", read_hash), reader.take("draw", _draw)
            lost = reader.take_all("lost", _lost)
            shares = [reader.take("seat", _share), *reader.take_all("seat", _share)]
        candidate, line = reader.take("candidate", number_between(0, HIGHEST_CANDIDATE)), reader.take("line", _line)
        proof = cls(terms, digest, promise, secret, draw, tuple(lost), tuple(shares), candidate, line, public)
        seats = [share.seat for share in shares]
        if sorted(set(seats)) != seats:
            raise MalformedText(mistake("seats_of_proof"))
        draws = [each.draw for each in lost]
        if draws != sorted(draws) or any(each > draw for each in draws):
            raise MalformedText("The lost seats of the proof are not in the order of the draws. Correct them.")
        if str(proof) != text:
            raise MalformedText(mistake("other_lines"))
        return proof


def _wrong(error: SamedealError, line: int) -> SamedealError:
    return type(error)(f"Line {line + 1} of the proof: {error}")


def _share(text: str) -> RevealedShare:
    words = text.split(" ", 3)
    if len(words) != 4:
        raise MalformedText(f"{text[:40]!r} is not a seat. Write its number, a hash, a share and a name.")
    seat, commitment, share, name = words
    return RevealedShare(_seat(seat), clean_name(name), read_hash(commitment), read_hash(share))


def _lost(text: str) -> LostShare:
    words = text.split(" ", 3)
    reason = next((each for each in get_args(LossReason) if words[2:3] == [each]), None)
    if len(words) != 4 or reason is None:
        raise MalformedText(mistake("lost_seat", text=text[:40], reasons=", ".join(get_args(LossReason))))
    draw, seat, _, name = words
    return LostShare(_draw(draw), _seat(seat), reason, clean_name(name))


def _line(text: str) -> Line:
    return tuple(Move.parse(move) for move in text.split(", "))


_positive: Final = number_between(1, 999_999_999)
_draw: Final = number_between(1, HIGHEST_DRAW)
_seat: Final = number_between(1, HIGHEST_SEAT)
