"""Who stands where while a race runs, for the panel beside a board: from tallies, or from the boards that are watched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from samedeal.protocol.messages import RoomState, Seat
from samedeal_client.rooms.model import Model, Watched
from samedeal_client.rooms.series import Series
from samedeal_client.views.panel import Rival

SLOT: Final = 5_000
"""Milliseconds of a slot of activity."""

SLOTS: Final = 8


class _Run(NamedTuple):
    """How far a player is: ``home`` and ``risen`` are server times in milliseconds, 0 for not yet."""

    seat: Seat
    up: int
    risen: int
    home: int
    connected: bool

    @property
    def rank(self) -> tuple[int, int, int]:
        """What the order goes by, as the server will see it at the end."""
        return (0, self.home, 0) if self.home else (1, -self.up, self.risen)


def racing_now(model: Model, now: int) -> tuple[Rival, ...]:
    """The players of the race one is in, the first first, at a server time; one's own cards up as one sees them."""
    room = model.room
    if room is None:
        return ()
    runs = []
    for seat in room.players:
        tally = model.tallies.get(seat.player)
        up = tally.up if tally else 0
        if seat.player == model.me and model.board is not None:
            up = model.board.cards_up
        runs.append(
            _Run(
                seat,
                up,
                tally.risen if tally else 0,
                tally.home if tally else 0,
                tally.connected if tally else True,
            )
        )
    return _ranked(model, room, runs, now)


def watched_now(model: Model, boards: Mapping[str, Watched], time: int) -> tuple[Rival, ...]:
    """The players of the race one watches by their boards as they are shown, which is how it was at a time."""
    room = model.room
    if room is None:
        return ()
    runs = []
    for seat in room.players:
        watched = boards.get(seat.player)
        series = model.series.get(seat.player, Series())
        board = watched.play.board if watched else None
        up = board.cards_up if board else 0
        risen = next((point.at for point in series.points if point.up == up), 0)
        home = watched.at if watched and board and board.won else 0
        runs.append(_Run(seat, up, risen, home, connected=True))
    return _ranked(model, room, runs, time)


def _ranked(model: Model, room: RoomState, runs: Iterable[_Run], now: int) -> tuple[Rival, ...]:
    placed = sorted(((run.rank, run.seat.seat, run) for run in runs), key=lambda each: each[:2])
    ranks = [rank for rank, _, _ in placed]
    total = model.game.cards
    return tuple(
        Rival(
            rank=ranks.index(rank) + 1,
            name=run.seat.name,
            up=run.up,
            total=total,
            activity=model.series.get(run.seat.player, Series()).activity(now, SLOTS, SLOT),
            you=run.seat.player == model.me,
            connected=run.connected,
            out=run.seat.out,
            home=max(run.home - room.starts, 0) if run.home else None,
            player=run.seat.player,
        )
        for rank, _, run in placed
    )


def ordinal(number: int) -> str:
    """A place as ``1st``, ``2nd``, ``3rd``, ``4th``."""
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"
