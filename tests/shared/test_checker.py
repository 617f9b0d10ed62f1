"""The checker in JavaScript and the Python code give the same verdicts on proofs of deals."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path

from samedeal.deal import DIFFICULTIES
from samedeal.deal_proof import DealProof, LostShare
from samedeal.errors import DealNotCheckable, DealNotProven, MalformedText
from samedeal.solver.solve import SOLVER
from tests.shared.drawn_deals import AGAIN, ANA, BOB, CID, HONEST, LOST, UNLAWFUL, daily_proof, proof_of, too_easy
from tests.shared.javascript import needs_node, verdicts

pytestmark = needs_node

FIVE = tuple(LostShare(draw, 9, "silent", f"d {draw}") for draw in (1, 1, 2, 3, 4, 5, 5))


@cache
def proofs() -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """Good proofs, those of which only a search shows that they are wrong, and other wrong ones."""
    good = {
        "one draw": str(HONEST),
        "two draws": str(AGAIN),
        "five draws": str(proof_of(ANA, BOB, draw=5, lost=FIVE)),
        "a lost seat in the last draw": str(replace(HONEST, lost=LOST)),
        "daily": str(daily_proof()),
    }
    good |= {str(name): str(proof_of(ANA, BOB, difficulty=name)) for name in DIFFICULTIES}

    deeply_wrong = {
        "another candidate": str(proof_of(ANA, BOB, CID, first=HONEST.candidate + 1)),
        "another daily candidate": str(daily_proof(first=daily_proof().candidate + 1)),
        "an easy candidate of a hard deal": str(too_easy()),
        "a small budget": str(proof_of(ANA, BOB, CID, limits=(1, 2000))),
        "the largest budget": str(proof_of(ANA, BOB, CID, limits=(1, 999_999_999))),
        "another range": str(proof_of(ANA, BOB, CID, limits=(2, 100_000))),
        "another solver": str(proof_of(ANA, BOB, CID, solver=SOLVER + 1)),
        "the largest solver": str(proof_of(ANA, BOB, CID, solver=999_999_999)),
    }

    wrong = {
        "a draw without a lost seat": str(replace(AGAIN, lost=())),
        "a draw between without one": str(proof_of(ANA, BOB, draw=5, lost=FIVE[:2] + FIVE[3:])),
        "a lost seat of a later draw": str(replace(HONEST, lost=(LOST[0]._replace(draw=2),))),
        "lost seats out of order": str(replace(AGAIN, lost=(LOST[0]._replace(draw=2), *LOST))),
        "a lost seat 0": str(replace(AGAIN, lost=(LOST[0]._replace(seat=0),))),
        "a lost seat 256": str(replace(AGAIN, lost=(LOST[0]._replace(seat=256),))),
        "a lost seat without a reason": str(AGAIN).replace("3 left bob", "3 bob"),
        "another reason": str(AGAIN).replace("3 left bob", "3 gone bob"),
        "a lost seat without a name": str(AGAIN).replace("3 left bob", "3 left"),
        "a lost seat in a daily deal": str(daily_proof()).replace("candidate: ", "lost: 1 3 left bob\ncandidate: "),
        "a draw of a daily deal": str(daily_proof()).replace("candidate: ", "draw: 1\ncandidate: "),
        "a lost seat below the seats": re.sub(r"(lost: .*\n)((seat: .*\n)+)", r"\2\1", str(AGAIN)),
        "draw 0": str(proof_of(ANA, BOB, draw=0)),
        "draw 6": str(proof_of(ANA, BOB, draw=6, lost=FIVE)),
        "no draw": str(HONEST).replace("draw: 1\n", ""),
        "restarts": str(HONEST).replace("draw: 1\n", "restarts: 0\n"),
        "the hashes of another draw": str(replace(HONEST, draw=2, lost=LOST)),
        "a far candidate": str(proof_of(ANA, BOB, CID, first=1000)),
        "a large solver": str(proof_of(ANA, BOB, CID, solver=1_000_000_000)),
        "a large budget": str(proof_of(ANA, BOB, CID, limits=(1, 1_000_000_000))),
        "no budget": str(HONEST).replace("budget: 100000", "budget: 0"),
        "seats that do not rise": str(proof_of(BOB, ANA)),
        "a line that breaks the rules": re.sub("line: .*", f"line: {UNLAWFUL}", str(HONEST)),
        "an older proof": str(HONEST).replace("deal 3", "deal 2"),
        "a newer proof": str(HONEST).replace("deal 3", "deal 4"),
    }
    return good, deeply_wrong, wrong


def checked(text: str, *, deeply: bool) -> str:
    try:
        proof = DealProof.parse(text)
        proof.check_deeply() if deeply else proof.check()
    except (MalformedText, DealNotProven, DealNotCheckable):
        return "wrong"
    return "holds"


def judged(folder: Path, texts: Iterable[str], *options: str) -> list[str]:
    """The verdict of the checker on each text, without what it adds."""
    paths = []
    for number, text in enumerate(texts):
        paths.append(folder / f"{number}.txt")
        paths[-1].write_text(text, encoding="utf-8")
    return [verdict.partition(": ")[0] for verdict in verdicts(paths, *options).values()]


def test_checker_agrees_on_proofs(tmp_path: Path) -> None:
    good, deeply_wrong, wrong = proofs()
    cases = good | deeply_wrong | wrong
    expected = {name: "wrong" if name in wrong else "holds" for name in cases}
    assert {name: checked(text, deeply=False) for name, text in cases.items()} == expected
    assert dict(zip(cases, judged(tmp_path, cases.values()), strict=True)) == expected


def test_checker_agrees_on_searches(tmp_path: Path) -> None:
    """A budget that no Samedeal uses is refused before the search, which could take hours."""
    good, deeply_wrong, _ = proofs()
    cases = good | deeply_wrong
    expected = {name: "holds" if name in good else "wrong" for name in cases}
    assert {name: checked(text, deeply=True) for name, text in cases.items()} == expected
    assert dict(zip(cases, judged(tmp_path, cases.values(), "--deep"), strict=True)) == expected
