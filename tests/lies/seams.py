"""Lies at the seams of what the evidence keeps: each needs a race of its own, or is one that no client can see.

``SEAMS`` are those that must be noticed. ``UNSEEN`` are the limits of the verdict, which SECURITY.md names: when a client
learns to see one, its test says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from msgspec.structs import replace as with_fields

from samedeal.board_history import Play
from samedeal.joint_deal import MAX_DRAWS
from samedeal.protocol import messages
from samedeal.protocol.messages import DrawnShare, EarlierPlayer, LostSeat, RoomState, Seat, TableLine, Tally
from samedeal.protocol_codes import RefusalCode
from samedeal.race.commands import JoinCommand, RaceCommand
from samedeal.race.values import Racer
from samedeal.record import Record
from samedeal_link.evidence.facts import Wanted
from tests.lies.coherent import Drawing, EarlyUnanswered, RefusedByFault, ToldTallies, says
from tests.lies.seen import Event
from tests.lies.worlds import LINE, PLANS, Client, Plan, Server, options, script


class Seam(NamedTuple):
    """A lie: the race, who notices it, and the server."""

    plan: Plan
    client: str
    liar: type[Server]


_ALONE: Final = Plan("alone", script("ana:join ana:start race ana:move ana:stuck"), options(players=4))

_THREE: Final = replace(_ALONE, script=script("ana:join bob:join cid:join ana:start race ana:move limit"))

_FREE: Final = Plan(
    "free", script("ana:join bob:join ana:start race ana:move ana:restart bob:stuck ana:stuck"), options(undo="free")
)

_UNDONE: Final = "ana:join bob:join ana:start race ana:move*3 ana:restart ana:undo bob:stuck ana:stuck"

_SPRINT: Final = Plan(
    "sprint",
    script(
        "ana:join bob:join cid:join ana:start race cid:move*2 ana:win bob:move*6 bob:stuck cid:stuck ana:ping",
    ),
    options("winnable easy", first_finish_ends=True),
)

_NO_BOTS: Final = Plan(
    "beyond bots",
    script("ana:join eve:join ana:start race ana:move eve:stuck ana:stuck"),
    options(players=4, bots=False),
    bots=("eve",),
)

_LISTED: Final = replace(
    _ALONE, name="beyond the row", wanted={"ana": Wanted(line=with_fields(LINE, players=0, spectators=False))}
)


# The draw


class DrawsAfterSilence(Drawing):
    """Cuts the line of a lone player before she has committed, calls her silent, and takes her back.

    From then on it draws again for the same seat as often as the rules allow at all, and knows each of these deals. It
    blames a player for that who never had a seat.
    """

    def begin(self, command: RaceCommand) -> None:
        super().begin(command)
        client, racer = self.clients["ana"], self.race.racers[0]
        client.disconnect()
        self.blame(racer.seat, racer.name)
        self.redraw()
        client.connect()

    def cheat(self) -> None:
        self.blame(9, "mal")
        self.redraw()
        self.has_cheated = self.race.draw.number == MAX_DRAWS


class SecondLookAtForgetful(Drawing):
    """Begins the same draw again for a player whose program has lost its evidence after the reveal.

    Guests of a door, bots and private windows keep it only in memory.
    """

    def cheat(self) -> None:
        client = self.clients["ana"]
        client.disconnect()
        client.happens(Event("forgot", client.now))
        client.seen = with_fields(client.seen, seed=f"{client.seen.seed} of the next program")
        self.change(racers=tuple(with_fields(each, commitment=b"", share=b"") for each in self.race.racers))
        client.connect()
        self.settle()


class UnlistedLoss(Drawing):
    """Takes two seats before it draws again, and names one, so that the verdict counts too few of them."""

    def cheat(self) -> None:
        *others, _, cid = self.race.racers
        self.change(racers=(*others, cid))
        self.lose(cid, "silent")


@says(RoomState)
def other_draw_number(server: Server, client: Client, state: RoomState) -> RoomState:
    """Says during the race that the deal was drawn twice more than it was."""
    return with_fields(state, draw=state.draw + 2) if state.phase in ("racing", "finished") else state


class DrawnByOneself(Server):
    """Shows shares of all players for a deal that the server alone has chosen."""

    number = 1

    def begin(self, command: RaceCommand) -> None:
        super().begin(command)
        zero, racers = bytes(32), self.race.racers
        shares = tuple(DrawnShare(seat=each.seat, name=each.name, commitment=zero, share=zero) for each in racers)
        for client in list(self.present):
            client.receive(messages.Drawn(room=self.room, draw=self.number, shares=shares))


class DrawnByOneselfTwice(DrawnByOneself):
    """Says the same of a second draw, after which the sentence of the verdict cannot be written."""

    number = 2


@says(RoomState)
def loss_without_draw(server: Server, client: Client, state: RoomState) -> RoomState:
    """Says of a deal without a draw that somebody lost a seat in it."""
    lost = LostSeat(draw=1, seat=9, reason="silent", name="zed")
    return with_fields(state, lost=(lost,)) if state.phase != "open" else state


# The terms


class LateEndOfSprint(Server):
    """Lets a race go on that its first finish should end, so that others can pass one another."""

    def play_on(self, player: str, *action: Any) -> Play:
        play = super().play_on(player, *action)
        self.change(ends=self.race.starts + 1000 * self.race.options.limit)
        return play


@says(RoomState)
def short_clock(server: Server, client: Client, state: RoomState) -> RoomState:
    """Says that a race which its first finish may end has a minute, though nobody has finished."""
    return with_fields(state, ends=state.starts + 60_000) if state.phase == "racing" else state


class BotWhereNone(Server):
    """Seats a bot in a room whose terms admit none."""

    ignored: Mapping[str, Any] = {"bots": True}

    def apply(self, command: RaceCommand) -> None:
        options = self.race.options
        if isinstance(command, JoinCommand):
            self.held = replace(self.held, race=with_fields(self.race, options=with_fields(options, **self.ignored)))
        super().apply(command)
        self.held = replace(self.held, race=with_fields(self.race, options=options))


class ThirdOfTwoSeats(BotWhereNone):
    """Seats more players than the terms have seats."""

    ignored: Mapping[str, Any] = {"players": 4}


class SpectatorsInSpiteOfRow(Server):
    """Lists a room as one without spectators, and opens it with them."""


class WithheldCounts(Server):
    """Tells nobody of what rivals do during the race, so that all screens show them without a move."""

    def tell(self, racer: Racer) -> None:
        pass


@says(messages.Watching)
def other_delay(server: Server, client: Client, answer: messages.Watching) -> messages.Watching:
    """Tells a spectator another delay of the boards than that of the terms."""
    return with_fields(answer, delay=60)


@says(RoomState)
def closes_later(server: Server, client: Client, state: RoomState) -> RoomState:
    """Lets the doors and the window of a room close a minute later than the list of rooms said."""
    return with_fields(state, ends=state.ends + 60_000, doors_close_at=state.doors_close_at + 60_000)


# What is shown of others


class ToldToBob(ToldTallies):
    """Shows one player of a window that is still open what the others have done."""

    def state_for(self, client: Client) -> RoomState:
        return super().state_for(client) if client.name == "bob" else Server.state_for(self, client)


class FalseResignation(Server):
    """Says of each rival who has moved that the rival has resigned."""

    def seat_for(self, client: Client, seat: Seat) -> Seat:
        is_false = self.race.phase == "racing" and bool(self.logs[seat.player]) and seat.player != client.player
        return with_fields(seat, resigned=seat.resigned or is_false)


class EarlierProgress(Server):
    """Dates the progress of rivals thirty seconds earlier, which decides who leads and what the chart shows."""

    def tally_for(self, racer: Racer) -> Tally:
        tally = super().tally_for(racer)
        earlier = max(self.race.starts, tally.acted_at - 30_000) if tally.acted_at else 0
        return with_fields(tally, last_progress_at=earlier)


@says(messages.DelayedBoard)
def invented_curve(server: Server, client: Client, shown: messages.DelayedBoard) -> messages.DelayedBoard:
    """Invents for a spectator when a player had brought how many cards home."""
    return with_fields(shown, reached=(1, 2, 3))


class OtherRivalInCountdown(Server):
    """Shows another rival in the countdown than in the race."""

    def seat_for(self, client: Client, seat: Seat) -> Seat:
        is_other = self.race.phase == "countdown" and seat.player != client.player
        return with_fields(seat, name="champion") if is_other else seat


@says(RoomState)
def company_in_countdown(server: Server, client: Client, state: RoomState) -> RoomState:
    """Deals an earlier race again while somebody else is in the room until the start."""
    company = Seat(player="p-mal", name="mal", seat=2)
    return with_fields(state, players=(*state.players, company)) if state.phase == "countdown" else state


@says(RoomState)
def changing_earlier(server: Server, client: Client, state: RoomState) -> RoomState:
    """Changes at the end how well the players of the earlier race did, among whom the player is placed."""
    is_over = state.phase == "finished"
    zed = EarlierPlayer(name="zed", foundation_cards=52 * is_over, time=60_000 * is_over, reached=(5,))
    return with_fields(state, earlier=(zed,))


class OtherTableBefore(Server):
    """Opens the next race of a series with another table than that with which the player's own race before it ended."""

    def __init__(self, plan: Plan, seed: str) -> None:
        super().__init__(replace(plan, table=(TableLine(1, "p-bob", "bob", 1, 9.0, 1),)), seed)


