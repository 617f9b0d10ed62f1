"""The bots of this release as engines. Pure, apart from the random numbers."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from samedeal.board import Board
from samedeal.board_history import Play, Undo
from samedeal.cards import Card
from samedeal.errors import PlayError
from samedeal.moves import Move
from samedeal_bots.action_choice import PAUSE, WAIT, ActionChooser
from samedeal_bots.engine_protocol import VERSION
from samedeal_link.solving.bot_levels import Level
from samedeal_link.solving.strategy import BotMemory
from samedeal_link.solving.temperament import Temperament


class BuiltInEngine:
    """A bot of this release that reads and writes the lines of the engine protocol.

    It knows the play as long as each position follows from its last answer. Otherwise it plays on without undo.
    """

    def __init__(self, level: Level) -> None:
        self._level: Level = level
        self._rng = Random()  # noqa: S311 (a bot's choices are not secret)
        self._play: Play | None = None
        self._action: Move | str = PAUSE
        self._from_deal = False
        self._moves_left = 0.0
        self._chooser = self._new_chooser()

    def answer(self, line: str) -> Iterator[str]:
        """Yield the lines that answer a line. Raise SamedealError if a position can't exist."""
        match line.split():
            case ["samedeal", *_]:
                yield from (f"id name {self._level}", "option seed 0", f"ready {VERSION}")
            case ["option", "seed", *words]:
                self._rng = Random(" ".join(words))  # noqa: S311 (as above)
            case ["position", revision, *_]:
                self._follow(int(revision.rstrip(";")), dict(part.split(" ", 1) for part in line.split("; ")))
            case ["go", *_] if self._play is not None:
                self._action = self._chooser.choose_action(self._play, self._moves_left, from_deal=self._from_deal)
                yield f"bestmove {PAUSE if self._action == WAIT else self._action}"

    def _new_chooser(self) -> ActionChooser:
        return ActionChooser(self._level, BotMemory(self._rng, temperament=Temperament.random(self._rng)))

    def _follow(self, revision: int, fields: dict[str, str]) -> None:
        """Take the play to a position. If the position does not follow from the last answer, begin with it anew."""
        board = Board.parse("\n".join([fields["game"], *fields["board"].split(", ")]))
        seen = bytes(Card.parse(card) for card in fields["seen"].split())
        before, self._play = self._play, Play(board, Undo(fields["undo"].split()[1]), revision=revision)
        self._moves_left = int(fields["clock"]) / int(fields["pace"])
        if revision == 0 and (before is None or before.revision or before.board != board):
            self._chooser, self._from_deal = self._new_chooser(), True
        elif before is not None and before.revision == revision and before.board == board:
            self._play = before
        else:
            self._from_deal = self._goes_on(before, board, seen) and self._from_deal

    def _goes_on(self, before: Play | None, board: Board, seen: bytes) -> bool:
        try:
            after = before.act(self._action, faces=seen) if before is not None else None
        except (PlayError, ValueError):
            return False
        if after is None or after.board != board:
            return False
        self._play = after
        return True
