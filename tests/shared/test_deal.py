from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from samedeal.cards import DECK, Card
from samedeal.deal import Deal, commitment, shuffled
from samedeal.errors import MalformedText

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


def test_there_are_orders_of_one_and_two_decks() -> None:
    assert Counter(vector["decks"] for vector in vectors("order")) == {"1": 3, "2": 3}


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


def test_commitment_matches_vectors() -> None:
    for vector in vectors("terms", "secret", "commitment"):
        terms, secret = bytes.fromhex(vector["terms"]), bytes.fromhex(vector["secret"])
        assert commitment(terms, secret).hex() == vector["commitment"]
        assert hashlib.sha256(b"samedeal commitment 3\n" + terms + secret).hexdigest() == vector["commitment"]


def test_page_shows_the_first_steps() -> None:
    """Follow the table of the page by hand, and the remaining steps by its algorithm."""
    rows = re.findall(
        r"^\| (\d+) \| (\d+) \| (\d+) \| (.*?) \| (\d+) \| (\w\w) and (\w\w) \|$", DEALS_MD.read_text(), re.MULTILINE
    )
    stream = iter(hashlib.shake_256(b"samedeal order v1\n\x01" + bytes(32)).digest(1024))
    cards = [str(Card(card)) for card in DECK]
    for last in range(51, 0, -1):
        fair = 256 - 256 % (last + 1)
        byte = next(stream)
        passed = []
        while byte >= fair:
            passed.append(byte)
            byte = next(stream)
        other = byte % (last + 1)
        if row := next((row for row in rows if row[0] == str(last)), None):
            assert row[1:3] == (str(last + 1), str(fair))
            assert f"`{byte:02x}` = {byte}" in row[3]
            assert all(f"`{skipped:02x}` = {skipped} is passed over" in row[3] for skipped in passed)
            assert row[4:] == (str(other), cards[last], cards[other])
        cards[last], cards[other] = cards[other], cards[last]
    assert len(rows) == 8
    assert cards == [str(Card(card)) for card in shuffled(bytes(32), 1)]


def test_daily_deal_gets_its_date() -> None:
    daily = Deal.parse("daily")
    assert daily.on("2026-11-21") == Deal.parse("daily 2026-11-21")
    assert daily.on("2026-11-21").on("2027-01-01") == Deal.parse("daily 2026-11-21")
    assert Deal.parse("#1").on("2026-11-21") == Deal.parse("#1")
    assert Deal.parse("random").on("2026-11-21") == Deal.parse("random")
    with pytest.raises(MalformedText):
        daily.on("tomorrow")


REJECTED: list[tuple[Callable[[], object], str]] = [
    *((partial(shuffled, bytes(length), 1), f"a seed is 32 bytes, not {length}") for length in (0, 31, 33)),
    *((partial(shuffled, bytes(32), decks), f"one or two decks are shuffled, not {decks}") for decks in (-1, 0, 3, 5)),
    *(
        (Deal.parse(text).public_seed, f"a {text} deal has no public seed")
        for text in ("random", "daily", "daily 2026-11-21", "winnable")
    ),
]


def test_impossible_cards_are_rejected() -> None:
    for deal, sentence in REJECTED:
        with pytest.raises(ValueError, match=sentence):
            deal()
