"""The races of new rooms: first races, rematches with the tables of their series, tides, and repeated deals."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from itertools import pairwise

from msgspec.structs import replace

from samedeal.deal import Deal, commitment
from samedeal.games import game_named
from samedeal.names import is_removed
from samedeal.options import LONGEST_PERIOD, LONGEST_SERIES, SHORTEST_WINDOW, Options
from samedeal.protocol.codec import pack
from samedeal.protocol.messages import EarlierPlayer
from samedeal.race.values import SHORTEST_DOORS, Race, RaceBefore, Racer
from samedeal.sentences import refused
from samedeal.solver.estimate import weights_of
from samedeal.solver.solve import SOLVER
from samedeal.terms import description_hash


def first_race(
    room: str,
    options: Options,
    deal: Deal,
    seed: bytes,
    now: int,
    *,
    private: bool = False,
    tide: int = 0,
    house: int = 0,
    window: int = 0,
    opens: tuple[int, ...] = (),
) -> Race:
    """Return the first race of a new room.

    ``seed`` is as in ``DealSecret``, and ``tide``, ``house``, ``window`` and ``opens`` are as in ``Race``. Raise
    RequestRefused if the options do not fit a window or a standing series.
    """
    if window:
        options = options_of_window(options, deal, window, house)
    if opens:
        _check_openings(opens, window, options.series, now)
    opened = Race(room, options, 0, str(deal), b"", private, now, now, tide=tide, house=house)
    return _committed(_with_window(opened, window, opens), seed)


def _with_window(race: Race, window: int, opens: tuple[int, ...]) -> Race:
    """Return a new race with a window, if that has a length.

    In a standing series, it closes ten minutes before the next one opens, so that others can take seats there.
    """
    opened = opens[0] if opens else race.created
    ends = min([opened + 1000 * window, *(following - SHORTEST_DOORS for following in opens[1:2])])
    return replace(race, window=window, opens=opens, ends=ends if window else 0)


def _check_openings(opens: tuple[int, ...], window: int, races: int, now: int) -> None:
    """Raise RequestRefused unless a standing series with so many races can have windows that open at these times.

    A window may overlap the next one by an hour, so that one of a day fits each day, also when summer time begins.
    """
    shortest = max(SHORTEST_WINDOW, window - 3_600)
    periods = [(later - earlier) / 1000 for earlier, later in pairwise(opens)]
    fits = window and 0 < opens[0] - now <= 1000 * LONGEST_PERIOD and 1 < len(opens) == races <= LONGEST_SERIES
    if not fits or not all(shortest <= period <= LONGEST_PERIOD for period in periods):
        raise refused("bad_series")


def options_of_window(options: Options, deal: Deal, window: int, house: int) -> Options:
    """Return the options of a race with a window, which admits no bots. Raise RequestRefused if there is no such race."""
    is_drawn, is_hosted = deal.has_proof and not deal.public, options.start == "host" and options.hosted
    if window < SHORTEST_WINDOW or house or not (is_drawn and is_hosted) or options.first_finish_ends:
        raise refused("bad_window")
    return replace(options, bots=False)


def rematch(race: Race, room: str, seed: bytes, now: int) -> Race:
    """Return the rematch of a finished race, which may be the next one of its series.

    In a standing series, the players keep their seats, except those who were kicked or whose names were removed.
    """
    options, round_number = successor_options(race), race.round + 1
    players = tuple(
        each.player
        for each in race.racers
        if each.player not in race.kicked.players and not is_removed(each.shown)  # who can never come
    )
    if round_number % options.series:  # the table follows from records, which know players by their names
        rooms = (*race.before.rooms, race.room)
        before = replace(race.before, room=race.room, players=players, table=race.table, rooms=rooms)
    else:
        before = replace(_names_after(race), room=race.room, players=players)
    is_alone = sum(not each.bot for each in race.racers) == 1  # bots of the house may have died before the start
    successor = Race(
        *(room, options, round_number, options.deal, b"", race.private, now, now),
        home=race.home or race.room,
        house=race.house if is_alone else sum(each.house for each in race.racers),
    )
    successor = _with_window(successor, race.window, race.opens[1:])
    if successor.opens:
        kept = (each for each in race.racers if each.player in players)
        seats = (Racer(each.player, each.name, each.seat, origin=each.origin, shown=each.shown) for each in kept)
        successor = replace(successor, racers=tuple(seats))
    return _committed(replace(successor, origin=race.origin, before=before, kicked=race.kicked), seed)


def repetition(race: Race, room: str, deal: Deal, players: Sequence[EarlierPlayer], seed: bytes, now: int) -> Race:
    """Return a race in which the deal of an earlier race of ``players`` is dealt again to the only player of ``race``."""
    options = replace(race.options, players=1, start="full", start_at=0)
    before = replace(_names_after(race), players=tuple(racer.player for racer in race.racers))
    repeated = Race(room, options, 0, str(deal), b"", race.private, now, now, home=race.home or race.room)
    return _committed(
        replace(repeated, origin=race.origin, before=before, kicked=race.kicked, earlier=tuple(players)), seed
    )


def _names_after(race: Race) -> RaceBefore:
    """Return the names that the operator has chosen: the next race gives them to players, except those that were removed."""
    chosen = {**race.before.given, **race.before.shown}
    removed = {player: name for player, name in chosen.items() if is_removed(name)}
    return RaceBefore(given={each: name for each, name in chosen.items() if each not in removed}, shown=removed)


def successor_options(race: Race) -> Options:
    """Return the options of the rematch."""
    return race.options.successor(Deal.parse(race.deal))


def _committed(race: Race, seed: bytes) -> Race:
    race = replace(race, rules=rules_of(race), description=description_hash(race.game))
    return replace(race, commitment=commitment(race.terms.digest, seed))


def rules_of(race: Race) -> bytes:
    """Return a hash of what this node knows of the games of a race and of its rematches.

    Two nodes with the same hash deal the same cards and allow the same moves.
    """
    games = [game_named(name) for name in race.options.games]
    searches = [(SOLVER, weights_of(game), game.file.difficulty) for game in games if race.is_searched]
    return sha256(pack(([game.rules_hash for game in games], searches))).digest()
