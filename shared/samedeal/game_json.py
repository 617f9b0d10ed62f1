"""The games as JSON, for the page for browsers and for the checker: what they need to deal, draw and solve a game."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from samedeal.game import Game
from samedeal.solver.estimate import weights_of


def games_json(games: Iterable[Game]) -> bytes:
    """Return games as JSON by their names, a line for each game."""
    lines = [f'"{game.name}":'.encode() + msgspec.json.encode(_facts(game)) for game in games]
    return b"{\n" + b",\n".join(lines) + b"\n}\n"


def _facts(game: Game) -> dict[str, Any]:
    rows = zip(game.rules["piles"], game.file.piles, strict=True)
    return {
        "title": game.title,
        "height": game.file.height,
        **game.rules,
        "difficulty": game.file.difficulty,
        "search": weights_of(game),
        "piles": [{**pile, "place": row.place} for pile, row in rows],
        **({"default": True} if game.file.default else {}),
    }
