"""The ranking during a race. Players get it from the server's updates, and spectators from the delayed boards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from samedeal.options import MAX_PLAYERS
from samedeal.protocol.messages import EarlierPlayer, RoomState, Seat, Tally
from samedeal.standings import Result, ranked
from samedeal_client.panels.race_feed import RankedPlayer
from samedeal_client.text.time_text import day_text
from samedeal_link.model.model import Model, WatchedBoard
from samedeal_link.model.recent_moves import RecentMoves

SLOT: Final = 5_000
"""Length, in milliseconds, of a time slot in which moves are counted."""

SLOTS: Final = 6
"""Number of time slots in which moves are counted: those of the last half minute."""


class _Racer(NamedTuple):
    """A player's seat and result, and whether the player is connected."""

    seat: Seat
    result: Result
    connected: bool


def current_ranking(model: Model, now: int) -> tuple[RankedPlayer, ...]:
    """Return the ranking of the race that this client plays in, at the server time ``now``.

    The progress of this client's player includes moves that are not acknowledged yet.
    """
    room, racers = model.this_room, []
    for seat in room.players:
        if model.is_hidden and seat.player != model.me:
            continue
        tally = model.tallies.get(seat.player) or Tally(player=seat.player)
        own = model.board if seat.player == model.me else None
        cards, progress_at = tally.foundation_cards, tally.last_progress_at
        if own is not None and own.foundation_cards != cards:
            cards, progress_at = own.foundation_cards, now
        racers.append(_Racer(seat, Result(seat.seat, cards, tally.finished_at, progress_at), tally.connected))
    racers += _earlier(room, now)
    return _ranking(model, room, racers, now)


def earlier_seats(room: RoomState) -> tuple[Seat, ...]:
    """Return seats that stand for the players of the earlier race with this deal."""
    return tuple(
        Seat(player=f"earlier {number}", name=_with_day(player, room.starts), seat=MAX_PLAYERS + number)
        for number, player in enumerate(room.earlier, 1)
    )


def _with_day(player: EarlierPlayer, now: int) -> str:
    return f"{player.name} ({day_text(player.started, now) if player.started else 'earlier'})"


def all_seats(room: RoomState) -> dict[str, Seat]:
    """Return the seats of all who are in the ranking of a race, by the ids of their players."""
    return {seat.player: seat for seat in (*room.players, *earlier_seats(room))}


def _earlier(room: RoomState, now: int) -> list[_Racer]:
    """Return the players of the earlier race with this deal, as they stood as long after its start."""
    racers = []
    for player, seat in zip(room.earlier, earlier_seats(room), strict=True):
        times = [room.starts + at for at in player.reached if room.starts + at <= now]
        finished_at = room.starts + player.time if player.time and room.starts + player.time <= now else 0
        racers.append(_Racer(seat, Result(seat.seat, len(times), finished_at, max(times, default=0)), connected=True))
    return racers


def delayed_ranking(model: Model, boards: Mapping[str, WatchedBoard], time: int) -> tuple[RankedPlayer, ...]:
    """Return the ranking of a watched race according to the delayed boards. They show the race as it was at ``time``."""
    room, racers = model.this_room, []
    for seat in room.players:
        watched = boards.get(seat.player)
        result = Result(seat.seat, 0, 0, 0)
        if watched is not None:
            board = watched.play.board
            finished_at = watched.time if board.won else 0
            result = Result(seat.seat, board.foundation_cards, finished_at, watched.last_progress_at)
        racers.append(_Racer(seat, result, connected=True))
    return _ranking(model, room, racers, time)


def _ranking(model: Model, room: RoomState, racers: Iterable[_Racer], now: int) -> tuple[RankedPlayer, ...]:
    return tuple(
        RankedPlayer(
            place=place,
            name=racer.seat.name,
            foundation_cards=racer.result.foundation_cards,
            total=model.game.cards,
            activity=model.recent.get(racer.seat.player, RecentMoves()).activity(now, SLOTS, SLOT)
            if racer.seat in room.players
            else (),
            you=racer.seat.player == model.me,
            connected=racer.connected,
            resigned=racer.seat.resigned,
            time=max(racer.result.finished_at - model.began_at(racer.seat.player), 1)
            if racer.result.finished_at
            else 0,
            player=racer.seat.player,
            bot=racer.seat.bot,
            stuck=racer.seat.stuck,
        )
        for place, racer in ranked((racer, racer.result) for racer in racers)
    )
