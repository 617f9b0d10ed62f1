"""The commands: requests to change a race."""

from __future__ import annotations

from msgspec import Struct

from samedeal.protocol.messages import (
    CommitShare,
    DeclareStuck,
    EarlierPlayer,
    KickPlayer,
    Ready,
    Resign,
    RevealShare,
    Start,
)
from samedeal.race.progress import ProgressByPlayer
from samedeal.race.values import DealSecret, FoundDeal, Race


class RaceCommand(Struct, frozen=True):
    """A request to change a race."""


class PlayerCommand(RaceCommand, frozen=True):
    """A request that is about one player."""

    player: str


class JoinCommand(PlayerCommand, frozen=True):
    """Command of a player to take a seat or to rejoin. ``Racer`` explains ``bot``, ``origin`` and ``house``."""

    name: str
    progress: ProgressByPlayer
    bot: bool = False
    origin: str = ""
    house: bool = False


class LeaveCommand(PlayerCommand, frozen=True):
    """Command of a player to leave the room."""


class ReadyCommand(PlayerCommand, frozen=True):
    """Command of a player to be marked as ready, or as not ready."""

    ready: bool


class AwayCommand(PlayerCommand, frozen=True):
    """Command of a player to be marked as away, or as back."""

    away: bool


class StartCommand(PlayerCommand, frozen=True):
    """Command of the host to start the race."""


class CommitShareCommand(PlayerCommand, frozen=True):
    """Command of a player to commit to a share for a draw."""

    draw: int
    commitment: bytes


class RevealShareCommand(PlayerCommand, frozen=True):
    """Command of a player to reveal the share for a draw."""

    draw: int
    share: bytes


class FixDealCommand(RaceCommand, frozen=True):
    """Command of a node to fix the joint or daily deal that its search has found.

    ``earlier`` are others who have had the daily deal, for the only person in the race.
    """

    found: FoundDeal
    earlier: tuple[EarlierPlayer, ...] = ()


class GiveUpDealCommand(RaceCommand, frozen=True):
    """Command of a node to close a room, because its search for the deal of this draw has found none."""

    draw: int


class RaceAloneCommand(RaceCommand, frozen=True):
    """Command of a node to start the countdown of a race for which only one player came.

    If there is a ``room``, the deal of an earlier race is dealt again there instead.
    """

    room: str


class ResignCommand(PlayerCommand, frozen=True):
    """Command of a player to resign."""


class DeclareStuckCommand(PlayerCommand, frozen=True):
    """Command of a player to declare that the player is stuck."""

    progress: ProgressByPlayer


class LinkRematchCommand(RaceCommand, frozen=True):
    """Command of a node to record the room that was opened for the rematch, and who asked for it."""

    room: str
    player: str = ""


class KickCommand(PlayerCommand, frozen=True):
    """Command to remove a player permanently.

    ``by`` is the id of the host, or empty if the operator kicks the player.
    """

    by: str = ""


class RenameCommand(PlayerCommand, frozen=True):
    """Command of the operator to give a player another name, or from the countdown on to show others another one."""

    name: str


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


CommandRequest = Ready | Start | CommitShare | RevealShare | KickPlayer | Resign | DeclareStuck
"""The requests of players with a seat that stand for a command."""


def command_of(player: str, request: CommandRequest, progress: ProgressByPlayer) -> RaceCommand:
    """Return the command that a player's request stands for."""
    match request:
        case Ready():
            return ReadyCommand(player, request.ready)
        case Start():
            return StartCommand(player)
        case CommitShare():
            return CommitShareCommand(player, request.draw, request.commitment)
        case RevealShare():
            return RevealShareCommand(player, request.draw, request.share)
        case KickPlayer():
            return KickCommand(request.player, by=player)
        case Resign():
            return ResignCommand(player)
        case DeclareStuck():  # nobody checks this, because a wrong declaration harms only the player
            return DeclareStuckCommand(player, progress)
