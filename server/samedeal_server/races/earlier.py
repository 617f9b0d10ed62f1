"""Earlier races whose deals are dealt again, to players for whom nobody came, and attempts at deals of the day. Pure.

The speed of a player is the mean time for a card on the foundations. It is told to nobody.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from samedeal.deal import Deal
from samedeal.protocol.messages import EarlierPlayer
from samedeal.race.draws import mixed
from samedeal.race.values import DealSecret, Race
from samedeal.solver.solve import SOLVER
from samedeal_server.races.log_entry import LogEntry

MOST_PLAYERS: Final = 4
"""Maximum number of players of an earlier race that are shown: the best ones."""

LEAST_PACE: Final = 0.7
MOST_PACE: Final = 1.5
"""The times for a card between which attempts at a daily deal are raced against, as shares of the player's own."""

_REMEMBERED: Final = 64
"""Number of deals of a player that are remembered."""

_COUNTED: Final = 16
"""Number of races of a player that are known to have been counted. A node may try to count a race again soon."""

_WAIT: Final = 60_000
_MOST_WAITS: Final = 4
"""Minutes that a player waits at most after a tide has opened. It is open for longer."""

_WEIGHT: Final = 4
"""The speed of a new race counts for one part of this number."""


class EarlierRace(Struct, frozen=True):
    """A finished race whose deal can be dealt again, or one on a daily deal, with those who had not had it before.

    ``deal`` is the deal as text, ``again`` with the mix of a joint deal. ``ids`` are the players who have seen it.
    ``pace`` is the time, in milliseconds, for a card of the best of ``players``.
    """

    deal: str
    solver: int
    budget: int
    pace: int
    players: tuple[EarlierPlayer, ...]
    ids: tuple[str, ...]


class PlayerPast(Struct, frozen=True):
    """What is remembered of a player: the time for a card, in milliseconds, or 0, and the deals of their last races.

    ``missed`` is the number of tides that the player has entered since the last race with a move, and ``tide`` the start
    of the last one. ``races`` are the ids of the last races that were counted.
    """

    pace: int = 0
    deals: tuple[str, ...] = ()
    tide: int = 0
    missed: int = 0
    races: tuple[str, ...] = ()

    def with_race(self, race: str, pace: int, deal: str, *, has_moved: bool = True) -> PlayerPast:
        """Return the past with one more race, unless the race with this id was counted before.

        ``pace`` is 0 if the player brought no card to the foundations.
        """
        if race in self.races:
            return self
        mean = (self.pace * (_WEIGHT - 1) + pace) // _WEIGHT if self.pace and pace else pace or self.pace
        deals = tuple(dict.fromkeys(filter(None, (deal, *self.deals))))[:_REMEMBERED]
        races = (race, *self.races)[:_COUNTED]
        return replace(self, pace=mean, deals=deals, missed=0 if has_moved else self.missed, races=races)

    def entering(self, tide: int) -> PlayerPast:
        """Return the past of a player who enters the tide that starts at ``tide``."""
        return self if tide == self.tide else replace(self, tide=tide, missed=self.missed + 1)

    @property
    def wait(self) -> int:
        """The time, in milliseconds, for which the player waits after a tide has opened, because of tides without a move."""
        return _WAIT * min(max(self.missed - 1, 0), _MOST_WAITS)


def paces(race: Race) -> dict[str, int]:
    """Return the times for a card of all persons in a race, in milliseconds.

    It is 0 for those without a card, and for somebody who has left a race against nobody but the house.
    """
    length = 1000 * race.options.limit if race.window else race.result.finished_at - race.starts
    is_alone = sum(not racer.house for racer in race.racers) == 1 < len(race.racers)
    return {
        line.player: -(-(line.time or length) // line.foundation_cards)
        if line.foundation_cards and not (is_alone and line.resigned)
        else 0
        for line in race.result.standings
        if not line.bot
    }


def deal_to_repeat(race: Race, secret: DealSecret) -> str:
    """Return the deal with which a race can be repeated, as text. Return an empty text if there is none.

    Only joint deals of any difficulty, their repetitions and daily deals can be repeated.
    """
    deal, shares = Deal.parse(race.deal), race.draw.shares
    if deal.kind in ("again", "daily"):
        return race.deal
    return f"again {mixed(secret.seed, shares).hex()}" if race.deal == "winnable" and shares else ""


def earlier_race(
    race: Race, secret: DealSecret, logs: Mapping[str, Iterable[LogEntry]], had: Collection[str] = ()
) -> EarlierRace | None:
    """Return what is kept of a finished race to repeat its deal. Return None if it cannot be repeated.

    It must be public, its options must allow it, and a person must have brought a card to the foundations who had not
    ``had`` the deal before. A repetition is not repeated again.
    """
    deal, found = deal_to_repeat(race, secret), paces(race)
    fitting = [line for line in race.shown_standings if found.get(line.player) and line.player not in had]
    best, is_again = fitting[:MOST_PLAYERS], Deal.parse(race.deal).kind == "again"
    if race.private or is_again or not (race.options.spectators and race.options.repeated and deal and best):
        return None
    players = tuple(
        EarlierPlayer(
            name=line.name,
            foundation_cards=line.foundation_cards,
            time=line.time,
            reached=_reached(logs[line.player], line.began_at or race.starts),
            started=race.starts,
        )
        for line in best
    )
    ids = tuple(racer.player for racer in race.racers)
    return EarlierRace(deal, SOLVER, race.search.budget, found[best[0].player], players, ids)


def choose(races: Sequence[EarlierRace], race: Race, past: PlayerPast) -> EarlierRace | None:
    """Return the earlier race to repeat for the only player of ``race``, or None if none fits.

    The player has not had its deal, and its best player is about as fast. Of equal ones, the first is chosen.
    """
    (racer,) = race.racers
    fitting = [
        each
        for each in races
        if each.deal.startswith("again")
        and racer.player not in each.ids
        and each.deal not in past.deals
        and (each.solver, each.budget) == (SOLVER, race.search.budget)
    ]
    return min(fitting, key=lambda each: abs(math.log(each.pace / (past.pace or each.pace))), default=None)


def attempts_near(races: Iterable[EarlierRace], deal: str, player: str, pace: int) -> tuple[EarlierPlayer, ...]:
    """Return others' first attempts at a daily deal, at a pace near that of a player, but never the best attempt.

    ``pace`` is the player's time for a card, or 0 if it is not known yet. That of the middle attempt then stands for it.
    """
    attempts = [
        ((each.time or each.reached[-1]) / each.foundation_cards, player in race.ids, each)
        for race in races
        if race.deal == deal
        for each in race.players
    ]
    attempts.sort(key=lambda attempt: attempt[0])
    own = pace or (attempts[len(attempts) // 2][0] if attempts else 0)
    fitting = [
        (abs(math.log(time / own)), each)
        for time, is_own, each in attempts[1:]
        if not is_own and LEAST_PACE * own <= time <= MOST_PACE * own
    ]
    fitting.sort(key=lambda attempt: attempt[0])
    return tuple(each for _, each in fitting[:MOST_PLAYERS])


def _reached(log: Iterable[LogEntry], starts: int) -> tuple[int, ...]:
    times: list[int] = []
    for entry in log:
        times += [entry.committed_at - starts] * (entry.foundation_cards - len(times))
    return tuple(times)
