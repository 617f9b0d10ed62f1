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
  resigns. A player who is absent from an open room for a while loses the seat, so that nobody waits for them. In a
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
  that number first. Players who are equal in all of this share a place.
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
- In a public room, players from one address other than the host's take at most half of the seats.
  In a room without a host, this applies to every address. In a room with more than 16 seats, every address has at most
  four: fewer than there are draws.
- The operator may close a room. A race that is closed while under way has no standings, and its seed is not revealed.

What each command does, by phase. Where the table has a code (``bad_share``, ``not_racing``, ``not_over``,
``room_closed`` or ``started``, which is short for ``race_started``), the command is refused with this code::

                  open        countdown   racing      finished    closed
    Join          takes seat  rejoins     rejoins     rejoins     room_closed
    Leave         gives up    gives up    resigns     nothing     nothing
    Ready         marks       started     started     started     room_closed
    Start         countdown   started     started     started     room_closed
    CommitShare   bad_share   commits     bad_share   bad_share   room_closed
    RevealShare   bad_share   reveals     bad_share   bad_share   room_closed
    FixDeal       nothing     fixes       nothing     nothing     nothing
    RaceAlone     countdown   nothing     nothing     nothing     nothing
    Resign        not_racing  not_racing  resigns     not_racing  room_closed
    DeclareStuck  not_racing  not_racing  is stuck    not_racing  room_closed
    LinkRematch   not_over    not_over    not_over    links       room_closed
    Kick          removes     removes     resigns     removes     room_closed
    Kick by host  removes     removes     started     started     room_closed
    Close         closes      closes      closes      closes      nothing
    Tick          may start   may race    may finish  may close   nothing

Tick is the command for the passing of time. In an open room, Join and Tick also free the seats of absent players. In the
countdown, Tick also frees the seats of players who have not committed or revealed in time. If the countdown ends before
the deal has been found, Tick extends the countdown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Final, get_args

from msgspec import Meta, Struct
from msgspec.structs import replace

from samedeal.board import Board
from samedeal.board_history import Play, Undo
from samedeal.deal import Deal, shuffled
from samedeal.deal_proof import DealProof, LostShare, RevealedShare
from samedeal.errors import RequestRefused
from samedeal.game import Game
from samedeal.joint_deal import (
    MAX_DRAWS,
    SHARE_BYTES,
    DealTerms,
    LossReason,
    candidate_board,
    mix,
    share_commitment,
)
from samedeal.look_alikes import look_alike
from samedeal.moves import Move
from samedeal.options import MAX_PLAYERS, MAX_SEATS, SEATS_OF_ADDRESS, Options
from samedeal.protocol.messages import EarlierPlayer, Phase, Standing, TableLine
from samedeal.series import with_race
from samedeal.standings import Result, ranked
from samedeal.terms import RoomTerms
from samedeal_server.races import refusals

ROOM_LIFETIME: Final = 3_600_000
"""Time, in milliseconds, for which a room stays open after its race has finished.

An empty room that was opened for a rematch stays open for the same time.
"""

EMPTY_LIFETIME: Final = 300_000
"""Time, in milliseconds, for which an empty room stays open.

The time is short, because a client can easily open many rooms. It does not apply to a room that was opened for a
rematch, or whose race is scheduled.
"""

ABSENT_AFTER: Final = 45_000
"""Time, in milliseconds, without a sign of life from a player after which the player counts as disconnected."""

SEATS_KEPT: Final = 30_000
"""Time, in milliseconds, for which a rematch keeps seats free for the players of the previous race."""

SCHEDULED_ABSENT_AFTER: Final = 3_600_000
"""Time, in milliseconds, after which an absent player of a scheduled race may lose the seat.

The player loses the seat only if another player finds the room full.
"""

HOST_TIMEOUT: Final = 60_000
"""Time, in milliseconds, for which all other persons must have been ready before the next person becomes the host.

Only a new host or another person who is not ready yet starts this time anew.
"""

IDLE_AFTER: Final = 240_000
"""Time, in milliseconds, without an action after which a player who can still make moves counts as idle."""

SHARE_TIMEOUT: Final = 10_000
"""Time, in milliseconds, in which players must commit to their shares, and then again to reveal them.

A player who misses this time loses the seat.
"""

FOLLOW_TIMEOUT: Final = 60_000
"""Time, in milliseconds, in which the only player of a room has to go on to another one. Then the room closes."""

EXTENSION: Final = 2_000
"""Time, in milliseconds, by which a countdown is extended if it ends before the deal has been found."""

MOST_ACTIONS: Final = 40_000
"""Maximum number of actions of all players of a race together."""

_MAX_KICKED: Final = 100
"""Maximum number of kicked players, and of their origins, that a race remembers."""


