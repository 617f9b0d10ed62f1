"""The server's side of a race without a connection: what it sends to one client, whose model it feeds."""

from __future__ import annotations

from typing import Any

import msgspec

from samedeal.board import Board
from samedeal.board_history import Play
from samedeal.deal import Deal
from samedeal.moves import Move
from samedeal.options import Options
from samedeal.protocol.messages import Acked, Act, Joined, Phase, Refused, RoomState, ToClient, Welcome
from samedeal.race.commands import JoinCommand, StartCommand
from samedeal.race.held_race import HeldRace
from samedeal.race.openings import first_race
from samedeal.race.room_state import acked
from samedeal.race.values import DealSecret
from samedeal_link.model.model import Model

START = 1_790_000_000_000
OPENED = START - 60_000


class RaceServer:
    """The server's side of one player's race, with the model of that player's client."""

    def __init__(self, game: str = "willow", *, undo: str = "no-reveal") -> None:
        options = Options(games=(game,), deal="#7", undo=undo)  # type: ignore[arg-type]  # one of its words
        deal = Deal.parse(options.deal)
        seed = deal.public_seed()
        self.opened = HeldRace(first_race("k7", options, deal, seed, OPENED), DealSecret(seed))
        for player, name in (("me", "ana"), ("you", "bo")):
            self.opened = self.opened.told(JoinCommand(player, name, {}), OPENED)
        self.counting = self.opened.told(StartCommand("me"), START - 1000 * options.countdown)
        self.held = self.counting.passed(START)
        self.dealt = self.play
        self.model = Model()
        self.send(Welcome(to=1, session="s", player="me", name="ana", time=START, server="test"))
        self.send(Joined(to=2, room="k7", seat=1, generation=1))
        self.send(self.state("racing"))
        self.last_id = 10
        self.send_board()

    def send(self, message: ToClient) -> None:
        """Send the client a message."""
        self.model = self.model.after(message)

    @property
    def play(self) -> Play:
        """The play of the client's player."""
        return self.held.play("me")

    def state(self, phase: Phase, *, room: str = "k7", **changes: Any) -> RoomState:
        """The room in a phase: before the start, now, or once its time is up."""
        ends = self.held.race.ends
        by_phase = {"open": self.opened, "countdown": self.counting, "finished": self.held.passed(ends)}
        return msgspec.structs.replace(by_phase.get(phase, self.held).state(START), room=room, **changes)

    def send_board(self) -> None:
        self.send(self.held.board_state("me"))

    def act(self, action: Move | str, time: int = START) -> Act:
        """The player acts. The server has not answered yet."""
        self.last_id += 1
        self.model, act = self.model.with_action(action, self.last_id, time)
        return act

    def answer(self, act: Act, time: int = START) -> Acked:
        """Judge an action and return the acknowledgement, which the client has not received yet."""
        self.held = self.held.acted("me", act.action, time, act.revision)
        return acked(act, self.play, self.held.progress_of("me").last_action_at)

    def move(self, move: Move) -> None:
        """Make a move of which the client knows nothing."""
        self.held = self.held.acted("me", str(move), START)

    def ack(self, act: Act) -> None:
        self.send(self.answer(act))

    def refuse(self, act: Act, code: str = "illegal", revision: int | None = None, message: str = "No") -> None:
        known = self.play.revision if revision is None else revision
        self.send(Refused(to=act.id, code=code, message=message, revision=known))

    def out_of_sync(self) -> bool:
        return self.model.out_of_sync

    def awaiting_face(self) -> bool:
        return self.model.own.awaiting_face

    @property
    def shown(self) -> Board:
        assert self.model.board is not None
        return self.model.board

    def legal(self, count: int = 1) -> list[Move]:
        """Return moves that can be made one after another and turn up no card."""
        moves = []
        board = self.play.board
        for _ in range(count):
            move = next(m for m in board.legal_moves() if not board.turns_up(m) and not board.is_null(m))
            board = board.play(move).board
            moves.append(move)
        return moves
