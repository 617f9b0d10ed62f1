"""Lies at the server's own value, with everything after them computed anew.

Each liar overrides what the honest server of ``tests.lies.worlds`` does in one place. ``MEETS`` says of which races a lie
can be told at all; everything else follows from what happens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from msgspec.structs import replace as with_fields

from samedeal.board import Board
from samedeal.board_history import UNDO, Play
from samedeal.deal import Deal
from samedeal.deal_proof import DealProof, LostShare, RevealedShare
from samedeal.errors import SamedealError
from samedeal.joint_deal import candidate_board, public_mix, share_commitment
from samedeal.options import Options
from samedeal.protocol import messages
from samedeal.protocol.messages import Standing, TableLine, Tally
from samedeal.protocol_codes import NoticeCode
from samedeal.record import Record, RecordedPlayer
from samedeal_link.evidence.verdict import RaceReading
from tests.lies.deals import GAME, proof_of, some_bytes
from tests.lies.troubles import undone
from tests.lies.worlds import Client, Racer, Server, _enter, _gone

LIES: Final[dict[str, type[Server]]] = {}


def lie(liar: type[Server]) -> type[Server]:
    LIES[liar.__name__] = type(liar.__name__, (liar,), {"before_race": _go_on})
    return liar


def _go_on(server: Server) -> None:
    """Begin the race, although honest clients reveal nothing to this server any more."""
    if server.phase != "countdown" or server.proof is not None or not server.deal.has_proof:
        return
    for racer in server.racers:
        racer.share = racer.share or some_bytes(f"{server.seed} forced {racer.name}")
        racer.promise = share_commitment(
            server.terms_for(None).digest,
            server.commitment_for(None),
            racer.seat,
            racer.name,
            server.draw,
            racer.share,
        )
    server.sealed = True
    Server.fix(server)


# Other cards


def other_deal(seed: str) -> Board:
    return candidate_board(some_bytes(f"{seed} another mix"), 0, GAME)


class Truncating(Server):
    """A server whose record has only the actions that are possible on the board of the proof."""

    def honest_record(self, client: Client | None) -> Record:
        record = super().honest_record(client)
        if record.proof is None:
            return record
        players = tuple(self._cut(record, player) for player in record.players)
        return replace(record, players=players)

    def _cut(self, record: Record, player: RecordedPlayer) -> RecordedPlayer:
        play, actions = record.first_play, []
        for time, action in player.actions:
            try:
                play = play.act(action)
            except SamedealError:
                continue
            actions.append((time, action))
        return replace(player, actions=tuple(actions), foundation_cards=play.board.foundation_cards)


@lie
class OtherBoards(Server):
    """Deals another board to everybody."""

    def first_board(self, racer: Racer) -> Board:
        return other_deal(self.seed)


@lie
class OtherBoardsCut(OtherBoards, Truncating):
    """Deals another board to everybody, and forgets the moves that are impossible on that of the proof."""


@lie
class OtherBoardOfAna(Truncating):
    """Deals another board to one player."""

    def first_board(self, racer: Racer) -> Board:
        return other_deal(self.seed) if racer.name == "ana" else self.honest_board()


@lie
class OtherStockOfAna(Truncating):
    """Changes cards that lie face down for one player."""

    def first_board(self, racer: Racer) -> Board:
        board = self.honest_board()
        if racer.name != "ana":
            return board
        stock = board.piles[GAME.stock_at]
        return Board(GAME, (*board.piles[:-1], stock[::-1]) if GAME.stock_at == len(board.piles) - 1 else board.piles)


@lie
class NoFirstRevision(OtherBoards):
    """Deals another board with the revision 1, so that it is no first board."""

    def told(self, client: Client, message: Any) -> Sequence[Any]:
        is_board = isinstance(message, messages.BoardState) and message.revision == 0
        return (with_fields(message, revision=1) if is_board else message,)


@lie
class BoardNeverShown(Server):
    """Never sends a board."""

    def told(self, client: Client, message: Any) -> Sequence[Any]:
        return () if isinstance(message, messages.BoardState) else (message,)


@lie
class SecondCandidate(Server):
    """Passes over the deal that must be dealt, also in the proof."""

    def first_candidate(self) -> int:
        return 1 if self.proof is None else self.proof.candidate + 1

    def find_proof(self) -> DealProof | None:
        honest = Server.find_proof(self)
        if honest is None:
            return None
        self.proof = honest
        return super().find_proof() if self.first_candidate() else honest


@lie
class OtherLimits(Server):
    """Looks for a deal with other limits than the terms have."""

    def find_proof(self) -> DealProof | None:
        proof = super().find_proof()
        return replace(proof, terms=proof.terms._replace(budget=proof.terms.budget + 1)) if proof else None


@lie
class OtherSolver(Server):
    """Says that another version of the solver has found the deal."""

    def find_proof(self) -> DealProof | None:
        proof = super().find_proof()
        return replace(proof, terms=proof.terms._replace(solver=99)) if proof else None


@lie
class OtherDifficulty(Server):
    """Deals an easier or harder deal than the terms say."""

    def find_proof(self) -> DealProof | None:
        if self.deal.kind != "winnable":
            return super().find_proof()
        other = Deal.parse("winnable" if self.deal.difficulty == "hard" else "winnable hard")
        digest, lost = self.terms_for(None).digest, tuple(self.lost)
        return proof_of(self.room, other, digest, self.secret, self.draw, lost, self.shares)


@lie
class PublicProof(Server):
    """Draws a deal with the players, and deals one that it chose before."""

    def committed(self) -> bytes:
        return public_mix("daily 2026-01-01") if self.deal.kind == "winnable" else super().committed()

    def find_proof(self) -> DealProof | None:
        if self.deal.kind != "winnable":
            return super().find_proof()
        digest, secret = self.terms_for(None).digest, self.secret
        return proof_of(self.room, Deal.parse("daily 2026-01-01"), digest, secret, 0, (), ())


@lie
class OtherFacesSeen(Truncating):
    """Turns up other cards for one player than those of the deal."""

    def first_board(self, racer: Racer) -> Board:
        board = self.honest_board()
        if racer.name != "ana":
            return board
        piles = list(board.piles)
        stock = piles[GAME.stock_at]
        piles[GAME.stock_at] = stock[:-8] + stock[-8:][::-1]
        return Board(GAME, tuple(piles))


@lie
class OtherUndo(Server):
    """Shows another board after an undo."""

    def acked(self, racer: Racer, act: messages.Act, after: Play, time: int) -> messages.Acked:
        acked = super().acked(racer, act, after, time)
        if act.action != UNDO:
            return acked
        other = Board(GAME, (*after.board.masked().piles[1:], after.board.masked().piles[0]))
        return with_fields(acked, piles=other.piles, hash=other.state_hash())


@lie
class OtherFirstBoard(Server):
    """Shows another first board, and goes on with the right one."""

    def told(self, client: Client, message: Any) -> Sequence[Any]:
        if not isinstance(message, messages.BoardState) or message.revision:
            return (message,)
        other = other_deal(self.seed)
        return (with_fields(message, piles=other.masked().piles, hash=other.state_hash()), message)


# The commitment, the seed and the terms


@lie
class CommittedToOtherTerms(Server):
    """Commits itself to other terms than it shows, and writes the record with those."""

    def terms_for(self, client: Client | None) -> Any:
        terms = super().terms_for(client)
        return replace(terms, options=with_fields(terms.options, hints=not terms.options.hints))

    def told(self, client: Client, message: Any) -> Sequence[Any]:
        is_state = isinstance(message, messages.RoomState)
        return (with_fields(message, terms=str(super().terms_for(client))) if is_state else message,)


@lie
class ChosenSecret(Server):
    """Chooses the secret when it knows the shares, and commits to it then."""

    def fix(self) -> None:
        if self.sealed and not self.shares and all(racer.share for racer in self.racers):
            self.secret = some_bytes(f"{self.seed} chosen")
        super().fix()


@lie
class SecretOfRecord(Server):
    """Chooses the secret when it knows the shares, and commits to it in the proof and in the record."""

    has_chosen = False

    def find_proof(self) -> DealProof | None:
        self.shown = self.commitment_for(None)
        self.secret = some_bytes(f"{self.seed} chosen")
        self.has_chosen = True
        proof = super().find_proof()
        if proof is None:
            return None
        shares = tuple(
            share._replace(
                commitment=share_commitment(
                    proof.digest, proof.commitment, share.seat, share.name, proof.draw, share.share
                )
            )
            for share in proof.shares
        )
        return replace(proof, shares=shares)

    def state_for(self, client: Client) -> messages.RoomState:
        state = self.honest_state(client)
        return with_fields(state, commitment=self.shown) if self.has_chosen else state

    def race(self) -> None:
        if not self.has_chosen:
            self.shown = self.commitment_for(None)
            self.secret = some_bytes(f"{self.seed} chosen")
            self.has_chosen = True
        super().race()


@lie
class OtherPublicDeal(Server):
    """Deals another public deal than the one that it names."""

    def committed(self) -> bytes:
        return some_bytes("other") if self.deal.public else self.secret

    def find_proof(self) -> DealProof | None:
        proof = super().find_proof()
        return replace(proof, secret=some_bytes("other"), commitment=self.commitment_for(None)) if proof else None


@lie
class DailyOfAnotherDay(Server):
    """Chooses among the daily deals of all days, which it knows, when somebody asks for that of today."""

    def __init__(self, plan: Any, seed: str) -> None:
        super().__init__(replace(plan, date="1987-05-03"), seed)


@lie
class OtherKind(Server):
    """Opens a room with another kind of deal than was asked for."""

    def __init__(self, plan: Any, seed: str) -> None:
        super().__init__(plan, seed)
        other = "random" if self.deal.kind != "random" else "#77"
        self.options, self.deal = with_fields(self.options, deal=other), Deal.parse(other)


@lie
class OtherLimitOfRoom(Server):
    """Opens a room with another option than was asked for."""

    def __init__(self, plan: Any, seed: str) -> None:
        super().__init__(plan, seed)
        self.options = with_fields(self.options, limit=self.options.limit + 60)


@lie
class OtherTermsOfBob(Server):
    """Shows one player other terms, and does everything for this player as they say."""

    def options_for(self, client: Client | None) -> Options:
        options = super().options_for(client)
        return with_fields(options, undo="free") if client is not None and client.name == "bob" else options

    def proof_for(self, client: Client | None) -> DealProof | None:
        proof = self.proof
        if proof is None:
            return None
        digest, promise = self.terms_for(client).digest, self.commitment_for(client)
        shares = tuple(
            share._replace(
                commitment=share_commitment(digest, promise, share.seat, share.name, proof.draw, share.share)
            )
            for share in proof.shares
        )
        return replace(proof, digest=digest, commitment=promise, shares=shares)


@lie
class TermsOfBobInText(OtherTermsOfBob):
    """Shows all players the same text of the terms, and one player other options."""

    def told(self, client: Client, message: Any) -> Sequence[Any]:
        if isinstance(message, messages.RoomState):
            return (with_fields(message, terms=str(self.terms_for(None)), commitment=self.commitment_for(None)),)
        return (message,)


@lie
class UndoAtStart(Server):
    """Changes an option when the race begins."""

    def race(self) -> None:
        self.options = with_fields(self.options, undo="off" if self.options.undo != "off" else "free")
        super().race()


@lie
class OptionsBesideTerms(Server):
    """Shows options that are not in the terms, and plays by them."""

    def state_for(self, client: Client) -> messages.RoomState:
        state = self.honest_state(client)
        return with_fields(state, options=with_fields(state.options, end_when_settled=False))


@lie
class UnknownLine(Server):
    """Has terms with a line that no release knows."""

    def told(self, client: Client, message: Any) -> Sequence[Any]:
        is_state = isinstance(message, messages.RoomState)
        return (with_fields(message, terms=f"{message.terms}zone: 7\n") if is_state else message,)


@lie
class UnknownGame(Server):
    """Has terms of a game that no release knows."""

    def told(self, client: Client, message: Any) -> Sequence[Any]:
        if not isinstance(message, messages.RoomState):
            return (message,)
        return (with_fields(message, terms=message.terms.replace(GAME.name, "unheard-of")),)


@lie
class OtherPrivacy(Server):
    """Opens a public room for a private race, and the other way round."""

    def __init__(self, plan: Any, seed: str) -> None:
        super().__init__(replace(plan, private=not plan.private), seed)


@lie
class OtherWeights(SecondCandidate):
    """Describes the game in another way, and so finds another deal, as another release does."""

    def terms_for(self, client: Client | None) -> Any:
        return replace(super().terms_for(client), description=some_bytes("other weights"))


@lie
class RecordOfOtherTerms(Server):
    """Writes a record with other terms, right in itself."""

    def honest_record(self, client: Client | None) -> Record:
        options = self.options
        self.options = with_fields(options, hints=True)
        try:
            record = super().honest_record(client)
            if record.proof is None:
                return record
            digest, promise = record.terms.digest, record.commitment
            shares = tuple(
                share._replace(
                    commitment=share_commitment(digest, promise, share.seat, share.name, record.proof.draw, share.share)
                )
                for share in record.proof.shares
            )
            return replace(record, proof=replace(record.proof, digest=digest, commitment=promise, shares=shares))
        finally:
            self.options = options


# Draws


class Drawing(Server):
    """A server that cheats when all have revealed."""

    has_cheated = False

    def fix(self) -> None:
        ready = self.sealed and not self.shares and all(racer.share for racer in self.racers)
        if ready and not self.has_cheated:
            self.has_cheated = True
            self.cheat()
            return
        super().fix()

    def cheat(self) -> None:
        raise NotImplementedError


@lie
class SecondDraw(Drawing):
    """Draws again although nobody has lost a seat."""

    def cheat(self) -> None:
        self.redraw()


@lie
class SecondDrawOfLost(Drawing):
    """Draws again after it said that somebody lost a seat who was never there."""

    def cheat(self) -> None:
        self.lost.append(LostShare(self.draw, 9, "silent", "nobody"))
        self.redraw()


@lie
class SkippedDraw(Drawing):
    """Leaves out the number of a draw."""

    def cheat(self) -> None:
        if len(self.racers) > 1:
            self.draw += 1
            self.lose(self.racers[-1], "silent")


@lie
class SaidSilent(Drawing):
    """Says that the first player was silent, who was not."""

    reason: Any = "silent"

    def cheat(self) -> None:
        racer = self.racers[0]
        self.lose(racer, self.reason)
        if not self.racers:
            self.racers = [racer]
            self.begin()


@lie
class SilentAndBack(Drawing):
    """Never confirms the share of the first player, says that the player was silent, and gives the seat back."""

    def told(self, client: Client, message: Any) -> Sequence[Any]:
        waiting = client.seen.evidence.waiting
        is_confirmed = isinstance(message, messages.Done) and isinstance(
            waiting.get(message.to, (None, 0))[0], messages.RevealShare
        )
        return () if is_confirmed else (message,)

    def cheat(self) -> None:
        racer = self.racers.pop(0)
        self.lost.append(LostShare(self.draw, racer.seat, "silent", racer.name))
        self.push()
        self.racers.insert(0, racer)
        _enter(self, self.clients[racer.name])
        self.settle()
        self.fix()


@lie
class LeftAndBack(Drawing):
    """Cuts the line of the first player, and says then that the player had left and come back."""

    def cheat(self) -> None:
        racer = self.racers[0]
        client = self.clients[racer.name]
        _gone(self, client)
        self.lost.append(LostShare(self.draw, racer.seat, "left", racer.name))
        _enter(self, client)
        self.redraw()


@lie
class LeftAndBackWithRacers(LeftAndBack):
    """Has a racer of its own who loses the seat at the same time, so that the next draw is needed."""

    def begin(self) -> None:
        self.racers.append(Racer("p-mal", "mal", 60, ready=True))
        super().begin()

    def redraw(self) -> None:
        super().redraw()
        for racer in self.racers:
            if racer.name == "mal":
                racer.share = some_bytes(f"{self.seed} mal {self.draw}")
                terms, promise = self.terms_for(None).digest, self.commitment_for(None)
                racer.promise = share_commitment(terms, promise, racer.seat, racer.name, self.draw, racer.share)

    def cheat(self) -> None:
        mal = self.racers.pop()
        self.lost.append(LostShare(self.draw, mal.seat, "silent", mal.name))
        super().cheat()


@lie
class GivesUp(Drawing):
    """Closes the room when it knows the deal, because it does not like it."""

    def cheat(self) -> None:
        self.phase, self.starts, self.ends = "closed", 0, 0
        self.push()


@lie
class SaidLeft(SaidSilent):
    """Says that the first player has left, who has not."""

    reason = "left"


@lie
class SaidKicked(SaidSilent):
    """Says that the first player was kicked, and tells nobody."""

    reason = "kicked"


@lie
class SilentButSeated(Drawing):
    """Says that the first player was silent, and lets the player race on."""

    def cheat(self) -> None:
        racer = self.racers[0]
        self.lost.append(LostShare(self.draw, racer.seat, "silent", racer.name))
        self.redraw()


@lie
class EarlierDraw(Drawing):
    """Draws twice, as it may because its own player pretends to be silent, and chooses the first draw then."""

    first: tuple[RevealedShare, ...] = ()

    def cheat(self) -> None:
        self.first = tuple(
            RevealedShare(racer.seat, racer.name, racer.promise, racer.share)
            for racer in sorted(self.racers, key=lambda racer: racer.seat)
        )
        self.lose(self.racers[-1], "silent")

    def find_proof(self) -> DealProof | None:
        if self.first and self.racers:
            self.draw, self.shares = 1, self.first
        return super().find_proof()


@lie
class ReopenedDraw(Drawing):
    """Gives the last player another commitment in the same draw."""

    def cheat(self) -> None:
        racer = self.racers[-1]
        racer.share = some_bytes(f"{self.seed} chosen")
        racer.promise = share_commitment(
            self.terms_for(None).digest, self.commitment_for(None), racer.seat, racer.name, self.draw, racer.share
        )
        self.push()
        self.fix()


@lie
class ChosenShare(ReopenedDraw):
    """Deals from another share of the last player."""

    def cheat(self) -> None:
        racer = self.racers[-1]
        racer.share = some_bytes(f"{self.seed} chosen")
        racer.promise = share_commitment(
            self.terms_for(None).digest, self.commitment_for(None), racer.seat, racer.name, self.draw, racer.share
        )
        self.fix()


@lie
class ChosenShareUnshown(ChosenShare):
    """Deals from another share of the last player, and shows no shares before the proof."""

    def told(self, client: Client, message: Any) -> Sequence[Any]:
        return () if isinstance(message, messages.Drawn) else (message,)


@lie
class OmittedShare(Drawing):
    """Leaves out the share of the last player, who stays in the race."""

    def cheat(self) -> None:
        last = self.racers.pop()
        self.fix()
        self.racers.append(last)


@lie
class AddedShare(Drawing):
    """Adds a player of its own when it knows the shares."""

    def cheat(self) -> None:
        racer = Racer("p-mal", "mal", 60, ready=True, share=some_bytes(f"{self.seed} mal"))
        racer.promise = share_commitment(
            self.terms_for(None).digest, self.commitment_for(None), 60, "mal", self.draw, racer.share
        )
        self.racers.append(racer)
        self.fix()


@lie
class ForgedPromise(Server):
    """Shows a commitment in the name of the first player that the player did not make, and deals from its share."""

    def seal(self) -> None:
        if not self.sealed and self.racers and all(racer.promise for racer in self.racers):
            racer = self.racers[0]
            racer.share = some_bytes(f"{self.seed} forged")
            racer.promise = share_commitment(
                self.terms_for(None).digest, self.commitment_for(None), racer.seat, racer.name, self.draw, racer.share
            )
        super().seal()


@lie
class NeverSealed(Server):
    """Deals from shares of its own, and asks nobody."""

    def redraw(self) -> None:
        self.draw = 1
        self.push()
        for racer in self.racers:
            racer.share = some_bytes(f"{self.seed} {racer.name}")
            racer.promise = share_commitment(
                self.terms_for(None).digest, self.commitment_for(None), racer.seat, racer.name, 1, racer.share
            )
        self.sealed = True
        self.fix()

    def told(self, client: Client, message: Any) -> Sequence[Any]:
        if isinstance(message, messages.RoomState) and message.phase == "countdown":
            return (
                with_fields(
                    message, players=tuple(with_fields(each, share_commitment=b"") for each in message.players)
                ),
            )
        return (message,)


@lie
class NeverSealedUnshown(NeverSealed):
    """Deals from shares of its own, and shows them only in the proof."""

    def told(self, client: Client, message: Any) -> Sequence[Any]:
        return () if isinstance(message, messages.Drawn) else super().told(client, message)


@lie
class NoCountdown(Server):
    """Deals a joint deal from shares of its own, without a countdown."""

    def told(self, client: Client, message: Any) -> Sequence[Any]:
        if isinstance(message, messages.RoomState) and message.phase == "countdown" and self.deal.kind == "winnable":
            return ()
        return () if isinstance(message, messages.Drawn) else (message,)

    def redraw(self) -> None:
        NeverSealed.redraw(self)  # type: ignore[arg-type]


@lie
class OtherDrawnOfBob(Server):
    """Shows one player other shares than those of the proof."""

    def drawn_for(self, client: Client) -> messages.Drawn:
        drawn = super().drawn_for(client)
        return with_fields(drawn, draw=drawn.draw + 1) if client.name in ("bob", "sue") else drawn


@lie
class HiddenLoss(Server):
    """Leaves the lost seats out of the proof."""

    def find_proof(self) -> DealProof | None:
        proof = super().find_proof()
        return replace(proof, lost=()) if proof else None


@lie
class OtherLoss(Server):
    """Blames another player in the proof."""

    def other(self, lost: LostShare) -> LostShare:
        return lost._replace(name="bob")

    def find_proof(self) -> DealProof | None:
        proof = super().find_proof()
        return replace(proof, lost=tuple(map(self.other, proof.lost))) if proof else None


@lie
class OtherLostSeat(OtherLoss):
    """Names another lost seat in the proof."""

    def other(self, lost: LostShare) -> LostShare:
        return lost._replace(seat=9)


@lie
class OtherReason(OtherLoss):
    """Names another reason for a loss in the proof."""

    def other(self, lost: LostShare) -> LostShare:
        return lost._replace(reason="kicked")


@lie
class LaterLoss(Server):
    """Shows a loss in a later draw than that of the proof."""

    def told(self, client: Client, message: Any) -> Sequence[Any]:
        if not isinstance(message, messages.RoomState):
            return (message,)
        return (with_fields(message, lost=tuple(with_fields(each, draw=each.draw + 1) for each in message.lost)),)


@lie
class InventedLoss(Server):
    """Adds a loss to the proof that nobody was shown."""

    def find_proof(self) -> DealProof | None:
        proof = super().find_proof()
        return (
            replace(proof, lost=(*proof.lost, LostShare(proof.draw, 40, "left", "zed")))
            if proof and proof.draw
            else proof
        )


# Players


@lie
class OtherNames(Server):
    """Shows a rival under another name."""

    def seat_of(self, racer: Racer, client: Client | None) -> messages.Seat:
        seat = super().seat_of(racer, client)
        is_rival = client is not None and client.name in ("ana", "sue") and racer.name != "ana"
        return with_fields(seat, name="champion") if is_rival else seat


@lie
class HiddenBots(Server):
    """Hides that a rival is a bot, or says that a person is one."""

    def seat_of(self, racer: Racer, client: Client | None) -> messages.Seat:
        seat = super().seat_of(racer, client)
        is_own = client is not None and racer.player == client.player
        return seat if is_own else with_fields(seat, bot=not seat.bot)


@lie
class IAmABot(Server):
    """Marks a person as a bot, everywhere."""

    def enter(self, client: Client, request: messages.Join) -> None:
        super().enter(client, request)
        for racer in self.racers:
            racer.bot = racer.name == "ana"


@lie
class Renamed(Server):
    """Gives the first player another name, everywhere."""

    def enter(self, client: Client, request: messages.Join) -> None:
        super().enter(client, request)
        for racer in self.racers:
            if racer.name == "ana":
                racer.name = "anna"


@lie
class HiddenRival(Server):
    """Does not show a rival to the first player."""

    def told(self, client: Client, message: Any) -> Sequence[Any]:
        if isinstance(message, messages.RoomState) and client.name in ("ana", "sue") and len(message.players) > 1:
            players = [each for each in message.players if each.name == "ana"]
            return (with_fields(message, players=tuple(players)),)
        return (message,)


@lie
class AgainWithRivals(Server):
    """Deals an earlier race again while the player is not alone."""

    def race(self) -> None:
        if self.deal.kind == "again":
            self.racers.append(Racer("p-mal", "mal", 2, resigned=True))
        super().race()


@lie
class AgainWithBot(Server):
    """Deals an earlier race again for the player and a bot that is there from the countdown on."""

    def begin(self) -> None:
        if self.deal.kind == "again":
            self.racers.append(Racer("p-mal", "mal", 2, bot=True))
        super().begin()


# Times


@lie
class TwoStarts(Server):
    """Lets the race begin later for one player, with a record of its own."""

    def start_for(self, client: Client | None) -> int:
        return self.starts + 2000 * (client is not None and client.name == "bob")

    def race(self) -> None:
        self.now += 2000
        super().race()


@lie
class OtherStartOfRecord(Server):
    """Lets the record begin earlier than the race."""

    def honest_record(self, client: Client | None) -> Record:
        record = super().honest_record(client)
        players = tuple(
            replace(
                player,
                actions=tuple((time + 1000, action) for time, action in player.actions),
                time=player.time and player.time + 1000,
            )
            for player in record.players
        )
        return replace(record, start=record.start - 1000, players=players)


@lie
class LaterEnd(Server):
    """Shows another end of the race than its limit."""

    def state_for(self, client: Client) -> messages.RoomState:
        state = self.honest_state(client)
        return with_fields(state, ends=state.ends + 60_000) if state.ends else state


@lie
class EarlyEnd(Server):
    """Ends the race when it likes."""

    def end_if_over(self) -> None:
        self.is_early = self.phase == "racing" and any(racer.actions for racer in self.racers)
        super().end_if_over()


@lie
class FalseStuck(EarlyEnd):
    """Says that all are stuck, and ends the race."""

    def seat_of(self, racer: Racer, client: Client | None) -> messages.Seat:
        seat = super().seat_of(racer, client)
        return with_fields(seat, stuck=self.is_early or seat.stuck)


@lie
class FalseStuckOfRivals(EarlyEnd):
    """Says that the rivals are stuck, and ends the race while the first player plays."""

    def seat_of(self, racer: Racer, client: Client | None) -> messages.Seat:
        seat = super().seat_of(racer, client)
        is_own = client is not None and racer.player == client.player
        return with_fields(seat, stuck=seat.stuck or (self.is_early and not is_own))


@lie
class FalseFinish(EarlyEnd):
    """Says that a rival has finished, and ends the race."""

    def standing(self, place: int, racer: Racer) -> Standing:
        line = super().standing(place, racer)
        return with_fields(line, time=61_000, foundation_cards=52) if racer.name == "bob" else line


@lie
class EarlierEnd(EarlyEnd):
    """Shows an earlier end when it ends the race."""

    def state_for(self, client: Client) -> messages.RoomState:
        state = self.honest_state(client)
        return with_fields(state, ends=max(state.starts, self.now)) if self.is_early else state


@lie
class FalseGone(EarlyEnd):
    """Says that all have lost their connections, and ends the race."""

    def state_for(self, client: Client) -> messages.RoomState:
        state = self.honest_state(client)
        gone = tuple(with_fields(each, connected=False) for each in state.tallies)
        return with_fields(state, tallies=gone) if self.is_early else state


@lie
class EarlyRival(Server):
    """Lets a rival begin five seconds early."""

    def ack_time(self, racer: Racer) -> int:
        return min(self.now + 5000, self.ends - 1) if racer.name == "bob" else self.now


@lie
class EndAfterFinish(Server):
    """Ends the race once somebody has finished, whatever its options say."""

    def is_over(self) -> bool:
        return super().is_over() or any(racer.finished_at for racer in self.racers)


@lie
class EndWhenStuck(Server):
    """Ends the race once all are stuck, whatever its options say."""

    def is_done(self, racer: Racer) -> bool:
        return super().is_done(racer) or racer.stuck


@lie
class LateAcks(Server):
    """Dates the actions of the first player five seconds later."""

    def ack_time(self, racer: Racer) -> int:
        return min(self.now + 5000, self.ends - 1) if racer.name == "ana" else self.now


@lie
class EarlyAcks(Server):
    """Dates the actions of a rival earlier, and so those of the player."""

    def ack_time(self, racer: Racer) -> int:
        return max(self.starts, self.now - 2500)


@lie
class LateBoard(Server):
    """Sends the board of the first player four seconds after the start."""

    def told(self, client: Client, message: Any) -> Sequence[Any]:
        if isinstance(message, messages.BoardState) and message.revision == 0 and client.name == "ana":
            self.now += 4000
        return (message,)


# Moves


@lie
class RefusedMove(Server):
    """Refuses a legal move of the first player."""

    def is_refused(self, racer: Racer, act: messages.Act) -> bool:
        return racer.name == "ana" and act.revision == 1


@lie
class EarlyUnanswered(Server):
    """Never confirms the second action of the first player, and dates it before it was made."""

    def ack_time(self, racer: Racer) -> int:
        is_second = racer.name == "ana" and len(racer.actions) == 1
        return max(self.starts, racer.acked_at, self.now - 5000) if is_second else self.now

    def told(self, client: Client, message: Any) -> Sequence[Any]:
        if client.name != "ana" or not isinstance(message, messages.Acked):
            return (message,)
        is_first = client.seen.evidence.sent_actions[message.to].revision == 0
        self.now += 6000 * is_first
        return (message,) if is_first else ()


@lie
class EarlyUnansweredWithoutTime(EarlyUnanswered):
    """Never tells its time either."""

    def told(self, client: Client, message: Any) -> Sequence[Any]:
        return () if isinstance(message, messages.Pong) else super().told(client, message)


@lie
class EarlyUnansweredWithWrongTime(EarlyUnanswered):
    """Tells a time at which no race was, so that each date is later."""

    def told(self, client: Client, message: Any) -> Sequence[Any]:
        is_time = isinstance(message, messages.Pong)
        return (with_fields(message, time=1),) if is_time else super().told(client, message)


@lie
class ResignsForAna(Server):
    """Resigns for the first player."""

    def play_on(self, racer: Racer, after: Play, action: str, time: int) -> None:
        super().play_on(racer, after, action, time)
        if racer.name == "ana" and not racer.finished_at:
            racer.resigned = True


@lie
class ResignedInRecord(Server):
    """Says only at the end that the first player had resigned."""

    def standing(self, place: int, racer: Racer) -> Standing:
        line = super().standing(place, racer)
        return with_fields(line, resigned=racer.name == "ana" or line.resigned) if not line.time else line


@lie
class KickedInRace(Server):
    """Takes the first player out of the race, and says nothing."""

    def act(self, client: Client, racer: Racer, act: messages.Act) -> None:
        super().act(client, racer, act)
        if racer.name == "ana" and self.phase == "racing":
            racer.resigned = True
            self.push()
            self.end_if_over()


@lie
class ForgottenMove(Server):
    """Forgets the last move of the first player when the race ends, also in the results."""

    def finish(self) -> None:
        for racer in self.racers:
            if racer.name == "ana" and racer.actions:
                undone(self, racer)
        super().finish()


class Rewriting(Server):
    """A server that writes the players' moves anew for the record."""

    def rewritten(self, player: RecordedPlayer, client: Client | None) -> tuple[tuple[int, str], ...]:
        raise NotImplementedError

    def honest_record(self, client: Client | None) -> Record:
        record = super().honest_record(client)
        players = []
        for player in record.players:
            actions = self.rewritten(player, client)
            play = record.first_play
            try:
                for _, action in actions:
                    play = play.act(action)
            except SamedealError:
                players.append(player)
                continue
            finish = actions[-1][0] if play.board.won else 0
            players.append(replace(player, actions=actions, foundation_cards=play.board.foundation_cards, time=finish))
        return replace(record, players=tuple(players))


