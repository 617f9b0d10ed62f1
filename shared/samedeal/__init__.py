"""The core that client and server share, and a library: the rules, the deals, the records and the messages.

It does no I/O and reads no clock. ``__all__`` lists what is public: LIBRARY.md describes it, and it stays as it is. All
modules of this package are private to Samedeal. A public name is imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from samedeal.board import Board
    from samedeal.board_history import UNDO, Play, Undo
    from samedeal.cards import Card
    from samedeal.deal import Deal
    from samedeal.errors import (
        BadArgument,
        BadRecord,
        CannotUndo,
        IllegalMove,
        MalformedBoard,
        MalformedGame,
        MalformedText,
        PlayError,
        SamedealError,
        UnknownGame,
        UnseenCard,
    )
    from samedeal.game import Game
    from samedeal.games import DEFAULT_GAME, GAMES, game_named, games_of
    from samedeal.joint_deal import public_board
    from samedeal.moves import DEAL, DRAW, FOUNDATION, Move
    from samedeal.protocol.messages import TableLine
    from samedeal.record import Record, RecordedPlayer
    from samedeal.series import table_of
    from samedeal.solver.solve import Answer, Outcome, solve

__version__ = "0.1.0"

ENGINE = 1
"""Version of the rules.

Raise it whenever a change makes an action lead to a different board, or changes whether an action is legal.
"""

__all__ = ["DEFAULT_GAME", "GAMES", "Game", "game_named", "games_of"]
__all__ += ["DEAL", "DRAW", "FOUNDATION", "UNDO", "Board", "Card", "Move", "Play", "Undo"]
__all__ += ["Answer", "Deal", "Outcome", "public_board", "solve"]
__all__ += ["Record", "RecordedPlayer", "TableLine", "table_of"]
__all__ += ["BadArgument", "BadRecord", "CannotUndo", "IllegalMove", "MalformedBoard", "MalformedGame", "MalformedText"]
__all__ += ["PlayError", "SamedealError", "UnknownGame", "UnseenCard"]

_MODULES: Final = {
    "board": "Board",
    "board_history": "UNDO Play Undo",
    "cards": "Card",
    "deal": "Deal",
    "errors": "BadArgument BadRecord CannotUndo IllegalMove MalformedBoard MalformedGame MalformedText "
    "PlayError SamedealError UnknownGame UnseenCard",
    "game": "Game",
    "games": "DEFAULT_GAME GAMES game_named games_of",
    "joint_deal": "public_board",
    "moves": "DEAL DRAW FOUNDATION Move",
    "record": "Record RecordedPlayer",
    "protocol.messages": "TableLine",
    "series": "table_of",
    "solver.solve": "Answer Outcome solve",
}
"""The modules of the public names. They are imported late, so that the command line starts fast."""


def __getattr__(name: str) -> object:
    for module, names in _MODULES.items():
        if name in names.split():
            return getattr(import_module(f"samedeal.{module}"), name)
    raise AttributeError(f"module 'samedeal' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
