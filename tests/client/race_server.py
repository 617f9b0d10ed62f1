"""The server's side of a race without a connection: what it sends to one client, whose model it feeds."""

from __future__ import annotations

from typing import Any

import msgspec

from samedeal.board import Board
from samedeal.board_history import Play, Undo
from samedeal.deal import Deal, commitment, shuffled
from samedeal.games import game_named
from samedeal.moves import Move
from samedeal.options import Options
from samedeal.protocol.messages import Acked, Act, Joined, Phase, Refused, RoomState, Seat, Welcome
from samedeal_client.state.journal_file import RaceJournals
from samedeal_client.state.model import Model, race_terms
from tests.client.server_messages import acked, board_state, room_state

START = 1_790_000_000_000


class RaceServer:
    """The server's side of one player's race, with the model of that player's client."""

    def __init__(
        self, game: str = "willow", *, deal: str = "#7", undo: str = "no-reveal", board: Board | None = None
    ) -> None:
        self.options = Options(games=(game,), deal=deal, undo=undo)  # type: ignore[arg-type]  # one of its words
        self.game = game_named(game)
        self.seed = Deal.parse(deal).public_seed() if board is None else b""
        self.play = Play(board or Board.deal(self.game, shuffled(self.seed, self.game.decks)), Undo(undo))
        self.dealt = self.play
        self.times: dict[int, int] = {}
        self.model = Model().after(Welcome(to=1, session="s", player="me", name="ana", time=START, server="test"))
        self.model = self.model.after(Joined(to=2, room="k7", seat=1, generation=1)).after(self.state("racing"))
        self.last_id = 10
        self.send_board()

    def state(self, phase: Phase, *, room: str = "k7", **changes: Any) -> RoomState:
        players = (Seat(player="me", name="ana", seat=1), Seat(player="you", name="bo", seat=2))
        state = room_state(
            room,
            self.options,
            players,
            event=3,
            phase=phase,
            commitment=commitment(self.seed),
            starts=START,
            ends=START + 900_000,
            seed=self.seed if phase == "finished" else b"",
        )
        return msgspec.structs.replace(state, **changes)

    def send_board(self) -> None:
        self.model = self.model.after(board_state("k7", self.play))

    def act(self, action: Move | str, time: int = START) -> Act:
        """The player acts. The server has not answered yet."""
        self.last_id += 1
        self.model, act = self.model.with_action(action, self.last_id, time)
        self.times[self.last_id] = time
        return act

    def answer(self, act: Act) -> Acked:
        """Judge an action and return the acknowledgement, which the client has not received yet."""
        self.play = self.play.act(act.action, act.revision)
        return acked(self.play, act, self.times.get(act.id, START))

    def ack(self, act: Act) -> None:
        self.model = self.model.after(self.answer(act))

    def refuse(self, act: Act, code: str = "illegal", revision: int | None = None, message: str = "No") -> None:
        known = self.play.revision if revision is None else revision
        self.model = self.model.after(Refused(to=act.id, code=code, message=message, revision=known))

    @property
    def acknowledged(self) -> Play:
        assert self.model.own.play is not None
        return self.model.own.play

    def out_of_sync(self) -> bool:
        return self.model.out_of_sync

    def may_undo(self) -> bool:
        return self.model.own.may_undo

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


def chained(journals: RaceJournals | None = None) -> RaceServer:
    """A race of five moves, a second apart, in which the server sends the first head. It may be kept in a journal."""
    server = RaceServer("athena")
    assert server.model.room is not None
    head = race_terms(server.model.room).first_head(1, "ana", bot=False)
    server.model = server.model.after(msgspec.structs.replace(board_state("k7", server.play), head=head))
    for number in range(1, 6):
        act = server.act(server.play.board.legal_moves()[-1])
        if journals is not None:
            journals.append_sent(server.model)
        server.model = server.model.after(msgspec.structs.replace(server.answer(act), time=START + 1_000 * number))
        if journals is not None:
            journals.append_acked(server.model)
    return server


def finished(server: RaceServer, **changes: Any) -> Model:
    """The client's model after the end of the race."""
    return server.model.after(server.state("finished", **changes))
