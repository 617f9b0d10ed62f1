"""The checker in JavaScript and the Python code give the same verdicts on proofs of deals."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

from samedeal.deal_proof import DealProof, LostShare
from samedeal.errors import DealNotCheckable, DealNotProven, MalformedText
from samedeal.games import game_named  # noqa: F401  # the page uses it
from tests.golden.golden_files import assert_answers, values_on
from tests.shared import drawn_deals
from tests.shared.javascript import needs_node, verdicts_on

FIVE = tuple(LostShare(draw, 9, "silent", f"d {draw}") for draw in (1, 1, 2, 3, 4, 5, 5))
ALL_KINDS = (
    LostShare(1, 255, "left", "Zo\u00eb Q"),
    LostShare(1, 3, "kicked", "ben"),
    LostShare(2, 3, "silent", "a b c"),
    LostShare(2, 1, "left", "dan"),
)


def with_share(**changes: object) -> DealProof:
    """A proof with changes to its last share."""
    *shares, last = drawn_deals.HONEST.shares
    return replace(drawn_deals.HONEST, shares=(*shares, last._replace(**changes)))  # type: ignore[arg-type]  # fields by name


@cache
def texts() -> dict[str, str]:
    """The texts of the proofs on the page, by their lines."""
    return {line: str(proof) for line, proof in values_on("checked_proofs", vars(drawn_deals), globals()).items()}


@cache
def verdict(line: str, *, deeply: bool = False) -> str:
    """What Python says of a proof on the page."""
    try:
        proof = DealProof.parse(texts()[line])
        proof.check_deeply() if deeply else proof.check()
    except (MalformedText, DealNotProven, DealNotCheckable) as error:
        return f"wrong: {error}"
    return "holds"


def test_proofs_are_judged_as_the_page_says() -> None:
    """A budget that no Samedeal uses is refused before the search, which could take hours."""

    def answer(_: str, line: str) -> str:
        holds = verdict(line) == "holds"
        return f"holds, with a search {verdict(line, deeply=True)}" if holds else verdict(line)

    assert_answers("checked_proofs", answer)


@needs_node
def test_checkers_agree_on_proofs(tmp_path: Path) -> None:
    good = [line for line in texts() if verdict(line) == "holds"]
    for lines, deeply in (([*texts()], False), (good, True)):
        told = verdicts_on([texts()[line] for line in lines], tmp_path, *["--deep"] * deeply)
        assert {line: says.partition(": ")[0] for line, says in zip(lines, told, strict=True)} == {
            line: verdict(line, deeply=deeply).partition(": ")[0] for line in lines
        }