# Own moves


@says(messages.BoardState)
def no_undo(server: Server, client: Client, board: messages.BoardState) -> messages.BoardState:
    """Says to a player who has come back that the newest move cannot be undone, which could be."""
    return with_fields(board, may_undo=False)


@says(messages.Acked)
def no_more_undo(server: Server, client: Client, acked: messages.Acked) -> messages.Acked:
    """Says after an undo that no other one is possible, which would be."""
    return with_fields(acked, may_undo=False) if acked.piles else acked


class NotRacing(Server):
    """Refuses all moves of the first player but one as if there were no race, which goes on for the others."""

    def act(self, client: Client, racer: Racer, act: messages.Act) -> messages.Acked | messages.Refused:
        if racer.name != "ana" or act.revision < 1:
            return super().act(client, racer, act)
        return messages.Refused(to=act.id, code=RefusalCode.NOT_RACING, message="The race is over.", revision=1)


class EarlyUnansweredWithSlowClock(EarlyUnanswered):
    """Tells a time that is always behind, so that the move seems to have been sent before its date."""

    def told(self, client: Client, message: Any) -> Sequence[Any]:
        is_time = isinstance(message, messages.Pong)
        return (with_fields(message, time=message.time - 4500),) if is_time else super().told(client, message)


class RefusedButMade(RefusedByFault):
    """Refuses a move that it makes as if there were no race."""

    code = RefusalCode.NOT_RACING


