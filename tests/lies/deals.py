"""Deals of a small game, each found once."""

from __future__ import annotations

import hashlib
from functools import cache
from itertools import count
from typing import Final

from samedeal.deal_proof import DealProof
from samedeal.games import game_named
from samedeal.joint_deal import candidate_board
from samedeal.race.draws import mixed
from samedeal.race.values import FoundDeal, Race
from samedeal.solver.solve import Answer, Outcome, solve

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


def found_deal(race: Race, seed: bytes, first: int = 0) -> FoundDeal:
    """What the search for the deal of a race finds. ``first`` is the first candidate that it tries."""
    search, shares = race.search, race.draw.shares
    mix = mixed(seed, shares)
    for number in count(first):
        found = answer(mix, number, search.budget)
        if found.outcome is Outcome.WON and found.states >= search.least:
            return FoundDeal(race.draw.number, shares, number, ", ".join(map(str, found.line)))
    raise AssertionError