@lie
class DroppedMove(Rewriting):
    """Leaves the last move of the first player out of the record."""

    def rewritten(self, player: RecordedPlayer, client: Client | None) -> tuple[tuple[int, str], ...]:
        return player.actions[:-1] if player.name == "ana" else player.actions


@lie
class AddedMove(Rewriting):
    """Adds a move of the first player to the record."""

    def rewritten(self, player: RecordedPlayer, client: Client | None) -> tuple[tuple[int, str], ...]:
        if player.name != "ana" or not self.racers:
            return player.actions
        play = next(racer for racer in self.racers if racer.name == "ana").play
        legal = play.board.legal_moves() if play else ()
        last = player.actions[-1][0] if player.actions else 0
        return (*player.actions, (last, str(legal[0]))) if legal else player.actions


@lie
class RetimedMove(Rewriting):
    """Gives a move of the first player another time in the record."""

    def rewritten(self, player: RecordedPlayer, client: Client | None) -> tuple[tuple[int, str], ...]:
        if player.name != "ana" or not player.actions:
            return player.actions
        *before, (time, action) = player.actions
        return (*before, (time + 1, action))


@lie
class WrittenRival(Rewriting):
    """Gives a rival a move in the record that nobody was shown."""

    def rewritten(self, player: RecordedPlayer, client: Client | None) -> tuple[tuple[int, str], ...]:
        if player.name in ("ana", "sue"):
            return player.actions
        return player.actions[:-1]


