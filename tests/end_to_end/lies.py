"""Servers that lie: during the draw, during the race, and after it.

``tests/lies`` enumerates far more lies, without sockets and programs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from msgspec.structs import replace as with_fields

from samedeal.board_history import Play
from samedeal.protocol.messages import (
    Acked,
    Act,
    BoardState,
    CommitShare,
    Done,
    Drawn,
    RecordPart,
    Refused,
    RoomState,
    ToClient,
    ToServer,
)
from samedeal.protocol_codes import RefusalCode
from samedeal.race.room_state import acked, board_state
from tests.end_to_end.lying_server import HonestServer, Player


class SecondDraw(HonestServer):
    """Draws again once it knows all shares, although nobody has lost a seat."""

    def __init__(self, room: str) -> None:
        super().__init__(room)
        self.promises: dict[str, bytes] = {}

    def told(self, player: Player, message: ToClient) -> Sequence[ToClient]:
        if not self.held.race.draw.shares or not isinstance(message, RoomState | Drawn):
            return (message,)
        if isinstance(message, Drawn):
            return ()
        promises = self.promises if len(self.promises) == len(message.players) else {}
        seats = tuple(with_fields(each, share_commitment=promises.get(each.player, b"")) for each in message.players)
        return (with_fields(message, draw=2, players=seats),)

    def answer(self, player: Player, message: ToServer) -> ToClient:
        if not isinstance(message, CommitShare) or message.draw == 1:
            return super().answer(player, message)
        self.promises[player.id] = message.commitment
        return Done(to=message.id)

    async def go_on(self) -> None:
        """Deal nothing. Seal the second draw instead, once all have committed to it."""
        if len(self.promises) == len(self.players):
            for player in self.players.values():
                await self.send(player, self.held.state(self.now()))


class SwappedStock(HonestServer):
    """Turns up other cards for ana than those of the deal, which lie face down when the race begins."""

    other: Play | None = None

    def told(self, player: Player, message: ToClient) -> Sequence[ToClient]:
        if player.name == "ana" and isinstance(message, BoardState):
            board = self.held.play(player.id).board
            stock = board.game.stock_at
            piles = tuple(pile[::-1] if at == stock else pile for at, pile in enumerate(board.piles))
            self.other = Play(replace(board, piles=piles), self.held.race.options.undo_rule)
            return (board_state(self.room, self.other, message.head),)
        return (message,)

    def answer(self, player: Player, message: ToServer) -> ToClient:
        answer = super().answer(player, message)
        if player.name != "ana" or self.other is None or not isinstance(message, Act) or not isinstance(answer, Acked):
            return answer
        self.other = self.other.act(message.action)
        return acked(message, self.other, answer.time)


class NoRecord(HonestServer):
    """Gives no record."""

    def told(self, player: Player, message: ToClient) -> Sequence[ToClient]:
        refused = Refused(to=getattr(message, "to", 0), code=RefusalCode.NO_RECORD, message="There is no record.")
        return (refused if isinstance(message, RecordPart) else message,)


class OtherResultsLater(HonestServer):
    """Shows other results once the clients have judged the race."""

    async def show_other_results(self) -> None:
        state = self.held.state(self.now())
        lines = tuple(with_fields(line, moves=line.moves + 1) for line in state.standings)
        for player in self.players.values():
            await self.send(player, with_fields(state, standings=lines))
