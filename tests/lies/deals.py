"""Deals of a small game, each found once."""

from __future__ import annotations

import hashlib
from functools import cache
from itertools import count
from typing import Final

from samedeal.deal import Deal, commitment
from samedeal.deal_proof import DealProof, LostShare, RevealedShare
from samedeal.difficulty import states_of
from samedeal.games import game_named
from samedeal.joint_deal import DealTerms, candidate_board, mix, public_mix
from samedeal.solver.solve import SOLVER, Answer, Outcome, solve

GAME: Final = game_named("ace-of-hearts")


def some_bytes(text: str) -> bytes:
    """32 bytes that depend on a text."""
    return hashlib.sha256(text.encode()).digest()


@cache
def answer(mixed: bytes, number: int, budget: int) -> Answer:
    """The solver's answer for a candidate."""
    return solve(candidate_board(mixed, number, GAME), budget)


def answers(proof: DealProof) -> tuple[Answer, ...]:
    """The solver's answers for all candidates up to the dealt one."""
    return tuple(answer(proof.mixed, number, proof.terms.budget) for number in range(min(proof.candidate, 50) + 1))


def proof_of(
    room: str,
    deal: Deal,
    digest: bytes,
    secret: bytes,
    draw: int,
    lost: tuple[LostShare, ...],
    shares: tuple[RevealedShare, ...],
    first: int = 0,
) -> DealProof:
    """The proof of a deal. ``first`` is the first candidate that its server tries."""
    least, budget = states_of(GAME, deal.difficulty)
    mixed = public_mix(str(deal)) if deal.public else mix(secret, [(share.seat, share.share) for share in shares])
    number = next(
        number
        for number in count(first)
        if (found := answer(mixed, number, budget)).outcome is Outcome.WON and found.states >= least
    )
    line = answer(mixed, number, budget).line
    terms = DealTerms(room, GAME, SOLVER, budget, least)
    promise = commitment(digest, mixed if deal.public else secret)
    if deal.public:
        return DealProof(terms, digest, promise, mixed, 0, (), (), number, line, str(deal))
    return DealProof(terms, digest, promise, secret, draw, lost, shares, number, line)
