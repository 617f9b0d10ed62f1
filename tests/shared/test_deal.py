from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

from samedeal.cards import Card
from samedeal.deal import Deal, commitment, shuffled
from samedeal.errors import MalformedText
from tests.shared.javascript import NODE, evaluate

SHARED = Path(__file__).parents[2] / "shared"
DEALS_MD = SHARED / "DEALS.md"


def vectors(*names: str) -> list[dict[str, str]]:
    """The vectors in DEALS.md and in orders.txt that have these fields."""
    found = []
    blocks = re.findall(r"```vectors\n(.*?)```", DEALS_MD.read_text(encoding="utf-8"), re.DOTALL)
    for block in [*blocks, (SHARED / "conformance/orders.txt").read_text(encoding="ascii")]:
        for paragraph in block.strip().split("\n\n"):
            fields: dict[str, str] = {}
            for line in paragraph.splitlines():
                name, _, value = line.partition(" ")
                fields[name] = f"{fields[name]} {value}" if name in fields else value
            if set(names) <= set(fields):
                found.append(fields)
    assert found
    return found


def test_shuffled_matches_vectors() -> None:
    for vector in vectors("order"):
        seed, decks = bytes.fromhex(vector["seed"]), int(vector["decks"])
        assert " ".join(str(Card(card)) for card in shuffled(seed, decks)) == vector["order"]
        stream = hashlib.shake_256(b"samedeal order v1\n" + bytes([decks]) + seed).digest(16)
        assert stream.hex() == vector["stream"]


def test_public_seed_matches_vectors() -> None:
    for vector in vectors("deal", "seed"):
        deal = Deal.parse(vector["deal"])
        assert deal.public_seed().hex() == vector["seed"]
        assert hashlib.sha256(f"samedeal seed v1\n{vector['deal']}".encode()).hexdigest() == vector["seed"]


MICROSOFT = {
    1: """JD 2D 9H JC 5D 7H 7C 5H  KD KC 9S 5S AD QC KH 3H  2S KS 9D QD JS AS AH 3C  4C 5C TS QH 4H AC 4D 7S
          3S TD 4S TH 8H 2C JH 7D  6D 8S 8D QS 6C 3D 8C TC  6S 9C 2H 6H""",
    617: """7D AD 5C 3S 5S 8C 2D AH  TD 7S QD AC 6D 8H AS KH  TH QC 3H 9D 6S 8D 3D TC  KD 5H 9S 3C 8S 7H 4D JS
            4C QS 9C 9H 7C 6H 2C 2S  4S TS 2H 5D JC 6C JH QH  JD KS KC 4H""",
}
"""The rows of games of Microsoft FreeCell, as other programs show them."""


@pytest.mark.parametrize("number", MICROSOFT)
def test_microsoft_deals_are_those_of_other_programs(number: int) -> None:
    seed, rows = Deal.parse(f"MS 0{number}").public_seed(), MICROSOFT[number].split()
    assert [str(Card(card)) for card in shuffled(seed, 1)] == rows
    if NODE is not None:
        (order,) = evaluate("given.map(deal => [...seedCards(publicSecret(deal), 1)])", [f"ms {number}"])
        assert [str(Card(card)) for card in order] == rows


def test_commitment_matches_vectors() -> None:
    for vector in vectors("terms", "secret", "commitment"):
        terms, secret = bytes.fromhex(vector["terms"]), bytes.fromhex(vector["secret"])
        assert commitment(terms, secret).hex() == vector["commitment"]
        assert hashlib.sha256(b"samedeal commitment 3\n" + terms + secret).hexdigest() == vector["commitment"]


def test_daily_deal_gets_its_date() -> None:
    daily = Deal.parse("daily")
    assert daily.on("2026-11-21") == Deal.parse("daily 2026-11-21")
    assert daily.on("2026-11-21").on("2027-01-01") == Deal.parse("daily 2026-11-21")
    assert Deal.parse("#1").on("2026-11-21") == Deal.parse("#1")
    assert Deal.parse("random").on("2026-11-21") == Deal.parse("random")
    with pytest.raises(MalformedText):
        daily.on("tomorrow")
