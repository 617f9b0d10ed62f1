from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Final

import pytest

from samedeal.board import Board
from samedeal.cards import DECK, Card
from samedeal.deal import DIFFICULTIES, Deal
from samedeal.deal_proof import DealProof
from samedeal.deal_words import deal_words, result_words
from samedeal.difficulty import SEARCH_BUDGET, search_limits, states_of
from samedeal.errors import DealNotCheckable, DealNotProven, MalformedText, UnknownGame
from samedeal.games import GAMES
from samedeal.joint_deal import (
    candidate_board,
    candidate_order,
    candidate_seed,
    public_mix,
    share_commitment,
)
from samedeal.solver.solve import SOLVER, solve
from tests.golden.golden_files import HERE, assert_golden, golden_text
from tests.shared.javascript import CHECKER, needs_node, verdicts, verdicts_on
from tests.shared.javascript import PAGE as BROWSER
from tests.shared.joint_deals import DAILY, joint_deal, public_deal, race_terms
from tests.shared.playouts import COVERING

PAGE: Final = (CHECKER.parent / "DEALS.md").read_text(encoding="utf-8")
QUICK: Final = [game.name for game in GAMES.values() if game.file.difficulty]
"""The games whose deals are found in a moment."""

SEARCHED: Final = {*COVERING} - {"spider-two", "yukon"}
"""Games with every policy. For those that are left out, ``solver.txt`` has what the solver answers."""


def order_text(order: bytes) -> str:
    return " ".join(str(Card(card)) for card in order)


def found(game: str) -> str:
    return str(joint_deal(game))


def test_proof_matches_golden_file() -> None:
    for game in GAMES:
        name = f"deal_proofs/{game}.txt"
        known = DealProof.parse(golden_text(name, partial(found, game)))
        proof = joint_deal(game) if game in SEARCHED else known
        assert_golden(name, str(proof))
        assert DealProof.parse(str(proof)) == proof
        assert proof.check() == proof.board()


def test_other_proofs_match_golden_files() -> None:
    for name, proof, deal in (
        ("daily", public_deal("phoenix"), DAILY),
        ("medium", joint_deal("athena", "medium"), "winnable medium"),
        ("hard", joint_deal("ace-of-hearts", "hard"), "winnable hard"),
    ):
        assert_golden(f"deal_proofs/{name}.txt", str(proof))
        assert DealProof.parse(str(proof)) == proof
        assert proof.check_deeply() == proof.check() == proof.board()
        proof.check_kind(Deal.parse(deal))
        answer = solve(proof.board(), proof.terms.budget)
        assert proof.terms.least <= answer.states <= proof.terms.budget
        for other in ("winnable", "winnable easy", "daily 2026-11-22"):
            is_other_kind = deal == DAILY or other.startswith("daily")
            with pytest.raises(DealNotProven if is_other_kind else DealNotCheckable):
                proof.check_kind(Deal.parse(other))
        replace(proof, terms=proof.terms._replace(solver=SOLVER + 1, budget=7)).check_kind(Deal.parse(deal))


def test_kind_that_a_game_has_not_is_named() -> None:
    spider = DealProof.parse((HERE / "deal_proofs" / "spider.txt").read_text())
    with pytest.raises(DealNotProven, match=r"Spider has no deal 'winnable hard'\."):
        spider.check_kind(Deal.parse("winnable hard"))


def test_search_limits_are_those_of_all_deals() -> None:
    for game in GAMES:
        limits = {states_of(GAMES[game], "")} | {states_of(GAMES[game], each) for each in DIFFICULTIES if game in QUICK}
        assert search_limits(GAMES[game]) == limits
        assert states_of(GAMES[game], "") == (1, SEARCH_BUDGET) == (1, 100_000)
    with pytest.raises(ValueError, match="Spider"):
        states_of(GAMES["spider"], "easy")


def test_page_has_the_daily_deals() -> None:
    (vectors,) = re.findall(r"```daily\n(.*?)```", PAGE, re.DOTALL)
    lines = [f"deal {DAILY}", f"mix {public_mix(DAILY).hex()}"]
    for game in re.findall(r"^game (.+)$", vectors, re.MULTILINE):
        proof = public_deal(game)
        lines += ["", f"game {game}", f"candidate {proof.candidate}"]
        lines.append(f"seed {candidate_seed(proof.mixed, proof.candidate).hex()}")
    assert len(lines) > 2
    assert vectors == "\n".join(lines) + "\n"


def test_page_has_a_proof_and_its_values() -> None:
    proof = joint_deal("phoenix")
    assert re.findall(r"```proof\n(.*?)```", PAGE, re.DOTALL) == [str(proof)]
    seed = candidate_seed(proof.mixed, proof.candidate)
    order = order_text(candidate_order(seed, 1)).split(" ")
    lines = [f"mix {proof.mixed.hex()}", f"seed {seed.hex()}"]
    lines += [f"order {' '.join(order[at : at + 13])}" for at in range(0, 52, 13)]
    assert "```values\n" + "\n".join(lines) + "\n```" in PAGE


