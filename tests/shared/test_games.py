from __future__ import annotations

from collections.abc import Callable

import pytest

from samedeal.cards import DECK, Card, pile_text
from samedeal.errors import UnknownGame
from samedeal.game import Group
from samedeal.games import GAMES, game_named
from samedeal.policies import Base, Build, Kind, Lift
from samedeal.stock import NO_STOCK


def table(game: str) -> list[str]:
    """The groups of a game as text."""
    lines = []
    for group in game_named(game).groups:
        words = [f"{len(group.keys)} {group.kind.value}", "+".join(map(str, group.sizes)) or "the rest"]
        words += [group.faces.value, group.build.value, group.base.value, group.lift.name.lower()]
        lines.append(", ".join(words))
    return lines


@pytest.mark.parametrize("name", GAMES)
def test_game_is_found_by_name(name: str) -> None:
    game = game_named(name)
    assert str(game) == name
    assert eval(repr(game), {"game_named": game_named}) == game
    assert game is GAMES[name]
    assert {other for other in GAMES.values() if other == game} == {game}


def test_games_are_listed_in_order() -> None:
    assert list(GAMES) == [
        *("athena", "steve", "phoenix", "ace-of-hearts", "willow"),
        *("klondike", "klondike-three", "freecell", "spider", "spider-two", "spider-one", "yukon"),
    ]


@pytest.mark.parametrize("name", ["", "hamlet", "Willow", "willow ", "ace of hearts", "x" * 10_000])
def test_unknown_game_is_rejected(name: str) -> None:
    with pytest.raises(UnknownGame) as caught:
        game_named(name)
    assert len(str(caught.value)) < 240


KEYS = {
    "athena": "1 2 3 4 5 6 7 01 02 03 04 stock w",
    "steve": "1 2 3 4 5 6 7 8 01 02 03 04 05 06 07 08 stock",
    "phoenix": "1 2 3 4 5 6 q w e r t y u i a s d f g h j k 01 02 03 04",
    "ace-of-hearts": "1 2 3 4 5 6 7 01 stock",
    "willow": "1 2 3 4 5 6 7 q w e r 01 02 03 04",
    "klondike": "1 2 3 4 5 6 7 01 02 03 04 stock w",
    "freecell": "1 2 3 4 5 6 7 8 q w e r 01 02 03 04",
    "spider": "1 2 3 4 5 6 7 8 9 t 01 02 03 04 05 06 07 08 stock",
    "yukon": "1 2 3 4 5 6 7 01 02 03 04",
}


@pytest.mark.parametrize("name", GAMES)
def test_piles_have_their_names(name: str) -> None:
    game = game_named(name)
    assert " ".join(game.keys) == KEYS[game.file.variant_of or name]
    assert [game.keys[at] for at in game.index.values()] == list(game.keys)
    assert len(game.piles) == len(game.keys)


TABLES = {
    "athena": [
        "7 column, 4+4+4+4+4+4+4, down, up, down, up, down by one in alternating colours, only a king, alternating_run",
        "4 foundation, 0+0+0+0, up, up by one in the same suit, only an ace, nothing",
        "1 stock, the rest, down, not at all, nothing, nothing",
        "1 waste, 0, up, not at all, nothing, top",
    ],
    "steve": [
        "8 column, 1+2+3+4+5+6+7+8, up, down by one in any suit, any card, suit_run",
        "8 foundation, 0+0+0+0+0+0+0+0, up, up by one in the same suit, only an ace, top",
        "1 stock, the rest, down, not at all, nothing, nothing",
    ],
    "phoenix": [
        "6 column, 6+6+6+6+6+6, up, down by one in alternating colours, any card, alternating_run",
        "16 reserve, 1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1, up, not at all, nothing, top",
        "4 foundation, 0+0+0+0, up, up by one in the same suit, only an ace, nothing",
    ],
    "ace-of-hearts": [
        "7 column, 1+2+3+4+5+6+7, up, down by one in the same suit, only a king, any",
        "1 foundation, 0, up, up by one in any suit, an ace after a king, only the ace of hearts, nothing",
        "1 stock, the rest, down, not at all, nothing, nothing",
    ],
    "willow": [
        "7 column, 1+2+3+4+5+6+7, up, down by one in alternating colours, any card, alternating_run",
        "4 fan, 6+6+6+6, up, with cards of the same rank, nothing, top",
        "4 foundation, 0+0+0+0, up, up by one in the same suit, only an ace, nothing",
    ],
    "klondike": [
        "7 column, 1+2+3+4+5+6+7, only the top card up, down by one in alternating colours, only a king, alternating_run",
        "4 foundation, 0+0+0+0, up, up by one in the same suit, only an ace, top",
        "1 stock, the rest, down, not at all, nothing, nothing",
        "1 waste, 0, up, not at all, nothing, top",
    ],
    "freecell": [
        "8 column, 7+7+7+7+6+6+6+6, up, down by one in alternating colours, any card, free_alternating_run",
        "4 cell, 0+0+0+0, up, not at all, any card, top",
        "4 foundation, 0+0+0+0, up, up by one in the same suit, only an ace, nothing",
    ],
    "spider": [
        "10 column, 6+5+5+6+5+5+6+5+5+6, only the top card up, down by one in any suit, any card, suit_run",
        "8 foundation, 0+0+0+0+0+0+0+0, up, down by one in the same suit, only a complete suit, nothing",
        "1 stock, the rest, down, not at all, nothing, nothing",
    ],
    "yukon": [
        "7 column, 1+6+7+8+9+10+11, the top five cards up, down by one in alternating colours, only a king, any",
        "4 foundation, 0+0+0+0, up, up by one in the same suit, only an ace, nothing",
    ],
}


