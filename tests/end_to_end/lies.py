"""Servers that lie about a joint deal, each in one way, and what honest clients must find out about each.

The first clients in the room are ana, who races in the line client with a journal, and bob, a bot.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Final

from msgspec.structs import replace as with_fields

from samedeal.action_chain import next_head
from samedeal.board import Board
from samedeal.board_history import Play
from samedeal.deal_proof import DealProof, LostShare, RevealedShare
from samedeal.joint_deal import HIGHEST_CANDIDATE, WonCandidate, candidate_board, secret_commitment, share_commitment
from samedeal.protocol.messages import DrawnShare, RevealShare, RoomState, Standing
from samedeal.record import Record, RecordedPlayer
from samedeal.solver.solve import SOLVER, solve
from samedeal_client.state.deal_check import DealCheck
from samedeal_client.state.draws import DrawProblem
from tests.end_to_end.lying_server import GAME, HonestServer, Racer
from tests.shared.joint_deals import some_bytes


@dataclass(frozen=True)
class Lie:
    """A lie and its discovery.

    ``told`` is what a client says in the countdown or the race, and ``found`` what it says after the race. ``bot`` is
    what a bot finds, if that differs. It never stays for the results if it has been told something. ``lost`` says that
    the player's client gives up the seat. ``verify`` and ``deep`` are the exit codes of ``samedeal verify`` for ana's
    record, or None if there is none. ``reveals`` is the number of shares that ana's client reveals.
    """

    server: type[HonestServer]
    told: DrawProblem | None = None
    found: DealCheck | None = None
    verify: int | None = 1
    deep: int | None = 1
    bot: DealCheck | None = None
    lost: bool = False
    reveals: int = 1
    guests: tuple[str, ...] = ()


LIES: Final[dict[str, Lie]] = {}
Shares = tuple[RevealedShare, ...]


def lie(
    found: DealCheck | None = None, told: DrawProblem | None = None, verify: int | None = 1, **more: object
) -> Callable[[type[HonestServer]], type[HonestServer]]:
    """Put a lying server into the table."""

    def add(server: type[HonestServer]) -> type[HonestServer]:
        more.setdefault("deep", verify)
        LIES[server.__name__] = Lie(server, told, found, verify, **more)  # type: ignore[arg-type]  # as in Lie
        return server

    return add


def forged(room: str, share: RevealedShare) -> RevealedShare:
    """Return a share that a server has chosen in the name of a player."""
    chosen = some_bytes("chosen")
    return share._replace(share=chosen, commitment=share_commitment(room, share.name, 1, chosen))


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
        racer.commitment = share_commitment(self.room, racer.name, self.draw, racer.share)

    def forge_shares(self) -> None:
        for racer in self.racers:
            self.choose_share(racer)

    async def claim(self, shares: Shares, number: int = 1) -> None:
        self.draw, self.shares = number, shares
        await self.publish_shares()


# Draws


@lie(DealCheck.BROKEN_DRAW, DrawProblem.NO_SEAT_LOST)
class SeveralDraws(Draining):
    """Pretends new draws to get more shares of each player, and returns to the first."""

    async def cheat(self, shares: Shares) -> None:
        for number in (2, 3):
            await self.ask_again(number)
        await self.claim(shares)


@lie(DealCheck.BROKEN_DRAW, DrawProblem.NO_SEAT_LOST, guests=("eve",))
class LostSeatComesBack(Draining):
    """Says that a guest has lost the seat, and shows the guest in the next draw again."""

    async def cheat(self, shares: Shares) -> None:
        guest = self.racers[0]
        await self.lose(guest, "silent")
        self.racers.insert(0, guest)
        await self.ask_again(2)
        await self.claim(shares)


@lie(DealCheck.NOT_PROVEN, DrawProblem.SKIPPED_DRAW, guests=("eve",))
class SkippedDraw(Draining):
    """Draws again after a guest has lost the seat, but leaves a number out."""

    async def cheat(self, shares: Shares) -> None:
        await self.lose(self.racers[0], "silent")
        await self.ask_again(3)
        await self.claim(shares[1:], 3)

    def claimed_proof(self) -> DealProof:
        return replace(super().claimed_proof(), lost=(*self.lost, LostShare(2, 9, "left", "nobody")))


@lie(DealCheck.EARLIER_DRAW, DrawProblem.EARLIER_DRAW, guests=("eve",), reveals=2)
class EarlierDraw(Draining):
    """Draws again as it may, after a guest has lost the seat, and then deals the first draw after all."""

    async def cheat(self, shares: Shares) -> None:
        guest = self.racers[0]
        await self.lose(guest, "silent")
        await self.draw_once(2)
        self.racers.insert(0, guest)
        self.lost.clear()
        await self.claim(shares)


@lie(DealCheck.BROKEN_DRAW, DrawProblem.SKIPPED_DRAW, guests=tuple("efghi"), reveals=5)
class SixthDraw(Draining):
    """Takes the seat of a guest after each draw, until there was one draw too many."""

    async def cheat(self, shares: Shares) -> None:
        for number in range(2, 6):
            await self.lose(self.racers[0], "silent")
            shares = await self.draw_once(number)
        await self.lose(self.racers[0], "silent")
        await self.ask_again(6)
        self.lost = [lost for lost in self.lost if lost.draw < 5]
        await self.claim(shares[1:], 5)


@lie(DealCheck.BROKEN_DRAW, DrawProblem.OTHER_SEATS, guests=("eve",))
class ReopenedDraw(Draining):
    """Gives a guest another commitment once it knows the shares of the players."""

    async def cheat(self, shares: Shares) -> None:
        self.choose_share(self.racers[0])
        await self.push()
        await self.settle()
        await self.claim(self.revealed_shares())


@lie(DealCheck.BROKEN_DRAW, DrawProblem.OTHER_SHARES, guests=("eve",))
class OtherShareOfGuest(Draining):
    """Gives a guest another share and commitment, and shows both only when the deal is fixed."""

    async def cheat(self, shares: Shares) -> None:
        self.choose_share(self.racers[0])
        await self.claim(self.revealed_shares())


@lie(DealCheck.BROKEN_DRAW, guests=("eve",))
class OtherShareInProof(OtherShareOfGuest):
    """Gives a guest another share and commitment, and shows no shares before the proof."""

    async def publish_shares(self) -> None:
        """Publish nothing."""

    def state_for(self, racer: Racer) -> RoomState:
        return with_fields(super().state_for(racer), shares=())


@lie(DealCheck.BROKEN_DRAW, DrawProblem.OTHER_SHARES, guests=("eve", "mallory"))
class OmittedShares(Draining):
    """Leaves out the shares of a subset of its guests."""

    async def cheat(self, shares: Shares) -> None:
        self.racers.pop(0)
        await self.claim(shares[1:])


@lie(DealCheck.BROKEN_DRAW, DrawProblem.OTHER_SHARES)
class AddedShare(Draining):
    """Adds a guest after the players have revealed."""

    async def cheat(self, shares: Shares) -> None:
        self.choose_share(self.seat_guest("eve"))
        await self.claim(self.revealed_shares())


@lie(DealCheck.BROKEN_DRAW, DrawProblem.OTHER_SEATS)
class AddedSeat(Draining):
    """Adds a guest after the players have revealed, and asks for the shares again."""

    async def cheat(self, shares: Shares) -> None:
        self.choose_share(self.seat_guest("eve"))
        await self.push()
        await self.settle()
        await self.claim(self.revealed_shares())


@lie(DealCheck.NOT_PROVEN, guests=("eve", "mallory"))
class GuestsChooseLater(Draining):
    """Commits its guests to random bytes, and chooses their shares when it knows those of the players."""

    def guest_share(self, racer: Racer) -> bytes:
        return some_bytes(f"not the share of {racer.name}")

    async def cheat(self, shares: Shares) -> None:
        await self.claim(tuple(each._replace(share=some_bytes(each.name)) for each in shares[:2]) + shares[2:])


@lie(DealCheck.NOT_PROVEN, guests=("eve", "mallory"))
class GuestsChooseFromChain(Draining):
    """Commits its guests to chains of hashes, so that each of them may reveal one link or the other."""

    def guest_share(self, racer: Racer) -> bytes:
        return share_commitment(self.room, racer.name, self.draw, some_bytes(racer.name))

    async def cheat(self, shares: Shares) -> None:
        await self.claim((shares[0]._replace(share=some_bytes(shares[0].name)), *shares[1:]))


@lie(DealCheck.BROKEN_DRAW, DrawProblem.OTHER_SHARES)
class OtherShareOfPlayer(Draining):
    """Deals from a share and a commitment of its own in the name of the player."""

    async def cheat(self, shares: Shares) -> None:
        await self.claim(tuple(forged(self.room, share) for share in shares))


@lie(DealCheck.BROKEN_DRAW, DrawProblem.OTHER_SHARES)
class SwappedSeats(Draining):
    """Exchanges the seats of the players before the deal."""

    async def cheat(self, shares: Shares) -> None:
        first, second = self.racers
        first.seat, second.seat = second.seat, first.seat
        await self.claim((shares[1]._replace(seat=shares[0].seat), shares[0]._replace(seat=shares[1].seat)))


@lie(DealCheck.BROKEN_DRAW, DrawProblem.OWN_COMMITMENT, reveals=0)
class ForgedCommitment(Draining):
    """Shows commitments in the names of the players that they have not made."""

    async def draw_deal(self) -> None:
        await self.collect_commitments()
        self.forge_shares()
        await self.seal()
        await self.settle()
        await self.claim(self.revealed_shares())


@lie(DealCheck.BROKEN_DRAW, DrawProblem.OTHER_SHARES, reveals=0)
class NeverSealed(Draining):
    """Deals from shares of its own, without asking for those of the players."""

    async def draw_deal(self) -> None:
        await self.collect_commitments()
        self.forge_shares()
        await self.claim(self.revealed_shares())


@lie(DealCheck.BROKEN_DRAW, reveals=0)
class NeverDrawn(Draining):
    """Begins the race without a draw, and proves one afterwards."""

    def state_for(self, racer: Racer) -> RoomState:
        return with_fields(super().state_for(racer), draw=0, shares=())

    async def draw_deal(self) -> None:
        self.draw = 1
        self.forge_shares()
        self.shares = self.revealed_shares()


@lie(DealCheck.BROKEN_DRAW, DrawProblem.OTHER_SHARES)
class OtherSharesInRace(Draining):
    """Shows the right shares in the countdown, and others in the race."""

    async def cheat(self, shares: Shares) -> None:
        await self.claim(shares)
        await self.settle()
        self.shares = (shares[0], forged(self.room, shares[1]))


@lie(DealCheck.NOT_PROVEN, guests=("eve",), reveals=2)
class HiddenLoss(Draining):
    """Draws again after a guest has lost the seat, and conceals this in the proof."""

    async def cheat(self, shares: Shares) -> None:
        await self.lose(self.racers[0], "silent")
        await self.claim(await self.draw_once(2), 2)

    def claimed_proof(self) -> DealProof:
        return replace(super().claimed_proof(), lost=())


@lie(DealCheck.BROKEN_DRAW, DrawProblem.OWN_COMMITMENT, reveals=0)
class RenamedSeat(Draining):
    """Shows a seated player under another name in the sealed draw."""

    async def draw_deal(self) -> None:
        await self.collect_commitments()
        await self.seal()
        await self.settle()
        self.forge_shares()
        await self.claim(self.revealed_shares())

    def state_for(self, racer: Racer) -> RoomState:
        state = super().state_for(racer)
        if self.phase != "countdown" or not self.sealed:
            return state
        return with_fields(state, players=tuple(with_fields(seat, name=f"{seat.name}2") for seat in state.players))


class Unseating(Draining):
    """A server that takes ana's seat after she has revealed."""

    async def cheat(self, shares: Shares) -> None:
        await self.settle()
        await self.lose(self.racer_of("ana"), "silent")
        await self.settle()
        await self.claim(await self.draw_once(2), 2)
        await self.settle()

    def is_over(self) -> bool:
        return all(racer.actions for racer in self.racers)


