"""Joint deals of rooms whose secrets and shares are known, for tests."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import cache
from itertools import count

from samedeal.deal import Difficulty
from samedeal.deal_proof import DealProof, LostShare, RevealedShare, RoomShares, ShareLostElsewhere, mix_of
from samedeal.difficulty import SEARCH_BUDGET, states_of
from samedeal.games import game_named
from samedeal.joint_deal import DealTerms, mix, public_mix, secret_commitment, share_commitment, won_candidates
from samedeal.solver.solve import SOLVER

DRAW = 2
LOST = (LostShare(1, 4, "left", "ben"), LostShare(2, 3, "silent", "cid"))
NAMES = ("ana", "Zo\u00eb Q", "\u5f20\u4f1f")


def some_bytes(text: str) -> bytes:
    """32 bytes that depend on a text."""
    return hashlib.sha256(text.encode()).digest()


DAILY = "daily 2026-11-21"


@cache
def public_deal(game: str, name: str = DAILY, first: int = 0, budget: int = SEARCH_BUDGET) -> DealProof:
    """The proof of a deal that follows from its name. ``first`` is the first candidate that its server tries."""
    terms = DealTerms("friday", game_named(game), SOLVER, budget)
    mixed = public_mix(name)
    won = next(won_candidates(mixed, terms.game, terms.budget, count(first)))
    return DealProof(terms, secret_commitment(terms, mixed), mixed, 0, (), (), won.number, won.line, name)


def other_room(terms: DealTerms, room: str, draw: int = DRAW, names: tuple[str, ...] = ("eve", "fay")) -> RoomShares:
    """A room that shares a deal with these terms. All that it contributes follows from its code and the names."""
    secret = some_bytes(f"the secret of {room}")
    shares = [(2 * at + 1, name, some_bytes(f"share of {name} in {room}")) for at, name in enumerate(names)]
    revealed = [
        RevealedShare(seat, name, share_commitment(room, name, draw, share), share) for seat, name, share in shares
    ]
    return RoomShares(room, secret_commitment(terms._replace(room=room), secret), secret, tuple(revealed))


def with_others(proof: DealProof, *others: RoomShares) -> DealProof:
    """The proof of the deal that a room shares with others: the first candidate that can be won."""
    mixed = mix_of((*proof.rooms, *others))
    won = next(won_candidates(mixed, proof.terms.game, proof.terms.budget, count(), proof.terms.least))
    return replace(proof, others=others, candidate=won.number, line=won.line)


@cache
def tide_deal(game: str) -> DealProof:
    """The proof of a joint deal that two other rooms share. A player of one of them had lost the seat."""
    own = joint_deal(game)
    shared = with_others(own, other_room(own.terms, "brook"), other_room(own.terms, "shoal", names=("gil",)))
    return replace(shared, lost=own.lost[1:], elsewhere=(ShareLostElsewhere(1, "brook", 4, "left", "dan"),))


@cache
def joint_deal(game: str, difficulty: Difficulty = "") -> DealProof:
    """The proof of a joint deal of three players after two others have lost their seats, in the second draw."""
    least, budget = states_of(game_named(game), difficulty)
    terms = DealTerms("friday", game_named(game), SOLVER, budget, least)
    secret = some_bytes(f"the secret of {game}")
    shares = [(seat, name, some_bytes(f"share of {name}")) for seat, name in zip((1, 2, 5), NAMES, strict=True)]
    mixed = mix(secret, [(seat, share) for seat, _, share in shares])
    won = next(won_candidates(mixed, terms.game, terms.budget, count(), terms.least))
    revealed = [
        RevealedShare(seat, name, share_commitment("friday", name, DRAW, share), share) for seat, name, share in shares
    ]
    commitment = secret_commitment(terms, secret)
    return DealProof(terms, commitment, secret, DRAW, LOST, tuple(revealed), won.number, won.line)
