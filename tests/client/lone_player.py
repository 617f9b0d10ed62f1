"""The room of a player who races alone, and the player's result."""

from __future__ import annotations

from samedeal.options import Options
from samedeal.protocol.messages import RoomState, Seat, Standing, Tally

OWN = Standing(place=1, player="m", name="mira", foundation_cards=31, time=0, moves=40, undos=0)

ROOM = RoomState(
    room="friday",
    event=1,
    phase="racing",
    game="willow",
    deal="winnable",
    options=Options(),
    private=False,
    host="m",
    players=(Seat(player="m", name="mira", seat=1),),
    tallies=(Tally(player="m", foundation_cards=2, last_progress_at=101_500),),
    commitment=bytes(32),
    starts=100_000,
    ends=1_000_000,
)