@lie(DealCheck.BROKEN_DRAW, DrawProblem.DENIED, bot=DealCheck.PROOF_AND_CARDS)
class DeniedShare(Unseating):
    """Says that a player was silent whose share it had confirmed."""


@lie(DealCheck.EARLIER_DRAW, DrawProblem.UNHEARD, bot=DealCheck.PROOF_AND_CARDS)
class UnheardShare(Unseating):
    """Says that a player was silent whose share it has, but never confirmed."""

    async def answer_reveal(self, racer: Racer, message: RevealShare) -> None:
        if racer.name != "ana":
            await super().answer_reveal(racer, message)


# Cut connections


class Cutting(Draining):
    """A server that cuts the connections after the players have revealed."""

    async def cheat(self, shares: Shares) -> None:
        await self.change_unseen()
        await self.claim(self.claimed(shares), self.draw)

    async def change_unseen(self) -> None:
        """Change the room, and cut all connections before anybody is told."""
        self.change()
        for name in ("ana", "bob"):
            await self.cut(self.racer_of(name))
        await self.settle()

    def change(self) -> None:
        """Change the room while nobody watches."""

    def claimed(self, shares: Shares) -> Shares:
        return self.revealed_shares()


@lie(DealCheck.BROKEN_DRAW, DrawProblem.OTHER_SEATS, guests=("eve",))
class OtherSetAfterCut(Cutting):
    """Shows another commitment of a guest in the same draw."""

    def change(self) -> None:
        self.choose_share(self.racers[0])


