"""Who gets a seat, who loses it, who is the host, and when the countdown begins."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from samedeal.look_alikes import look_alike
from samedeal.names import is_removed
from samedeal.options import MAX_PLAYERS, SEATS_OF_ADDRESS
from samedeal.race.commands import (
    AwayCommand,
    CommandResult,
    JoinCommand,
    KickCommand,
    LeaveCommand,
    ReadyCommand,
    RenameCommand,
    StartCommand,
    TickCommand,
)
from samedeal.race.draws import close_doors, count_down, lose_seats
from samedeal.race.due_times import due_at, host_due_at, is_alone
from samedeal.race.progress import ProgressByPlayer
from samedeal.race.values import Race, Racer
from samedeal.sentences import refused

SEATS_KEPT: Final = 30_000
"""Time, in milliseconds, for which a rematch keeps seats free for the players of the previous race."""

SEAT_HELD: Final = 60_000
"""Time, in milliseconds, without a sign of life after which a player loses the seat in an open room."""

SCHEDULED_ABSENT_AFTER: Final = 3_600_000
"""Time, in milliseconds, after which an absent player of a scheduled race may lose the seat.

The player loses the seat only if another player finds the room full.
"""


MOST_HOUSE: Final = 3
"""Maximum number of bots of the house in a race."""

HOUSE_COMES: Final = 8_000
"""Time, in milliseconds, before the start of a race without a host at which the house looks whether somebody is alone."""


def house_seats(race: Race, now: int) -> int:
    """Return how many more bots of the house may take a seat in a race.

    They come to rooms in which somebody is, and in a race that starts by itself only to one player shortly before the start.
    """
    taken, options = sum(racer.house for racer in race.racers), race.options
    others = len(race.racers) - taken
    is_soon = options.start != "at" or now >= options.start_at - HOUSE_COMES
    if not race.is_open or len(race.racers) >= options.players or not (others and is_soon):
        return 0
    return race.house - taken if options.hosted or others == 1 else 0


def _without_house(race: Race) -> Race:
    """Return a race without a host without the bots of the house, which came because somebody was alone."""
    return race if race.options.hosted else race.without([racer for racer in race.racers if racer.house])


def present_racers(race: Race, progress: ProgressByPlayer, now: int) -> tuple[Racer, ...]:
    """Return the racers who keep their seats at the time ``now``.

    In an open room, racers who are absent lose their seats, unless the race is scheduled or has a window.
    """
    if race.phase != "open" or race.options.start == "at" or race.window:
        return race.racers
    return _racers_seen(race, progress, now - SEAT_HELD)


def _racers_seen(race: Race, progress: ProgressByPlayer, since: int) -> tuple[Racer, ...]:
    """Return the racers with a sign of life after the time ``since``, in milliseconds since 1970."""
    found = race.with_progress(progress)
    return tuple(racer for racer, own in found if max(racer.seated_at, own.last_seen) > since)


def check_not_kicked(race: Race, player: str) -> None:
    """Raise RequestRefused if the player was kicked from this race or an earlier one."""
    if player in race.kicked.players:
        raise refused("kicked")


def is_barred(race: Race, player: str, origin: str) -> bool:
    """Return whether a player may not take a seat because they, or somebody from their origin, were kicked.

    A player who has a seat, or had one in the race before, is not barred by their origin.
    """
    known = race.racer(player) is not None or player in race.before.players
    return player in race.kicked.players or (origin in race.kicked.origins and not known)


def is_crowded(race: Race, origin: str) -> bool:
    """Return whether the players of an origin have all the seats that they may take."""
    options = race.options
    host, is_exempt = race.racer(race.host), options.hosted and options.players <= MAX_PLAYERS
    if race.private or (is_exempt and (host is None or host.origin in ("", origin))):
        return False
    most = SEATS_OF_ADDRESS if options.players > MAX_PLAYERS else max(1, options.players // 2)
    return sum(racer.origin == origin for racer in race.racers) >= most


def join(race: Race, command: JoinCommand, now: int) -> CommandResult:
    """Give a player a seat, unless the player has one."""
    check_not_kicked(race, command.player)
    if race.racer(command.player):
        return set_away(race, AwayCommand(command.player, away=False), now)
    if is_barred(race, command.player, command.origin):
        raise refused("address_kicked")
    if house_seats(race, now) < 1 if command.house else command.bot and not race.options.bots:
        raise refused("no_bots")
    if race.tide and now >= due_at(race):
        raise refused("no_tide")
    if race.next:
        raise refused("room_closed")
    race, freed = _free_seats(race, present_racers(race, command.progress, now))
    race = race if command.house else _without_house(race)
    if len(race.racers) >= race.options.players and race.options.start == "at":
        race, freed = _free_seats(race, _racers_seen(race, command.progress, now - SCHEDULED_ABSENT_AFTER))
    _check_free_seat(race, command.player, now)
    if not command.house and is_crowded(race, command.origin):
        raise refused("too_many_from_address")
    name = race.before.given.get(command.player, command.name)
    shown = race.before.shown.get(command.player, "")
    _check_free_name(race, name)
    taken = {racer.seat for racer in race.racers}
    seat = next(number for number in range(1, race.options.players + 1) if number not in taken)
    origin, given = "" if command.house else command.origin, (command.player, name, seat)
    racer = Racer(*given, seated_at=now, bot=command.bot, origin=origin, house=command.house, shown=shown)
    # Players of the previous race come first, so that no spectator of that race becomes the host.
    racers = sorted((*race.racers, racer), key=lambda each: each.player not in race.before.players)
    return _start_if_due(replace(race, racers=tuple(racers)), now, *freed, "joined")


def _check_free_seat(race: Race, player: str, now: int) -> None:
    seats, expected = race.options.players, race.before.players
    if len(race.racers) >= seats or (race.earlier and player not in expected):
        raise refused("room_full", seats=seats) if seats > 1 else refused("only_seat_taken")
    wait = race.created + SEATS_KEPT - now
    awaited = [each for each in expected if race.racer(each) is None]
    if wait > 0 and player not in expected and len(race.racers) + len(awaited) >= seats:
        seconds = -(-wait // 1000)
        raise refused("seats_kept", retry_after=seconds, seconds=seconds)


def _free_seats(race: Race, kept: tuple[Racer, ...]) -> CommandResult:
    """Free the seats of all racers who are not in ``kept``."""
    return (race, ()) if kept == race.racers else (replace(race, racers=kept), ("left",))


def rejoin(race: Race, command: JoinCommand, now: int) -> CommandResult:
    """Refuse a player without a seat."""
    check_not_kicked(race, command.player)
    if race.racer(command.player):
        return set_away(race, AwayCommand(command.player, away=False), now)
    if not race.window or race.phase == "finished":
        raise refused("race_started_without_you")
    if race.goes_on:
        raise refused("next_opens", wait=_wait_text(race.opens[1] - now))
    raise refused("window_closes", wait=_wait_text(race.ends - now))


def _wait_text(milliseconds: int) -> str:
    minutes = max(1, -(-milliseconds // 60_000))
    return f"{minutes} min" if minutes < 120 else f"{-(-minutes // 60)} h"


def leave_seat(race: Race, command: LeaveCommand | KickCommand, now: int) -> CommandResult:
    """Free the seat of a player before the start."""
    racer = race.racer(command.player)
    if racer is None:
        return race, ()
    if race.phase == "countdown":
        return lose_seats(race, [racer], "kicked" if isinstance(command, KickCommand) else "left", now, "left")
    left = race.without([racer])
    if all(each.house for each in left.racers):  # nobody is left for whom they came
        left = replace(left, racers=())
    return _start_if_due(left, now, "left")


def rename(race: Race, command: RenameCommand, now: int) -> CommandResult:
    """Give a player another name, unless a share or the table of a series is bound to the first one.

    No hash ever covers what replaces a removed name.
    """
    if race.draw.number or race.before.rooms or is_removed(command.name):
        return show_name(race, command, now)
    racer = race.seated(command.player)
    _check_free_name(race.without([racer]), command.name)
    named = replace(race, before=race.before.giving(racer.player, command.name))
    return _if_changed(race, named.with_racer(racer, name=command.name, shown=""))


def show_name(race: Race, command: RenameCommand, now: int) -> CommandResult:
    """Show others another name of a player."""
    racer = race.seated(command.player)
    named = replace(race, before=race.before.showing(racer.player, command.name))
    return _if_changed(race, named.with_racer(racer, shown="" if command.name == racer.name else command.name))


def _if_changed(race: Race, renamed: Race) -> CommandResult:
    return (race, ()) if renamed.racers == race.racers else (renamed, ("renamed",))


def _check_free_name(race: Race, name: str) -> None:
    """Raise RequestRefused if a racer has a name that looks like this one."""
    for racer in race.racers:
        if look_alike(racer.name, name):
            raise refused("name_taken", name=racer.name)


def set_ready(race: Race, command: ReadyCommand, now: int) -> CommandResult:
    """Mark a player as ready, or as not ready."""
    racer = race.seated(command.player)
    if racer.ready == command.ready:
        return race, ()
    return _start_if_due(race.with_racer(racer, ready=command.ready), now, "ready" if command.ready else "unready")


def set_away(race: Race, command: AwayCommand, now: int) -> CommandResult:
    """Mark a player as away, or as back."""
    racer = race.racer(command.player)
    if racer is None or racer.away == command.away or not race.is_waiting:
        return race, ()
    return race.with_racer(racer, away=command.away), ("away" if command.away else "back",)


def start(race: Race, command: StartCommand, now: int) -> CommandResult:
    """Begin the countdown, as the host wants, or close the doors of a race with a window."""
    check_host(race, command.player)
    if race.opens and not race.reopened:
        raise refused("opens_by_itself")
    if race.window:
        return close_doors(race)
    return count_down(race, now, now + 1000 * race.options.countdown)


def open_doors(race: Race, command: StartCommand, now: int) -> CommandResult:
    """Open the doors of a race with a window again, as the host wants after its draws were lost."""
    if not race.has_lost_draws or race.is_opened_last:
        raise refused("race_started")
    check_host(race, command.player)
    racers = tuple(replace(racer, commitment=b"", share=b"") for racer in race.racers)
    return replace(race, phase="open", racers=racers, reopened=(*race.reopened, now)), ("reopened",)


def check_host(race: Race, player: str) -> None:
    """Raise RequestRefused unless a player is the host."""
    if race.seated(player).player != race.host:
        raise refused("not_host")


def _start_if_due(race: Race, now: int, *events: str) -> CommandResult:
    rule, seated = race.options.start, len(race.racers)
    enough = seated >= min(2, race.options.players)
    begins = (rule == "all-ready" and enough and all(racer.ready for racer in race.racers)) or (
        rule == "full" and seated == race.options.players
    )
    if not begins or race.next:
        return race, events
    return count_down(race, now, now + 1000 * race.options.countdown, *events)


def tick_open(race: Race, command: TickCommand, now: int) -> CommandResult:
    """Free the seats of absent players, name another host, begin the countdown, or close the room, if it is time."""
    due = now >= due_at(race)
    if race.window and due and race.racers:
        return close_doors(race)
    if is_alone(race, now):
        return race, ()  # until a node has looked for an earlier race
    if race.next:
        return (replace(race, phase="closed"), ("closed",)) if due else (race, ())
    if due and race.options.start == "at" and race.racers:
        return count_down(race, now, max(now, race.options.start_at))
    left, freed = _free_seats(race, present_racers(race, command.progress, now))
    if due and host_due_at(race) and not freed:
        host = race.seated(race.host)
        return replace(race, racers=(*race.without([host]).racers, host)), ("host_changed",)
    due = due and not host_due_at(race)
    if due and not left.racers:
        return replace(race, phase="closed"), ("closed",)
    if freed:
        return _start_if_due(left, now, *freed)
    return race, ("kept_open",) if due else ()
