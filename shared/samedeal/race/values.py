"""The values that a race consists of, and what follows from them alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final, Self

from msgspec import Meta, Struct
from msgspec.structs import replace

from samedeal.deal import Deal
from samedeal.deal_proof import LostShare, RevealedShare
from samedeal.difficulty import states_of
from samedeal.game import Game
from samedeal.joint_deal import MAX_DRAWS, MAX_OPENINGS, DealTerms
from samedeal.options import MAX_PLAYERS, MAX_SEATS, Options
from samedeal.protocol.messages import EarlierPlayer, Phase, Standing, TableLine
from samedeal.race.progress import Progress, ProgressByPlayer
from samedeal.sentences import refused
from samedeal.series import with_race
from samedeal.solver.solve import SOLVER
from samedeal.terms import RoomTerms

MOST_ACTIONS: Final = 40_000
"""Maximum number of actions of all players of a race together."""

SHORTEST_DOORS: Final = 600_000
"""Minimum time, in milliseconds, in which players can enter the first race of a standing series before its window opens.

The later ones open when everybody was told, because the players keep their seats.
"""

_MAX_KICKED: Final = 100
"""Maximum number of kicked players, and of their origins, that a race remembers."""

_MAX_NAMED: Final = 100
"""Maximum number of names chosen by the operator that a race remembers, of each kind."""


class Racer(Struct, frozen=True, omit_defaults=True):
    """A player with a seat. Times are in milliseconds since 1970.

    ``bot`` is true if the player has declared to be a bot, and ``house`` if it is one of the server's house. ``origin`` is a
    keyed hash of the network from which the player took the seat, and empty for the house. ``away`` is true while the player
    waits without looking at the room. ``shown`` is the name that the operator wants others to see, or empty. ``stuck_at`` is
    when the player last declared to be stuck, or 0. For a joint deal, ``commitment`` is the hash of the player's share for
    the present draw, and empty until the player sends it. ``share`` is empty until the player reveals it. When all players
    have revealed their shares, all shares move to ``DrawProgress.shares``.
    """

    player: str
    name: str
    seat: int
    ready: bool = False
    resigned: bool = False
    seated_at: int = 0
    bot: bool = False
    origin: str = ""
    stuck_at: int = 0
    commitment: bytes = b""
    share: bytes = b""
    away: bool = False
    house: bool = False
    shown: str = ""

    def is_stuck(self, progress: Progress) -> bool:
        """Return whether the player has declared to be stuck, and has moved no card to or from a foundation since."""
        return self.stuck_at > 0 and progress.last_progress_at <= self.stuck_at

    def is_done(self, progress: Progress) -> bool:
        """Return whether the player has finished, has resigned, or has no moves left."""
        return bool(self.resigned or progress.finished_at or progress.no_moves_left_at)


class FoundDeal(Struct, frozen=True):
    """The result of the search for a joint or daily deal.

    ``draw`` is the number of the draw that decided the deal, and ``shares`` are the shares that were revealed in it.
    ``candidate`` is the number of the first candidate deal that the solver wins. ``line`` is the solver's winning
    sequence of moves, separated by commas.
    """

    draw: int
    shares: tuple[RevealedShare, ...]
    candidate: int
    line: str


class DealSecret(Struct, frozen=True):
    """The secret that decides the deal of a race. It must stay hidden until the race is finished.

    ``seed`` is the seed of the deal. For a joint deal it is the server's secret, and for a daily deal the mix (see
    ``samedeal.joint_deal``). ``found`` is the result of the search for a joint or daily deal, and None until the search
    has ended.
    """

    seed: bytes
    found: FoundDeal | None = None


class DrawProgress(Struct, frozen=True, omit_defaults=True):
    """How far a joint or daily deal has been drawn.

    ``number`` is the number of the newest draw of a joint deal, or 0 before the first one, and ``lost`` has the players
    who lost their seats in these draws. ``reveal_by`` is when the players must have committed, or once the draw is
    sealed, when they must have revealed. ``shares`` is filled when the last share is revealed. ``found`` says whether the
    search has found the deal, and ``is_late`` whether the countdown was extended. In a race with a window, ``seats`` has
    the seats of those who draw. It is empty while nobody does, and in all other races, where everybody draws.
    """

    number: int = 0
    reveal_by: int = 0
    shares: tuple[RevealedShare, ...] = ()
    lost: tuple[LostShare, ...] = ()
    found: bool = False
    is_late: bool = False
    seats: tuple[int, ...] = ()


class KickedPlayers(Struct, frozen=True, omit_defaults=True):
    """Who was removed from this race or an earlier one.

    ``players`` has their ids, and ``origins`` their origins in a public room, except those of hosts.
    """

    players: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()

    def adding(self, player: str, origin: str = "") -> Self:
        """Return who was removed, with one more player. An empty origin is not remembered."""
        origins = (*self.origins, origin) if origin and origin not in self.origins else self.origins
        return replace(self, players=(*self.players, player)[-_MAX_KICKED:], origins=origins[-_MAX_KICKED:])


class RaceBefore(Struct, frozen=True, omit_defaults=True):
    """What a race takes over from the race before it, if there was one.

    ``room`` is the room of that race, or empty if this race is no rematch. ``players`` has the ids of the players for
    whom this race keeps seats: those of the race before, or the one for whom a deal is dealt again. ``table`` is the
    table of a series before this race, and ``rooms`` has the rooms of its races. ``given`` has the names that the operator
    has given to players, by their ids, and ``shown`` those that others are shown, both also of this race.
    """

    room: str = ""
    players: tuple[str, ...] = ()
    table: tuple[TableLine, ...] = ()
    rooms: tuple[str, ...] = ()
    given: dict[str, str] = {}  # msgspec copies it
    shown: dict[str, str] = {}

    def giving(self, player: str, name: str) -> Self:
        """Return this after the operator has given a player a name."""
        shown = {each: other for each, other in self.shown.items() if each != player}
        return replace(self, given=dict([*self.given.items(), (player, name)][-_MAX_NAMED:]), shown=shown)

    def showing(self, player: str, name: str) -> Self:
        """Return this after the operator has chosen which name others are shown of a player."""
        return replace(self, shown=dict([*self.shown.items(), (player, name)][-_MAX_NAMED:]))


class RaceResult(Struct, frozen=True, omit_defaults=True):
    """What is known once a race is finished. ``finished_at`` is when it ended.

    A joint or daily deal has a proof as text, and any other deal a seed.
    """

    finished_at: int = 0
    standings: tuple[Standing, ...] = ()
    seed: bytes = b""
    proof: str = ""


class Race(Struct, frozen=True, omit_defaults=True):
    """The race of a room. Times are in milliseconds since 1970, and 0 if they are not known yet.

    ``round`` is 0 for a first race and rises by one with each rematch. ``deal`` is the deal as text, as in the room
    options. ``commitment`` is the published hash of the seed, or of the server's secret if the deal is joint.
    ``changed_at`` is the time of the last change.

    ``rules`` is the hash by which nodes notice that they have other descriptions of the room's games, and
    ``description`` is the ``description_hash`` of this race's game. ``origin`` is a keyed hash of the network from which
    somebody asked for the room, or in a standing series for its first room. ``tide`` is when the tide of the race
    starts, or 0. ``ready_since`` is when all persons besides the host had become ready, as long as they all are.
    ``house`` is how many bots of the house may come.

    ``home`` is the room of the first race, where the racers of its rematches meet. It is empty in that room.

    ``next`` is the room of this race's own rematch, and ``next_by`` the racer who asked for it. If only one player came,
    ``next`` is the room in which the deal of an earlier race is dealt again, and there ``earlier`` has that race's players.
    On a daily deal, it has others who have had the deal, for the only person in the race.

    ``window`` is the length of the race's window in seconds, or 0. In a window, each player begins at a time of their own.
    ``opens`` are the times at which the windows of this race and of all later ones of a standing series open. ``reopened``
    has the times when its host has opened the doors again.

    A field is not stored if its value is the default. Therefore no default may ever change.
    """

    room: str
    options: Options
    round: int
    deal: str
    commitment: bytes
    private: bool
    created: int
    changed_at: int
    rules: bytes = b""
    description: bytes = b""
    origin: str = ""
    tide: int = 0
    home: str = ""
    phase: Phase = "open"
    racers: Annotated[tuple[Racer, ...], Meta(max_length=MAX_SEATS)] = ()
    ready_since: int = 0
    starts: int = 0
    ends: int = 0
    next: str = ""
    earlier: tuple[EarlierPlayer, ...] = ()
    before: RaceBefore = RaceBefore()
    kicked: KickedPlayers = KickedPlayers()
    draw: DrawProgress = DrawProgress()
    result: RaceResult = RaceResult()
    house: int = 0
    next_by: str = ""
    window: int = 0
    reopened: tuple[int, ...] = ()
    opens: tuple[int, ...] = ()

    @property
    def table(self) -> tuple[TableLine, ...]:
        """The table of the series, with this race if it is finished. It is empty if the race belongs to no series."""
        result, table = self.result, self.before.table
        if self.options.series == 1 or not result.standings:
            return table
        length = 1000 * self.options.limit if self.window else result.finished_at - self.starts
        return with_race(table, result.standings, length)

    @property
    def game(self) -> Game:
        """The game of this race."""
        return self.options.game(self.round)

    @property
    def path(self) -> str:
        """The path at which the racers connect, so that they meet on one node. Rematches keep it."""
        return f"/r/{self.home or self.room}"

    @property
    def is_open(self) -> bool:
        """Whether players can come: the phase is ``open``, and the only player has no other room to go on to."""
        return self.phase == "open" and not self.next

    @property
    def is_waiting(self) -> bool:
        """Whether the race has not started: its phase is ``open`` or ``countdown``."""
        return self.phase in ("open", "countdown")

    @property
    def is_searched(self) -> bool:
        """Whether the deal is joint or daily. A node must then search for a deal that can be won."""
        return Deal.parse(self.deal).has_proof

    @property
    def is_joint(self) -> bool:
        """Whether the players draw the deal together with the server."""
        deal = Deal.parse(self.deal)
        return deal.has_proof and not deal.public

    @property
    def lacks_deal(self) -> bool:
        """Whether the race is in its countdown and its deal has not been found yet."""
        return self.phase == "countdown" and not self.draw.found and self.is_searched

    @property
    def lacks_shares(self) -> bool:
        """Whether the race is in its countdown and some shares of its joint deal have not been revealed yet."""
        return self.lacks_deal and self.is_joint and not self.draw.shares

    @property
    def doors_close_at(self) -> int:
        """When nobody can enter a race with a window any more: after a quarter of what was left of the window.

        In a standing series, that is when the window opens. It is 0 in a race without one.
        """
        if self.opens and not self.reopened:
            earliest = 0 if self.before.room else self.created + SHORTEST_DOORS
            return min(max(self.opens[0], earliest), self.ends)
        opened = self.reopened[-1] if self.reopened else self.created
        return opened + (self.ends - opened) // 4 if self.window else 0

    @property
    def draws_before(self) -> int:
        """The number of the last draw that there could be before the doors were opened again, or 0 if they were not."""
        return MAX_DRAWS * len(self.reopened)

    @property
    def may_draw(self) -> list[Racer]:
        """The racers who may draw the deal of a race with a window: those who have lost no share since the doors opened."""
        lost = {each.seat for each in self.draw.lost if each.draw > self.draws_before}
        return [racer for racer in self.racers if racer.seat not in lost and not racer.resigned]

    @property
    def has_lost_draws(self) -> bool:
        """Whether nobody can draw the deal of a race with a window, unless the doors are opened again."""
        is_between = self.window > 0 and self.lacks_shares and not self.draw.seats
        return is_between and (self.draw.number >= self.draws_before + MAX_DRAWS or not self.may_draw)

    @property
    def is_opened_last(self) -> bool:
        """Whether the host may not open the doors of a window again."""
        return len(self.reopened) + 1 >= MAX_OPENINGS

    @property
    def goes_on(self) -> bool:
        """Whether another race of a standing series follows, and has no room yet."""
        return len(self.opens) > 1 and not self.next

    @property
    def is_hidden(self) -> bool:
        """Whether each player may know only their own attempt: the window is open and its deal is known."""
        return self.window > 0 and self.draw.found and self.phase in ("countdown", "racing")

    @property
    def drawing(self) -> tuple[Racer, ...]:
        """The racers who draw the joint deal: all of them, or in a race with a window those who are there."""
        seats = self.draw.seats
        return tuple(racer for racer in self.racers if racer.seat in seats) if self.window else self.racers

    @property
    def is_sealed(self) -> bool:
        """Whether all players who draw have committed to their shares for the present draw."""
        drawing = self.drawing
        return all(racer.commitment for racer in drawing) and (len(drawing) > 0 or not self.window)

    @property
    def awaited(self) -> list[Racer]:
        """The racers who have to commit to a share, or to reveal one, before the draw goes on."""
        if not self.lacks_shares:
            return []
        return [racer for racer in self.drawing if not (racer.share if self.is_sealed else racer.commitment)]

    @property
    def needs_search(self) -> bool:
        """Whether a node must search for the deal now: the deal has not been found, and no share is missing."""
        return self.lacks_deal and not self.lacks_shares

    @property
    def is_listed(self) -> bool:
        """Whether lists have the room: it is for everybody, it is not closed, and somebody can still enter it."""
        return self.is_for_everybody and (self.is_open or self.phase not in ("open", "closed"))

    @property
    def is_for_everybody(self) -> bool:
        """Whether strangers may learn of the room: it is neither private nor opened for a race against bots."""
        return not self.private and (self.is_race_now or not self.house)

    @property
    def is_race_now(self) -> bool:
        """Whether the server has opened the room for people who want to race now. Only bots of the house are admitted."""
        return self.house > 0 and not self.options.hosted

    @property
    def is_crowd(self) -> bool:
        """Whether the race has more racers than the room of a client can have, and is not in its short countdown."""
        return len(self.racers) > MAX_PLAYERS and self.phase != "countdown"

    @property
    def most_actions(self) -> int:
        """Maximum number of a player's actions, so that the record of the race is not too large to be kept."""
        return MOST_ACTIONS // max(1, len(self.racers))

    @property
    def terms(self) -> RoomTerms:
        """Everything about the race that was fixed when its room was opened."""
        deal = Deal.parse(self.deal)
        options = RoomTerms.options_with(self.options, deal)
        fixed = self.room, self.round, self.game, self.description, deal, self.private, self.tide
        return RoomTerms(*fixed, options, self.window)

    @property
    def search(self) -> DealTerms:
        """The conditions of the search for the deal, if the deal is joint or daily."""
        least, budget = states_of(self.game, Deal.parse(self.deal).difficulty)
        return DealTerms(self.room, self.game, SOLVER, budget, least)

    @property
    def host(self) -> str:
        """The id of the host: the first racer who is a person, or the first bot.

        A racer whom the operator removes during the draw of a window keeps the seat, but cannot be the host. The id is
        empty if nobody has a seat, or if the options say that nobody is the host.
        """
        if not self.options.hosted:
            return ""
        racers = [racer for racer in self.racers if not (racer.resigned and self.is_waiting)]
        person = next((racer.player for racer in racers if not racer.bot), "")
        return person or next((racer.player for racer in racers if not racer.house), "")

    @property
    def guests(self) -> frozenset[str]:
        """The persons besides the host. It is empty unless all of them are ready."""
        others = [racer for racer in self.racers if not racer.bot and racer.player != self.host]
        return frozenset(racer.player for racer in others) if all(racer.ready for racer in others) else frozenset()

    def racer(self, player: str) -> Racer | None:
        """Return the racer with the id ``player``, or None if the player has no seat."""
        return next((racer for racer in self.racers if racer.player == player), None)

    @property
    def shown_standings(self) -> tuple[Standing, ...]:
        """The standings for those who are not in the room, with the names that the operator wants others to see."""
        shown = {racer.player: racer.shown for racer in self.racers if racer.shown}
        return tuple(replace(line, name=shown.get(line.player, line.name)) for line in self.result.standings)

    def seated(self, player: str) -> Racer:
        """Return the racer with the id ``player``. Raise RequestRefused if the player has no seat."""
        racer = self.racer(player)
        if racer is None:
            raise refused("no_seat_here")
        return racer

    def began_at(self, progress: Progress) -> int:
        """Return when the clock of a player began, or 0 if it has not."""
        return progress.began_at if self.window else self.starts

    def ends_at(self, progress: Progress) -> int:
        """Return when the time of a player is up, at the latest."""
        began = progress.began_at
        return min(self.ends, began + 1000 * self.options.limit) if self.window and began else self.ends

    def with_progress(self, progress: ProgressByPlayer) -> list[tuple[Racer, Progress]]:
        """Return each racer with the racer's progress."""
        return [(racer, progress.get(racer.player, Progress())) for racer in self.racers]

    def with_racer(self, racer: Racer, **fields: Any) -> Self:
        """Return the race after some fields of a racer have changed."""
        racers = tuple(replace(each, **fields) if each is racer else each for each in self.racers)
        return replace(self, racers=racers)

    def without(self, racers: Sequence[Racer]) -> Self:
        """Return the race after some racers have lost their seats."""
        return replace(self, racers=tuple(each for each in self.racers if each not in racers))
