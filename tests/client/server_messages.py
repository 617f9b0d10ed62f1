"""Messages that a server makes from a room and from a play, for the stand-ins for the server."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from samedeal.board_history import UNDO, Play
from samedeal.deal import Deal
from samedeal.options import Options
from samedeal.protocol.messages import Acked, Act, BoardState, RoomState, Seat, Tally
from samedeal.terms import RoomTerms


def room_state(room: str, options: Options, players: tuple[Seat, ...], **changes: Any) -> RoomState:
    """Return the state of a room, which is open and whose host is the first player, unless ``changes`` say otherwise."""
    state = RoomState(
        room=room,
        event=1,
        phase="open",
        game=options.games[0],
        deal=options.deal,
        options=options,
        private=False,
        host=players[0].player if players else "",
        players=players,
        tallies=tuple(Tally(player=seat.player) for seat in players),
        commitment=bytes(32),
    )
    terms = RoomTerms.of(room, options, Deal.parse(options.deal))
    return replace(state, **{"terms": str(terms), **changes})


def acked(play: Play, act: Act, time: int) -> Acked:
    """Return the acknowledgement of ``act``, the action that led to ``play`` at a time."""
    board = play.board
    return Acked(
        to=act.id,
        time=time,
        hash=board.state_hash(),
        receipt=b"",
        seen=play.seen,
        piles=board.masked().piles if act.action == UNDO else (),
        may_undo=play.why_no_undo is None,
    )


def board_state(room: str, play: Play) -> BoardState:
    """Return the message that carries a player's whole board."""
    board = play.board
    return BoardState(
        room=room,
        revision=play.revision,
        game=board.game.name,
        piles=board.masked().piles,
        hash=board.state_hash(),
        moves=play.moves,
        undos=play.undos,
        may_undo=play.why_no_undo is None,
    )
