from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from samedeal.cards import (
    DECK,
    DOWN,
    HIDDEN,
    HIDE,
    TURN_DOWN,
    TURN_UP,
    UNSEEN,
    Card,
    parse_pile,
    pile_text,
)

cards = st.sampled_from([Card(code) for code in DECK])
lying = st.one_of(cards, cards.map(lambda card: card | DOWN), cards.map(lambda card: card | UNSEEN), st.just(HIDDEN))


def test_new_deck_is_in_order() -> None:
    assert pile_text(DECK) == "AC-KC AD-KD AH-KH AS-KS"
    assert len(set(DECK)) == 52


@given(st.lists(lying, max_size=60).map(bytes))
def test_pile_round_trips_as_text(pile: bytes) -> None:
    assert parse_pile(pile_text(pile)) == pile


@given(st.lists(lying, max_size=60).map(bytes))
def test_cards_are_turned_and_hidden(pile: bytes) -> None:
    for before, up, down, hidden in zip(
        pile, pile.translate(TURN_UP), pile.translate(TURN_DOWN), pile.translate(HIDE), strict=True
    ):
        assert up == before & 0x3F
        assert down == before & 0x3F | 0x40
        assert hidden == (HIDDEN if before & 0x80 else before)
