"""The replay of players' logs, which rebuilds their boards."""

from __future__ import annotations

from samedeal.action_chain import next_head
from samedeal.board import Board
from samedeal.board_history import Play
from samedeal.errors import PlayError
from samedeal.race.draws import first_board
from samedeal_server.races.race_record import first_head
from samedeal_server.races.signed_receipts import receipt
from samedeal_server.rooms.room_model import RoomModel
from samedeal_server.rooms.seated_player import SeatedPlayer
from samedeal_server.store.schema import reading
from samedeal_server.store.store import Store


class BoardReplay:
    """Rebuilds the boards of a room's players from the room's deal and the players' logs."""

    def __init__(self, store: Store, room: RoomModel) -> None:
        self._store = store
        self._room = room
        self._deal: Board | None = None

    async def initial_board(self) -> Board | None:
        """Return the board as it was dealt, or None if the race has not started."""
        race = self._room.race
        if self._deal is None and race.phase in ("racing", "finished"):
            secret = await self._store.load_secret(race.room)
            if secret is not None:
                with reading():
                    self._deal = first_board(race, secret.deal)
        return self._deal

    async def load_play(self, seat: SeatedPlayer) -> Play | None:
        """Return the play of a seated player, or None if the race has not started.

        If ``seat`` lacks the play, rebuild the play from the log and store it in ``seat``.
        """
        async with seat.loading:
            if seat.play is None:
                replayed = await self.replay(seat.player)
                await self._store.wait_replicated(seat.room)
                if replayed is not None:
                    seat.play, seat.head = replayed
            return seat.play

    async def replay(self, player: str, last: int | None = None) -> tuple[Play, bytes] | None:
        """Replay a player's log up to revision ``last``, or the whole log if ``last`` is None.

        Return the play and the head of the player's chain. Return None if the player has no seat, or if the player's clock
        has not begun.
        """
        board = await self.initial_board()
        race = self._room.race
        racer = race.racer(player)
        began = race.began_at(self._room.progress_of(player))
        if board is None or racer is None or not began:
            return None
        play, head = Play(board, race.options.undo_rule), first_head(race, racer, began)
        async for entries in self._store.log_parts(race.room, player, last=last):
            for entry in entries:
                try:
                    play = play.act(entry.action)
                except PlayError:
                    raise RuntimeError(
                        f"cannot replay action {entry.revision} of player {player} in room {race.room}"
                    ) from None
                head = next_head(head, play.revision, entry.committed_at - began, entry.action)
        return play, head

    def receipt(self, head: bytes) -> bytes:
        """Return the receipt for the action whose head is ``head``, and for all of the player's actions before it."""
        return receipt(self._store.receipt_key, head)