# Results, counts and records


@lie
class InventedCounts(Server):
    """Tells more cards of a rival than the rival has."""

    def update_for(self, client: Client, racer: Racer, tally: Tally, before: Tally | None) -> messages.ProgressUpdate:
        return super().update_for(
            client, racer, with_fields(tally, foundation_cards=tally.foundation_cards + 7), before
        )


@lie
class InventedFirstCounts(Server):
    """Tells more cards of a rival than the rival has, once."""

    def update_for(self, client: Client, racer: Racer, tally: Tally, before: Tally | None) -> messages.ProgressUpdate:
        cards = tally.foundation_cards + (tally.moves == 1)
        return super().update_for(client, racer, with_fields(tally, foundation_cards=cards), before)


@lie
class InventedTallies(Server):
    """Shows more moves of a rival in the state of the room."""

    def state_for(self, client: Client) -> messages.RoomState:
        state = self.honest_state(client)
        tallies = tuple(
            with_fields(each, moves=each.moves + 9) if each.player == "p-bob" and each.moves else each
            for each in state.tallies
        )
        return with_fields(state, tallies=tallies)


@lie
class OtherWatchedBoards(Server):
    """Shows spectators another board."""

    def watched(self, racer: Racer) -> messages.DelayedBoard:
        board = super().watched(racer)
        return with_fields(board, piles=other_deal(self.seed).masked().piles)


