"""The games of this release, each described by a file in this folder."""

from __future__ import annotations

from importlib import resources
from typing import Final

from samedeal.errors import UnknownGame
from samedeal.game import Game
from samedeal.game_file import parse_game_file

_FILES: Final = {path.name.removesuffix(".toml"): path for path in resources.files(__name__).iterdir()}
_GAMES: Final = [
    Game.of(name, content)
    for file, path in sorted(_FILES.items())
    if path.name.endswith(".toml")
    for name, content in parse_game_file(file, path.read_text(encoding="utf-8")).items()
]

GAMES: Final[dict[str, Game]] = {game.name: game for game in sorted(_GAMES, key=lambda game: game.file.order)}
"""The games by name, in the order in which lists show them."""

DEFAULT_GAME: Final = next(name for name, game in GAMES.items() if game.file.default)
"""The name of the game that is played if nobody chooses one."""


def game_named(name: str) -> Game:
    """Return the game with a name. Raise UnknownGame if no game has it."""
    try:
        return GAMES[name]
    except KeyError:
        raise UnknownGame(f"{name[:40]!r} is not a game. Choose one of {', '.join(GAMES)}.") from None