@lie(DealCheck.BROKEN_DRAW, DrawProblem.NO_SEAT_LOST)
class AnotherDrawAfterCut(Cutting):
    """Says that it draws again, although nobody has lost a seat."""

    def change(self) -> None:
        self.sealed, self.draw = False, 2
        for racer in self.racers:
            racer.commitment = b""

    async def cheat(self, shares: Shares) -> None:
        await self.change_unseen()
        await self.seal()
        await self.settle()
        await self.claim(shares)


@lie(DealCheck.EARLIER_DRAW, DrawProblem.EARLIER_DRAW)
class UnsealedAfterCut(Cutting):
    """Takes back that the draw is sealed."""

    def change(self) -> None:
        self.sealed = False

    def claimed(self, shares: Shares) -> Shares:
        return shares


@lie(lost=True, verify=None)
class OtherCommitment(Draining):
    """Shows another commitment of its own after the players have revealed."""

    async def cheat(self, shares: Shares) -> None:
        self.secret = some_bytes("another secret")
        self.commitment = secret_commitment(self.terms, self.secret)
        await self.begin_draw(1)
        await self.until(lambda: False)


@lie(lost=True, verify=None)
class NewRoom(Cutting):
    """Lets the players return to another room with the same code."""

    def change(self) -> None:
        self.secret = some_bytes("another secret")
        self.commitment = secret_commitment(self.terms, self.secret)
        self.draw, self.sealed, self.phase = 1, False, "countdown"


