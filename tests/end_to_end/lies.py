"""Servers that lie, each in one way that is another kind of lie, and the row of the table of verdicts that each turns.

``tests/lies`` enumerates far more lies, without sockets and programs. The clients in the room are ana, who races in the
line client with files of evidence, and bob, a bot.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

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
    Watching,
)
from samedeal.protocol_codes import RefusalCode
from samedeal.race.room_state import acked, board_state
from tests.end_to_end.lying_server import HonestServer, Player


@dataclass(frozen=True)
class Lie:
    """A lie, and the row that the clients of ``who`` find: ana, bob or both. The other one calls the race fair.

    If ``early``, the clients say so before the race is over. ``reveals`` is the number of shares that ana's client
    reveals.
    """

    server: type[HonestServer]
    row: str
    who: str = "ana and bob"
    early: bool = False
    reveals: int = 1


LIES: Final[dict[str, Lie]] = {}


def lie(row: str, **found: Any) -> Callable[[type[HonestServer]], type[HonestServer]]:
    """Put a lying server into the table."""

    def add(server: type[HonestServer]) -> type[HonestServer]:
        LIES[server.__name__] = Lie(server, row, **found)
        return server

    return add


class UnaskedWatching(HonestServer):
    """Says that the players watch, so that they might take no part in the draw. Nobody believes it."""

    def told(self, player: Player, message: ToClient) -> Sequence[ToClient]:
        is_draw = isinstance(message, RoomState) and message.phase == "countdown"
        return (Watching(to=999_999, room=self.room, delay=0), message) if is_draw else (message,)


@lie("changed_terms", early=True, reveals=0)
class ChangedTerms(HonestServer):
    """Changes the terms when all have committed."""

    def told(self, player: Player, message: ToClient) -> Sequence[ToClient]:
        if not isinstance(message, RoomState) or not all(each.share_commitment for each in message.players):
            return (message,)
        terms = self.held.race.terms
        changed = replace(terms, options=with_fields(terms.options, limit=300))
        return (with_fields(message, terms=str(changed), options=changed.options),)


@lie("no_seat_lost", early=True)
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


@lie("other_board", who="ana")
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


@lie("refused_move", who="ana")
class RefusedMove(HonestServer):
    """Refuses the first move of ana, which is legal."""

    has_refused = False

    def answer(self, player: Player, message: ToServer) -> ToClient:
        if player.name == "ana" and isinstance(message, Act) and not self.has_refused:
            self.has_refused = True
            return Refused(to=message.id, code=RefusalCode.ILLEGAL, message="That is not allowed.", revision=0)
        return super().answer(player, message)


class LateAcks(HonestServer):
    """Dates the actions of ana five seconds later. Only the sentence about the clock tells her."""

    def now(self, player: Player | None = None) -> int:
        return super().now() + 5000 * (player is not None and player.name == "ana")


@lie("no_record")
class NoRecord(HonestServer):
    """Gives no record."""

    def told(self, player: Player, message: ToClient) -> Sequence[ToClient]:
        refused = Refused(to=getattr(message, "to", 0), code=RefusalCode.NO_RECORD, message="There is no record.")
        return (refused if isinstance(message, RecordPart) else message,)


@lie("other_action")
class RetimedMove(HonestServer):
    """Gives the first move of each player another time in the player's record."""

    def told(self, player: Player, message: ToClient) -> Sequence[ToClient]:
        if not isinstance(message, RecordPart):
            return (message,)
        record = self.record()
        (own,) = (each for each in record.players if each.name == player.name)
        (time, action), *rest = own.actions
        changed = replace(own, actions=((time - 1, action), *rest))
        players = tuple(changed if each is own else each for each in record.players)
        return (with_fields(message, text=str(replace(record, players=players)).encode()),)


class OtherResultsLater(HonestServer):
    """Shows other results once the clients have judged the race."""

    async def show_other_results(self) -> None:
        state = self.held.state(self.now())
        lines = tuple(with_fields(line, moves=line.moves + 1) for line in state.standings)
        for player in self.players.values():
            await self.send(player, with_fields(state, standings=lines))
