"""The games: those of this release, each described by a file in this folder, and those that a server offers."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from importlib import resources
from typing import Final

from msgspec.structs import replace

from samedeal.errors import MalformedGame, UnknownGame
from samedeal.game import Game
from samedeal.game_file import parse_game_file
from samedeal.look_alikes import look_alike

_FILES: Final = {
    path.name.removesuffix(".toml"): path.read_text(encoding="utf-8")
    for path in sorted(resources.files(__name__).iterdir(), key=lambda path: path.name)
    if path.name.endswith(".toml")
}


def games_of(file: str, text: str) -> dict[str, Game]:
    """Return the games that a file describes by their names: that of the file, and those of its variants.

    ``file`` is the name of the file without ``.toml``, and ``text`` its content. Raise MalformedGame with the line and
    the reason if there can't be such a game. ``GAMES`` does not get the games: see ``offer``.
    """
    return {name: Game(name, content) for name, content in parse_game_file(file, text).items()}


_SHIPPED: Final = [game for file, text in _FILES.items() for game in games_of(file, text).values()]

GAMES: Final[dict[str, Game]] = {game.name: game for game in sorted(_SHIPPED, key=lambda game: game.file.order)}
"""The games by name, in the order in which lists show them: those of this release, and then those that are offered."""

DEFAULT_GAME: Final = next(name for name, game in GAMES.items() if game.file.default)
"""The name of the game that is played if nobody chooses one."""

LEAD_GAME: Final = next(name for name, game in GAMES.items() if game.file.lead)
"""The name of the game in which a race is opened for those who want to race now, whatever the game."""

SHIPPED_RULES: Final = tuple(game.rules_hash for game in GAMES.values())
"""The hashes of the rules of this release's games (``Game.rules_hash``)."""

MOST_OFFERED: Final = 16
"""Maximum number of files of games that a server offers."""

_MARK: Final = " (this server's own)"
"""What follows the title of an offered game that looks like one of this release."""

_OFFERED: Final[dict[str, str]] = {}
_REFUSED: Final[dict[str, MalformedGame]] = {}


def _marked(game: Game) -> Game:
    """Return a game with a mark in its title if a player could take it for one of this release."""
    names = [name for shipped in _SHIPPED for name in (shipped.name, shipped.title)]
    if not any(look_alike(own, name) for own in (game.name, game.title) for name in names):
        return game
    return Game(game.name, replace(game.file, title=f"{game.title}{_MARK}"))


def offer(files: Mapping[str, str]) -> list[MalformedGame]:
    """Let ``GAMES`` have the games of these files besides those of this release. It loses the ones offered before.

    ``files`` maps the name of each file, without ``.toml``, to its text. A game whose name or title looks like that of one
    of this release has a mark in its title. Return the errors of the files that do not
    describe games, or whose games have names that others have. ``game_named`` repeats these errors.
    """
    for file in _OFFERED:
        for name in [name for name, game in GAMES.items() if file in (name, game.file.variant_of)]:
            del GAMES[name]
    _OFFERED.clear()
    _REFUSED.clear()
    for file, text in files.items():
        try:
            if len(_OFFERED) == MOST_OFFERED:
                raise MalformedGame(file, 0, f"A server offers at most {MOST_OFFERED} files of games")
            games = {name: _marked(game) for name, game in games_of(file, text).items()}
            if taken := [name for name in games if name in GAMES]:
                raise MalformedGame(file, 0, f"There is another game called {taken[0]!r}. Choose another name")
        except MalformedGame as error:
            _REFUSED[file] = error
        else:
            GAMES.update(games)
            _OFFERED[file] = text
    return list(_REFUSED.values())


def offered(known: Collection[bytes] = SHIPPED_RULES) -> dict[str, str]:
    """Return the files of all games whose rules are not among ``known``, which has values of ``Game.rules_hash``.

    Unless ``known`` is given, they are the files of the last ``offer``.
    """
    lacking = {game.file.variant_of or game.name for game in GAMES.values() if game.rules_hash not in known}
    return {file: text for file, text in (_FILES | _OFFERED).items() if file in lacking}


def game_named(name: str) -> Game:
    """Return the game with a name. Raise UnknownGame if no game has it."""
    try:
        return GAMES[name]
    except KeyError:
        if name in _REFUSED:
            raise UnknownGame(f"The server describes the game {name!r} wrongly. {_REFUSED[name]}") from None
        raise UnknownGame(f"{name[:40]!r} is not a game. Choose one of {', '.join(GAMES)}.") from None