# The search


@lie(DealCheck.NOT_PROVEN)
class FarCandidate(HonestServer):
    """Deals a candidate so far away that it has found one that it likes."""

    lowest = 1_009_444

    def find_deal(self) -> WonCandidate:
        number = self.lowest
        while not (answer := solve(candidate_board(self.mixed(), number, GAME), self.terms.budget)).line:
            number += 1
        return WonCandidate(number, answer.line, answer.states)


@lie(DealCheck.NOT_FIRST)
class LastCandidates(FarCandidate):
    """Deals a candidate with a number that a proof may have."""

    lowest = HIGHEST_CANDIDATE - 99


@lie(DealCheck.NOT_FIRST)
class ThirdCandidate(HonestServer):
    """Deals the third candidate that can be won."""

    def find_deal(self) -> WonCandidate:
        won = self.first_won(0)
        for _ in range(2):
            won = self.first_won(won.number + 1)
        return won


@lie(DealCheck.NOT_CHECKABLE)
class SmallBudget(HonestServer):
    """Looks for a deal with fewer positions than the deal allows."""

    budget = 250


@lie(DealCheck.NOT_CHECKABLE)
class OtherBudget(HonestServer):
    """Looks for a deal with more positions than the deal allows."""

    budget = 310


@lie(DealCheck.NOT_CHECKABLE)
class HugeBudget(HonestServer):
    """Commits itself to a search that never ends."""

    budget = 999_999_999

    def find_deal(self) -> WonCandidate:
        terms, self.terms = self.terms, self.terms._replace(budget=294)
        try:
            return self.first_won(5)
        finally:
            self.terms = terms


