"""What the page for browsers repeats of the search for a deal."""

from __future__ import annotations

from pathlib import Path

from samedeal.difficulty import states_of
from tests.shared.drawn_deals import ANA, BOB, GAME, proof_of
from tests.shared.javascript import answer_of_page, needs_node

pytestmark = needs_node


def test_search_tells_its_candidates(tmp_path: Path) -> None:
    proof = proof_of(ANA, BOB, difficulty="medium")
    assert proof.candidate > 0
    least, budget = states_of(GAME, "medium")
    search = {"game": str(GAME), "budget": budget, "mix": proof.mixed.hex(), "candidate": proof.candidate}
    answers, told = answer_of_page("playing.candidates", tmp_path, search)
    number = proof.candidate + 1
    assert told == [{"number": each, "count": number} for each in range(1, number + 1)]
    are_won = [each["outcome"] == "won" and each["states"] >= least for each in answers]
    assert are_won == [False] * proof.candidate + [True]
