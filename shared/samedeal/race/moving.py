"""When a race accepts a move of a player, and what the move does to the race."""

from __future__ import annotations

from msgspec.structs import replace

from samedeal.race.progress import MoveCommitted, Progress
from samedeal.race.values import Race
from samedeal.sentences import refused


def commit(race: Race, progress: Progress, moved: MoveCommitted, now: int) -> tuple[Race, Progress]:
    """Return a race and the progress of one of its players after a move at the time ``now``.

    ``last_action_at`` of the progress is the time of the move, which is later if the clock was set back. Raise
    RequestRefused if the race does not accept the move. For the server, ``commit_action.lua`` decides the same.
    """
    time = max(now, progress.last_action_at)
    if moved.revision != progress.revision + 1:
        raise refused("stale")
    began = race.began_at(progress)
    if race.lacks_deal or race.phase not in ("countdown", "racing") or not began or time < began:
        raise refused("not_racing")
    if time >= race.ends_at(progress):
        raise refused("time_up")
    if race.seated(moved.player).is_done(progress):
        raise refused("already_finished")
    return ended_by(race, moved, time), progress.after(moved, time)


def begin(race: Race, progress: Progress, player: str, now: int) -> Progress:
    """Return the progress of a player whose attempt in a window begins now, or who has begun before.

    Raise RequestRefused if the race does not allow it. For the server, ``begin_attempt.lua`` decides the same.
    """
    if progress.began_at:
        return progress
    if not race.is_hidden:
        raise refused("not_racing")
    if now >= race.ends:
        raise refused("time_up")
    if race.seated(player).is_done(progress):
        raise refused("already_finished")
    return replace(progress, began_at=max(now, race.starts))


def ended_by(race: Race, moved: MoveCommitted, time: int) -> Race:
    """Return the race after a move at ``time``, which ends it if the first finish does."""
    if not (moved.finished and race.options.first_finish_ends):
        return race
    return replace(race, ends=min(time, race.ends))
