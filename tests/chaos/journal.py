"""What each client of a round said and was told, and what the round left behind: what the judge has to go by."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from samedeal.protocol.messages import Act, ToClient, ToServer, Welcome
from samedeal_server.race import Race
from samedeal_server.store.commits import Entry
from samedeal_server.store.events import Numbered


def now() -> int:
    """Milliseconds since 1970, on the clock that Redis on this machine reads too."""
    return time.time_ns() // 1_000_000


@dataclass(frozen=True)
class Said:
    """A message that a client sent, over which of its connections."""

    line: int
    message: ToServer


@dataclass(frozen=True)
class Told:
    """A message that a client got, over which of its connections, and when."""

    line: int
    message: ToClient
    at: int


@dataclass
class Journal:
    """One client's. ``by_lines`` says that every frame of every connection is in it, as opposed to what a link lets through.

    ``away`` are the times, in seconds, from the loss of a connection to having the seat, or the view, again; ``ended`` says
    that the client has seen the end of its race; ``complaints`` are what the client itself found wrong.
    """

    name: str
    room: str
    watches: bool = False
    by_lines: bool = True
    said: list[Said] = field(default_factory=list)
    told: list[Told] = field(default_factory=list)
    away: list[float] = field(default_factory=list)
    ended: bool = False
    complaints: list[str] = field(default_factory=list)
    player: str = ""
    tokens: list[str] = field(default_factory=list)

    def say(self, line: int, message: ToServer) -> None:
        """Note what was sent."""
        self.said.append(Said(line, message))

    def hear(self, line: int, message: ToClient) -> None:
        """Note what was told."""
        self.told.append(Told(line, message, now()))
        if isinstance(message, Welcome):
            if self.player and message.player != self.player:
                self.complaints.append(f"was {self.player} and is now {message.player}")
            self.player = message.player
            if message.session not in self.tokens:
                self.tokens.append(message.session)

    def acts(self) -> dict[int, Act]:
        """What was tried on the board, by the request's id."""
        return {said.message.id: said.message for said in self.said if isinstance(said.message, Act)}


@dataclass(frozen=True)
class RoomEvidence:
    """A room as Redis has it at the end."""

    race: Race
    seed: bytes
    logs: Mapping[str, Sequence[Entry]]
    events: Sequence[Numbered]


@dataclass(frozen=True)
class Evidence:
    """All of a round. ``calm`` is when the last fault was over; ``mishaps`` are what the stage itself saw go wrong."""

    rooms: Mapping[str, RoomEvidence]
    journals: Sequence[Journal]
    lasting_keys: Sequence[str] = ()
    node_logs: Sequence[str] = ()
    mishaps: Sequence[str] = ()
    calm: int = 0
