"""Records: one player's play of a deal as text, which anybody can replay and check.

::

    samedeal record 1
    game: willow
    deal: #4821
    seed: 5f1c...
    undo: no-reveal
    player: ana

    1.204 3 5
    2.871 r 0
    9.020 undo

Each line after the blank line is an action, with its time in seconds from the start of the race.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, TypeVar

from samedeal.board import Board
from samedeal.board_history import UNDO, Play, Undo
from samedeal.deal import SEED_BYTES, Deal, shuffled
from samedeal.errors import MalformedText, PlayError
from samedeal.games import Game
from samedeal.moves import Move
from samedeal.names import clean_name

VERSION: Final = 1
"""Version of the format. Raise it also whenever ``samedeal.ENGINE`` is raised, so that a record leads to one board."""

_FIRST: Final = f"samedeal record {VERSION}"
_FIELDS: Final = ("game", "deal", "seed", "undo", "player")
_BOT: Final = "bot: yes"
"""The line after the player's name if the player declared to be a bot."""
_Read = TypeVar("_Read")
_ACTION: Final = re.compile(r"([0-9]{1,6})\.([0-9]{3}) (.+)")


@dataclass(frozen=True)
class Record:
    """A player's play, from the deal on.

    Each of ``actions`` is a pair: the time since the start of the race, in milliseconds, and the text of the action.
    """

    game: Game
    deal: Deal
    seed: bytes
    undo_rule: Undo
    player: str
    actions: tuple[tuple[int, str], ...]
    bot: bool = False

    def start(self) -> Play:
        """Return the play before its first action."""
        return Play(Board.deal(self.game, shuffled(self.seed, self.game.decks)), self.undo_rule)

    def replay(self) -> Play:
        """Return the play after its last action.

        Raises PlayError, with a sentence that names the action, if an action is not allowed. Raises MalformedText if the
        deal is public and has another seed.
        """
        if self.deal.public and self.deal.public_seed() != self.seed:
            raise MalformedText(f"The seed is not that of deal {self.deal}. The record was changed or damaged.")
        play = self.start()
        for number, (_, action) in enumerate(self.actions, 1):
            try:
                play = play.act(action)
            except PlayError as error:
                error.args = (f"Action {number} ({action}) is not allowed. {error}",)
                raise
        return play

    def __str__(self) -> str:
        values = (self.game.name, str(self.deal), self.seed.hex(), self.undo_rule.value, self.player)
        head = [_FIRST, *(f"{name}: {value}" for name, value in zip(_FIELDS, values, strict=True))]
        head += [_BOT, ""] if self.bot else [""]
        lines = [f"{millis // 1000}.{millis % 1000:03} {action}" for millis, action in self.actions]
        return "\n".join(head + lines) + "\n"

    @classmethod
    def parse(cls, text: str) -> Record:
        """Read what ``str`` writes.

        Raises MalformedText, with a sentence that names the line, if the text is not a record, and UnknownGame if the record
        names an unknown game.
        """
        lines = text.splitlines()
        if lines[:1] != [_FIRST]:
            other = re.fullmatch(r"samedeal record ([0-9]{1,9})", lines[0] if lines else "")
            if other:
                raise MalformedText(
                    f"This is a record of version {other[1]}, and this Samedeal reads version {VERSION}. "
                    f"{'Update Samedeal' if int(other[1]) > VERSION else 'Read it with an older Samedeal'}."
                )
            raise MalformedText(f"This is not a record. Its first line must be {_FIRST!r}.")
        values: dict[str, str] = {}
        for number, name in enumerate(_FIELDS, 2):
            line = lines[number - 1] if len(lines) >= number else ""
            if not line.startswith(f"{name}: "):
                raise MalformedText(
                    f"The record lacks a line '{name}: ...'. Insert it before line {number}, which is {line[:40]!r}."
                )
            values[name] = line.removeprefix(f"{name}: ")
        bot = lines[6:7] == [_BOT]
        head = 7 if bot else 6
        if lines[head : head + 1] != [""]:
            raise MalformedText(f"Line {head + 1} of the record is not blank. Write a blank line before the actions.")
        actions = tuple(_at_line(number, _action, line) for number, line in enumerate(lines[head + 1 :], head + 2))
        for number, ((before, _), (after, _)) in enumerate(pairwise(actions), head + 3):
            if after < before:
                raise MalformedText(
                    f"Line {number} of the record is earlier than the line above it. Put the actions in order of time."
                )
        return cls(
            Game.named(values["game"]),
            _at_line(3, _deal, values["deal"]),
            _at_line(4, _seed, values["seed"]),
            _at_line(5, _undo_rule, values["undo"]),
            _at_line(6, clean_name, values["player"]),
            actions,
            bot,
        )


def _at_line(number: int, read: Callable[[str], _Read], text: str) -> _Read:
    """Return ``read(text)``. If that raises MalformedText, name the line in its sentence."""
    try:
        return read(text)
    except MalformedText as error:
        raise MalformedText(f"Line {number} of the record is not valid. {error}") from None


def _deal(text: str) -> Deal:
    deal = Deal.parse(text)
    if deal.kind == "daily" and not deal.date:
        raise MalformedText("The daily deal has no date. Write one, as in 'daily 2026-11-21'.")
    return deal


def _undo_rule(text: str) -> Undo:
    try:
        return Undo(text)
    except ValueError:
        raise MalformedText(f"{text[:20]!r} is not an undo rule. Write free, no-reveal or off.") from None


def _seed(text: str) -> bytes:
    if not re.fullmatch(rf"[0-9a-f]{{{2 * SEED_BYTES}}}", text):
        raise MalformedText(f"The seed is not {2 * SEED_BYTES} hexadecimal digits in lower case. Correct it.")
    return bytes.fromhex(text)


def _action(line: str) -> tuple[int, str]:
    match = _ACTION.fullmatch(line)
    if match is None:
        raise MalformedText(
            f"{line[:40]!r} is not an action. Write seconds with three decimals and a move, as in '1.204 3 5'."
        )
    seconds, millis, action = match.groups()
    if action != UNDO:
        Move.parse(action)
    return int(seconds) * 1000 + int(millis), action