class Racer(Struct, frozen=True, omit_defaults=True):
    """A player with a seat. Times are in milliseconds since 1970.

    ``bot`` is true if the player has declared to be a bot. ``origin`` is a keyed hash of the network from which the
    player took the seat. ``stuck_at`` is when the player last declared to be stuck, or 0. For a joint deal,
    ``commitment`` is the hash of the player's share for the present draw, and empty until the player sends it. ``share``
    is empty until the player reveals it. When all players have revealed their shares, all shares move to
    ``Race.shares``.
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

    def is_stuck(self, progress: Progress) -> bool:
        """Return whether the player has declared to be stuck, and has moved no card to or from a foundation since."""
        return self.stuck_at > 0 and progress.last_progress_at <= self.stuck_at


class Progress(Struct, frozen=True):
    """A player's progress in a race. Times are in milliseconds since 1970, and 0 until the event has happened.

    ``generation`` is the number of the player's newest connection, and ``last_seen`` is the time of its last sign of
    life. ``last_progress_at`` is when ``foundation_cards`` last changed. ``no_moves_left_at`` is when the player had no
    legal move left, in a room that does not allow undo.
    """

    generation: int = 0
    revision: int = 0
    foundation_cards: int = 0
    moves: int = 0
    undos: int = 0
    last_action_at: int = 0
    last_progress_at: int = 0
    finished_at: int = 0
    no_moves_left_at: int = 0
    last_seen: int = 0
    connected: bool = False


ProgressByPlayer = Mapping[str, Progress]


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


def mixed(secret: bytes, shares: Sequence[RevealedShare]) -> bytes:
    """Return the mix of a joint or daily deal. The mix decides which deals the search tries.

    The mix of a joint deal is a hash of the server's secret and all shares. A daily deal has no shares, and its
    ``secret`` is the mix itself.
    """
    return mix(secret, [(share.seat, share.share) for share in shares]) if shares else secret


class DealSecret(Struct, frozen=True):
    """The secret that decides the deal of a race. It must stay hidden until the race is finished.

    ``seed`` is the seed of the deal. For a joint deal it is the server's secret, and for a daily deal the mix (see
    ``samedeal.joint_deal``). ``found`` is the result of the search for a joint or daily deal, and None until the search
    has ended.
    """

    seed: bytes
    found: FoundDeal | None = None


class Race(Struct, frozen=True, omit_defaults=True):
    """The race of a room. Times are in milliseconds since 1970, and 0 if they are not known yet.

    ``round`` is 0 for a first race and rises by one with each rematch. ``deal`` is the deal as text, as in the room
    options. ``commitment`` is the published hash of the seed, or of the server's secret if the deal is joint. ``seed``
    is empty until the race is finished. ``changed_at`` is the time of the last change. ``finished_at`` is when the race
    ended. ``kicked`` holds the ids of the players who were removed from this race or an earlier one, and
    ``kicked_origins`` their origins in a public room, except those of hosts.

    If the race is a rematch, ``previous`` is the room of the race before it, and ``invited`` holds the ids of that
    race's players. ``next`` is the room of this race's own rematch. If only one player came, it is the room in which the
    deal of an earlier race is dealt again, and there ``earlier`` has that race's players, and ``invited`` this player.

    If the deal is joint or daily, ``seed`` stays empty, and ``solver``, ``budget`` and ``least`` have the meaning that
    they have in DealTerms. ``draw`` is the number of the newest draw of a joint deal, or 0 before the first one, and
    ``lost`` has the players who lost their seats in these draws. ``reveal_by`` is when the players must have committed,
    or once the draw is sealed, when they must have revealed. ``shares`` is filled when the last share is revealed.
    ``deal_found`` says whether the search has found the deal. ``proof`` is empty until the race is finished.

    ``rules`` is the hash by which nodes notice that they have other descriptions of the room's games, and ``description`` is
    the ``description_hash`` of this race's game. ``origin`` is a keyed
    hash of the network from which the room of the first race was opened. ``ready_since`` is when all
    persons besides the host had become ready, as long as they all are.

    ``table_before`` is the table of a series before this race, and ``rooms_before`` has the rooms of its races.
    ``tide`` is when the tide of the race starts, or 0.

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
    previous: str = ""
    phase: Phase = "open"
    racers: Annotated[tuple[Racer, ...], Meta(max_length=MAX_SEATS)] = ()
    starts: int = 0
    ends: int = 0
    seed: bytes = b""
    next: str = ""
    standings: tuple[Standing, ...] = ()
    kicked: tuple[str, ...] = ()
    invited: tuple[str, ...] = ()
    finished_at: int = 0
    solver: int = 0
    rules: bytes = b""
    budget: int = 0
    reveal_by: int = 0
    shares: tuple[RevealedShare, ...] = ()
    deal_found: bool = False
    draw: int = 0
    lost: tuple[LostShare, ...] = ()
    proof: str = ""
    least: int = 1
    origin: str = ""
    ready_since: int = 0
    table_before: tuple[TableLine, ...] = ()
    rooms_before: tuple[str, ...] = ()
    earlier: tuple[EarlierPlayer, ...] = ()
    tide: int = 0
    description: bytes = b""
    kicked_origins: tuple[str, ...] = ()

    @property
    def table(self) -> tuple[TableLine, ...]:
        """The table of the series, with this race if it is finished. It is empty if the race belongs to no series."""
        if self.options.series == 1 or not self.standings:
            return self.table_before
        return with_race(self.table_before, self.standings, self.finished_at - self.starts)

    @property
    def game(self) -> Game:
        """The game of this race."""
        return self.options.game(self.round)

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
        return self.solver > 0

    @property
    def is_joint(self) -> bool:
        """Whether the players draw the deal together with the server."""
        return self.is_searched and not Deal.parse(self.deal).public

    @property
    def lacks_deal(self) -> bool:
        """Whether the race is in its countdown and its deal has not been found yet."""
        return self.phase == "countdown" and self.is_searched and not self.deal_found

    @property
    def lacks_shares(self) -> bool:
        """Whether the race is in its countdown and some shares of its joint deal have not been revealed yet."""
        return self.lacks_deal and self.is_joint and not self.shares

    @property
    def is_sealed(self) -> bool:
        """Whether all players have committed to their shares for the present draw."""
        return all(racer.commitment for racer in self.racers)

    @property
    def awaited(self) -> list[Racer]:
        """The racers who have to commit to a share, or to reveal one, before the draw goes on."""
        if not self.lacks_shares:
            return []
        return [racer for racer in self.racers if not (racer.share if self.is_sealed else racer.commitment)]

    @property
    def needs_search(self) -> bool:
        """Whether a node must search for the deal now: the deal has not been found, and no share is missing."""
        return self.lacks_deal and not self.lacks_shares

    @property
    def is_listed(self) -> bool:
        """Whether lists have the room, unless it is private: it is not closed, and somebody can still enter it."""
        return self.is_open or self.phase not in ("open", "closed")

    @property
    def is_crowd(self) -> bool:
        """Whether the race has more racers than the room of a client can have, and is not in its short countdown."""
        return len(self.racers) > MAX_PLAYERS and self.phase != "countdown"

    @property
    def most_actions(self) -> int:
        """Maximum number of a player's actions, so that the record of the race is not too large to be kept."""
        return MOST_ACTIONS // max(1, len(self.racers))

    def is_alone(self, now: int) -> bool:
        """Whether a race without a host is due, and only one player came. Nobody is alone in a tide."""
        is_due = self.is_open and now >= self.due_at()
        return is_due and not self.options.hosted and not self.tide and len(self.racers) == 1

    @property
    def terms(self) -> RoomTerms:
        """Everything about the race that was fixed when its room was opened."""
        deal = Deal.parse(self.deal)
        options = RoomTerms.options_with(self.options, deal)
        return RoomTerms(*(self.room, self.round, self.game, self.description, deal, self.private, self.tide), options)

    @property
    def search(self) -> DealTerms:
        """The conditions of the search for the deal, if the deal is joint or daily."""
        return DealTerms(self.room, self.game, self.solver, self.budget, self.least)

    def first_board(self, secret: DealSecret) -> Board | None:
        """Return the board as dealt, or None if the search has not found the deal yet."""
        if not self.is_searched:
            return Board.deal(self.game, shuffled(secret.seed, self.game.decks))
        if (found := self._found(secret)) is None:
            return None
        return candidate_board(mixed(secret.seed, found.shares), found.candidate, self.game)

    def _found(self, secret: DealSecret) -> FoundDeal | None:
        """Return the result of the search after the newest draw, or None if there is none."""
        found = secret.found if self.deal_found else None
        return found if found is not None and found.draw == self.draw else None

    def proof_of(self, secret: DealSecret) -> str:
        """Return the proof of a joint or daily deal as text. Return an empty string if the deal has not been found."""
        found = self._found(secret)
        if found is None:
            return ""
        line = tuple(Move.parse(move) for move in found.line.split(", "))
        public = "" if self.is_joint else self.deal
        drawn = secret.seed, self.draw, self.lost, found.shares
        proof = DealProof(self.search, self.terms.digest, self.commitment, *drawn, found.candidate, line, public)
        return str(proof)

    @property
    def host(self) -> str:
        """The id of the host: the first racer who is a person, or the first bot.

        The id is empty if nobody has a seat, or if the options say that nobody is the host.
        """
        if not self.options.hosted:
            return ""
        person = next((racer.player for racer in self.racers if not racer.bot), "")
        return person or (self.racers[0].player if self.racers else "")

    def racer(self, player: str) -> Racer | None:
        """Return the racer with the id ``player``, or None if the player has no seat."""
        return next((racer for racer in self.racers if racer.player == player), None)

    def present_racers(self, progress: ProgressByPlayer, now: int) -> tuple[Racer, ...]:
        """Return the racers who keep their seats at the time ``now``.

        In an open room, racers who are absent lose their seats, unless the start of the race is scheduled.
        """
        if self.phase != "open" or self.options.start == "at":
            return self.racers
        return self.racers_seen(progress, now - ABSENT_AFTER)

    def racers_seen(self, progress: ProgressByPlayer, since: int) -> tuple[Racer, ...]:
        """Return the racers with a sign of life after the time ``since``, in milliseconds since 1970."""
        found = self.with_progress(progress)
        return tuple(racer for racer, own in found if max(racer.seated_at, own.last_seen) > since)

    def check_not_kicked(self, player: str) -> None:
        """Raise RequestRefused if the player was kicked from this race or an earlier one."""
        if player in self.kicked:
            raise refusals.kicked()

    def is_barred(self, player: str, origin: str) -> bool:
        """Return whether a player may not take a seat because they, or somebody from their origin, were kicked.

        A player who has a seat, or had one in the race before, is not barred by their origin.
        """
        known = self.racer(player) is not None or player in self.invited
        return player in self.kicked or (origin in self.kicked_origins and not known)

    def is_crowded(self, origin: str) -> bool:
        """Return whether the players of an origin have all the seats that they may take."""
        host, is_exempt = self.racer(self.host), self.options.hosted and self.options.players <= MAX_PLAYERS
        if self.private or (is_exempt and (host is None or host.origin in ("", origin))):
            return False
        most = SEATS_OF_ADDRESS if self.options.players > MAX_PLAYERS else max(1, self.options.players // 2)
        return sum(racer.origin == origin for racer in self.racers) >= most

    def due_at(self) -> int:
        """Return when the next timed change of the race is due, in milliseconds since 1970, or 0 if there is none.

        A TickCommand makes the change.
        """
        match self.phase:
            case "open" if self.next:
                return self.changed_at + (FOLLOW_TIMEOUT if self.racers else 0)
            case "open" if self.options.start == "at":
                return self.options.start_at - (1000 * self.options.countdown if self.racers or self.tide else 0)
            case "open":
                return self.host_due_at() or self.changed_at + (ROOM_LIFETIME if self.previous else EMPTY_LIFETIME)
            case "finished":
                return self.changed_at + ROOM_LIFETIME
            case "countdown":
                return min(self.starts, self.reveal_by) if self.lacks_shares else self.starts
            case "racing":
                return self.ends
            case "closed":
                return 0

    def host_due_at(self) -> int:
        """Return when the next person becomes the host of an open room, in milliseconds since 1970.

        Return 0 if the host stays the same.
        """
        return self.ready_since + HOST_TIMEOUT if self.ready_since and self.options.start != "at" else 0

    @property
    def guests(self) -> frozenset[str]:
        """The persons besides the host. It is empty unless all of them are ready."""
        others = [racer for racer in self.racers if not racer.bot and racer.player != self.host]
        return frozenset(racer.player for racer in others) if all(racer.ready for racer in others) else frozenset()

    def is_over(self, progress: ProgressByPlayer) -> bool:
        """Return whether the race is over for all players.

        With the option ``end_when_settled``, bots count only if no person has a seat.
        """
        return not self._unfinished(progress)

    def waits_for_absent(self, progress: ProgressByPlayer, now: int) -> bool:
        """Return whether the race is over for some players and goes on only for disconnected or idle ones."""
        unfinished = self._unfinished(progress)
        return (
            self.phase == "racing"
            and any(self._is_over_for(racer, own) for racer, own in self.with_progress(progress))
            and len(unfinished) > 0
            and all(
                not own.connected
                or now - own.last_seen >= ABSENT_AFTER
                or now - max(own.last_action_at, self.starts) >= IDLE_AFTER
                for own in unfinished
            )
        )

    def _unfinished(self, progress: ProgressByPlayer) -> list[Progress]:
        """Return the progress of the players for whom the race has to go on.

        With the option ``end_when_settled``, the race does not go on for bots, unless only bots have seats.
        """
        without_bots = self.options.end_when_settled and any(not racer.bot for racer in self.racers)
        return [
            own
            for racer, own in self.with_progress(progress)
            if not (self._is_over_for(racer, own) or (racer.bot and without_bots))
        ]

    def _is_over_for(self, racer: Racer, progress: Progress) -> bool:
        """Return whether a player is done. With the option ``end_when_settled``, a stuck player also counts as done."""
        return _is_done(racer, progress) or (self.options.end_when_settled and racer.is_stuck(progress))

    def with_progress(self, progress: ProgressByPlayer) -> list[tuple[Racer, Progress]]:
        """Return each racer with the racer's progress."""
        return [(racer, progress.get(racer.player, Progress())) for racer in self.racers]

    def is_racing(self, player: str, progress: Progress) -> bool:
        """Return whether a player has a seat and is not done, in a race that is neither finished nor closed.

        Before the start, this is true of every player with a seat.
        """
        racer = self.racer(player)
        ahead = self.is_waiting or self.phase == "racing"
        return ahead and racer is not None and not _is_done(racer, progress)

    def successor_options(self) -> Options:
        """Return the options of the rematch."""
        return self.options.successor(Deal.parse(self.deal))


def _is_done(racer: Racer, progress: Progress) -> bool:
    """Return whether a player has finished, has resigned, or has no moves left."""
    return bool(racer.resigned or progress.finished_at or progress.no_moves_left_at)


class RaceCommand(Struct, frozen=True):
    """A request to change a race."""


class JoinCommand(RaceCommand, frozen=True):
    """Command of a player to take a seat or to rejoin. ``Racer`` explains ``bot`` and ``origin``."""

    player: str
    name: str
    progress: ProgressByPlayer
    bot: bool = False
    origin: str = ""


class LeaveCommand(RaceCommand, frozen=True):
    """Command of a player to leave the room."""

    player: str


class ReadyCommand(RaceCommand, frozen=True):
    """Command of a player to be marked as ready, or as not ready."""

    player: str
    ready: bool


class StartCommand(RaceCommand, frozen=True):
    """Command of the host to start the race."""

    player: str


class CommitShareCommand(RaceCommand, frozen=True):
    """Command of a player to commit to a share for a draw."""

    player: str
    draw: int
    commitment: bytes


class RevealShareCommand(RaceCommand, frozen=True):
    """Command of a player to reveal the share for a draw."""

    player: str
    draw: int
    share: bytes


class FixDealCommand(RaceCommand, frozen=True):
    """Command of a node to fix the joint or daily deal that its search has found."""

    found: FoundDeal


class RaceAloneCommand(RaceCommand, frozen=True):
    """Command of a node to start the countdown of a race for which only one player came.

    If there is a ``room``, the deal of an earlier race is dealt again there instead.
    """

    room: str


class ResignCommand(RaceCommand, frozen=True):
    """Command of a player to resign."""

    player: str


class DeclareStuckCommand(RaceCommand, frozen=True):
    """Command of a player to declare that the player is stuck."""

    player: str
    progress: ProgressByPlayer


class LinkRematchCommand(RaceCommand, frozen=True):
    """Command of a node to record the room that was opened for the rematch."""

    room: str


class KickCommand(RaceCommand, frozen=True):
    """Command to remove a player permanently.

    ``by`` is the id of the host, or empty if the operator kicks the player.
    """

    player: str
    by: str = ""


class CloseCommand(RaceCommand, frozen=True):
    """Command of the operator to close the room."""


class TickCommand(RaceCommand, frozen=True):
    """Command of a node to make the changes that are due at this time, or because players are done.

    ``secret`` is published if the race finishes. ``end_wait`` is True if the race has waited long enough for players
    who are disconnected or idle.
    """

    progress: ProgressByPlayer
    secret: DealSecret
    end_wait: bool = False


CommandResult = tuple[Race, tuple[str, ...]]
"""A race after a command, and the names of the changes. If nothing has changed, there are no names."""


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


def _join(race: Race, command: JoinCommand, now: int) -> CommandResult:
    race.check_not_kicked(command.player)
    if race.racer(command.player):
        return race, ()
    if race.is_barred(command.player, command.origin):
        raise refusals.address_kicked()
    if command.bot and not race.options.bots:
        raise refusals.no_bots()
    if race.tide and now >= race.due_at():
        raise refusals.no_tide()
    if race.next:
        raise refusals.room_closed()
    race, freed = _free_seats(race, race.present_racers(command.progress, now))
    if len(race.racers) >= race.options.players and race.options.start == "at":
        race, freed = _free_seats(race, race.racers_seen(command.progress, now - SCHEDULED_ABSENT_AFTER))
    _check_free_seat(race, command.player, now)
    if race.is_crowded(command.origin):
        raise refusals.too_many_from_address()
    for racer in race.racers:
        if look_alike(racer.name, command.name):
            raise refusals.name_taken(racer.name)
    taken = {racer.seat for racer in race.racers}
    seat = next(number for number in range(1, race.options.players + 1) if number not in taken)
    racer = Racer(command.player, command.name, seat, seated_at=now, bot=command.bot, origin=command.origin)
    # Players of the previous race come first, so that no spectator of that race becomes the host.
    racers = sorted((*race.racers, racer), key=lambda each: each.player not in race.invited)
    return _start_if_due(replace(race, racers=tuple(racers)), now, *freed, "joined")


def _with_racer(race: Race, racer: Racer, **fields: Any) -> Race:
    return replace(race, racers=tuple(replace(each, **fields) if each is racer else each for each in race.racers))


def _check_free_seat(race: Race, player: str, now: int) -> None:
    seats = race.options.players
    if len(race.racers) >= seats or (race.earlier and player not in race.invited):
        raise refusals.room_full(seats)
    wait = race.created + SEATS_KEPT - now
    awaited = [each for each in race.invited if race.racer(each) is None]
    if wait > 0 and player not in race.invited and len(race.racers) + len(awaited) >= seats:
        raise refusals.seats_kept(-(-wait // 1000))


def _free_seats(race: Race, kept: tuple[Racer, ...]) -> CommandResult:
    """Free the seats of all racers who are not in ``kept``."""
    return (race, ()) if kept == race.racers else (replace(race, racers=kept), ("left",))


def _rejoin(race: Race, command: JoinCommand, now: int) -> CommandResult:
    race.check_not_kicked(command.player)
    if race.racer(command.player):
        return race, ()
    raise refusals.race_started_without_you()


def _leave_seat(race: Race, command: LeaveCommand | KickCommand, now: int) -> CommandResult:
    racer = race.racer(command.player)
    if racer is None:
        return race, ()
    if race.phase == "countdown":
        return _lose_seats(race, [racer], "kicked" if isinstance(command, KickCommand) else "left", now, "left")
    left = replace(race, racers=tuple(each for each in race.racers if each is not racer))
    return _start_if_due(left, now, "left")


def _lose_seats(race: Race, losers: Sequence[Racer], reason: LossReason, now: int, *events: str) -> CommandResult:
    """Continue the countdown after racers have lost their seats.

    If the draw is sealed and shares are missing, begin the countdown again with another draw, because those who lost
    their seats may know which deal they prevent. If no racer is left, return the race to the phase ``open``. The next
    countdown then has another draw, even if all shares were known. So the last racers are always listed in ``lost``: a
    proof must say why there was another draw. Nobody can enter the room of a tide then, so it closes.
    """
    left = replace(race, racers=tuple(each for each in race.racers if each not in losers))
    if race.lacks_shares or (race.is_joint and not left.racers):
        lost = (LostShare(race.draw, racer.seat, reason, racer.name) for racer in losers)
        left = replace(left, lost=(*race.lost, *lost))
    if not left.racers and race.tide:
        return replace(left, phase="closed"), (*events, "closed")
    if not left.racers:
        stopped = replace(left, phase="open", starts=0, ends=0, reveal_by=0, shares=(), deal_found=False)
        return stopped, (*events, "countdown_stopped")
    if not race.lacks_shares:
        return left, events
    if race.is_sealed:
        return _countdown(left, now, max(race.starts, now + 1000 * race.options.countdown), *events)
    return _seal_if_due(left, now, *events)


def _seal_if_due(race: Race, now: int, *events: str) -> CommandResult:
    """Give the players time to reveal their shares if all of them have committed."""
    return (replace(race, reveal_by=now + SHARE_TIMEOUT), (*events, "sealed")) if race.is_sealed else (race, events)


def _resign(race: Race, command: LeaveCommand | ResignCommand | KickCommand, now: int) -> CommandResult:
    racer = race.racer(command.player)
    if racer is None or racer.resigned or now >= race.ends:
        return race, ()
    return _with_racer(race, racer, resigned=True), ("resigned",)


def _declare_stuck(race: Race, command: DeclareStuckCommand, now: int) -> CommandResult:
    racer = race.racer(command.player)
    progress = command.progress.get(command.player, Progress())
    if racer is None or now >= race.ends or _is_done(racer, progress) or racer.is_stuck(progress):
        return race, ()
    return _with_racer(race, racer, stuck_at=now), ("stuck",)


def _do_nothing(race: Race, command: RaceCommand, now: int) -> CommandResult:
    return race, ()


def _set_ready(race: Race, command: ReadyCommand, now: int) -> CommandResult:
    racer = _seated(race, command.player)
    if racer.ready == command.ready:
        return race, ()
    changed = _with_racer(race, racer, ready=command.ready)
    return _start_if_due(changed, now, "ready" if command.ready else "unready")


def _start(race: Race, command: StartCommand, now: int) -> CommandResult:
    _check_host(race, command.player)
    return _countdown(race, now, now + 1000 * race.options.countdown)


def _check_host(race: Race, player: str) -> None:
    if _seated(race, player).player != race.host:
        raise refusals.not_host()


def _start_if_due(race: Race, now: int, *events: str) -> CommandResult:
    rule, seated = race.options.start, len(race.racers)
    enough = seated >= min(2, race.options.players)
    begins = (rule == "all-ready" and enough and all(racer.ready for racer in race.racers)) or (
        rule == "full" and seated == race.options.players
    )
    if not begins or race.next:
        return race, events
    return _countdown(race, now, now + 1000 * race.options.countdown, *events)


def _countdown(race: Race, now: int, starts: int, *events: str) -> CommandResult:
    """Begin the countdown, and the next draw if the deal is joint. If there have been too many draws, close the room."""
    if not race.is_joint:
        return replace(_starting_at(race, starts), phase="countdown"), (*events, "countdown")
    if race.draw == MAX_DRAWS:
        return replace(race, phase="closed"), (*events, "not_drawn", "closed")
    racers = tuple(replace(racer, commitment=b"", share=b"") for racer in race.racers)
    drawing = replace(race, phase="countdown", racers=racers, draw=race.draw + 1, reveal_by=now + SHARE_TIMEOUT)
    return _starting_at(replace(drawing, shares=()), starts), (*events, "countdown")


def _starting_at(race: Race, starts: int) -> Race:
    return replace(race, starts=starts, ends=starts + 1000 * race.options.limit)


def _commit_share(race: Race, command: CommitShareCommand, now: int) -> CommandResult:
    racer = _seated(race, command.player)
    if not race.lacks_shares or race.draw != command.draw or len(command.commitment) != SHARE_BYTES:
        raise refusals.bad_share()
    if racer.commitment == command.commitment:
        return race, ()
    if race.is_sealed:
        raise refusals.bad_share()
    return _seal_if_due(_with_racer(race, racer, commitment=command.commitment), now, "committed")


def _reveal_share(race: Race, command: RevealShareCommand, now: int) -> CommandResult:
    racer = _seated(race, command.player)
    if not race.is_joint or race.draw != command.draw or len(command.share) != SHARE_BYTES:
        raise refusals.bad_share()
    if command.share in (racer.share, *(share.share for share in race.shares if share.seat == racer.seat)):
        return race, ()
    place = racer.seat, racer.name, race.draw
    expected = share_commitment(race.terms.digest, race.commitment, *place, command.share)
    if racer.share or not race.is_sealed or expected != racer.commitment:
        raise refusals.bad_share()
    revealed = _with_racer(race, racer, share=command.share)
    if not all(each.share for each in revealed.racers):
        return revealed, ("revealed",)
    shares = sorted(RevealedShare(each.seat, each.name, each.commitment, each.share) for each in revealed.racers)
    racers = tuple(replace(each, commitment=b"", share=b"") for each in revealed.racers)
    return replace(revealed, racers=racers, shares=tuple(shares)), ("revealed", "drawn")


def _race_alone(race: Race, command: RaceAloneCommand, now: int) -> CommandResult:
    if not race.is_alone(now):
        return race, ()
    if command.room:
        return replace(race, next=command.room), ("repeated",)
    return _countdown(race, now, max(now, race.options.start_at))


def _fix_deal(race: Race, command: FixDealCommand, now: int) -> CommandResult:
    if not race.needs_search or command.found.shares != race.shares:
        return race, ()
    return replace(race, deal_found=True), ("deal_found",)


def _tick_countdown(race: Race, command: TickCommand, now: int) -> CommandResult:
    if race.awaited and now >= race.reveal_by:
        return _lose_seats(race, race.awaited, "silent", now, "left", "unseated")
    if race.lacks_deal and now >= race.starts:
        return _starting_at(race, now + EXTENSION), ("extended",)
    return race, ()


def _seated(race: Race, player: str) -> Racer:
    racer = race.racer(player)
    if racer is None:
        raise refusals.no_seat_here()
    return racer


def _tick_open(race: Race, command: TickCommand, now: int) -> CommandResult:
    due = now >= race.due_at()
    if race.is_alone(now):
        return race, ()  # until a node has looked for an earlier race
    if race.next:
        return (replace(race, phase="closed"), ("closed",)) if due else (race, ())
    if due and race.options.start == "at" and race.racers:
        return _countdown(race, now, max(now, race.options.start_at))
    left, freed = _free_seats(race, race.present_racers(command.progress, now))
    if due and race.host_due_at() and not freed:
        host = _seated(race, race.host)
        return replace(race, racers=(*(racer for racer in race.racers if racer is not host), host)), ("host_changed",)
    due = due and not race.host_due_at()
    if due and not left.racers:
        return replace(race, phase="closed"), ("closed",)
    if freed:
        return _start_if_due(left, now, *freed)
    return race, ("kept_open",) if due else ()


def _tick_racing(race: Race, command: TickCommand, now: int) -> CommandResult:
    progress = command.progress
    is_over = (
        race.is_over(progress)
        or now >= race.ends
        or (command.end_wait and race.waits_for_absent(progress, now))
        or _is_hopeless(race, command.secret)
    )
    proof = race.proof_of(command.secret)
    if not is_over or (race.is_searched and not proof):  # the secret may have been read before the deal was found
        return race, ()
    finished = replace(
        race,
        phase="finished",
        seed=b"" if race.is_searched else command.secret.seed,
        proof=proof,
        standings=standings(race, progress),
        finished_at=_end(race, progress, now),
    )
    return finished, ("finished",)


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
    board = race.first_board(secret) if undo is Undo.OFF else None
    return board is not None and Play(board, undo).no_moves_left


def _tick_finished(race: Race, command: TickCommand, now: int) -> CommandResult:
    return (replace(race, phase="closed"), ("closed",)) if now >= race.due_at() else (race, ())


def standings(race: Race, progress: ProgressByPlayer) -> tuple[Standing, ...]:
    """Return the final standings, first place first."""
    results = [
        ((racer, own), Result(racer.seat, own.foundation_cards, own.finished_at, own.last_progress_at))
        for racer, own in race.with_progress(progress)
    ]
    return tuple(_standing(race, place, *racer_and_progress) for place, racer_and_progress in ranked(results))


def _standing(race: Race, place: int, racer: Racer, progress: Progress) -> Standing:
    return Standing(
        place=place,
        player=racer.player,
        name=racer.name,
        foundation_cards=progress.foundation_cards,
        time=progress.finished_at - race.starts if progress.finished_at else 0,
        moves=progress.moves,
        undos=progress.undos,
        resigned=racer.resigned and not progress.finished_at,
        bot=racer.bot,
    )


def _link_rematch(race: Race, command: LinkRematchCommand, now: int) -> CommandResult:
    return (race, ()) if race.next else (replace(race, next=command.room), ("rematch",))


def _refuse(refusal: Callable[[], RequestRefused]) -> Callable[[Race, Any, int], CommandResult]:
    def refuse(race: Race, command: RaceCommand, now: int) -> CommandResult:
        raise refusal()

    return refuse


def _kick(race: Race, command: KickCommand, now: int) -> CommandResult:
    if command.by:
        if not race.is_waiting:
            raise refusals.race_started()
        _check_host(race, command.by)
    racer = race.racer(command.player)
    if racer is None or command.player == command.by:
        raise refusals.player_has_no_seat()
    if command.player in race.kicked:
        return race, ()
    left, events = _TRANSITIONS[LeaveCommand][_PHASES.index(race.phase)](race, command, now)
    others = replace(race, racers=tuple(each for each in race.racers if each is not racer))
    host, origin = others.racer(others.host), racer.origin
    shares_host = host is not None and host.origin == origin
    origins = race.kicked_origins
    if origin and others.racers and not (race.private or shares_host or origin in origins):
        origins = (*origins, origin)[-_MAX_KICKED:]
    kicked = (*race.kicked, command.player)[-_MAX_KICKED:]
    return replace(left, kicked=kicked, kicked_origins=origins), (*events, "kicked")


def _close(race: Race, command: CloseCommand, now: int) -> CommandResult:
    return replace(race, phase="closed"), ("closed_by_operator", "closed")


_Transition = Callable[[Race, Any, int], CommandResult]

_STARTED: Final = _refuse(refusals.race_started)
_BAD_SHARE: Final = _refuse(refusals.bad_share)
_NOT_RACING: Final = _refuse(refusals.not_racing)
_NOT_OVER: Final = _refuse(refusals.not_over)
_CLOSED: Final = _refuse(refusals.room_closed)

_PHASES: Final[tuple[Phase, ...]] = get_args(Phase)
"""The columns of the table of transitions."""

_TRANSITIONS: Final[Mapping[type[RaceCommand], tuple[_Transition, ...]]] = {
    JoinCommand: (_join, _rejoin, _rejoin, _rejoin, _CLOSED),
    LeaveCommand: (_leave_seat, _leave_seat, _resign, _do_nothing, _do_nothing),
    ReadyCommand: (_set_ready, _STARTED, _STARTED, _STARTED, _CLOSED),
    StartCommand: (_start, _STARTED, _STARTED, _STARTED, _CLOSED),
    CommitShareCommand: (_BAD_SHARE, _commit_share, _BAD_SHARE, _BAD_SHARE, _CLOSED),
    RevealShareCommand: (_BAD_SHARE, _reveal_share, _BAD_SHARE, _BAD_SHARE, _CLOSED),
    FixDealCommand: (_do_nothing, _fix_deal, _do_nothing, _do_nothing, _do_nothing),
    RaceAloneCommand: (_race_alone, _do_nothing, _do_nothing, _do_nothing, _do_nothing),
    ResignCommand: (_NOT_RACING, _NOT_RACING, _resign, _NOT_RACING, _CLOSED),
    DeclareStuckCommand: (_NOT_RACING, _NOT_RACING, _declare_stuck, _NOT_RACING, _CLOSED),
    LinkRematchCommand: (_NOT_OVER, _NOT_OVER, _NOT_OVER, _link_rematch, _CLOSED),
    KickCommand: (_kick, _kick, _kick, _kick, _CLOSED),
    CloseCommand: (_close, _close, _close, _close, _do_nothing),
    TickCommand: (_tick_open, _tick_countdown, _tick_racing, _tick_finished, _do_nothing),
}
