"""The other players of a race, as programs that race see them."""

from __future__ import annotations

from dataclasses import dataclass

from samedeal.protocol.messages import Tally
from samedeal_link.model.model import Model


@dataclass(frozen=True)
class Rival:
    """Another player of the race. ``time`` is from the start to the player's finish, in milliseconds, or 0."""

    name: str
    cards: int
    moves: int
    time: int
    bot: bool
    resigned: bool
    stuck: bool


def rivals_of(model: Model) -> tuple[Rival, ...]:
    """Return the other players in a room by their seats. For a spectator, they are all players."""
    room = model.this_room
    others = (seat for seat in room.players if model.delay is not None or seat.player != model.me)
    tallies = ((seat, model.tallies.get(seat.player, Tally(player=seat.player))) for seat in others)
    return tuple(
        Rival(
            name=seat.name,
            cards=tally.foundation_cards,
            moves=tally.moves,
            time=tally.finished_at and tally.finished_at - model.began_at(seat.player),
            bot=seat.bot,
            resigned=seat.resigned,
            stuck=seat.stuck,
        )
        for seat, tally in tallies
    )