@lie
class OtherWatchedMoves(Server):
    """Shows spectators another time of a move."""

    def told(self, client: Client, message: Any) -> Sequence[Any]:
        is_move = isinstance(message, messages.DelayedMove)
        return (with_fields(message, time=message.time + 1) if is_move else message,)


@lie
class OtherResults(Server):
    """Shows other results than those of the record."""

    def state_for(self, client: Client) -> messages.RoomState:
        state = self.honest_state(client)
        lines = tuple(with_fields(line, moves=line.moves + 1) for line in state.standings)
        return with_fields(state, standings=lines)


@lie
class ReversedResults(Server):
    """Shows the results in another order than that of the places."""

    def state_for(self, client: Client) -> messages.RoomState:
        state = self.honest_state(client)
        return with_fields(state, standings=state.standings[::-1])


@lie
class NoResults(Server):
    """Never shows results."""

    def told(self, client: Client, message: Any) -> Sequence[Any]:
        is_end = isinstance(message, messages.RoomState) and message.phase == "finished"
        return () if is_end else (message,)


@lie
class NoStates(Server):
    """Never shows the room."""

    def told(self, client: Client, message: Any) -> Sequence[Any]:
        return () if isinstance(message, messages.RoomState) else (message,)


@lie
class SwappedRivals(Server):
    """Gives the moves of two players to each other in the record."""

    def honest_record(self, client: Client | None) -> Record:
        record = super().honest_record(client)
        *others, one, last = (record.players[0], *record.players)[-3:]
        swapped = replace(one, seat=last.seat, name=last.name), replace(last, seat=one.seat, name=one.name)
        players = sorted((*others[1:], *swapped), key=lambda player: player.seat)
        return replace(record, players=tuple(players)) if len(record.players) == len(players) else record


