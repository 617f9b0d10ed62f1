"""The options of a room, with their defaults and bounds."""

from __future__ import annotations

from typing import Annotated, Final, Literal, Self

from msgspec import Meta, Struct
from msgspec.structs import asdict, replace

from samedeal.board_history import Undo
from samedeal.deal import Deal
from samedeal.difficulty import states_of
from samedeal.errors import SamedealError
from samedeal.game import Game
from samedeal.games import DEFAULT_GAME, game_named

StartRule = Literal["host", "all-ready", "full", "at"]

MAX_PLAYERS: Final = 16
"""Maximum number of seats of a room that a client asks for."""

MAX_SEATS: Final = 64
"""Maximum number of seats of a room that the server opens for a tide, and therefore of players of any race.

It is also the highest number of a seat.
"""

SEATS_OF_ADDRESS: Final = 4
"""Maximum number of seats for players from one address in a room with more than ``MAX_PLAYERS`` seats.

They are fewer than the draws of a deal, so nobody can use up all draws from one address.
"""

SHORTEST_LIMIT: Final = 10
"""Minimum time limit of a race, in seconds."""

LONGEST_LIMIT: Final = 7200
"""Maximum time limit of a race, in seconds."""


LONGEST_SERIES: Final = 30
"""Maximum number of races of a series."""

SHORTEST_WINDOW: Final = 3_600
"""Minimum length of a window, in seconds."""

LONGEST_WINDOW: Final = 259_200
"""Maximum length of a window, in seconds."""

LONGEST_PERIOD: Final = 7 * 86_400 + 3_600
"""Maximum time, in seconds, from one race of a standing series to the next: a week and the hour of summer time."""


class Options(Struct, frozen=True):
    """The options of a room. Times are in seconds, except ``start_at``.

    ``games`` holds one game, or a cycle of games that rematches go through. ``deal`` is a ``Deal`` as text. ``limit``
    is the time limit of the race. ``delay`` is the spectator delay. ``start`` decides when the countdown begins: when
    the host asks for it (``host``), when all players are ready (``all-ready``), when every seat is taken (``full``), or
    in time for a start at ``start_at`` (``at``). ``start_at`` is in milliseconds since 1970.

    If ``first_finish_ends`` is true, the first finish ends the race. If ``end_when_settled`` is true, the race ends
    once every person has finished, has resigned or is stuck. In a race of bots alone, this applies to the bots. If
    ``bots`` is false, only bots of the house get seats. If ``hosted`` is false, nobody is the host: the race starts by its
    rule alone, and players from one address take at most half of the seats. ``series`` is the number of races that have one
    table, which rematches continue. If ``repeated`` is false, the deal of the race is not dealt again to
    later players. Decoding ignores options that this version does not know.

    Raise ValueError if a game or deal does not exist, or if options contradict one another.
    """

    games: Annotated[tuple[str, ...], Meta(min_length=1, max_length=16)] = (DEFAULT_GAME,)
    deal: Annotated[str, Meta(max_length=32)] = "random"
    players: Annotated[int, Meta(ge=1, le=MAX_SEATS)] = 8
    limit: Annotated[int, Meta(ge=SHORTEST_LIMIT, le=LONGEST_LIMIT)] = 900
    undo: Literal["free", "no-reveal", "off"] = "no-reveal"
    hints: bool = False
    spectators: bool = True
    delay: Annotated[int, Meta(ge=0, le=600)] = 15
    start: StartRule = "host"
    start_at: Annotated[int, Meta(ge=0, le=1 << 52)] = 0
    countdown: Annotated[int, Meta(ge=0, le=60)] = 3
    first_finish_ends: bool = False
    bots: bool = True
    end_when_settled: bool = True
    hosted: bool = True
    repeated: bool = True
    series: Annotated[int, Meta(ge=1, le=LONGEST_SERIES)] = 1

    def __post_init__(self) -> None:
        try:
            difficulty = Deal.parse(self.deal).difficulty
            for game in self.games:
                states_of(game_named(game), difficulty)
        except SamedealError as error:
            raise ValueError(str(error)) from error
        if self.start == "host" and not self.hosted:
            raise ValueError("A room without a host must start by itself. Choose another start than 'host'.")
        if (self.start == "at") != (self.start_at > 0):
            raise ValueError(
                "start_at, in milliseconds since 1970, must be set if start is 'at', and must not be set otherwise."
            )

    @classmethod
    def scheduled(cls, game: str, start_at: int, countdown: int, *, bots: bool, players: int = MAX_PLAYERS) -> Self:
        """Return the options of a room that the server opens by itself, for a race on a winnable deal."""
        return cls(
            games=(game,),
            deal="winnable",
            players=players,
            limit=game_named(game).file.limit,
            start="at",
            start_at=start_at,
            countdown=countdown,
            bots=bots,
            hosted=False,
        )

    @property
    def undo_rule(self) -> Undo:
        """The undo rule, as an ``Undo``."""
        return Undo(self.undo)

    def game(self, round_number: int) -> Game:
        """Return the game of a race. ``round_number`` is 0 for a first race and rises by one with each rematch."""
        return game_named(self.games[round_number % len(self.games)])

    def successor(self, deal: Deal) -> Options:
        """Return the options of the rematch of a race on ``deal``.

        After a numbered deal comes the next number, and after the highest number 0. After another public deal comes a
        winnable deal, and after all others a new deal of the same kind. After a scheduled race or one without a host, the
        host starts the rematch. After an earlier race that was dealt again, others can come too.
        """
        is_again = deal.kind == "again"
        start = "host" if self.start == "at" or is_again else self.start
        return replace(
            self,
            deal=str(deal.successor),
            players=MAX_PLAYERS if is_again else self.players,
            start=start,
            start_at=0,
            hosted=True,
        )


class WantedOptions(Options, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The options in a client's request to open a room.

    Decoding rejects an unknown option, so that a client never gets a room with other options than it asked for. Options
    with their default value are not sent. An older server therefore refuses only requests that use a newer option.
    Only the server opens rooms for more than ``MAX_PLAYERS`` players.
    """

    players: Annotated[int, Meta(ge=1, le=MAX_PLAYERS)] = 8

    @classmethod
    def of(cls, options: Options) -> Self:
        """Return the options of a request for a room with ``options``."""
        return cls(**asdict(options))

    @property
    def granted(self) -> Options:
        """The options of the room that is opened for this request."""
        return Options(**asdict(self))
