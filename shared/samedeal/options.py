"""The options of a room, with their defaults and bounds."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from msgspec import Meta, Struct
from msgspec.structs import asdict

from samedeal.deal import Deal
from samedeal.errors import SamedealError
from samedeal.games import Game
from samedeal.play import Undo

StartRule = Literal["host", "all-ready", "full", "at"]


class Options(Struct, frozen=True):
    """What a room plays and how; times in seconds, except ``start_at``.

    ``games`` is one game or a cycle that rematches go through; ``deal`` is the text of a ``Deal``; ``start`` says when
    the countdown begins: when the host says so, when all are ready (two at the least), when every seat is taken, or at
    ``start_at`` (milliseconds since 1970); ``first_home_ends`` ends the race with the first player home. ``delay`` is
    how late spectators see boards. Raises ValueError when options contradict each other.

    Options that another version knows beside these are passed over where they are read.
    """

    games: Annotated[tuple[str, ...], Meta(min_length=1, max_length=16)] = ("willow",)
    deal: Annotated[str, Meta(max_length=32)] = "random"
    players: Annotated[int, Meta(ge=1, le=16)] = 8
    limit: Annotated[int, Meta(ge=10, le=7200)] = 900
    undo: Literal["free", "no-reveal", "off"] = "no-reveal"
    hints: bool = False
    spectators: bool = True
    delay: Annotated[int, Meta(ge=0, le=600)] = 15
    start: StartRule = "host"
    start_at: Annotated[int, Meta(ge=0, le=1 << 52)] = 0
    countdown: Annotated[int, Meta(ge=0, le=60)] = 3
    first_home_ends: bool = False

    def __post_init__(self) -> None:
        try:
            for game in self.games:
                Game.named(game)
            Deal.parse(self.deal)
        except SamedealError as error:
            raise ValueError(str(error)) from error
        if (self.start == "at") != (self.start_at > 0):
            raise ValueError(
                "start 'at' goes with start_at, a time in milliseconds since 1970, and no other start does"
            )

    @property
    def undo_rule(self) -> Undo:
        """The undo rule of each play."""
        return Undo(self.undo)

    def game(self, round_number: int) -> Game:
        """The game of the n-th race of this room and its rematches, counted from 0."""
        return Game.named(self.games[round_number % len(self.games)])


class WantedOptions(Options, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The options that a room is asked for with.

    Where they are read, one that is not known is an error: nobody gets another room than the one asked for. What is left at
    its default is not written, so that a server of an older version is asked for no more than is wanted.
    """

    @classmethod
    def of(cls, options: Options) -> Self:
        """The wish for these options."""
        return cls(**asdict(options))

    @property
    def granted(self) -> Options:
        """The options of the room that is opened."""
        return Options(**asdict(self))