@lie
class LaterResults(Server):
    """Shows other results after the verdict."""

    def run(self) -> Server:
        super().run()
        self.standings = tuple(with_fields(line, foundation_cards=line.foundation_cards + 1) for line in self.standings)
        self.push()
        return self

    def record_for(self, client: Client | None) -> Record | None:
        standings = self.standings
        self.standings = tuple(with_fields(line, foundation_cards=line.foundation_cards - 1) for line in standings)
        try:
            return super().record_for(client)
        finally:
            self.standings = standings


@lie
class SwappedPlaces(Server):
    """Gives the places to others, also in the record."""

    def finish(self) -> None:
        super().finish()
        places = [line.place for line in self.standings]
        self.standings = tuple(
            with_fields(line, place=place) for line, place in zip(self.standings, places[::-1], strict=True)
        )


@lie
class OtherTable(Server):
    """Adds a point to the table of the series."""

    def state_for(self, client: Client) -> messages.RoomState:
        state = self.honest_state(client)
        table = tuple(
            TableLine(line.place, line.player, line.name, line.races, line.points + (line.name == "bob"), line.time)
            for line in state.table
        )
        return with_fields(state, table=table) if state.phase == "finished" else state


@lie
class OtherSeed(Server):
    """Reveals another seed or proof than the record has."""

    def state_for(self, client: Client) -> messages.RoomState:
        state = self.honest_state(client)
        return with_fields(
            state, seed=some_bytes("other") if state.seed else b"", proof=state.proof and f"{state.proof}\n"
        )


