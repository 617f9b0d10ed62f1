"""Servers that lie about the other rooms of a tide, each in one way, and what honest clients must find out about each."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256

from msgspec.structs import replace as with_fields

from samedeal.deal_proof import DealProof, RoomShares, ShareLostElsewhere, mix_of
from samedeal.joint_deal import MAX_DRAWS
from samedeal.protocol.messages import DealRoom, RoomState, SeatLostElsewhere
from samedeal_client.state.deal_check import DealCheck
from samedeal_client.state.draws import DrawProblem
from tests.end_to_end.lies import Draining, Shares, lie
from tests.end_to_end.lying_server import Racer
from tests.shared.joint_deals import other_room


def shown(rooms: tuple[RoomShares, ...], *, known: bool) -> tuple[DealRoom, ...]:
    """Other rooms as clients are shown them. Their digests are known once all shares are."""
    return tuple(DealRoom(room=each.room, seal=each.seal, digest=each.digest if known else b"") for each in rooms)


class TideServer(Draining):
    """An honest server, whose room shares its deal with two rooms in which the test has no clients."""

    others: tuple[RoomShares, ...] = ()
    elsewhere: tuple[ShareLostElsewhere, ...] = ()

    async def begin_draw(self, number: int = 0) -> None:
        await super().begin_draw(number)
        self.others = self.meet()

    def meet(self) -> tuple[RoomShares, ...]:
        """Return the other rooms with their shares for the present draw."""
        return self.other("brook", "dan", "eve"), self.other("shoal", "gil")

    def other(self, room: str, *names: str) -> RoomShares:
        return other_room(self.terms, room, self.draw, names)

    async def ask_again(self, number: int) -> None:
        """Begin another draw, and return to the rooms of the draw before."""
        others = self.others
        await super().ask_again(number)
        self.others = others

    async def lose_elsewhere(self, room: str = "brook") -> None:
        """Say that somebody in another room has not revealed."""
        self.elsewhere = (*self.elsewhere, ShareLostElsewhere(self.draw, room, 9, "silent", "hal"))

    def mixed(self) -> bytes:
        return mix_of((RoomShares(self.room, self.commitment, self.secret, self.shares), *self.others))

    def honest_proof(self) -> DealProof:
        return replace(super().honest_proof(), others=self.others, elsewhere=self.elsewhere)

    def honest_state(self) -> RoomState:
        rooms = shown(self.others, known=bool(self.shares)) if self.sealed else ()
        elsewhere = tuple(SeatLostElsewhere(**each._asdict()) for each in self.elsewhere)
        return with_fields(super().honest_state(), rooms=rooms, elsewhere=elsewhere)


class TideServerDrawsAgain(TideServer):
    """An honest server, on which somebody in another room does not reveal in the first two draws."""

    async def draw_deal(self) -> None:
        for _ in range(2):
            await self.draw_once()
            await self.lose_elsewhere()
        await self.claim(await self.draw_once(), 3)


@lie(DealCheck.BROKEN_DRAW, DrawProblem.OTHER_SEATS)
class OtherRoomAfterReveal(TideServer):
    """Gives another room other players once it knows the shares of the players."""

    async def cheat(self, shares: Shares) -> None:
        self.others = self.other("brook", "dan"), self.others[1]
        await self.push()
        await self.settle()
        await self.claim(shares)


@lie(DealCheck.BROKEN_DRAW, DrawProblem.OTHER_SHARES)
class RoomLeftOut(TideServer):
    """Leaves out another room once it knows the shares of the players."""

    async def cheat(self, shares: Shares) -> None:
        self.others = self.others[:1]
        await self.claim(shares)


@lie(DealCheck.BROKEN_DRAW, DrawProblem.OTHER_SHARES)
class RoomAdded(TideServer):
    """Adds another room once it knows the shares of the players."""

    def meet(self) -> tuple[RoomShares, ...]:
        return ()

    async def cheat(self, shares: Shares) -> None:
        self.others = (self.other("brook", "dan"),)
        await self.claim(shares)


class OtherRoomsInProof(TideServer):
    """Deals from other rooms than those that it shows until the race is over."""

    def lied(self) -> tuple[RoomShares, ...]:
        return self.others[:1]

    async def cheat(self, shares: Shares) -> None:
        self.shown, self.others = self.others, self.lied()
        await self.claim(shares)

    def state_for(self, racer: Racer) -> RoomState:
        state = super().state_for(racer)
        if not self.shares:
            return state
        return with_fields(state, rooms=shown(self.shown, known=True))


@lie(DealCheck.BROKEN_DRAW)
class RoomLeftOutOfProof(OtherRoomsInProof):
    """Leaves out another room, and shows that only in the proof."""


@lie(DealCheck.BROKEN_DRAW)
class OtherPlayersInProof(OtherRoomsInProof):
    """Gives another room other players, and shows that only in the proof."""

    def lied(self) -> tuple[RoomShares, ...]:
        return self.other("brook", "dan", "ivy"), self.others[1]


@lie(DealCheck.BROKEN_DRAW)
class OtherDigestInRace(TideServer):
    """Shows another digest of a room, so that the words of the deal are others than those of that room."""

    def state_for(self, racer: Racer) -> RoomState:
        state = super().state_for(racer)
        rooms = (with_fields(each, digest=bytes(32)) if each.digest else each for each in state.rooms)
        return with_fields(state, rooms=tuple(rooms))


@lie(DealCheck.BROKEN_DRAW, bot=DealCheck.PROOF_AND_CARDS)
class OtherSealForAna(TideServer):
    """Shows two players different seals of another room. The proof can fit only one of them."""

    def state_for(self, racer: Racer) -> RoomState:
        state = super().state_for(racer)
        rooms = tuple(with_fields(each, seal=bytes(32)) if each.room == "brook" else each for each in state.rooms)
        return with_fields(state, rooms=rooms) if racer.name == "ana" else state


@lie(DealCheck.NOT_PROVEN)
class RoomsInOtherOrder(TideServer):
    """Mixes the rooms in another order, which would give it several deals to choose from."""

    def mixed(self) -> bytes:
        own = RoomShares(self.room, self.commitment, self.secret, self.shares)
        rooms = sorted((own, *self.others), reverse=True)
        return sha256(
            b"samedeal tide v1\n" + b"".join(f"{each.room}\n".encode() + each.mixed for each in rooms)
        ).digest()


@lie(DealCheck.BROKEN_DRAW, DrawProblem.SKIPPED_DRAW, reveals=MAX_DRAWS)
class SixthDrawElsewhere(TideServer):
    """Says after each draw that somebody in another room has not revealed, until there was one draw too many."""

    async def cheat(self, shares: Shares) -> None:
        for _ in range(1, MAX_DRAWS):
            await self.lose_elsewhere()
            shares = await self.draw_once()
        await self.lose_elsewhere()
        await self.ask_again(MAX_DRAWS + 1)
        self.elsewhere = self.elsewhere[:-1]
        await self.claim(shares, MAX_DRAWS)


@lie(DealCheck.BROKEN_DRAW, DrawProblem.NO_SEAT_LOST)
class LostSeatInUnknownRoom(TideServer):
    """Says that a seat was lost in a room that it had not shown before."""

    async def cheat(self, shares: Shares) -> None:
        await self.lose_elsewhere("tarn")
        await self.ask_again(2)
        await self.claim(shares)


@lie(DealCheck.BROKEN_DRAW, DrawProblem.NO_SEAT_LOST)
class DrawAgainForNothing(TideServer):
    """Draws again, although nobody has lost a seat in any room."""

    async def cheat(self, shares: Shares) -> None:
        await self.ask_again(2)
        await self.claim(shares)


@lie(DealCheck.NOT_PROVEN, reveals=3)
class LossLeftOutOfProof(TideServerDrawsAgain):
    """Does not list in the proof who lost the seat in the other room."""

    def claimed_proof(self) -> DealProof:
        return replace(super().claimed_proof(), elsewhere=self.elsewhere[1:])
