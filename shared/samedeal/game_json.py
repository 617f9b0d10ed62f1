"""The games as JSON, for the page, the checker and other programs: what they need to deal, draw and solve a game.

GAMES.md specifies the form for programs that are not ours.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec import UNSET, Struct, UnsetType

from samedeal.game import Game
from samedeal.game_file import Difficulties, GameFile, Place, SearchWeights
from samedeal.game_rules import rules_in_short
from samedeal.laws.safe_cards import deals_first, reach_of
from samedeal.solver.estimate import weights_of
from samedeal.solver.states import StateSpace


class PileData(Struct, frozen=True, kw_only=True):
    """Adjacent piles with the same rules. The words are those of the policies, to which releases may add."""

    kind: str
    keys: str
    sizes: tuple[int, ...]
    faces: str | tuple[int, ...]
    build: str
    empty: str
    lift: str
    place: Place


class GameData(Struct, frozen=True, kw_only=True):
    """A game: its rules, and what decides how it is searched and drawn. GAMES.md explains each key."""

    title: str
    blurb: str
    short: tuple[str, ...]
    height: float
    decks: int
    suits: int
    stock: str
    piles: tuple[PileData, ...]
    difficulty: Difficulties | None
    search: tuple[SearchWeights, ...]
    safe: tuple[int, int] | None
    settles: str | UnsetType = UNSET
    deals_first: bool | UnsetType = UNSET
    known: bool | UnsetType = UNSET
    lead: bool | UnsetType = UNSET
    demo: int | UnsetType = UNSET
    limit: int | UnsetType = UNSET

    @classmethod
    def of(cls, game: Game) -> GameData:
        """Return the description of a game."""
        file, rules, space = game.file, game.rules, StateSpace(game, b"")
        piles = zip(rules["piles"], file.piles, strict=True)
        return cls(
            title=game.title,
            blurb=file.blurb,
            short=rules_in_short(game),
            height=file.height,
            difficulty=file.difficulty,
            search=weights_of(game),
            safe=reach_of(game),
            settles="runs" if space.joins_runs else "safe cards" if space.has_safe_cards else UNSET,
            deals_first=deals_first(game) or UNSET,
            known=file.known or UNSET,
            lead=file.lead or UNSET,
            demo=file.demo or UNSET,
            limit=file.limit if file.limit != GameFile().limit else UNSET,
            **rules | {"piles": tuple(PileData(**pile, place=row.place) for pile, row in piles)},
        )


def games_json(games: Iterable[Game]) -> bytes:
    """Return games as JSON by their names, a line for each game."""
    lines = [f'"{game.name}":'.encode() + msgspec.json.encode(GameData.of(game)) for game in games]
    return b"{\n" + b",\n".join(lines) + b"\n}\n"