@lie
class TwoRecords(Server):
    """Gives another record when it is read again."""

    def read_for(self, client: Client) -> RaceReading:
        return replace(super().read_for(client), second=some_bytes("other"))


@lie
class NoRecord(Server):
    """Gives no record."""

    def record_for(self, client: Client | None) -> Record | None:
        return None


@lie
class ReadOnce(Server):
    """Gives the record once, and not again."""

    def read_for(self, client: Client) -> RaceReading:
        return replace(super().read_for(client), second=b"")


@lie
class DamagedRecord(Server):
    """Gives a record that cannot be read."""

    def read_for(self, client: Client) -> RaceReading:
        return RaceReading(fault=("bad_record", "It is cut off."))


@lie
class PartOfRecord(Server):
    """Gives a record of one player."""

    def honest_record(self, client: Client | None) -> Record:
        record = super().honest_record(client)
        return replace(record, players=record.players[:1])


@lie
class TooManyCandidates(Server):
    """Names a candidate that no machine can reach."""

    def read_for(self, client: Client) -> RaceReading:
        return replace(super().read_for(client), answers=None)


@lie
class FewAnswers(Server):
    """Names so many candidates that a machine gives up before the last one."""

    def read_for(self, client: Client) -> RaceReading:
        reading = super().read_for(client)
        return replace(reading, answers=(reading.answers or ())[:-1]) if reading.answers else reading


