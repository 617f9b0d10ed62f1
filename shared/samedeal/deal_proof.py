"""Proofs of joint and daily deals: all values from which a deal was computed, as a text that anybody can check.

::

    samedeal deal 3
    room: friday
    game: phoenix
    solver: 1
    budget: 100000
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

If other rooms of a tide share the deal, the first line is ``samedeal deal 4``, and more lines follow at the end::

    elsewhere: 1 brook 4 left dan
    tide: brook 88e1... 60c9...
    seat: 1 5d02... c31b... eve
    seat: 3 902a... 7be4... fay

An ``elsewhere`` line is like a ``lost`` line, about a player of another room. A ``tide`` line has another room whose
shares are in the deal, with the commitment and the secret of the server. DEALS.md explains all values.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Final, NamedTuple, get_args

from samedeal.board import Board
from samedeal.deal import Deal
from samedeal.deal_words import words_digest
from samedeal.difficulty import search_limits, states_of
from samedeal.errors import DealNotCheckable, DealNotProven, MalformedText
from samedeal.games import game_named
from samedeal.joint_deal import (
    HIGHEST_CANDIDATE,
    HIGHEST_SEAT,
    MAX_DRAWS,
    MAX_ROOMS,
    SHARE_BYTES,
    DealTerms,
    LossReason,
    candidate_board,
    mix,
    public_mix,
    room_seal,
    secret_commitment,
    share_commitment,
    tide_mix,
)
from samedeal.moves import Move
from samedeal.names import clean_name, clean_room
from samedeal.solver.line import Line, wins
from samedeal.solver.solve import SOLVER, Answer, Outcome, solve

_FIRST: Final = "samedeal deal 3"
_FIRST_OF_TIDE: Final = "samedeal deal 4"
_TERMS: Final = ("room", "game", "solver", "budget", "least", "commitment")
_JOINT: Final = ("secret", "draw", "seat")
_FIELDS: Final = (*_TERMS, "public", "secret", "draw", "lost", "seat", "candidate", "line")
_OPTIONAL: Final = ("least", "public", "lost")
_REPEATED: Final = ("lost", "seat")
_LARGEST_NUMBER: Final = 999_999_999
_HASH: Final = re.compile(rf"[0-9a-f]{{{2 * SHARE_BYTES}}}")
_NUMBER: Final = re.compile(r"0|[1-9][0-9]{0,8}")


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


class ShareLostElsewhere(NamedTuple):
    """A player of another room who lost the seat while the deal of both rooms was being drawn."""

    draw: int
    room: str
    seat: int
    reason: LossReason
    name: str


class RoomShares(NamedTuple):
    """A room whose shares are in a deal. ``commitment`` and ``secret`` are those of the server for this room."""

    room: str
    commitment: bytes
    secret: bytes
    shares: tuple[RevealedShare, ...]

    @property
    def mixed(self) -> bytes:
        """The hash of the secret and all shares of this room."""
        return mix(self.secret, [(share.seat, share.share) for share in self.shares])

    @property
    def seal(self) -> bytes:
        """The hash by which the other rooms know everything that decides this room's part of the deal."""
        return room_seal(self.commitment, [(share.seat, share.commitment) for share in self.shares])

    @property
    def digest(self) -> bytes:
        """The hash of this room from which the words of the deal follow."""
        return words_digest(self.commitment, [(share.seat, share.share) for share in self.shares])