SEAMS: Final = {
    seam.liar.__name__: seam
    for seam in (
        Seam(PLANS["watched"], "sue", invented_curve),
        Seam(_ALONE, "ana", DrawsAfterSilence),
        Seam(_THREE, "ana", UnlistedLoss),
        Seam(PLANS["joint"], "ana", other_draw_number),
        Seam(PLANS["random"], "ana", DrawnByOneself),
        Seam(PLANS["random"], "ana", loss_without_draw),
        Seam(_SPRINT, "cid", LateEndOfSprint),
        Seam(PLANS["won"], "bob", short_clock),
        Seam(_NO_BOTS, "ana", BotWhereNone),
        Seam(replace(PLANS["redraw"], name="beyond seats", options=options(players=2)), "ana", ThirdOfTwoSeats),
        Seam(_LISTED, "ana", SpectatorsInSpiteOfRow),
        Seam(PLANS["watched"], "sue", other_delay),
        Seam(PLANS["window"], "bob", closes_later),
        Seam(PLANS["window"], "bob", ToldToBob),
        Seam(PLANS["joint"], "ana", FalseResignation),
        Seam(PLANS["joint"], "ana", EarlierProgress),
        Seam(PLANS["daily"], "ana", OtherRivalInCountdown),
        Seam(PLANS["again"], "ana", company_in_countdown),
        Seam(PLANS["again"], "ana", changing_earlier),
        Seam(_FREE, "ana", no_undo),
        Seam(replace(_FREE, script=script(_UNDONE)), "ana", no_more_undo),
        Seam(PLANS["joint"], "ana", NotRacing),
        Seam(PLANS["joint"], "ana", EarlyUnansweredWithSlowClock),
        Seam(PLANS["joint"], "ana", RefusedButMade),
    )
}
"""The lies that must be noticed, by their names."""


