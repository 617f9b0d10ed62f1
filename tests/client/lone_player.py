"""The room of a player who races alone, and the player's result."""

from __future__ import annotations

from samedeal.options import Options
from samedeal.protocol.messages import Seat, Standing, Tally
from tests.client.server_messages import room_state

OWN = Standing(place=1, player="m", name="mira", foundation_cards=31, time=0, moves=40, undos=0)

ROOM = room_state(
    "friday",
    Options(),
    (Seat(player="m", name="mira", seat=1),),
    phase="racing",
    deal="winnable",
    tallies=(Tally(player="m", foundation_cards=2, last_progress_at=101_500),),
    starts=100_000,
    ends=1_000_000,
)
