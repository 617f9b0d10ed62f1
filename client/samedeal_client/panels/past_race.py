"""The results of a past race, according to its record."""

from __future__ import annotations

from dataclasses import replace

from samedeal.record import Record
from samedeal_client.panels.plot import Curve
from samedeal_link.model.progress_history import record_progress


def record_curves(record: Record, me: str) -> list[Curve]:
    """Return the curves of the players in a record.

    The curve of the player named ``me`` comes first, then the others by place.
    """
    players = sorted(record.players, key=lambda player: (player.name != me, player.place))
    return [
        Curve(player.name, record_progress(replace(record, players=(player,))), bot=player.bot) for player in players
    ]