@dataclass(frozen=True)
class DealProof:
    """The proof of a joint or daily deal: all values that decided the deal, and the moves that win it.

    ``candidate`` is the number of the candidate deal that was dealt, and ``line`` holds the solver's winning moves.
    ``draw`` is the number of the draw that decided the deal, and ``lost`` has the players who lost their seats in this
    draw or an earlier one. ``public`` is the name of a daily deal, and empty for a joint deal. A daily deal has no draw
    and no shares, and its ``secret`` is a hash of its name. ``others`` are the other rooms whose shares are in the deal,
    and ``elsewhere`` has the players of other rooms who lost their seats.
    """

    terms: DealTerms
    commitment: bytes
    secret: bytes
    draw: int
    lost: tuple[LostShare, ...]
    shares: tuple[RevealedShare, ...]
    candidate: int
    line: Line
    public: str = ""
    others: tuple[RoomShares, ...] = ()
    elsewhere: tuple[ShareLostElsewhere, ...] = ()

    @property
    def rooms(self) -> tuple[RoomShares, ...]:
        """All rooms whose shares are in the deal: that of the proof first."""
        return RoomShares(self.terms.room, self.commitment, self.secret, self.shares), *self.others

    @property
    def seals(self) -> list[tuple[str, bytes]]:
        """The seals of the other rooms by their codes, as their players' programs must have seen them before."""
        return [(room.room, room.seal) for room in self.others]

    @property
    def mixed(self) -> bytes:
        """The mix that decides the candidate deals.

        It is a hash of the secrets and shares of all rooms, or of the name of a daily deal.
        """
        return self.secret if self.public else mix_of(self.rooms)

    @property
    def is_of_other_solver(self) -> bool:
        """Whether another version of the solver found the deal. Such a version may count states differently."""
        return self.terms.solver != SOLVER

    def board(self) -> Board:
        """Return the board as it was dealt in the race."""
        return candidate_board(self.mixed, self.candidate, self.terms.game)

    def check(self) -> Board:
        """Check the hashes, the lost seats and the winning line.

        Return the board as dealt. Raise DealNotProven if the proof is wrong.
        """
        draws = {lost.draw for lost in self.lost} | {lost.draw for lost in self.elsewhere}
        for draw in range(1, self.draw):
            if draw not in draws:
                raise DealNotProven(f"The proof does not say who lost a seat in draw {draw}, so why was there another?")
        for room, promised, secret, shares in self.rooms:
            if secret_commitment(self.terms._replace(room=room), secret) != promised:
                raise DealNotProven(
                    f"The proof does not match what the server published when the room {room} opened. "
                    "Its secret, room, game, solver or search limits differ."
                )
            for seat, name, commitment, share in shares:
                if share_commitment(room, name, self.draw, share) != commitment:
                    raise DealNotProven(
                        f"The random number of {name} (seat {seat}) does not match the hash that was sent before."
                    )
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
            raise DealNotCheckable(
                f"For the deal '{deal}', the solver must win with {wanted[0]} to {wanted[1]} positions. "
                f"The server looked for one with {least} to {budget}."
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
            raise DealNotCheckable(
                f"The deal was found by version {solver} of the solver, and this is version {SOLVER}. "
                "Check it with a Samedeal that has the same version of the solver."
            )
        if (least, budget) not in search_limits(game):
            raise DealNotCheckable(
                f"The server looked for a deal that is won with {least} to {budget} positions. No Samedeal does."
            )

    def check_candidate(self, number: int, answer: Answer) -> None:
        """Check what the solver says about the candidate with this number, which is at most that of the dealt one.

        Raise DealNotProven if an earlier candidate should have been dealt, or if the dealt one should not.
        """
        is_won = answer.outcome is Outcome.WON and answer.states >= self.terms.least
        if is_won and number < self.candidate:
            raise DealNotProven(
                f"The first candidate deal that the solver can win must be dealt. That is candidate {number}, "
                f"not candidate {self.candidate}."
            )
        if number == self.candidate and not is_won:
            raise DealNotProven(
                f"Candidate deal {number} should not have been dealt: the solver does not win it after "
                f"searching {self.terms.least} to {self.terms.budget} positions."
            )

    def __str__(self) -> str:
        seats, *of_others = (
            [f"seat: {seat} {commitment.hex()} {share.hex()} {name}" for seat, name, commitment, share in room.shares]
            for room in self.rooms
        )
        lost = [f"lost: {draw} {seat} {reason} {name}" for draw, seat, reason, name in self.lost]
        joint = [f"secret: {self.secret.hex()}", f"draw: {self.draw}", *lost, *seats]
        tide = [f"elsewhere: {draw} {room} {seat} {reason} {name}" for draw, room, seat, reason, name in self.elsewhere]
        for each, shares in zip(self.others, of_others, strict=True):
            tide += [f"tide: {each.room} {each.commitment.hex()} {each.secret.hex()}", *shares]
        lines = [
            _FIRST_OF_TIDE if tide else _FIRST,
            *(f"{name}: {term}" for name, term in self.terms.fields.items()),
            f"commitment: {self.commitment.hex()}",
            *([f"public: {self.public}"] if self.public else joint),
            f"candidate: {self.candidate}",
            f"line: {', '.join(map(str, self.line))}",
            *tide,
        ]
        return "\n".join(lines) + "\n"

    @classmethod
    def parse(cls, text: str) -> DealProof:
        """Return the proof for a text that ``str`` has written.

        Raise MalformedText with a sentence about the mistake if the text is not a proof. Raise UnknownGame if it names
        an unknown game.
        """
        first, *all_lines = text.splitlines() or [""]
        if first not in (_FIRST, _FIRST_OF_TIDE):
            raise MalformedText(f"This is not the proof of a deal. Its first line must be {_FIRST!r}.")
        lines = list(takewhile(lambda line: not line.startswith(("elsewhere: ", "tide: ")), all_lines))
        values: dict[str, list[str]] = {field: [] for field in _FIELDS}
        for number, line in enumerate(lines, 2):
            field, colon, value = line.partition(": ")
            if not colon or field not in values:
                raise MalformedText(f"Line {number} of the proof is {line[:40]!r}. Write one of {', '.join(_FIELDS)}.")
            values[field].append(value)
        public = values["public"][0] if values["public"] else ""
        for field, found in values.items():
            needed = not public if field in _JOINT else field not in _OPTIONAL
            if bool(found) < needed or (len(found) > 1 and field not in _REPEATED):
                raise MalformedText(f"The proof has {len(found)} lines '{field}: ...'. Write exactly one.")
        proof = cls(
            DealTerms(
                clean_room(values["room"][0]),
                game_named(values["game"][0]),
                _number("solver", values["solver"][0], _LARGEST_NUMBER),
                _number("budget", values["budget"][0], _LARGEST_NUMBER, lowest=1),
                _number("least", (*values["least"], "1")[0], _LARGEST_NUMBER, lowest=1),
            ),
            _hash("commitment", values["commitment"][0]),
            public_mix(public) if public else _hash("secret", values["secret"][0]),
            0 if public else _number("draw", values["draw"][0], MAX_DRAWS, lowest=1),
            tuple(_lost(lost) for lost in values["lost"]),
            tuple(_share(seat) for seat in values["seat"]),
            _number("candidate", values["candidate"][0], HIGHEST_CANDIDATE),
            tuple(Move.parse(move) for move in values["line"][0].split(", ")),
            public,
            *_tide(all_lines[len(lines) :]),
        )
        for room in proof.rooms:
            _check_seats([share.seat for share in room.shares])
        codes = [room.room for room in proof.others]
        if codes != sorted({*codes} - {proof.terms.room}) or len(codes) >= MAX_ROOMS or (codes and public):
            raise MalformedText(
                f"The other rooms of the proof are not in order. At most {MAX_ROOMS} rooms share a deal."
            )
        draws = [lost.draw for lost in proof.lost]
        later = [lost.draw for lost in proof.elsewhere]
        if draws != sorted(draws) or later != sorted(later) or any(draw > proof.draw for draw in (*draws, *later)):
            raise MalformedText("The lost seats of the proof are not in the order of the draws. Correct them.")
        if str(proof) != text:
            raise MalformedText(
                "The proof was changed or damaged: its lines are not written exactly as they should be."
            )
        return proof


def mix_of(rooms: Sequence[RoomShares]) -> bytes:
    """Return the mix of a joint deal from all rooms whose shares are in it."""
    return tide_mix({room.room: room.mixed for room in rooms}) if len(rooms) > 1 else rooms[0].mixed


def _tide(lines: Sequence[str]) -> tuple[tuple[RoomShares, ...], tuple[ShareLostElsewhere, ...]]:
    """Return the other rooms of a deal, and the seats that were lost in them, from the last lines of a proof."""
    others: list[RoomShares] = []
    elsewhere: list[ShareLostElsewhere] = []
    for line in lines:
        field, _, value = line.partition(": ")
        words = value.split(" ", 2)
        if field == "tide" and len(words) == 3:
            room, commitment, secret = words
            others.append(RoomShares(clean_room(room), _hash("commitment", commitment), _hash("secret", secret), ()))
        elif field == "seat" and others:
            others[-1] = others[-1]._replace(shares=(*others[-1].shares, _share(value)))
        elif field == "elsewhere" and len(words) == 3:
            draw, seat, reason, name = _lost(f"{words[0]} {words[2]}")
            elsewhere.append(ShareLostElsewhere(draw, clean_room(words[1]), seat, reason, name))
        else:
            raise MalformedText(
                f"{line[:40]!r} is not about another room of a tide. Write a tide, a seat or elsewhere."
            )
    if not all(room.shares for room in others):
        raise MalformedText("The proof has a room without seats. Write its seats below it.")
    return tuple(others), tuple(elsewhere)


def _check_seats(seats: Sequence[int]) -> None:
    if sorted(set(seats)) != list(seats):
        raise MalformedText("The seats of the proof are not in rising order. Write each seat once, the lowest first.")


def _share(text: str) -> RevealedShare:
    words = text.split(" ", 3)
    if len(words) != 4:
        raise MalformedText(f"{text[:40]!r} is not a seat. Write its number, a hash, a share and a name.")
    seat, commitment, share, name = words
    number = _number("seat", seat, HIGHEST_SEAT, lowest=1)
    return RevealedShare(number, clean_name(name), _hash("hash", commitment), _hash("share", share))


def _lost(text: str) -> LostShare:
    words = text.split(" ", 3)
    reason = next((each for each in get_args(LossReason) if words[2:3] == [each]), None)
    if len(words) != 4 or reason is None:
        raise MalformedText(
            f"{text[:40]!r} is not a lost seat. Write a draw, a seat, one of {', '.join(get_args(LossReason))}, and a name."
        )
    draw, seat, _, name = words
    return LostShare(
        _number("draw", draw, MAX_DRAWS, lowest=1),
        _number("seat", seat, HIGHEST_SEAT, lowest=1),
        reason,
        clean_name(name),
    )


def _number(field: str, text: str, highest: int, lowest: int = 0) -> int:
    if not _NUMBER.fullmatch(text) or not lowest <= int(text) <= highest:
        raise MalformedText(f"The {field} is {text[:20]!r}. Write a number from {lowest} to {highest}.")
    return int(text)


def _hash(field: str, text: str) -> bytes:
    if not _HASH.fullmatch(text):
        raise MalformedText(f"The {field} is not {2 * SHARE_BYTES} hexadecimal digits in lower case. Correct it.")
    return bytes.fromhex(text)
