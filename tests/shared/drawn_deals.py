"""Deals of Ace of Hearts that honest and lying servers draw. Their proofs are quick to make and to check."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from typing import Final

from samedeal.deal import Difficulty
from samedeal.deal_proof import DealProof, LostShare
from samedeal.difficulty import states_of
from samedeal.games import game_named
from samedeal.joint_deal import DealTerms, won_candidates
from samedeal.solver.solve import SOLVER
from samedeal.terms import RoomTerms
from tests.shared.joint_deals import DAILY, drawn_proof, public_deal  # noqa: F401  # the pages use DAILY
from tests.shared.recorded import terms_of

ROOM: Final = "friday"
GAME: Final = game_named("ace-of-hearts")
SECRET: Final = bytes(range(32))
ANA, BOB, CID = ((seat, name, bytes([seat]) * 32) for seat, name in ((1, "ana"), (2, "Zo\u00eb Q"), (5, "cid")))


def drawn_terms(deal: str) -> RoomTerms:
    """The terms of the races whose deals are drawn here, which spectators see without delay."""
    return terms_of(str(GAME), deal, room=ROOM, delay=0)


@cache
def proof_of(
    *racers: tuple[int, str, bytes],
    draw: int = 1,
    lost: tuple[LostShare, ...] = (),
    difficulty: Difficulty = "",
    limits: tuple[int, int] | None = None,
    solver: int = SOLVER,
    first: int = 0,
    secret: bytes = SECRET,
    terms: RoomTerms | None = None,
) -> DealProof:
    """The proof of a joint deal of these players. ``first`` is the first candidate that its server tries."""
    least, budget = limits or states_of(GAME, difficulty)
    search = DealTerms(ROOM, GAME, solver, budget, least)
    digest = (terms or drawn_terms(f"winnable {difficulty}")).digest
    return drawn_proof(search, digest, secret, draw, lost, racers, first)


daily_proof: Final = partial(public_deal, "ace-of-hearts")


def too_easy() -> DealProof:
    """The proof of a hard deal that is easy."""
    least, budget = states_of(GAME, "hard")
    for byte in range(256):
        proof = proof_of((1, "ana", bytes([byte]) * 32))
        won = next(won_candidates(proof.mixed, GAME, budget, [0], 1), None)
        if won is not None and won.states < least:
            return replace(proof, terms=proof.terms._replace(least=least, budget=budget))
    raise AssertionError("there is no such deal")


HONEST: Final = proof_of(ANA, BOB, CID)
LOST: Final = (LostShare(1, 3, "left", "bob"),)
AGAIN: Final = proof_of(ANA, BOB, draw=2, lost=LOST)

_COLUMNS: Final = ", ".join([f"{key} 0" for key in range(1, 8) for _ in range(key)] + 4 * ["deal"])
UNLAWFUL: Final = _COLUMNS + "".join(f", {key} 0" for key in range(1, 8) for _ in range(4 if key < 4 else 3))
"""Moves that bring all cards to the foundation if nobody looks at their ranks."""