@lie(DealCheck.NOT_PROVEN)
class EndlessBudget(HugeBudget):
    """Commits itself to a search with a number that no proof may have."""

    budget = 4_294_967_295


@lie(DealCheck.NOT_CHECKABLE, verify=0, deep=1)
class OtherSolver(HonestServer):
    """Says that another version of the solver has found the deal."""

    solver = SOLVER + 1


# The deal and the proof


@lie(DealCheck.NOT_PROVEN)
class LateSecret(HonestServer):
    """Chooses the secret when it knows the shares."""

    def find_deal(self) -> WonCandidate:
        self.secret = some_bytes("chosen")
        return super().find_deal()


@lie(DealCheck.OTHER_SEED)
class LateCommitment(LateSecret):
    """Chooses the secret when it knows the shares, and says that it had committed to this one."""

    def claimed_proof(self) -> DealProof:
        return replace(super().claimed_proof(), commitment=secret_commitment(self.terms, self.secret))

    def honest_record(self) -> Record:
        record = super().honest_record()
        return replace(record, terms=record.terms._replace(commitment=secret_commitment(self.terms, self.secret)))


@lie(DealCheck.NOT_PROVEN)
class NoProof(HonestServer):
    """Gives no proof."""

    def make_proof(self) -> str:
        return ""

    def record_text(self, racer: Racer) -> str:
        return super().record_text(racer).replace("proof: ", "")


@lie(DealCheck.NOT_PROVEN)
class SevenDraws(HonestServer):
    """Says that the deal was drawn in a draw that cannot exist."""

    def claimed_proof(self) -> DealProof:
        return replace(super().claimed_proof(), draw=7)


@lie(DealCheck.OTHER_CARDS)
class SwappedCards(HonestServer):
    """Swaps two cards that lie open, for everybody."""

    def board_of(self, racer: Racer) -> Board:
        board = super().board_of(racer)
        piles = list(board.piles)
        six, seven = (board.game.index[key] for key in ("6", "7"))
        piles[six], piles[seven] = (
            piles[six][:1] and piles[seven][:1] + piles[six][1:],
            piles[six][:1] + piles[seven][1:],
        )
        return replace(board, piles=tuple(piles))


@lie(DealCheck.OTHER_CARDS, bot=DealCheck.PROOF_AND_CARDS)
class SwappedStock(HonestServer):
    """Swaps cards of ana that lie face down when the race begins."""

    def board_of(self, racer: Racer) -> Board:
        board = super().board_of(racer)
        if racer.name != "ana":
            return board
        stock = board.game.index["stock"]
        return replace(board, piles=tuple(pile[::-1] if at == stock else pile for at, pile in enumerate(board.piles)))


# Records


@lie(DealCheck.NO_RECORD, verify=None)
class NoRecord(HonestServer):
    """Gives no record."""

    def record_text(self, racer: Racer) -> str:
        return ""


@lie(DealCheck.OTHER_RECORD)
class NotARecord(HonestServer):
    """Gives something that is not a record."""

    def record_text(self, racer: Racer) -> str:
        return "samedeal record 2\n\x1b[2J"


class OtherRecord(HonestServer):
    """A server that changes the record of each player in turn."""

    def record_text(self, racer: Racer) -> str:
        record = self.honest_record()
        at = next(at for at, player in enumerate(record.players) if player.name == racer.name)
        return str(self.changed(record, at))

    def changed(self, record: Record, at: int) -> Record:
        """Return the record for the player at an index."""
        return self.with_player(record, at, self.changed_player(record.players[at]))

    def with_player(self, record: Record, at: int, player: RecordedPlayer) -> Record:
        return replace(record, players=(*record.players[:at], player, *record.players[at + 1 :]))

    def changed_player(self, player: RecordedPlayer) -> RecordedPlayer:
        """Return the player as the record has them."""
        return player