@pytest.mark.parametrize("name", GAMES)
def test_groups_have_their_policies(name: str) -> None:
    assert table(name) == TABLES[game_named(name).file.variant_of or name]


@pytest.mark.parametrize("name", GAMES)
def test_deal_takes_no_more_than_the_decks(name: str) -> None:
    game = game_named(name)
    dealt = sum(sum(group.sizes) for group in game.groups)
    assert game.cards == 52 * game.decks
    assert dealt == game.cards if game.stock is NO_STOCK else dealt < game.cards
    assert (game.stock is NO_STOCK) == (game.stock_at == -1)
    assert all(game.piles[at].kind is Kind.COLUMN for at in game.columns)
    assert all(game.piles[at].kind is Kind.FOUNDATION for at in game.foundations)


FITS: dict[Build, Callable[[Card, Card], bool]] = {
    Build.NONE: lambda card, under: False,
    Build.DOWN_ALTERNATING: lambda card, under: card.rank + 1 == under.rank and card.red is not under.red,
    Build.DOWN_ANY_SUIT: lambda card, under: card.rank + 1 == under.rank,
    Build.DOWN_SAME_SUIT: lambda card, under: card.rank + 1 == under.rank and card.suit == under.suit,
    Build.SAME_RANK: lambda card, under: card.rank == under.rank,
    Build.UP_SAME_SUIT: lambda card, under: card.rank - 1 == under.rank and card.suit == under.suit,
    Build.UP_AROUND: lambda card, under: card.rank - 1 == under.rank or (card.rank, under.rank) == (1, 13),
}


@pytest.mark.parametrize("build", Build)
def test_build_decides_what_fits_on_a_card(build: Build) -> None:
    group = Group(Kind.COLUMN, ("1",), build=build)
    deck = [Card(code) for code in DECK]
    for under in deck:
        assert set(group.on[under]) == {card for card in deck if FITS[build](card, under)}
    for code in set(range(256)) - set(DECK):
        assert group.on[code] == b""


@pytest.mark.parametrize(
    ("base", "cards"),
    [
        (Base.NOTHING, ""),
        (Base.ANY, "AC-KC AD-KD AH-KH AS-KS"),
        (Base.KING, "KC KD KH KS"),
        (Base.ACE, "AC AD AH AS"),
        (Base.ACE_OF_HEARTS, "AH"),
        (Base.COMPLETE_SUIT, "KC KD KH KS"),
    ],
)
def test_base_decides_what_an_empty_pile_takes(base: Base, cards: str) -> None:
    assert pile_text(Group(Kind.COLUMN, ("1",), base=base).on_empty) == cards


def test_face_down_card_is_never_lifted() -> None:
    for lift in Lift:
        group = Group(Kind.COLUMN, ("1",), lift=lift)
        assert all(group.run[code] == b"" for code in range(0x40, 0x100))
