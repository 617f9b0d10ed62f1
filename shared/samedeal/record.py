"""Game records: one player's play as text, enough for anyone to replay and check it.

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

A line after the blank one is an action with the time at which it was made, in seconds from the start of the race.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, TypeVar

from samedeal.board import Board
from samedeal.deal import SEED_BYTES, Deal, shuffled
from samedeal.errors import MalformedText, PlayError
from samedeal.games import Game
from samedeal.moves import Move
from samedeal.names import clean_name
from samedeal.play import UNDO, Play, Undo

VERSION: Final = 1
"""Of the form and of the rules: raised with ``samedeal.ENGINE`` too, as a record has to come to the board it came to."""

_FIRST: Final = f"samedeal record {VERSION}"
_FIELDS: Final = ("game", "deal", "seed", "undo", "player")
_Read = TypeVar("_Read")
_ACTION: Final = re.compile(r"([0-9]{1,6})\.([0-9]{3}) (.+)")


@dataclass(frozen=True)
class Record:
    """A play from its deal on. ``actions`` are pairs: milliseconds since the start, the text of a move or ``undo``."""

    game: Game
    deal: Deal
    seed: bytes
    undo_rule: Undo
    player: str
    actions: tuple[tuple[int, str], ...]

    def start(self) -> Play:
        """The play before its first action."""
        return Play(Board.deal(self.game, shuffled(self.seed, self.game.decks)), self.undo_rule)

    def replay(self) -> Play:
        """The play after its last action.

        Raises PlayError, naming the action, when one of them is not allowed, and MalformedText when the seed is not
        that of its public deal.
        """
        if self.deal.public and self.deal.public_seed() != self.seed:
            raise MalformedText(f"The seed is not that of deal {self.deal}")
        play = self.start()
        for number, (_, action) in enumerate(self.actions, 1):
            try:
                play = play.act(action)
            except PlayError as error:
                raise type(error)(f"Action {number} ({action}) is not allowed: {error}") from None
        return play

    def __str__(self) -> str:
        values = (self.game.name, str(self.deal), self.seed.hex(), self.undo_rule.value, self.player)
        head = [_FIRST, *(f"{name}: {value}" for name, value in zip(_FIELDS, values, strict=True)), ""]
        lines = [f"{millis // 1000}.{millis % 1000:03} {action}" for millis, action in self.actions]
        return "\n".join(head + lines) + "\n"

    @classmethod
    def parse(cls, text: str) -> Record:
        """Read what ``str`` writes. Raises MalformedText, naming the line, or UnknownGame."""
        lines = text.splitlines()
        if lines[:1] != [_FIRST]:
            other = re.fullmatch(r"samedeal record ([0-9]{1,9})", lines[0] if lines else "")
            if other:
                raise MalformedText(
                    f"This is a record of version {other[1]}, and this Samedeal reads version {VERSION}: "
                    f"{'update it' if int(other[1]) > VERSION else 'read it with an older one'}"
                )
            raise MalformedText(f"Line 1 of a record is {_FIRST!r}")
        values: dict[str, str] = {}
        for number, name in enumerate(_FIELDS, 2):
            line = lines[number - 1] if len(lines) >= number else ""
            if not line.startswith(f"{name}: "):
                raise MalformedText(f"Line {number} of a record says '{name}: ...', not {line[:40]!r}")
            values[name] = line.removeprefix(f"{name}: ")
        if lines[6:7] != [""]:
            raise MalformedText("Line 7 of a record is blank; the moves follow")
        actions = tuple(_at_line(number, _action, line) for number, line in enumerate(lines[7:], 8))
        for number, ((before, _), (after, _)) in enumerate(pairwise(actions), 9):
            if after < before:
                raise MalformedText(f"Line {number} of a record lies before the line above it in time")
        return cls(
            Game.named(values["game"]),
            _at_line(3, _deal, values["deal"]),
            _at_line(4, _seed, values["seed"]),
            _at_line(5, _undo_rule, values["undo"]),
            _at_line(6, clean_name, values["player"]),
            actions,
        )


def _at_line(number: int, read: Callable[[str], _Read], text: str) -> _Read:
    """What ``read`` makes of a text; its error says on which line."""
    try:
        return read(text)
    except MalformedText as error:
        raise MalformedText(f"Line {number} of a record: {error}") from None


def _deal(text: str) -> Deal:
    deal = Deal.parse(text)
    if deal.kind == "daily" and not deal.date:
        raise MalformedText("a daily deal has its date, as in 'daily 2026-11-21'")
    return deal


def _undo_rule(text: str) -> Undo:
    try:
        return Undo(text)
    except ValueError:
        raise MalformedText(f"undo is free, no-reveal or off, not {text[:20]!r}") from None


def _seed(text: str) -> bytes:
    if not re.fullmatch(rf"[0-9a-f]{{{2 * SEED_BYTES}}}", text):
        raise MalformedText(f"a seed is {2 * SEED_BYTES} hexadecimal digits in lower case")
    return bytes.fromhex(text)


def _action(line: str) -> tuple[int, str]:
    match = _ACTION.fullmatch(line)
    if match is None:
        raise MalformedText("an action is seconds with three decimals and a move, as in '1.204 3 5'")
    seconds, millis, action = match.groups()
    if action != UNDO:
        Move.parse(action)
    return int(seconds) * 1000 + int(millis), action
