"""Joint deals of rooms whose secrets and shares are known, for tests."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from itertools import count

from samedeal.deal import Difficulty, commitment
from samedeal.deal_proof import DealProof, LostShare, RevealedShare
from samedeal.difficulty import SEARCH_BUDGET, states_of
from samedeal.games import game_named
from samedeal.joint_deal import DealTerms, public_mix, share_commitment, won_candidates
from samedeal.solver.solve import SOLVER
from samedeal.terms import RoomTerms
from tests.shared.recorded import terms_of

DRAW = 2
LOST = (LostShare(1, 4, "left", "ben"), LostShare(2, 3, "silent", "cid"))
NAMES = ("ana", "Zo\u00eb Q", "\u5f20\u4f1f")


def some_bytes(text: str) -> bytes:
    """32 bytes that depend on a text."""
    return hashlib.sha256(text.encode()).digest()


DAILY = "daily 2026-11-21"


def race_terms(game: str, deal: str = "winnable") -> RoomTerms:
    """The terms of the races whose deals are proven here."""
    return terms_of(game, deal, round_number=2, undo="off", limit=7200)


@cache
def public_deal(
    game: str, name: str = DAILY, first: int = 0, budget: int = SEARCH_BUDGET, terms: RoomTerms | None = None
) -> DealProof:
    """The proof of a deal that follows from its name. ``first`` is the first candidate that its server tries."""
    search = DealTerms("friday", game_named(game), SOLVER, budget)
    mixed, digest = public_mix(name), (terms or race_terms(game, name)).digest
    won = next(won_candidates(mixed, search.game, search.budget, count(first)))
    return DealProof(search, digest, commitment(digest, mixed), mixed, 0, (), (), won.number, won.line, name)


def promised(terms: bytes, committed: bytes, draw: int, *racers: tuple[int, str, bytes]) -> tuple[RevealedShare, ...]:
    """The shares of racers, each a seat, a name and a share, with their hashes."""
    return tuple(
        RevealedShare(seat, name, share_commitment(terms, committed, seat, name, draw, share), share)
        for seat, name, share in racers
    )


def drawn_proof(
    search: DealTerms,
    digest: bytes,
    secret: bytes,
    draw: int,
    lost: tuple[LostShare, ...],
    racers: Sequence[tuple[int, str, bytes]],
    first: int = 0,
) -> DealProof:
    """The proof of a deal of racers, each a seat, a name and a share. ``first`` is the first candidate that is tried."""
    seats = b"".join(bytes([seat]) + share for seat, _, share in racers)
    mixed = hashlib.sha256(b"samedeal mix v2\n" + secret + seats).digest()  # the seats may be in any order
    won = next(won_candidates(mixed, search.game, search.budget, count(first), search.least))
    committed = commitment(digest, secret)
    shares = promised(digest, committed, draw, *racers)
    return DealProof(search, digest, committed, secret, draw, lost, shares, won.number, won.line)


@cache
def joint_deal(game: str, difficulty: Difficulty = "") -> DealProof:
    """The proof of a joint deal of three players after two others have lost their seats, in the second draw."""
    least, budget = states_of(game_named(game), difficulty)
    search = DealTerms("friday", game_named(game), SOLVER, budget, least)
    secret, digest = some_bytes(f"the secret of {game}"), race_terms(game, f"winnable {difficulty}").digest
    racers = [(seat, name, some_bytes(f"share of {name}")) for seat, name in zip((1, 2, 5), NAMES, strict=True)]
    return drawn_proof(search, digest, secret, DRAW, LOST, racers)