PLAYERS: Final[dict[str, Callable[[RecordedPlayer], RecordedPlayer]]] = {
    # forgets the last move of a player, which it has confirmed
    "LostMoves": lambda player: replace(player, actions=player.actions[:-1]),
    "ChangedTime": lambda player: replace(
        player, actions=((player.actions[0][0] + 1, player.actions[0][1]), *player.actions[1:])
    ),
    "AddedMove": lambda player: replace(player, actions=(*player.actions, (player.actions[-1][0] + 1, "deal"))),
    # replaces the moves of a player by a single one
    "RemovedFirstMoves": lambda player: replace(player, actions=((player.actions[0][0], "deal"),)),
    "OtherPlaces": lambda player: replace(player, place=player.place + 1),
}
"""Changes of a player in the player's record."""

CHANGES: Final[dict[str, Callable[[Record, int], Record]]] = {
    "MissingPlayer": lambda record, at: replace(
        record, players=(replace(record.players[1 - at], place=1),), entrants=1
    ),
    # a record of one player only, as a client writes it
    "OneOfTwoPlayers": lambda record, at: replace(record, players=(record.players[at],)),
    "OtherStart": lambda record, _: replace(record, terms=record.terms._replace(start=record.terms.start - 1000)),
}
"""Changes of the record of the player with an index."""

for _name, _change in PLAYERS.items():
    lie(DealCheck.OTHER_RECORD)(type(_name, (OtherRecord,), {"changed_player": staticmethod(_change)}))
for _name, _made in CHANGES.items():
    lie(DealCheck.OTHER_RECORD)(type(_name, (OtherRecord,), {"changed": staticmethod(_made)}))


@lie(DealCheck.OTHER_RECORD, bot=DealCheck.PROOF_AND_CARDS)
class LostWin(OtherRecord):
    """Ends the race before the move with which ana has won."""

    lets_ana_win = True

    def make_standings(self) -> tuple[Standing, ...]:
        ana = self.racer_of("ana")
        assert ana.play is not None
        play = Play(self.board_of(ana), self.options.undo_rule)
        for _, action in ana.actions[:-1]:
            play = play.act(action)
        ana.actions, ana.play = ana.actions[:-1], play
        return super().make_standings()


@lie(DealCheck.OTHER_RECORD)
class ChangedHead(OtherRecord):
    """Changes a head in the record."""

    def record_text(self, racer: Racer) -> str:
        lines = super().record_text(racer).split("\n")
        at = next(at for at, line in enumerate(lines) if line.startswith("head: "))
        lines[at] = f"head: {'0' * 32}"
        body = "".join(f"{line}\n" for line in lines[:-2])
        return f"{body}digest: {sha256(body.encode()).hexdigest()}\n"


@lie(DealCheck.OTHER_RECORD)
class ChangedMove(OtherRecord):
    """Replaces the last move of a player by another that is allowed."""

    def changed(self, record: Record, at: int) -> Record:
        player = record.players[at]
        *rest, (time, action) = player.actions
        board = record.plays(replace(player, actions=tuple(rest)))[-1].board
        moves = (str(move) for move in board.legal_moves() if str(move) != action and not board.is_null(move))
        other = next(moves, "undo")
        changed = replace(player, actions=(*rest, (time, other)))
        return self.with_player(record, at, changed)


@lie(DealCheck.OTHER_RECORD)
class RenamedPlayer(OtherRecord):
    """Says that somebody else had the seat."""

    def changed_player(self, player: RecordedPlayer) -> RecordedPlayer:
        return replace(player, name="zoe")

    def changed(self, record: Record, at: int) -> Record:
        record = super().changed(record, at)
        assert record.proof is not None
        shares = tuple(
            share._replace(name="zoe", commitment=share_commitment(self.room, "zoe", 1, share.share))
            if share.seat == record.players[at].seat
            else share
            for share in record.proof.shares
        )
        return replace(record, proof=replace(record.proof, shares=shares))


