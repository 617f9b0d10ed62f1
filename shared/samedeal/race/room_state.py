"""What everybody in a room may see of its race, and what players see of their own boards, as messages."""

from __future__ import annotations

from typing import Final

from msgspec.structs import asdict, replace

from samedeal.board_history import UNDO, Play
from samedeal.protocol.messages import Acked, Act, BoardState, Drawn, DrawnShare, LostSeat, RoomState, Seat, Tally
from samedeal.race.progress import Progress, ProgressByPlayer, is_connected
from samedeal.race.values import KickedPlayers, Race

_SHOWN: Final = (
    *("room", "phase", "deal", "options", "private", "host", "commitment", "starts", "ends", "next", "round", "table"),
    *("earlier", "tide", "next_by", "window", "doors_close_at"),
)
"""The fields of a race that the state of its room shows as they are. It also shows all fields of the result."""


def room_state(
    race: Race, progress: ProgressByPlayer, event: int, spectator_count: int, now: int, player: str = ""
) -> RoomState:
    """Return the state of a room after the event with the number ``event``, as ``player`` may see it."""
    if race.is_hidden:
        race, progress, event, spectator_count = own_race(race, player), _only(progress, player), 0, 0
    racers = race.with_progress(progress)
    return RoomState(
        **{name: getattr(race, name) for name in _SHOWN},
        **asdict(race.result),
        event=event,
        game=race.game.name,
        players=tuple(
            Seat(
                player=racer.player,
                name=racer.name,
                seat=racer.seat,
                ready=racer.ready,
                resigned=racer.resigned and not own.finished_at,
                bot=racer.bot,
                stuck=racer.is_stuck(own),
                share_commitment=racer.commitment,
                away=racer.away and race.is_waiting,
                house=racer.house,
                shown=racer.shown,
            )
            for racer, own in racers
        ),
        tallies=tuple(tally_of(racer.player, own, now) for racer, own in racers),
        spectator_count=spectator_count,
        draw=race.draw.number,
        lost=tuple(LostSeat(**lost._asdict()) for lost in race.draw.lost),
        rooms_before=race.before.rooms,
        terms=str(race.terms),
        drawing=race.draw.seats,
        waits_for_host=race.has_lost_draws,
    )


def own_race(race: Race, player: str) -> Race:
    """Return a race without what follows from the attempts of others than ``player``."""
    racers = tuple(
        racer if racer.player == player else replace(racer, resigned=False, stuck_at=0, away=False)
        for racer in race.racers
    )
    return replace(race, racers=racers, changed_at=0, kicked=KickedPlayers())


def _only(progress: ProgressByPlayer, player: str) -> ProgressByPlayer:
    return {player: progress[player]} if player in progress else {}


def drawn(race: Race) -> Drawn | None:
    """Return the message with the shares of a joint deal, or None if they are not all known."""
    shares = tuple(DrawnShare(**share._asdict()) for share in race.draw.shares)
    return Drawn(room=race.room, draw=race.draw.number, shares=shares) if shares else None


def tally_of(player: str, progress: Progress, now: int) -> Tally:
    """Return the counts of a player's board that everybody may see."""
    return Tally(
        player=player,
        foundation_cards=progress.foundation_cards,
        moves=progress.moves,
        undos=progress.undos,
        acted_at=progress.last_action_at,
        last_progress_at=progress.last_progress_at,
        finished_at=progress.finished_at,
        connected=is_connected(progress, now),
        began_at=progress.began_at,
    )


def board_state(room: str, play: Play, head: bytes = b"") -> BoardState:
    """Return the message with a player's own board, masked. ``head`` is the head of the player's chain."""
    return BoardState(
        room=room,
        revision=play.revision,
        game=play.board.game.name,
        piles=play.board.masked().piles,
        hash=play.board.state_hash(),
        moves=play.moves,
        undos=play.undos,
        head=head,
        may_undo=play.why_no_undo is None,
    )


def acked(act: Act, play: Play, time: int, receipt: bytes = b"") -> Acked:
    """Return the ack of an action that led to ``play``. ``time`` is the time of its commit, in milliseconds since 1970."""
    undone = act.action == UNDO
    return Acked(
        to=act.id,
        time=time,
        hash=play.board.state_hash(),
        receipt=receipt,
        seen=play.seen,
        piles=play.board.masked().piles if undone else (),
        may_undo=not undone or play.why_no_undo is None,
    )
