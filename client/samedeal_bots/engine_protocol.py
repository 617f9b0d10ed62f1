"""The lines that Samedeal and an engine exchange. ENGINES.md specifies them. Pure."""

from __future__ import annotations

from typing import Final, NamedTuple

import msgspec

from samedeal.board_history import UNDO, Play
from samedeal.cards import Card
from samedeal.moves import Move
from samedeal.options import Options
from samedeal_bots.action_choice import PAUSE, RESIGN
from samedeal_link.model.rivals import Rival

VERSION: Final = 1
"""Version of the engine protocol. Raise it if an engine of the version before could not play any more."""


class Clock(NamedTuple):
    """The time until the end of the race, and the time for a move. Both are in seconds."""

    left: float
    pace: float


class Contest(NamedTuple):
    """The others of a race, and its options. Without a server, an engine has neither."""

    rivals: tuple[Rival, ...] = ()
    options: Options | None = None


ALONE: Final = Contest()


def position_line(play: Play, clock: Clock, race: Contest = ALONE) -> str:
    """Return the line that tells an engine all that it may know of a play: nothing in it depends on hidden cards."""
    board = play.board.masked()
    fields = {
        "position": str(play.revision),
        "game": board.game.name,
        "board": ", ".join(str(board).splitlines()[1:]),
        "moves": ", ".join(map(str, board.legal_moves())),
        "undo": f"{'no' if play.why_no_undo else 'yes'} {play.undo_rule.value}",
        "seen": " ".join(str(Card(card)) for card in play.seen),
        "clock": f"{1000 * clock.left:.0f}",
        "pace": f"{1000 * clock.pace:.0f}",
        "rules": msgspec.json.encode(board.game.rules).decode(),
        "rivals": ", ".join(f"{each.cards} {each.moves} {_state(each)}" for each in race.rivals),
        "options": msgspec.json.encode(race.options or {}).decode(),
    }
    return "; ".join(f"{name} {text}" for name, text in fields.items())


def _state(rival: Rival) -> str:
    return "won" if rival.time else "resigned" if rival.resigned else "stuck" if rival.stuck else "racing"


def read_answer(text: str) -> list[Move | str]:
    """Return the actions after ``bestmove``. Raise MalformedText if one of them is not an action."""
    words = [word.strip() for word in text.split(",")]
    return [word if word in (UNDO, RESIGN, PAUSE) else Move.parse(word) for word in words]
