"""The texts that people type, and how they are read: ``tests/golden/answers/texts.txt``."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Callable
from typing import Any, Final

from hypothesis import given
from hypothesis import strategies as st

from samedeal.cards import Card, parse_lying, parse_pile, pile_text
from samedeal.deal import Deal
from samedeal.errors import SamedealError
from samedeal.moves import DEAL, DRAW, Move
from samedeal.names import clean_name, clean_room
from samedeal.terminal_text import columns_of, printable
from tests.golden.golden_files import assert_answers
from tests.shared.move_strategies import transfers


def card(text: str) -> str:
    found = Card.parse(text)
    assert eval(repr(found), {"Card": Card}) == found
    assert Card.parse(str(found)) == found == Card.of(found.rank, found.suit)
    return f"{found}, rank {found.rank}, suit {found.suit}, {'red' if found.red else 'black'}"


def lying_card(text: str) -> str:
    found = parse_lying(text)
    assert eval(repr(found), {"Card": Card}) == found
    return f"{found} {found:#04x}"


def pile(text: str) -> str:
    assert parse_pile(pile_text(parse_pile(text))) == parse_pile(text)
    return pile_text(parse_pile(text))


def move(text: str) -> str:
    found = Move.parse(text)
    assert eval(repr(found), {"Move": Move}) == found
    assert Move.parse(str(found)) == found
    return f"from {found.source} to {found.target}, {found.size}" if found.is_transfer else str(found)


def deal(text: str) -> str:
    found = Deal.parse(text)
    assert Deal.parse(str(found)) == found
    return f"{found}{', public' * found.public}{', with a proof' * found.has_proof}"


def unchanged_again(read: Callable[[str], str], text: str) -> str:
    assert read(read(text)) == read(text)
    return repr(read(text))


READERS: Final[dict[str, Callable[..., str]]] = {
    "Cards": card,
    "Cards as they lie": lying_card,
    "Piles": pile,
    "Moves": move,
    "Deals": deal,
    "Names of players": lambda text: unchanged_again(clean_name, text),
    "Codes of rooms": lambda text: unchanged_again(clean_room, text),
    "Columns of a text": lambda text: str(columns_of(text)),
    "Texts of strangers": lambda text: unchanged_again(printable, text),
    "Texts of strangers that are cut": lambda text, widest: repr(printable(text, widest)),
}


def test_texts_are_read_as_the_page_says() -> None:
    advised: set[tuple[str, str]] = set()

    def answer(heading: str, question: str) -> str:
        """How a text is read, or why it is not. The same advice is given once."""
        text, times, count = question.rpartition(" * ")
        given: Any = literal_eval(text) * int(count) if times else literal_eval(question)
        try:
            return READERS[heading](*given) if isinstance(given, tuple) else READERS[heading](given)
        except SamedealError as error:
            code, sentence = error.code, str(error)
        assert sentence.isprintable()
        assert len(sentence) < 250
        reason, _, advice = sentence.partition(". ")
        is_new = (heading, advice) not in advised
        advised.add((heading, advice))
        return f"{code}: {reason}.{f' {advice}' * is_new}"

    assert_answers("texts", answer)


@given(st.one_of(transfers, st.sampled_from([DRAW, DEAL])))
def test_every_move_round_trips_as_text(move: Move) -> None:
    assert Move.parse(str(move)) == move
