from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samedeal.cards import (
    ACE_OF_HEARTS,
    DECK,
    DOWN,
    HIDDEN,
    HIDE,
    TURN_DOWN,
    TURN_UP,
    UNSEEN,
    Card,
    lying_text,
    parse_lying,
    parse_pile,
    pile_text,
)
from samedeal.errors import MalformedText
from samedeal.protocol_codes import RefusalCode
from tests.golden.golden_files import assert_sentences
from tests.shared.raised import error_of, sentence_lines

cards = st.sampled_from([Card(code) for code in DECK])
lying = st.one_of(cards, cards.map(lambda card: card | DOWN), cards.map(lambda card: card | UNSEEN), st.just(HIDDEN))


def test_new_deck_is_in_order() -> None:
    assert pile_text(DECK) == "AC-KC AD-KD AH-KH AS-KS"
    assert len(set(DECK)) == 52


@pytest.mark.parametrize(
    ("text", "rank", "suit", "red"),
    [("AC", 1, 0, False), ("2D", 2, 1, True), ("TH", 10, 2, True), ("JS", 11, 3, False), ("KH", 13, 2, True)],
)
def test_card_has_rank_and_suit(text: str, rank: int, suit: int, red: bool) -> None:
    card = Card.parse(text)
    assert (card.rank, card.suit, card.red) == (rank, suit, red)
    assert card == Card.of(rank, suit)
    assert str(card) == text


@pytest.mark.parametrize(("text", "card"), [("10h", "TH"), ("10S", "TS"), ("ah", "AH"), ("qD", "QD"), ("th", "TH")])
def test_handwritten_card_is_parsed(text: str, card: str) -> None:
    assert str(Card.parse(text)) == card


@pytest.mark.parametrize(
    "text",
    [
        "",
        "A",
        "H",
        "1H",
        "0H",
        "11H",
        "HA",
        "AX",
        "AHH",
        "10",
        "1010H",
        "T0H",
        " AH",
        "AH ",
        "A♥",
        "AſS",
        "Aſ",
        "\uff21H",
        "??",
    ],
)
def test_malformed_card_is_rejected(text: str) -> None:
    assert error_of(Card.parse, text).code is RefusalCode.MALFORMED


def test_wording_of_malformed_cards() -> None:
    lines = sentence_lines(Card.parse, ["", "1H"]) + sentence_lines(parse_pile, ["AS-5H", "5S-AS"])
    assert_sentences("engine: text of cards", lines)


def test_error_sentence_is_short() -> None:
    assert len(str(error_of(Card.parse, "x" * 10_000))) < 120


@given(cards)
def test_card_round_trips_as_text(card: Card) -> None:
    assert Card.parse(str(card)) == card
    assert eval(repr(card), {"Card": Card}) == card


def test_ace_of_hearts_is_the_ace_of_hearts() -> None:
    assert str(ACE_OF_HEARTS) == "AH"


@given(lying)
def test_lying_card_round_trips_as_text(code: int) -> None:
    assert parse_lying(lying_text(code)) == code


@pytest.mark.parametrize(
    ("text", "code"),
    [("TH", 0x2A), ("(TH)", 0x6A), ("[TH]", 0xEA), ("??", 0xC0), ("(10h)", 0x6A)],
)
def test_lying_text_shows_how_a_card_lies(text: str, code: int) -> None:
    assert parse_lying(text) == code


@pytest.mark.parametrize("text", ["(TH", "TH)", "[TH)", "[??]", "(??)", "?", "???", "[]", "()", "((TH))"])
def test_malformed_lying_card_is_rejected(text: str) -> None:
    with pytest.raises(MalformedText):
        parse_lying(text)


@given(st.lists(lying, max_size=60).map(bytes))
def test_pile_round_trips_as_text(pile: bytes) -> None:
    assert parse_pile(pile_text(pile)) == pile


@pytest.mark.parametrize(
    ("cards", "text"),
    [
        ("", ""),
        ("AS 2S", "AS 2S"),
        ("AS 2S 3S", "AS-3S"),
        ("AS 2S 3S 4H 5H", "AS-3S 4H 5H"),
        ("JS QS KS AS 2S 3S", "JS-KS AS-3S"),
        ("KC AD 2D", "KC AD 2D"),
        ("(AS) 2S 3S 4S", "(AS) 2S-4S"),
        ("(AS) (2S) (3S)", "(AS) (2S) (3S)"),
        ("3S 2S AS", "3S 2S AS"),
        ("?? ?? ??", "?? ?? ??"),
    ],
)
def test_rising_run_is_abbreviated(cards: str, text: str) -> None:
    assert pile_text(parse_pile(cards)) == text


@pytest.mark.parametrize("text", ["5S-AS", "AS-5H", "AS-", "-5S", "AS-3S-5S", "(AS)-5S", "KS-AS", "AS-x"])
def test_malformed_run_is_rejected(text: str) -> None:
    with pytest.raises(MalformedText):
        parse_pile(text)


def test_handwritten_run_is_parsed() -> None:
    assert pile_text(parse_pile("9s-10s  4h-4h")) == "9S TS 4H"


@given(st.lists(lying, max_size=60).map(bytes))
def test_cards_are_turned_and_hidden(pile: bytes) -> None:
    for before, up, down, hidden in zip(
        pile, pile.translate(TURN_UP), pile.translate(TURN_DOWN), pile.translate(HIDE), strict=True
    ):
        assert up == before & 0x3F
        assert down == before & 0x3F | 0x40
        assert hidden == (HIDDEN if before & 0x80 else before)