@lie(DealCheck.OTHER_RECORD)
class OtherDraw(OtherRecord):
    """Says in the record that the deal was drawn from another share of a player."""

    def changed(self, record: Record, at: int) -> Record:
        proof = record.proof
        assert proof is not None
        shares, self.shares = self.shares, (forged(self.room, proof.shares[0]), *proof.shares[1:])
        won = self.first_won(0)
        dealt = replace(proof, shares=self.shares, candidate=won.number, line=won.line)
        self.shares = shares
        players = tuple(replace(each, actions=(), foundation_cards=0, place=1) for each in record.players)
        return replace(record, proof=dealt, players=players)


@lie(DealCheck.OTHER_ACTIONS, verify=1)
class OtherHeads(HonestServer):
    """Deals boards with the heads of another chain."""

    def board_head(self, head: bytes) -> bytes:
        return next_head(head, 0, 0, "deal")


@lie(DealCheck.OTHER_RECORD)
class OtherStandings(HonestServer):
    """Shows other results than the record has."""

    def state_for(self, racer: Racer) -> RoomState:
        state = super().state_for(racer)
        lines = tuple(with_fields(line, place=line.place + 1) for line in state.standings)
        return with_fields(state, standings=lines)


# Several deals at once


class TwoDeals(HonestServer):
    """Shows each of two players a deal of their own.

    Towards each player, it answers in the name of the other one with a share that it has made.
    """

    async def draw_deal(self) -> None:
        await self.draw_once()
        self.dealt = {racer.player: self.shares_for(racer) for racer in self.racers}
        self.finds: dict[str, WonCandidate] = {}
        for racer in self.racers:
            self.shares = self.dealt[racer.player]
            self.finds[racer.player] = self.first_won(0)
        await self.push()

    def faked(self, racer: Racer) -> tuple[bytes, bytes]:
        share = some_bytes(f"in the name of {racer.name}")
        return share, share_commitment(self.room, racer.name, self.draw, share)

    def shares_for(self, viewer: Racer) -> Shares:
        shares = []
        for racer in self.racers:
            share, commitment = (racer.share, racer.commitment) if racer is viewer else self.faked(racer)
            shares.append(RevealedShare(racer.seat, racer.name, commitment, share))
        return tuple(shares)

    def find_deal(self) -> WonCandidate:
        return self.won

    def show(self, racer: Racer) -> None:
        """Take a player's view of the deal."""
        if racer.player in self.finds:
            self.shares, self.won = self.dealt[racer.player], self.finds[racer.player]

    def board_of(self, racer: Racer) -> Board:
        self.show(racer)
        return super().board_of(racer)

    def state_for(self, racer: Racer) -> RoomState:
        finds = getattr(self, "finds", {})
        if racer.player in finds:
            self.show(racer)
            state = super().state_for(racer)
            shares = tuple(DrawnShare(**share._asdict()) for share in self.shares)
            state = with_fields(state, shares=shares)
            if self.phase == "finished":
                standings = self.standings_for(racer)
                state = with_fields(state, standings=standings, proof=str(self.honest_proof()))
            return state
        state = super().state_for(racer)
        if not self.sealed:
            return state
        seats = tuple(
            seat if seat.player == racer.player else with_fields(seat, share_commitment=self.faked(other)[1])
            for seat, other in zip(state.players, self.racers, strict=True)
        )
        return with_fields(state, players=seats)

    def standings_for(self, viewer: Racer) -> tuple[Standing, ...]:
        return tuple(
            line
            if line.player == viewer.player
            else with_fields(
                line, place=2 if self.has_cards(viewer) else 1, moves=0, undos=0, foundation_cards=0, time=0
            )
            for line in (with_fields(line, place=1) for line in self.standings)
        )

    def has_cards(self, racer: Racer) -> bool:
        assert racer.play is not None
        return racer.play.board.foundation_cards > 0

    def record_text(self, racer: Racer) -> str:
        self.show(racer)
        record = self.honest_record()
        players = tuple(
            replace(each, place=1)
            if each.name == racer.name
            else replace(each, place=2 if self.has_cards(racer) else 1, actions=(), foundation_cards=0, finish_time=0)
            for each in record.players
        )
        return str(replace(record, players=players))


class TwoDealsOneRecord(TwoDeals):
    """Shows each of two players a deal of their own, but has one record for both."""

    def record_text(self, racer: Racer) -> str:
        return super().record_text(self.racer_of("ana"))