@lie
class OtherHeads(Server):
    """Sends heads that do not cover what was shown."""

    def board_for(self, client: Client, racer: Racer) -> messages.BoardState:
        return with_fields(super().board_for(client, racer), head=some_bytes("head"))


@lie
class NoHeads(Server):
    """Sends no heads."""

    def board_for(self, client: Client, racer: Racer) -> messages.BoardState:
        return with_fields(super().board_for(client, racer), head=b"")


@lie
class OtherRoom(Server):
    """Puts the players into another room, with everything as there."""

    def __init__(self, plan: Any, seed: str) -> None:
        super().__init__(plan, seed)
        self.room = "thursday"

    def told(self, client: Client, message: Any) -> Sequence[Any]:
        is_joined = isinstance(message, messages.Joined | messages.Watching)
        return (with_fields(message, room="friday") if is_joined else message,)


@lie
class ReopenedRoom(Server):
    """Opens the room again after the race, with another deal under the same commitment."""

    def run(self) -> Server:
        super().run()
        finished, self.phase, self.standings, before = self.phase, "racing", (), self.standings
        for racer in self.racers:
            racer.play = Play(other_deal(self.seed), self.options.undo_rule)
        self.push()
        for client in self.present:
            own = self.racer_of(client)
            if own is not None and client.role == "player":
                client.receive(self.board_for(client, own))
        self.phase, self.standings = finished, before
        self.push()
        return self


