from __future__ import annotations

from collections.abc import Callable

import pytest

from samedeal.cards import DECK, Card, pile_text
from samedeal.errors import UnknownGame
from samedeal.game import Group
from samedeal.game_file import PileRow
from samedeal.games import GAMES, game_named
from samedeal.policies import Base, Build, Kind, Lift


def test_game_is_found_by_name() -> None:
    for name in GAMES:
        game = game_named(name)
        assert str(game) == name
        assert eval(repr(game), {"game_named": game_named}) == game
        assert game is GAMES[name]
        assert {other for other in GAMES.values() if other == game} == {game}


def test_games_are_listed_in_order() -> None:
    assert list(GAMES)[:6] == ["athena", "steve", "phoenix", "ace-of-hearts", "willow", "klondike"]
    orders = [game.file.order for game in GAMES.values() if not game.file.variant_of]
    assert len(set(orders)) == len(orders)


def test_unknown_game_is_rejected() -> None:
    for name in ["", "hamlet", "Willow", "willow ", "ace of hearts", "x" * 10_000]:
        with pytest.raises(UnknownGame) as caught:
            game_named(name)
        assert len(str(caught.value)) < 100 + len(", ".join(GAMES))


def test_deal_takes_no_more_than_the_decks() -> None:
    for name in GAMES:
        game = game_named(name)
        dealt = sum(sum(group.sizes) for group in game.groups)
        assert game.cards == 52 * game.decks
        assert (dealt < game.cards) == bool(game.stock.action) == (game.stock_at >= 0)
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


def test_build_decides_what_fits_on_a_card() -> None:
    for build in Build:
        group = Group(PileRow(kind=Kind.COLUMN, keys="1", build=build))
        deck = [Card(code) for code in DECK]
        for under in deck:
            assert set(group.on[under]) == {card for card in deck if FITS[build](card, under)}
        for code in set(range(256)) - set(DECK):
            assert group.on[code] == b""


def test_base_decides_what_an_empty_pile_takes() -> None:
    taken = {base: pile_text(Group(PileRow(kind=Kind.COLUMN, keys="1", empty=base)).on_empty) for base in Base}
    kings, aces = "KC KD KH KS", "AC AD AH AS"
    assert (taken.pop(Base.ANY), taken.pop(Base.NOTHING)) == ("AC-KC AD-KD AH-KH AS-KS", "")
    assert taken == {Base.KING: kings, Base.ACE: aces, Base.ACE_OF_HEARTS: "AH", Base.COMPLETE_SUIT: kings}


def test_face_down_card_is_never_lifted() -> None:
    for lift in Lift:
        group = Group(PileRow(kind=Kind.COLUMN, keys="1", lift=lift))
        assert all(group.run[code] == b"" for code in range(0x40, 0x100))
