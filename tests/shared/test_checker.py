"""The checker in JavaScript and the Python code give the same verdicts on proofs of deals."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from samedeal.deal_proof import DealProof, LostShare
from samedeal.errors import DealNotCheckable, DealNotProven, MalformedText
from tests.golden.golden_files import assert_answers, values_on
from tests.shared import drawn_deals
from tests.shared.javascript import needs_node, verdicts_on

pytestmark = needs_node

FIVE = tuple(LostShare(draw, 9, "silent", f"d {draw}") for draw in (1, 1, 2, 3, 4, 5, 5))


def checked(text: str, *, deeply: bool) -> str:
    try:
        proof = DealProof.parse(text)
        proof.check_deeply() if deeply else proof.check()
    except (MalformedText, DealNotProven, DealNotCheckable) as error:
        return f"wrong: {error}"
    return "holds"


def judged(folder: Path, texts: Mapping[str, str], *options: str) -> dict[str, str]:
    """The verdict of the checker on each text, without what it adds."""
    found = verdicts_on(texts.values(), folder, *options)
    return {name: verdict.partition(": ")[0] for name, verdict in zip(texts, found, strict=True)}


def test_checkers_agree_on_proofs_as_the_page_says(tmp_path: Path) -> None:
    """A budget that no Samedeal uses is refused before the search, which could take hours."""
    texts = {line: str(proof) for line, proof in values_on("checked_proofs", vars(drawn_deals), globals()).items()}
    plain = judged(tmp_path, texts)
    deep = judged(tmp_path, {name: text for name, text in texts.items() if plain[name] == "holds"}, "--deep")

    def answer(_: str, question: str) -> str:
        says = checked(texts[question], deeply=False)
        assert says.startswith(plain[question])
        if says == "holds":
            says = f"holds, with a search {checked(texts[question], deeply=True)}"
            assert says.startswith(f"holds, with a search {deep[question]}")
        return says

    assert_answers("checked_proofs", answer)