@lie
class NoticesVerdict(Server):
    """Says what only the program says."""

    def told(self, client: Client, message: Any) -> Sequence[Any]:
        notice = messages.Notice(code=NoticeCode.SAID, message="Fair: nobody could choose the deal.")
        return (message, notice) if isinstance(message, messages.BoardState) else (message,)


@lie
class TideWithoutTide(Server):
    """Says in the state of the room that the race belongs to a tide."""

    def state_for(self, client: Client) -> messages.RoomState:
        return with_fields(self.honest_state(client), tide=60_000)


HONEST: Final = ("OtherWeights", "ReadOnce", "FewAnswers", "NoRecord", "DailyOfAnotherDay")
"""What honest servers do too: of another release, or without a record, or to slow machines."""

UNSEEN: Final = {
    "TwoStarts": "each player's program reads a record of its own, whose result words differ",
    "OtherTermsOfBob": "each player's program sees its own terms, and the words differ",
    "NoticesVerdict": "what a server says is shown as the server's",
    "LateAcks": "the sentence about the clock says it",
    "EarlyAcks": "the sentence about the clock says it",
    "LateBoard": "the sentence about the clock says it",
    "EarlyRival": "the sentence about the clock says it",
}
"""Lies after which a program may say *fair*, and why that is right."""

CLOCK: Final = {
    "LateAcks": ("ana", "ana"),
    "EarlyAcks": ("bob", "bob"),
    "LateBoard": ("ana", "ana"),
    "EarlyRival": ("ana", "bob"),
}
"""Lies about the time, of which the sentence about the clock tells the first client, if the second one has acted."""
