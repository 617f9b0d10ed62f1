"""Servers that lie, each in one way that is another kind of lie, and the row of the table of verdicts that each turns.

``tests/lies`` enumerates far more lies, without sockets and programs. The first clients in the room are ana, who races in
the line client with files of evidence, and bob, a bot.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from msgspec.structs import replace as with_fields

from samedeal.board import Board
from samedeal.deal_proof import RevealedShare
from samedeal.joint_deal import WonCandidate
from samedeal.protocol.messages import ProgressUpdate, RoomState, Standing, Tally, ToClient, Watching
from tests.end_to_end.lying_server import HonestServer, Racer
from tests.shared.joint_deals import some_bytes

Shares = tuple[RevealedShare, ...]


@dataclass(frozen=True)
class Lie:
    """A lie, and the row that the clients of ``who`` find: ana, bob or both. The other one calls the race fair.

    If ``early``, the clients say so before the race is over. ``reveals`` is the number of shares that ana's client
    reveals. ``guests`` are racers of the server's own.
    """

    server: type[HonestServer]
    row: str
    who: str = "ana and bob"
    early: bool = True
    reveals: int = 1
    guests: tuple[str, ...] = ()


LIES: Final[dict[str, Lie]] = {}


def lie(
    row: str, *, who: str = "ana and bob", early: bool = True, reveals: int = 1, guests: tuple[str, ...] = ()
) -> Callable[[type[HonestServer]], type[HonestServer]]:
    """Put a lying server into the table."""

    def add(server: type[HonestServer]) -> type[HonestServer]:
        LIES[server.__name__] = Lie(server, row, who, early, reveals, guests)
        return server

    return add


# Before the shares are revealed


@lie("changed_terms", reveals=0)
class ChangedTerms(HonestServer):
    """Changes the terms when all have committed."""

    async def draw_deal(self) -> None:
        await self.collect_commitments()
        self.terms = replace(self.terms, options=with_fields(self.options, limit=300))
        await self.seal()
        await self.settle()

    def state_for(self, racer: Racer) -> RoomState:
        return with_fields(super().state_for(racer), terms=str(self.terms), options=self.terms.options)

    async def deal_cards(self) -> None:
        """Deal nothing: the players reveal no more shares."""

    def is_over(self) -> bool:
        return True

    async def finish(self) -> None:
        """Show nothing."""


class UnaskedWatching(HonestServer):
    """Says that the players watch, so that they might take no part in the draw. Nobody believes it."""

    async def draw_deal(self) -> None:
        for racer in self.racers:
            await self.send(racer, Watching(to=999_999, room=self.room, delay=0))
        await super().draw_deal()


# Draws


class Draining(HonestServer):
    """A server with a first draw in which all have revealed. Nobody but the server knows the shares yet."""

    keeps_leavers = True

    async def draw_deal(self) -> None:
        await self.cheat(await self.draw_once())

    async def cheat(self, shares: Shares) -> None:
        """Lie, now that the server knows the shares."""
        await self.claim(shares)

    async def ask_again(self, number: int) -> None:
        """Begin another draw, and seal it if all commit to it."""
        await self.begin_draw(number)
        await self.settle()
        if self.is_sealable():
            await self.seal()
            await self.settle()

    def choose_share(self, racer: Racer) -> None:
        """Replace the share of a player and the commitment to it."""
        racer.share = some_bytes(f"chosen for {racer.name}")
        racer.commitment = self.promise(racer, racer.share)

    async def claim(self, shares: Shares, number: int = 1) -> None:
        self.draw, self.shares = number, shares
        await self.publish_shares()


@lie("no_seat_lost")
class SeveralDraws(Draining):
    """Pretends a new draw to get another share of each player, and returns to the first."""

    async def cheat(self, shares: Shares) -> None:
        await self.ask_again(2)
        await self.claim(shares)


# The deal and the race


@lie("not_first", early=False)
class ThirdCandidate(HonestServer):
    """Deals the third candidate that can be won."""

    def find_deal(self) -> WonCandidate:
        won = self.first_won(0)
        for _ in range(2):
            won = self.first_won(won.number + 1)
        return won


@lie("other_board", who="ana", early=False)
class SwappedStock(HonestServer):
    """Swaps cards of ana that lie face down when the race begins."""

    def board_of(self, racer: Racer) -> Board:
        board = super().board_of(racer)
        if racer.name != "ana":
            return board
        stock = board.game.index["stock"]
        return replace(board, piles=tuple(pile[::-1] if at == stock else pile for at, pile in enumerate(board.piles)))


@lie("resigned_for_you", who="ana")
class ResignsForAna(HonestServer):
    """Says that ana has resigned, as soon as she has made a move."""

    async def deal_cards(self) -> None:
        await super().deal_cards()
        await self.until(lambda: bool(self.racer_of("ana").log))
        self.racer_of("ana").resigned = True
        await self.push()


# Results and records


@lie("no_record", early=False)
class NoRecord(HonestServer):
    """Gives no record."""

    def record_text(self, racer: Racer) -> str:
        return ""


@lie("changed_record", early=False)
class TwoRecords(HonestServer):
    """Gives another record each time."""

    readings = 0

    def record_text(self, racer: Racer) -> str:
        self.readings += 1
        return str(replace(self.honest_record(), end=self.finished_at + self.readings))


@lie("other_action", early=False)
class ChangedMove(HonestServer):
    """Replaces the last move of each player in the player's record by another that is allowed."""

    def record_text(self, racer: Racer) -> str:
        record = self.honest_record()
        at = next(at for at, player in enumerate(record.players) if player.name == racer.name)
        player = record.players[at]
        *rest, (time, action) = player.actions
        board = record.plays(replace(player, actions=tuple(rest)))[-1].board
        moves = (str(move) for move in board.legal_moves() if str(move) != action and not board.is_null(move))
        changed = replace(player, actions=(*rest, (time, next(moves, "undo"))))
        return str(replace(record, players=(*record.players[:at], changed, *record.players[at + 1 :])))


