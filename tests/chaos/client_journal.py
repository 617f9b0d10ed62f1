"""The evidence for the judge: the messages of each client of a round, and what the round left in Redis."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from samedeal.protocol.messages import Act, RoomState, ToClient, ToServer, Welcome
from samedeal.race.progress import Progress
from samedeal.race.values import DealSecret, FoundDeal, Race
from samedeal_server.races.log_entry import LogEntry
from samedeal_server.races.public_facts import RaceNews
from samedeal_server.store.events import AttemptBegan, RaceChanged, SequencedEvent
from tests.chaos.shares import ShownSeats

_Kind = TypeVar("_Kind")


def now() -> int:
    """Return the time in milliseconds since 1970. Redis on this machine reads the same clock."""
    return time.time_ns() // 1_000_000


@dataclass(frozen=True)
class SentMessage:
    """A message that a client sent, with the number of its connection."""

    connection: int
    message: ToServer


@dataclass(frozen=True)
class ReceivedMessage:
    """A message that a client received, with the number of its connection and the time in milliseconds."""

    connection: int
    message: ToClient
    received_at: int


@dataclass
class Journal:
    """The journal of one client.

    ``has_all_frames`` is false if the client's link filters the messages. ``outages`` are the times, in seconds, from each
    loss of a connection until the client had its seat or its view again. ``saw_the_end`` is true once the client knows that
    its race is over. ``excluded`` is the code with which the server excluded the client from the room, or empty.
    ``complaints`` are errors that the client itself found. ``replaces`` is true if the client takes part in place of one
    that was excluded, or may come too late. ``revealed`` has the seats that the client was shown before it revealed its
    share, by draw.
    """

    name: str
    room: str
    is_spectator: bool = False
    passphrase: str = ""
    replaces: bool = False
    has_all_frames: bool = True
    sent: list[SentMessage] = field(default_factory=list)
    received: list[ReceivedMessage] = field(default_factory=list)
    outages: list[float] = field(default_factory=list)
    saw_the_end: bool = False
    excluded: str = ""
    complaints: list[str] = field(default_factory=list)
    revealed: dict[int, ShownSeats] = field(default_factory=dict)
    player: str = ""
    tokens: list[str] = field(default_factory=list)

    def record_sent(self, connection: int, message: ToServer) -> None:
        """Record a sent message."""
        self.sent.append(SentMessage(connection, message))

    def record_received(self, connection: int, message: ToClient) -> None:
        """Record a received message."""
        self.received.append(ReceivedMessage(connection, message, now()))
        if isinstance(message, Welcome):
            if self.player and message.player != self.player:
                self.complaints.append(f"was {self.player} and is now {message.player}")
            self.player = message.player
            if message.session not in self.tokens:
                self.tokens.append(message.session)

    def exclude(self, code: str) -> None:
        """Record that the server excluded the client from the room."""
        self.excluded = self.excluded or code
        self.saw_the_end = True

    @property
    def phase(self) -> str:
        """The phase of the race as the client knows it, or empty."""
        states = [state for _, state in self.got(RoomState)]
        return states[-1].phase if states else ""

    def got(self, kind: type[_Kind]) -> Iterator[tuple[ReceivedMessage, _Kind]]:
        """Yield the received messages of a kind, each with when and over which connection it came."""
        return ((each, each.message) for each in self.received if isinstance(each.message, kind))

    def acts(self) -> dict[int, Act]:
        """Return the actions that were sent, by request id."""
        return {sent.message.id: sent.message for sent in self.sent if isinstance(sent.message, Act)}


@dataclass(frozen=True)
class StoredKey:
    """A key in Redis at the end of the round.

    ``lifetime`` is the remaining time in seconds, or None if the key never expires. ``size`` is in bytes.
    """

    name: str
    lifetime: float | None
    size: int


@dataclass(frozen=True)
class RoomEvidence:
    """A room as stored in Redis at the end of the round. ``found`` is its joint deal, if it has one."""

    race: Race
    seed: bytes
    logs: Mapping[str, Sequence[LogEntry]]
    events: Sequence[SequencedEvent]
    found: FoundDeal | None = None

    def had(self, kind: type[_Kind]) -> Iterator[tuple[SequencedEvent, _Kind]]:
        """Yield the events of a kind, each with its number and time."""
        return ((each, each.event) for each in self.events if isinstance(each.event, kind))

    def first_progress(self, player: str) -> Progress:
        """Return the progress of a player before the first action: in a race with a window, when the attempt began."""
        began = [event.began_at for _, event in self.had(AttemptBegan) if event.player == player]
        return Progress(began_at=began[0] if began else 0)

    @property
    def races(self) -> list[Race]:
        """The race after each change of it."""
        return [changed.race for _, changed in self.had(RaceChanged)]

    @property
    def finishes(self) -> list[int]:
        """The times at which the race was finished: one, if all is well."""
        return [each.time for each, changed in self.had(RaceChanged) if "finished" in changed.changes]

    @property
    def secret(self) -> DealSecret:
        """The seed of the deal, with the joint deal if there is one."""
        return DealSecret(self.seed, self.found)


@dataclass(frozen=True)
class Evidence:
    """The evidence of a round.

    ``calm_at`` is the end of the last fault. ``failures`` are errors of the round itself. ``banned`` holds the players whom
    the operator has banned, and ``secrets`` what no node may log. ``lost`` is the time, in milliseconds, whose writes a
    failover has lost. ``stepped`` is the size of all steps of the clock of Redis together, in milliseconds. ``news`` is
    what programs were told.
    """

    rooms: Mapping[str, RoomEvidence]
    journals: Sequence[Journal]
    keys: Sequence[StoredKey] = ()
    node_logs: Sequence[str] = ()
    failures: Sequence[str] = ()
    calm_at: int = 0
    banned: Collection[str] = ()
    secrets: Sequence[str] = ()
    lost: range = range(0)
    stepped: int = 0
    news: Sequence[RaceNews] = ()
