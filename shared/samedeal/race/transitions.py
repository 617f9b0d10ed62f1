"""The lifecycle of a race: what each command does in each phase, and the final standings. Pure: time is an argument.

Rules
-----
- A race is ``open`` until its countdown starts. Its options say when that is: when the host starts it, when all players
  are ready (at least two if there is room for two), when all seats are taken, or in time for a scheduled start. The
  host may always start the countdown earlier.
- The host is the first person in the order of players, or the first bot if only bots have seats. Players are in the
  order in which they took their seats, but two rules below change this order. Bots are the players who have declared to
  be bots. The options may exclude them, and may say that nobody is the host.
- Players take seats while the race is open, and may give them up until it is under way. A player who leaves later
  resigns. A player who waits without looking at the room is marked as away, and keeps the seat. A player who is absent
  from an open room for a minute loses it, so that nobody waits for them. In a
  scheduled race, which starts at a given time, an absent player keeps the seat for longer, and loses it only when
  another player finds the room full.
- The cards are dealt when the countdown ends, at ``starts``. Moves count if they are committed before ``ends``. Both
  times are set when the countdown starts, and set again if it begins again or is extended. They are times of the store's
  clock. A race whose countdown has ended is under way, even if no command has been applied since.
- A joint deal is drawn during the countdown, from the server's secret and the shares of all players. Each player commits
  to a share. Once all have committed, the draw is sealed: no commitment changes any more, and each player reveals the
  share. A player who does not commit or reveal in time loses the seat. If a player loses or gives up a seat in a sealed
  draw before all shares are known, the countdown begins again with another draw, for which everybody commits to a new
  share. If the last of ``MAX_DRAWS`` draws fails, the room closes. Once all shares are known, the deal is fixed, and
  nobody can change it, but a node still has to find it. The race is not under way until then: the countdown is extended.
- A race with a window is for players who are seldom there at the same time. Its doors close after a quarter of the window,
  or when the host starts it. Then those who are connected draw the deal with the server, or the first who connects. All
  others keep their seats. If a draw is lost, those who are connected begin the next one, without those who lost it. Once
  ``MAX_DRAWS`` draws are lost, or each player has lost one, the host may open the doors again, for a quarter of the time
  that is left. Then there are as many draws again, for everybody. That is so three times, and then the room closes. When
  the deal is found, the window is open until ``ends``: each player begins once, and has the limit from then on, or what is
  left of the window. Until the race is finished, each player knows only their own attempt. Nobody loses a seat or
  resigns by leaving, and nobody is waited for until the window ends.
- In a standing series, the windows open at given times. The room of the next race opens as soon as a race is over, which it
  is too if nobody has drawn its deal by the end of its window. The players keep their seats, and others can enter until the
  window opens, when the doors close by themselves.
- A tide is one room with many seats. From its countdown on nobody can enter, and an empty room closes.
- A player who has finished, has resigned, or has no moves left (no legal move, and no undo allowed) is done. A race is
  finished when all players are done, or when its time is up. If the options say so, the first finish ends the race too. If
  undo is off and the deal leaves no legal move, the race is finished as soon as it starts.
- A player who has declared that nothing can improve their result any more is stuck, until the number of their foundation
  cards changes. If the options say so, a race is also finished once each person is done or stuck. Bots count only in a
  race without persons.
- Absent players do not delay the end of a race for long. If a race is over for some players, and waits only for players
  who are disconnected or idle, the race is finished after a while.
- Players who finish rank before all others, by time. The others rank by cards on the foundations, then by who reached
  that number first. Players who never began in a window are last, and have no race in the table of a series. Players who
  are equal in all of this share a place.
- A finished race may have one rematch. For a while the rematch keeps seats for the players of the finished race. These
  players come first in the order of its players. Players who were kicked stay out of the rematch.
- A room closes when it has been empty for a while, or some time after its race has finished.
- A player who is kicked stays out of the room. The operator may kick players at any time, and the host before the race
  starts. If others are left in a public room, nobody from the player's address can take a seat any more, unless it is
  also the host's.
- If all other persons have been ready for a while, the next person becomes the host, and the
  previous host becomes the last in the order of players. This rule does not apply to a scheduled race.
- If only one player has come to a race without a host by the start of its countdown, a node may open another room, in
  which the deal of an earlier race is dealt again. Only this player gets its seat, and its race begins as soon as the
  player takes it. The first room then admits nobody else. It closes once the player has left it, or after a while. If
  there is no earlier race, the race begins its countdown with a joint deal.
- Bots of the house take seats in a room that was opened for them, once somebody is there. They also come to a room of
  *race now* in which one person is alone shortly before the start. Another person who comes until the countdown makes them
  leave, and they leave with the last person until the race starts. They are never the host, and their seats do not count
  towards those of an address.
- In a public room, players from one address other than the host's take at most half of the seats.
  In a room without a host, this applies to every address. In a room with more than 16 seats, every address has at most
  four: fewer than there are draws.
- The operator may give a player another name, which the player also has after leaving and coming back, and in rematches.
  Once shares or hashes may be bound to the first name, which is from the first countdown of a race or series on, others
  are only shown the new one until the next race or series.
- The operator may close a room. A race that is closed while under way has no standings, and its seed is not revealed.

What each command does, by phase. Where the table has a code (``bad_share``, ``not_racing``, ``not_over``,
``room_closed`` or ``started``, which is short for ``race_started``), the command is refused with this code::

                  open        countdown   racing      finished    closed
    Join          takes seat  rejoins     rejoins     rejoins     room_closed
    Leave         gives up    gives up    resigns     nothing     nothing
    Ready         marks       started     started     started     room_closed
    Away          marks       marks       nothing     nothing     nothing
    Start         countdown   started     started     started     room_closed
    CommitShare   bad_share   commits     bad_share   bad_share   room_closed
    RevealShare   bad_share   reveals     bad_share   bad_share   room_closed
    FixDeal       nothing     fixes       nothing     nothing     nothing
    GiveUpDeal    nothing     closes      nothing     nothing     nothing
    RaceAlone     countdown   nothing     nothing     nothing     nothing
    Resign        not_racing  not_racing  resigns     not_racing  room_closed
    DeclareStuck  not_racing  not_racing  is stuck    not_racing  room_closed
    LinkRematch   not_over    not_over    not_over    links       room_closed
    Kick          removes     removes     resigns     removes     room_closed
    Kick by host  removes     removes     started     started     room_closed
    Rename        renames     shows       shows       shows       room_closed
    Close         closes      closes      closes      closes      nothing
    Tick          may start   may race    may finish  may close   nothing

Tick is the command for the passing of time. In an open room, Join and Tick also free the seats of absent players. In the
countdown, Tick also frees the seats of players who have not committed or revealed in time. If the countdown ends before
the deal has been found, Tick extends the countdown. There, Start opens the doors of a window whose draws are lost, and
LinkRematch links the next race of a standing series once the window has closed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, get_args

from msgspec.structs import replace

from samedeal.protocol.messages import Phase
from samedeal.race import draws, endings, seats
from samedeal.race.commands import (
    AwayCommand,
    CloseCommand,
    CommandResult,
    CommitShareCommand,
    DeclareStuckCommand,
    FixDealCommand,
    GiveUpDealCommand,
    JoinCommand,
    KickCommand,
    LeaveCommand,
    LinkRematchCommand,
    RaceAloneCommand,
    RaceCommand,
    ReadyCommand,
    RenameCommand,
    ResignCommand,
    RevealShareCommand,
    StartCommand,
    TickCommand,
)
from samedeal.race.due_times import awaits_next
from samedeal.race.values import Race
from samedeal.sentences import refused


def apply(race: Race, command: RaceCommand, now: int) -> CommandResult:
    """Apply a command to a race at the time ``now``, in milliseconds since 1970.

    Return the new race and the names of the changes. Raise RequestRefused if the race does not allow the command.
    """
    started: tuple[str, ...] = ()
    if race.phase == "countdown" and not race.lacks_deal and now >= race.starts:
        race, started = replace(race, phase="racing"), ("racing",)
    changed, events = _TRANSITIONS[type(command)][_PHASES.index(race.phase)](race, command, now)
    events = (*started, *events)
    if not events:
        return race, ()
    waited = race.ready_since and changed.host == race.host and changed.guests <= race.guests
    ready_since = (race.ready_since if waited else now) if changed.guests and changed.phase == "open" else 0
    return replace(changed, changed_at=now, ready_since=ready_since), events


def _do_nothing(race: Race, command: RaceCommand, now: int) -> CommandResult:
    return race, ()


def _link_rematch(race: Race, command: LinkRematchCommand, now: int) -> CommandResult:
    asker = command.player if race.racer(command.player) else ""
    return (race, ()) if race.next else (replace(race, next=command.room, next_by=asker), ("rematch",))


def _link_after_window(race: Race, command: LinkRematchCommand, now: int) -> CommandResult:
    """Link the next race of a standing series to one whose deal nobody has drawn."""
    if not (race.next or awaits_next(race, now)):
        raise refused("not_over")
    return _link_rematch(race, command, now)


def _refuse(name: str) -> Callable[[Race, Any, int], CommandResult]:
    def refuse(race: Race, command: RaceCommand, now: int) -> CommandResult:
        raise refused(name)

    return refuse


def _kick(race: Race, command: KickCommand, now: int) -> CommandResult:
    if command.by:
        if not (race.phase == "open" if race.window else race.is_waiting):
            raise refused("race_started")
        seats.check_host(race, command.by)
    racer = race.racer(command.player)
    if racer is None or command.player == command.by:
        raise refused("player_has_no_seat")
    if command.player in race.kicked.players:
        return race, ()
    left, events = _TRANSITIONS[LeaveCommand][_PHASES.index(race.phase)](race, command, now)
    others = race.without([racer])
    host, origin = others.racer(others.host), racer.origin
    shares_host = host is not None and host.origin == origin
    is_remembered = others.racers and not (race.private or shares_host)
    kicked = race.kicked.adding(command.player, origin if is_remembered else "")
    return replace(left, kicked=kicked), (*events, "kicked")


def _leave_countdown(race: Race, command: LeaveCommand | KickCommand, now: int) -> CommandResult:
    return _leave_race(race, command, now) if race.window else seats.leave_seat(race, command, now)


def _leave_race(race: Race, command: LeaveCommand | KickCommand, now: int) -> CommandResult:
    """End the race for a player. In a window, only the operator does: players come and go."""
    if race.window and isinstance(command, LeaveCommand):
        return race, ()
    return endings.resign(race, command, now)


def _close(race: Race, command: CloseCommand, now: int) -> CommandResult:
    return replace(race, phase="closed"), ("closed_by_operator", "closed")


_Transition = Callable[[Race, Any, int], CommandResult]

_STARTED: Final = _refuse("race_started")
_BAD_SHARE: Final = _refuse("bad_share")
_NOT_RACING: Final = _refuse("not_racing")
_NOT_OVER: Final = _refuse("not_over")
_CLOSED: Final = _refuse("room_closed")

_PHASES: Final[tuple[Phase, ...]] = get_args(Phase)
"""The columns of the table of transitions."""

_TRANSITIONS: Final[Mapping[type[RaceCommand], tuple[_Transition, ...]]] = {
    JoinCommand: (seats.join, seats.rejoin, seats.rejoin, seats.rejoin, _CLOSED),
    LeaveCommand: (seats.leave_seat, _leave_countdown, _leave_race, _do_nothing, _do_nothing),
    ReadyCommand: (seats.set_ready, _STARTED, _STARTED, _STARTED, _CLOSED),
    AwayCommand: (seats.set_away, seats.set_away, _do_nothing, _do_nothing, _do_nothing),
    StartCommand: (seats.start, seats.open_doors, _STARTED, _STARTED, _CLOSED),
    CommitShareCommand: (_BAD_SHARE, draws.commit_share, _BAD_SHARE, _BAD_SHARE, _CLOSED),
    RevealShareCommand: (_BAD_SHARE, draws.reveal_share, _BAD_SHARE, _BAD_SHARE, _CLOSED),
    FixDealCommand: (_do_nothing, draws.fix_deal, _do_nothing, _do_nothing, _do_nothing),
    GiveUpDealCommand: (_do_nothing, draws.give_up_deal, _do_nothing, _do_nothing, _do_nothing),
    RaceAloneCommand: (draws.race_alone, _do_nothing, _do_nothing, _do_nothing, _do_nothing),
    ResignCommand: (_NOT_RACING, _NOT_RACING, endings.resign, _NOT_RACING, _CLOSED),
    DeclareStuckCommand: (_NOT_RACING, _NOT_RACING, endings.declare_stuck, _NOT_RACING, _CLOSED),
    LinkRematchCommand: (_NOT_OVER, _link_after_window, _NOT_OVER, _link_rematch, _CLOSED),
    KickCommand: (_kick, _kick, _kick, _kick, _CLOSED),
    RenameCommand: (seats.rename, seats.show_name, seats.show_name, seats.show_name, _CLOSED),
    CloseCommand: (_close, _close, _close, _close, _do_nothing),
    TickCommand: (seats.tick_open, draws.tick_countdown, endings.tick_racing, endings.tick_finished, _do_nothing),
}