class OtherResultsLater(HonestServer):
    """Shows other results once the clients have judged the race."""

    async def show_other_results(self) -> None:
        self.standings = tuple(with_fields(line, moves=line.moves + 1) for line in self.standings)
        await self.push()


# Several deals at once


class TwoDeals(HonestServer):
    """Shows each of two players a deal of their own, and nothing that the other one does.

    Towards each player, it answers in the name of the other one with a share that it has made.
    """

    def __init__(self, room: str) -> None:
        super().__init__(room)
        self.dealt: dict[str, tuple[Shares, WonCandidate]] = {}

    async def draw_deal(self) -> None:
        await self.draw_once()
        for viewer in self.racers:
            self.shares = tuple(
                share if share.seat == viewer.seat else share._replace(share=faked, commitment=promise)
                for share, (faked, promise) in zip(self.revealed_shares(), map(self.faked, self.racers), strict=True)
            )
            self.dealt[viewer.player] = self.shares, self.first_won(0)
        await self.publish_shares()

    def faked(self, racer: Racer) -> tuple[bytes, bytes]:
        share = some_bytes(f"in the name of {racer.name}")
        return share, self.promise(racer, share)

    def find_deal(self) -> WonCandidate:
        return self.won

    def show(self, racer: Racer) -> None:
        """Take a player's view of the deal."""
        if racer.player in self.dealt:
            self.shares, self.won = self.dealt[racer.player]

    def shares_for(self, racer: Racer) -> Shares:
        self.show(racer)
        return self.shares

    def board_of(self, racer: Racer) -> Board:
        self.show(racer)
        return super().board_of(racer)

    def state_for(self, racer: Racer) -> RoomState:
        state = super().state_for(racer)
        self.show(racer)
        seats = tuple(
            seat
            if seat.player == racer.player or not seat.share_commitment
            else with_fields(seat, share_commitment=self.faked(other)[1])
            for seat, other in zip(state.players, self.racers, strict=True)
        )
        tallies = tuple(
            tally if tally.player == racer.player else Tally(player=tally.player) for tally in state.tallies
        )
        proof = str(self.honest_proof()) if state.proof else ""
        return with_fields(state, players=seats, tallies=tallies, proof=proof, standings=self.standings_for(racer))

    def standings_for(self, viewer: Racer) -> tuple[Standing, ...]:
        lines = [with_fields(line, place=1) for line in self.standings]
        return tuple(
            line
            if line.player == viewer.player
            else with_fields(line, place=self.place_behind(viewer), moves=0, undos=0, foundation_cards=0, time=0)
            for line in sorted(lines, key=lambda line: line.player != viewer.player)
        )

    def place_behind(self, racer: Racer) -> int:
        assert racer.play is not None
        return 2 if racer.play.board.foundation_cards else 1

    async def send(self, racer: Racer, message: ToClient) -> None:
        if not isinstance(message, ProgressUpdate):
            await super().send(racer, message)

    def record_text(self, racer: Racer) -> str:
        self.show(racer)
        record = self.honest_record()
        players = tuple(
            replace(each, place=1)
            if each.name == racer.name
            else replace(each, place=self.place_behind(racer), actions=(), foundation_cards=0, finish_time=0)
            for each in record.players
        )
        return str(replace(record, players=players))
