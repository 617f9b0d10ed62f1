"""The countdown of a race, in which its deal is drawn, and the board that is dealt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from samedeal.board import Board
from samedeal.deal import Deal, shuffled
from samedeal.deal_proof import DealProof, LostShare, RevealedShare
from samedeal.joint_deal import MAX_DRAWS, SHARE_BYTES, LossReason, candidate_board, mix, share_commitment
from samedeal.moves import Move
from samedeal.race.commands import (
    CommandResult,
    CommitShareCommand,
    FixDealCommand,
    GiveUpDealCommand,
    RaceAloneCommand,
    RevealShareCommand,
    TickCommand,
)
from samedeal.race.due_times import awaits_next, is_alone
from samedeal.race.progress import Progress, ProgressByPlayer, is_connected
from samedeal.race.values import DealSecret, DrawProgress, FoundDeal, Race, Racer
from samedeal.sentences import refused

SHARE_TIMEOUT: Final = 10_000
"""Time, in milliseconds, in which players must commit to their shares, and then again to reveal them.

A player who misses this time loses the seat.
"""

EXTENSION: Final = 2_000
"""Time, in milliseconds, by which a countdown is extended if it ends before the deal has been found."""


def mixed(secret: bytes, shares: Sequence[RevealedShare]) -> bytes:
    """Return the mix of a joint or daily deal. The mix decides which deals the search tries.

    The mix of a joint deal is a hash of the server's secret and all shares. A daily deal has no shares, and its
    ``secret`` is the mix itself.
    """
    return mix(secret, [(share.seat, share.share) for share in shares]) if shares else secret


def first_board(race: Race, secret: DealSecret) -> Board | None:
    """Return the board as dealt, or None if the search has not found the deal yet."""
    if not race.is_searched:
        return Board.deal(race.game, shuffled(secret.seed, race.game.decks))
    if (found := _found(race, secret)) is None:
        return None
    return candidate_board(mixed(secret.seed, found.shares), found.candidate, race.game)


def _found(race: Race, secret: DealSecret) -> FoundDeal | None:
    """Return the result of the search after the newest draw, or None if there is none."""
    found = secret.found if race.draw.found else None
    return found if found is not None and found.draw == race.draw.number else None


def proof_of(race: Race, secret: DealSecret) -> str:
    """Return the proof of a joint or daily deal as text. Return an empty string if the deal has not been found."""
    found = _found(race, secret)
    if found is None:
        return ""
    line = tuple(Move.parse(move) for move in found.line.split(", "))
    public = "" if race.is_joint else race.deal
    drawn = secret.seed, race.draw.number, race.draw.lost, found.shares
    return str(DealProof(race.search, race.terms.digest, race.commitment, *drawn, found.candidate, line, public))


def count_down(race: Race, now: int, starts: int, *events: str) -> CommandResult:
    """Begin the countdown, and the next draw if the deal is joint. If there have been too many draws, close the room."""
    if not race.is_joint:
        return replace(_starting_at(race, starts), phase="countdown"), (*events, "countdown")
    if race.draw.number == MAX_DRAWS:
        return replace(race, phase="closed"), (*events, "not_drawn", "closed")
    drawing = replace(_next_draw(race, now), phase="countdown")
    return _starting_at(drawing, starts), (*events, "countdown")


def _next_draw(race: Race, now: int, seats: tuple[int, ...] = ()) -> Race:
    racers = tuple(replace(racer, commitment=b"", share=b"") for racer in race.racers)
    number, reveal_by = max(race.draw.number, race.draws_before) + 1, now + SHARE_TIMEOUT
    return replace(race, racers=racers, draw=DrawProgress(number, reveal_by, lost=race.draw.lost, seats=seats))


def _starting_at(race: Race, starts: int) -> Race:
    return replace(race, starts=starts, ends=starts + 1000 * race.options.limit)


def close_doors(race: Race) -> CommandResult:
    """Let nobody enter a race with a window any more. Its deal is drawn once somebody is there."""
    return replace(race, phase="countdown"), ("countdown",)


def draw_with_those_there(race: Race, progress: ProgressByPlayer, now: int, *events: str) -> CommandResult:
    """Begin the next draw of a race with a window, with the players who are connected and may draw.

    If there are none, the draw waits for them. If there have been too many draws, it waits for the host to open the doors
    again, which ends with the last opening, unless a standing series goes on.
    """
    waiting = replace(race, draw=replace(race.draw, seats=(), reveal_by=0))
    if waiting.has_lost_draws and waiting.is_opened_last and not race.goes_on:
        return replace(race, phase="closed"), (*events, "not_drawn", "closed")
    there = (racer.seat for racer in race.may_draw if is_connected(progress.get(racer.player, Progress()), now))
    seats = () if waiting.has_lost_draws else tuple(sorted(there))
    if not seats:
        return waiting, (events if waiting != race else ())
    return _next_draw(race, now, seats), (*events, "drawing")


def is_draw_due(race: Race, progress: ProgressByPlayer, now: int) -> bool:
    """Return whether a race with a window has waited for players who may draw its deal, and waits no longer."""
    waits = race.window > 0 and race.lacks_shares and not race.draw.seats and now < race.ends
    return waits and draw_with_those_there(race, progress, now)[0] != race


def _tick_window(race: Race, command: TickCommand, now: int) -> CommandResult:
    """Begin a draw, or the next one after a draw was lost.

    Close the room if nobody has drawn by the end of the window, once the next race of a standing series has a room.
    """
    if awaits_next(race, now):
        return race, ()
    if race.lacks_deal and now >= race.ends:
        return replace(race, phase="closed"), ("not_drawn", "closed")
    if race.lacks_shares and not race.draw.seats:
        return draw_with_those_there(race, command.progress, now)
    if race.awaited and now >= race.draw.reveal_by:
        left = replace(race, draw=_with_lost(race, race.awaited, "silent"))
        return draw_with_those_there(left, command.progress, now, "draw_lost")
    return race, ()


def lose_seats(race: Race, losers: Sequence[Racer], reason: LossReason, now: int, *events: str) -> CommandResult:
    """Continue the countdown after racers have lost their seats.

    If the draw is sealed and shares are missing, begin the countdown again with another draw, because those who lost
    their seats may know which deal they prevent. If no racer is left, return the race to the phase ``open``. The next
    countdown then has another draw, even if all shares were known. So the last racers are always listed in ``lost``: a
    proof must say why there was another draw. Nobody can enter the room of a tide then, so it closes.
    """
    left = race.without(losers)
    if left.racers and all(racer.house for racer in left.racers):  # nobody is left for whom they came
        losers, left = race.racers, race.without(race.racers)
    if Deal.parse(race.deal).kind == "daily" and all(racer.bot for racer in left.racers):
        left = replace(left, earlier=())  # which were for the only person
    if race.lacks_shares or (race.is_joint and not left.racers):
        left = replace(left, draw=_with_lost(race, losers, reason))
    if not left.racers and race.tide:
        return replace(left, phase="closed"), (*events, "closed")
    if not left.racers:
        stopped = DrawProgress(left.draw.number, lost=left.draw.lost)
        return replace(left, phase="open", starts=0, ends=0, draw=stopped), (*events, "countdown_stopped")
    if not race.lacks_shares:
        return left, events
    if race.is_sealed:
        return count_down(left, now, max(race.starts, now + 1000 * race.options.countdown), *events)
    return _seal_if_due(left, now, *events)


def _with_lost(race: Race, losers: Sequence[Racer], reason: LossReason) -> DrawProgress:
    lost = (LostShare(race.draw.number, racer.seat, reason, racer.name) for racer in losers)
    return replace(race.draw, lost=(*race.draw.lost, *lost))


def _seal_if_due(race: Race, now: int, *events: str) -> CommandResult:
    """Give the players time to reveal their shares if all of them have committed."""
    if not race.is_sealed:
        return race, events
    return replace(race, draw=replace(race.draw, reveal_by=now + SHARE_TIMEOUT)), (*events, "sealed")


def commit_share(race: Race, command: CommitShareCommand, now: int) -> CommandResult:
    """Commit a player to a share."""
    racer = race.seated(command.player)
    is_awaited = race.lacks_shares and racer in race.drawing and race.draw.number == command.draw
    if not is_awaited or len(command.commitment) != SHARE_BYTES:
        raise refused("bad_share")
    if racer.commitment == command.commitment:
        return race, ()
    if race.is_sealed:
        raise refused("bad_share")
    return _seal_if_due(race.with_racer(racer, commitment=command.commitment), now, "committed")


def reveal_share(race: Race, command: RevealShareCommand, now: int) -> CommandResult:
    """Reveal the share of a player. The last one completes the draw."""
    racer = race.seated(command.player)
    draw = race.draw
    if not race.is_joint or draw.number != command.draw or len(command.share) != SHARE_BYTES:
        raise refused("bad_share")
    if command.share in (racer.share, *(share.share for share in draw.shares if share.seat == racer.seat)):
        return race, ()
    place = racer.seat, racer.name, draw.number
    expected = share_commitment(race.terms.digest, race.commitment, *place, command.share)
    if racer.share or not race.is_sealed or expected != racer.commitment:
        raise refused("bad_share")
    revealed = race.with_racer(racer, share=command.share)
    if not all(each.share for each in revealed.drawing):
        return revealed, ("revealed",)
    shares = sorted(RevealedShare(each.seat, each.name, each.commitment, each.share) for each in revealed.drawing)
    racers = tuple(replace(each, commitment=b"", share=b"") for each in revealed.racers)
    return replace(revealed, racers=racers, draw=replace(draw, shares=tuple(shares))), ("revealed", "drawn")


def fix_deal(race: Race, command: FixDealCommand, now: int) -> CommandResult:
    """Fix the deal that a search has found, unless it was found for other shares. A race that is late starts at once."""
    if not race.needs_search or command.found.shares != race.draw.shares:
        return race, ()
    if race.window and now >= race.ends:
        return race, ()
    found = replace(race, draw=replace(race.draw, found=True), earlier=command.earlier or race.earlier)
    if race.window:
        return replace(found, starts=now), ("deal_found",)
    return _starting_at(found, now) if race.draw.is_late else found, ("deal_found",)


def give_up_deal(race: Race, command: GiveUpDealCommand, now: int) -> CommandResult:
    """Close a room for which no deal was found, unless the search was for another draw.

    A standing series goes on after such a race, whose window passes.
    """
    if not race.needs_search or command.draw != race.draw.number or race.goes_on:
        return race, ()
    return replace(race, phase="closed"), ("not_found", "closed")


def race_alone(race: Race, command: RaceAloneCommand, now: int) -> CommandResult:
    """Begin the countdown for the only player, or send the player to another room."""
    if not is_alone(race, now):
        return race, ()
    if command.room:
        return replace(race, next=command.room), ("repeated",)
    return count_down(race, now, max(now, race.options.start_at))


def tick_countdown(race: Race, command: TickCommand, now: int) -> CommandResult:
    """Free the seats of players who are too late for the draw. Extend a countdown that ends before the deal is found."""
    if race.window:
        return _tick_window(race, command, now)
    if race.awaited and now >= race.draw.reveal_by:
        return lose_seats(race, race.awaited, "silent", now, "left", "unseated")
    if race.lacks_deal and now >= race.starts:
        late = replace(race, draw=replace(race.draw, is_late=True))
        return _starting_at(late, now + EXTENSION), ("extended",)
    return race, ()