# The clock


class LatePongs(Server):
    """Answers pings four seconds late before the countdown, so that nobody notices wrong dates of that size later."""

    def handle(self, client: Client, request: Any) -> None:
        self.now += 4000 * (isinstance(request, messages.Ping) and self.race.phase == "open")
        super().handle(client, request)

    def ack_time(self, racer: Racer) -> int:
        return min(self.now + 3500, self.race.ends - 1) if racer.name == "ana" else self.now


class LaterClockAfterRestart(Server):
    """Tells a program that was restarted during the race a clock that is ten seconds late, and dates its moves by it."""

    def handle(self, client: Client, request: Any) -> None:
        if isinstance(request, messages.Ping) and self.race.phase == "racing" and client.name == "ana":
            client.receive(messages.Pong(to=request.id, time=self.now + 10_000))
            return
        super().handle(client, request)

    def ack_time(self, racer: Racer) -> int:
        is_late = racer.name == "ana" and bool(self.logs[racer.player])
        return min(self.now + 10_000, self.race.ends - 1) if is_late else self.now


UNSEEN: Final = {
    seam.liar.__name__: seam
    for seam in (
        Seam(_ALONE, "ana", SecondLookAtForgetful),
        Seam(PLANS["joint"], "ana", WithheldCounts),
        Seam(PLANS["window"], "ana", ToldToBob),
        Seam(PLANS["series"], "ana", OtherTableBefore),
        Seam(PLANS["daily"], "ana", LatePongs),
        Seam(PLANS["restarted"], "ana", LaterClockAfterRestart),
    )
}
"""What no client can see: it has forgotten what it knew, or knows no better clock, or was not shown what others saw."""


# What friends compare


class LeftForAna(Server):
    """Tells one player that all others have left once the deal was known, and writes a record of her own for her."""

    def told(self, client: Client, message: Any) -> Sequence[Any]:
        if client.name != "ana":
            return (message,)
        if not isinstance(message, RoomState) or message.phase not in ("racing", "finished"):
            return () if isinstance(message, messages.ProgressUpdate) else (message,)
        own = client.player
        alone: dict[str, Any] = {
            "players": tuple(each for each in message.players if each.player == own),
            "tallies": tuple(each for each in message.tallies if each.player == own),
            "standings": tuple(with_fields(each, place=1) for each in message.standings if each.player == own),
        }
        return (with_fields(message, **alone),)

    def honest_record(self, client: Client | None) -> Record:
        record = super().honest_record(client)
        if client is None or client.name != "ana":
            return record
        own = tuple(replace(each, place=1) for each in record.players if each.name == "ana")
        return replace(record, entrants=1, players=own)
