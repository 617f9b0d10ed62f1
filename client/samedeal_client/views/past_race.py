"""The results of a past race, according to its record."""

from __future__ import annotations

from dataclasses import replace

from samedeal.board_history import UNDO
from samedeal.protocol.messages import Standing
from samedeal.record import Record
from samedeal_client.state.progress_history import record_progress
from samedeal_client.views.plot import Curve


def record_standings(record: Record) -> tuple[Standing, ...]:
    """Return the standings of the players in a record, the first place first. A player's name also serves as the id."""
    standings = []
    for player in sorted(record.players, key=lambda player: (player.place, player.seat)):
        undos = sum(action == UNDO for _, action in player.actions)
        standings.append(
            Standing(
                place=player.place,
                player=player.name,
                name=player.name,
                foundation_cards=player.foundation_cards,
                time=player.finish_time,
                moves=len(player.actions) - undos,
                undos=undos,
                resigned=player.resigned,
                bot=player.bot,
            )
        )
    return tuple(standings)


def record_curves(record: Record, me: str) -> list[Curve]:
    """Return the curves of the players in a record.

    The curve of the player named ``me`` comes first, then the others by place.
    """
    players = sorted(record.players, key=lambda player: (player.name != me, player.place))
    return [
        Curve(player.name, record_progress(replace(record, players=(player,))), bot=player.bot) for player in players
    ]
