"""Messages that a server makes from a room and from a play, for the stand-ins for the server."""

from __future__ import annotations

from typing import Any, Final

from msgspec.structs import replace

from samedeal.board_history import Play
from samedeal.options import Options
from samedeal.protocol.messages import DelayedBoard, DelayedMove, RoomState, Seat, Standing, Tally
from tests.shared.recorded import described_terms

SERVER: Final = bytes(range(32))
"""The commitment of the server in ``drawing``."""


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
    return replace(state, **{"terms": str(described_terms(room, options, options.deal)), **changes})


def standing(place: int, name: str, foundation_cards: int = 9, player: str = "", **more: Any) -> Standing:
    """Return a line of standings. Unless ``player`` says otherwise, the player's id is the name."""
    usual = {"time": 0, "moves": 5, "undos": 0, **more}
    return Standing(place=place, player=player or name, name=name, foundation_cards=foundation_cards, **usual)


def delayed_board(player: str, play: Play, time: int, reached: tuple[int, ...] = ()) -> DelayedBoard:
    """Return the board of a player for spectators."""
    piles, revision = play.board.masked().piles, play.revision
    return DelayedBoard(player, revision, piles, moves=play.moves, undos=play.undos, time=time, reached=reached)


def delayed_move(player: str, play: Play, action: str, time: int) -> DelayedMove:
    """Return the newest action of a player for spectators."""
    return DelayedMove(player=player, revision=play.revision, action=action, seen=play.seen, time=time)


def drawing(commitment: bytes = SERVER, ana: bytes = b"", bob: bytes = b"") -> RoomState:
    """The room in its first draw. Ana and Bob have committed to shares if the hashes are given."""
    seats = (
        Seat(player="p1", name="ana", seat=1, share_commitment=ana),
        Seat(player="p2", name="bob", seat=2, share_commitment=bob),
    )
    return room_state("k7", Options(deal="winnable"), seats, phase="countdown", draw=1, commitment=commitment)
