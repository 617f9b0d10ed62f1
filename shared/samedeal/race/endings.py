"""When a race is over for its players, how it ends, and the final standings."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from samedeal.board_history import Play, Undo
from samedeal.protocol.messages import Standing
from samedeal.race.commands import (
    CommandResult,
    DeclareStuckCommand,
    KickCommand,
    LeaveCommand,
    ResignCommand,
    TickCommand,
)
from samedeal.race.draws import first_board, proof_of
from samedeal.race.due_times import due_at
from samedeal.race.progress import ABSENT_AFTER, Progress, ProgressByPlayer
from samedeal.race.values import DealSecret, Race, Racer, RaceResult
from samedeal.sentences import refused
from samedeal.standings import Result, ranked

IDLE_AFTER: Final = 240_000
"""Time, in milliseconds, without an action after which a player who can still make moves counts as idle."""


def is_racing(race: Race, player: str, progress: Progress) -> bool:
    """Return whether a player has a seat and is not done, in a race that is neither finished nor closed.

    Before the start, this is true of every player with a seat.
    """
    racer = race.racer(player)
    ahead = race.is_waiting or race.phase == "racing"
    return ahead and racer is not None and not racer.is_done(progress)


def is_over(race: Race, progress: ProgressByPlayer, now: int) -> bool:
    """Return whether a race is over for all players.

    With the option ``end_when_settled``, bots count only if no person has a seat.
    """
    return not _unfinished(race, progress, now)


def opens_at(race: Race, progress: ProgressByPlayer) -> int:
    """Return when everything opens in a race with a window, unless players are done before."""
    unfinished = [own for racer, own in race.with_progress(progress) if not racer.is_done(own)]
    return (
        race.ends
        if any(not own.began_at for own in unfinished)
        else max(map(race.ends_at, unfinished), default=race.starts)
    )


def waits_for_absent(race: Race, progress: ProgressByPlayer, now: int) -> bool:
    """Return whether a race is over for some players and goes on only for disconnected or idle ones."""
    unfinished = _unfinished(race, progress, now)
    return (
        race.phase == "racing"
        and not race.window
        and any(_is_over_for(race, racer, own, now) for racer, own in race.with_progress(progress))
        and len(unfinished) > 0
        and all(
            not own.connected
            or now - own.last_seen >= ABSENT_AFTER
            or now - max(own.last_action_at, race.starts) >= IDLE_AFTER
            for own in unfinished
        )
    )


def _unfinished(race: Race, progress: ProgressByPlayer, now: int) -> list[Progress]:
    """Return the progress of the players for whom a race has to go on.

    With the option ``end_when_settled``, the race does not go on for bots, unless only bots have seats.
    """
    without_bots = race.options.end_when_settled and any(not racer.bot for racer in race.racers)
    return [
        own
        for racer, own in race.with_progress(progress)
        if not (_is_over_for(race, racer, own, now) or (racer.bot and without_bots))
    ]


def _is_over_for(race: Race, racer: Racer, progress: Progress, now: int) -> bool:
    """Return whether a player is done, or the player's time is up.

    With the option ``end_when_settled``, a stuck player also counts as done.
    """
    is_stuck = race.options.end_when_settled and racer.is_stuck(progress)
    return is_stuck or racer.is_done(progress) or now >= race.ends_at(progress)


def resign(race: Race, command: LeaveCommand | ResignCommand | KickCommand, now: int) -> CommandResult:
    """End the race for a player."""
    racer = race.racer(command.player)
    if racer is None or racer.resigned or now >= race.ends:
        return race, ()
    return race.with_racer(racer, resigned=True), ("resigned",)


def declare_stuck(race: Race, command: DeclareStuckCommand, now: int) -> CommandResult:
    """Record that a player is stuck, who must have begun: nobody is done without having seen the cards."""
    racer = race.racer(command.player)
    progress = command.progress.get(command.player, Progress())
    if not race.began_at(progress):
        raise refused("not_racing")
    if racer is None or now >= race.ends_at(progress) or racer.is_done(progress) or racer.is_stuck(progress):
        return race, ()
    return race.with_racer(racer, stuck_at=now), ("stuck",)


def tick_racing(race: Race, command: TickCommand, now: int) -> CommandResult:
    """End a race that is over."""
    progress = command.progress
    ends = (
        is_over(race, progress, now)
        or now >= race.ends
        or (command.end_wait and waits_for_absent(race, progress, now))
        or _is_hopeless(race, command.secret)
    )
    proof = proof_of(race, command.secret)
    if not ends or (race.is_searched and not proof):  # the secret may have been read before the deal was found
        return race, ()
    seed = b"" if race.is_searched else command.secret.seed
    result = RaceResult(_end(race, progress, now), standings(race, progress), seed, proof)
    return replace(race, phase="finished", result=result), ("finished",)


def _end(race: Race, progress: ProgressByPlayer, now: int) -> int:
    """Return when a race that is over has ended. No player's action comes after it.

    ``now`` may be too early: the clock may have been set back, and some of the progress may be newer. ``race.ends`` may
    be too early if the first finish ended the race, but was lost and recovered while others played on.
    """
    newest = [own.last_action_at for _, own in race.with_progress(progress)]
    return max(race.starts, *newest, min(now, race.ends))


def _is_hopeless(race: Race, secret: DealSecret) -> bool:
    """Return whether the deal leaves no legal move, and undo is off."""
    undo = race.options.undo_rule
    board = first_board(race, secret) if undo is Undo.OFF else None
    return board is not None and Play(board, undo).no_moves_left


def tick_finished(race: Race, command: TickCommand, now: int) -> CommandResult:
    """Close the room some time after its race, and not before the next race of a standing series has a room."""
    is_due = now >= due_at(race) and not race.goes_on
    return (replace(race, phase="closed"), ("closed",)) if is_due else (race, ())


def standings(race: Race, progress: ProgressByPlayer) -> tuple[Standing, ...]:
    """Return the final standings, first place first."""
    results = [((racer, own), _result(race, racer, own)) for racer, own in race.with_progress(progress)]
    return tuple(_standing(race, place, *racer_and_progress) for place, racer_and_progress in ranked(results))


def _result(race: Race, racer: Racer, own: Progress) -> Result:
    """Return what a player's place depends on. In a window, times count from when each player began."""
    earlier = race.began_at(own) - race.starts if own.began_at else 0
    finished, progressed = (time and time - earlier for time in (own.finished_at, own.last_progress_at))
    return Result(racer.seat, own.foundation_cards, finished, progressed, race.began_at(own) > 0)


def _standing(race: Race, place: int, racer: Racer, progress: Progress) -> Standing:
    return Standing(
        place=place,
        player=racer.player,
        name=racer.name,
        foundation_cards=progress.foundation_cards,
        time=progress.finished_at - race.began_at(progress) if progress.finished_at else 0,
        moves=progress.moves,
        undos=progress.undos,
        resigned=racer.resigned and not progress.finished_at,
        bot=racer.bot,
        began_at=progress.began_at,
    )
