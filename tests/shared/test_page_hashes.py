"""The page for browsers and Python compute the same hashes and words of a race, and read the same terms and records."""

from __future__ import annotations

from ast import literal_eval
from hashlib import sha256
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Final

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from samedeal.deal_words import deal_words, result_words
from samedeal.errors import MalformedTerms, UnknownTerms
from samedeal.games import GAMES
from samedeal.terms import RoomTerms, description_hash
from tests.golden.golden_files import questions
from tests.shared.javascript import answer_of_page, needs_node
from tests.shared.protocol.strategies import room_terms
from tests.shared.recorded import terms_of

pytestmark = needs_node

PLAIN: Final = terms_of("willow", "winnable")


def values_of(text: str) -> Any:
    """What Python reads, as the page has it."""
    try:
        terms = RoomTerms.parse(text)
    except MalformedTerms:
        return "wrong"
    except UnknownTerms:
        return "unknown"
    return {
        "room": terms.room,
        "round": terms.round,
        "game": str(terms.game),
        "rules": terms.game.rules_hash.hex(),
        "description": terms.description.hex(),
        "deal": str(terms.deal),
        "private": terms.private,
        "tide": terms.tide,
        "window": terms.window,
        "options": msgspec.json.decode(msgspec.json.encode(terms.options)),
    }


LINES: Final = (
    *(line for question in questions("terms") for line in literal_eval(question.partition(" to ")[2]).split("\n")),
    *(
        "series: 21",
        "series: 2",
        "bots: yes",
        "start-at: 5",
        "tide: 12345678901234567",
        "window: 1",
        "delay: 015",
        "round: 1",
    ),
    *(
        "game: a b",
        "room: a-",
        "deal: winnable hard",
        "deal: daily 2026-02-29",
        "deal: #007",
        "deal: again 00",
        "game: ",
    ),
)
"""Lines of terms, most of which are wrong in most terms."""


def changed(terms: RoomTerms, random: Random) -> str:
    """Terms in which a line or a character has changed."""
    text = str(random.choice([PLAIN, terms]))
    if random.random() < 0.3:
        at = random.randrange(len(text))
        return text[:at] + random.choice(["a", "0", " ", "\n", ":", "-", ""]) + text[at + 1 :]
    lines, line = text.splitlines(), random.choice(LINES)
    same = [at for at, old in enumerate(lines) if old.partition(":")[0] == line.partition(":")[0]]
    at = same[0] if same and random.random() < 0.7 else random.randint(0, len(lines))
    lines[at : at + bool(same) + (random.random() < 0.1)] = [line]
    return "".join(f"{line}\n" for line in lines)


@settings(max_examples=6)
@given(st.lists(room_terms(), min_size=20, max_size=20))
def test_page_reads_terms_as_python_does(terms: list[RoomTerms]) -> None:
    random = Random(1)
    texts = [*map(str, terms), *(changed(each, random) for each in terms * 9)]
    with TemporaryDirectory() as folder:
        found = answer_of_page("hashes.terms", Path(folder), texts)
    for text, (digest, values) in zip(texts, found, strict=True):
        assert digest == sha256(b"samedeal terms 2\n" + text.encode()).hexdigest()
        assert values == values_of(text), text
    read = [str(values) if values in ("wrong", "unknown") else "right" for _, values in found]
    assert read[:20] == ["right"] * 20
    assert {*read} == {"right", "wrong", "unknown"}


def test_page_describes_every_game_as_python_does(tmp_path: Path) -> None:
    found = answer_of_page("hashes.descriptions", tmp_path, list(GAMES))
    assert found == [description_hash(game).hex() for game in GAMES.values()]


def bytes_of(number: int) -> bytes:
    return bytes([number]) * 32


def test_page_has_the_words_of_deals_and_results(tmp_path: Path) -> None:
    shares = [(1, bytes_of(2), bytes_of(3)), (64, bytes_of(4), bytes_of(5))]
    deals = [(bytes_of(byte), bytes_of(byte + 1), shares[: byte % 3]) for byte in range(64)]
    asked = [
        [terms.hex(), commitment.hex(), [[seat, promise.hex(), share.hex()] for seat, promise, share in shown]]
        for terms, commitment, shown in deals
    ]
    found = answer_of_page("hashes.words", tmp_path, asked)
    assert found == [[deal_words(*deal), result_words(deal[0])] for deal in deals]
