"""The server's side of a race without a connection: what it sends to one client, whose model it feeds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec

from samedeal.action_chain import first_head, next_head
from samedeal.board import Board
from samedeal.board_history import Play, Undo
from samedeal.deal import Deal, commitment, shuffled
from samedeal.games import game_named
from samedeal.moves import Move
from samedeal.options import Options
from samedeal.protocol.messages import Acked, Act, Join, Joined, Phase, Refused, RoomState, Seat, ToClient, Welcome
from samedeal.race.room_state import acked, board_state
from samedeal.terms import RoomTerms
from samedeal_client.state.evidence import Evidence
from samedeal_client.state.facts import AskedToEnter
from samedeal_client.state.model import Model
from samedeal_client.state.observation import received, sent
from tests.client.server_messages import room_state

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
        self.terms = RoomTerms.of("k7", self.options, Deal.parse(deal))
        self.commitment = commitment(self.terms.digest, self.seed)
        self.head = first_head(self.terms.digest, START, 1, "ana", bot=False)
        asked = Evidence.asked(AskedToEnter("player", "k7"), "me", "ana")
        self.model = Model(evidence=sent(asked, Join(id=2, room="k7"), 0))
        self.send(Welcome(to=1, session="s", player="me", name="ana", time=START, server="test"))
        self.send(Joined(to=2, room="k7", seat=1, generation=1))
        self.send(self.state("racing"))
        self.last_id = 10
        self.send_board()

    def send(self, message: ToClient) -> None:
        """Send the client a message."""
        evidence = self.model.evidence
        assert evidence is not None
        known = evidence if isinstance(message, Welcome) else received(evidence, message, 0)
        self.model = replace(self.model.after(message), evidence=known)

    def state(self, phase: Phase, *, room: str = "k7", **changes: Any) -> RoomState:
        players = (Seat(player="me", name="ana", seat=1), Seat(player="you", name="bo", seat=2))
        state = room_state(
            room,
            self.options,
            players,
            event=3,
            phase=phase,
            commitment=self.commitment,
            starts=START,
            ends=START + 900_000,
            seed=self.seed if phase == "finished" else b"",
        )
        return msgspec.structs.replace(state, **changes)

    def send_board(self) -> None:
        self.send(msgspec.structs.replace(board_state("k7", self.play), head=self.head))

    def act(self, action: Move | str, time: int = START) -> Act:
        """The player acts. The server has not answered yet."""
        self.last_id += 1
        self.model, act = self.model.with_action(action, self.last_id, time)
        self.times[self.last_id] = time
        assert self.model.evidence is not None
        self.model = replace(self.model, evidence=sent(self.model.evidence, act, 0))
        return act

    def answer(self, act: Act) -> Acked:
        """Judge an action and return the acknowledgement, which the client has not received yet."""
        self.play = self.play.act(act.action, act.revision)
        return acked(act, self.play, self.times.get(act.id, START))

    def ack(self, act: Act) -> None:
        answer = self.answer(act)
        self.head = next_head(self.head, self.play.revision, max(0, answer.time - START), act.action)
        self.send(answer)

    def refuse(self, act: Act, code: str = "illegal", revision: int | None = None, message: str = "No") -> None:
        known = self.play.revision if revision is None else revision
        self.send(Refused(to=act.id, code=code, message=message, revision=known))

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


def chained() -> RaceServer:
    """A race of five moves, a second apart."""
    server = RaceServer("athena")
    for number in range(1, 6):
        server.ack(server.act(server.play.board.legal_moves()[-1], START + 1_000 * number))
    return server


def finished(server: RaceServer, **changes: Any) -> Model:
    """The client's model after the end of the race."""
    server.send(server.state("finished", **changes))
    return server.model