def test_page_has_the_words_of_deals() -> None:
    proof, zeros, ones = joint_deal("phoenix"), bytes(32), bytes([1]) * 32
    lines = ["the proof below", f"words {words_of(proof)}", "", f"terms {zeros.hex()}", f"commitment {ones.hex()}"]
    lines += [f"words {deal_words(zeros, ones)}", "", f"digest {zeros.hex()}", f"result words {result_words(zeros)}"]
    assert "```words\n" + "\n".join(lines) + "\n```" in PAGE, "\n".join(lines)


def words_of(proof: DealProof) -> str:
    return deal_words(proof.digest, proof.commitment, [(seat, hash_, share) for seat, _, hash_, share in proof.shares])


def test_hashes_are_those_of_the_page() -> None:
    """Compute the hashes of a proof from the formulas of the page."""

    def sha256(*parts: bytes) -> bytes:
        return hashlib.sha256(b"".join(parts)).digest()

    proof = joint_deal("phoenix")
    terms = sha256(b"samedeal terms 2\n", str(race_terms("phoenix")).encode())
    assert proof.digest == terms
    assert proof.commitment == sha256(b"samedeal commitment 3\n", terms, proof.secret)
    parts = []
    for seat, name, promise, share in proof.shares:
        place = f"{seat}\n{name}\n2\n".encode()
        assert promise == sha256(b"samedeal share 4\n", terms, proof.commitment, place, share)
        parts.append(bytes([seat]) + share)
    mixed = sha256(b"samedeal mix v2\n", proof.secret, *parts)
    assert mixed == proof.mixed
    seed = sha256(b"samedeal candidate v2\n", mixed, b"\x00\x00\x01\x02")
    assert seed == candidate_seed(mixed, 258)
    cards = list(DECK)
    blocks = (sha256(b"samedeal order v2\n\x01", seed, number.to_bytes(4, "big")) for number in count())
    stream = (byte for block in blocks for byte in block)
    for last in range(51, 0, -1):
        byte = next(byte for byte in stream if byte < 256 - 256 % (last + 1))
        other = byte % (last + 1)
        cards[last], cards[other] = cards[other], cards[last]
    assert bytes(cards) == candidate_order(seed, 1)
    assert candidate_board(mixed, 258, proof.terms.game) == Board.deal(proof.terms.game, bytes(cards))
    assert public_mix("daily 2026-11-21") == sha256(b"samedeal public v2\ndaily 2026-11-21\n")


def damaged(name: str = "phoenix") -> dict[str, str]:
    """The text of a proof with each of its lines damaged, and with some bytes changed."""
    text = (HERE / "deal_proofs" / f"{name}.txt").read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    found = {
        "capitals": text.replace("friday", "Friday"),
        "empty": "",
        "more": f"{text}more: 1\n",
    }
    for number, line in enumerate(lines):
        if line.startswith(("lost", "room", "solver", "budget")):
            continue  # the hashes cover none of these lines: only the terms of the race tell whether they are right
        before, after = "".join(lines[:number]), "".join(lines[number + 1 :])
        found[f"without line {number + 1}"] = before + after
        for at in range(0, min(len(line), 200), 7):
            other = "1" if line[at] == "0" else "0"
            found[f"line {number + 1} byte {at}"] = before + line[:at] + other + line[at + 1 :] + after
    return found


def test_damage_is_found() -> None:
    for damage, text in (*damaged().items(), *damaged("daily").items()):
        try:
            DealProof.parse(text).check()
        except (MalformedText, UnknownGame, DealNotProven):
            continue
        pytest.fail(f"not found: {damage}")


@needs_node
def test_javascript_agrees_on_deals() -> None:
    paths = sorted((HERE / "deal_proofs").glob("*.txt"))
    found = verdicts(paths)
    for path in paths:
        proof = DealProof.parse(path.read_text())
        order = candidate_order(candidate_seed(proof.mixed, proof.candidate), proof.terms.game.decks)
        assert found[path.stem] == f"holds: {order_text(order)}"


@needs_node
def test_javascript_agrees_on_damage(tmp_path: Path) -> None:
    texts = [*damaged().values(), *damaged("daily").values()]
    told = verdicts_on(texts, tmp_path)
    assert [text for text, verdict in zip(texts, told, strict=True) if not verdict.startswith("wrong: ")] == []


def test_javascript_needs_only_node() -> None:
    """Modules that browsers load too need nothing. Instead of ``games.mjs``, the server sends them one of its own."""
    for path in (CHECKER / "check.mjs", *BROWSER.glob("*.*js")):
        needed = set(re.findall(r'^import .* from "([^.].*?)"', path.read_text(encoding="utf-8"), re.MULTILINE))
        assert needed == ({"node:fs"} if path.name in ("check.mjs", "games.mjs") else set()), path


def test_name_with_a_line_feed_is_refused() -> None:
    with pytest.raises(ValueError, match="line feed"):
        share_commitment(bytes(32), bytes(32), 1, "b\nc", 1, bytes(32))
