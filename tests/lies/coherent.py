"""Lies at the server's own value, with everything after them computed anew.

Each liar overrides what the honest server of ``tests.lies.worlds`` does in one place. Everything else follows from what
happens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from msgspec.structs import replace as with_fields

from samedeal.board import Board
from samedeal.board_history import Play
from samedeal.deal import Deal, commitment
from samedeal.deal_proof import DealProof, LostShare, RevealedShare
from samedeal.errors import SamedealError
from samedeal.joint_deal import LossReason, candidate_board, public_mix, share_commitment
from samedeal.protocol import messages
from samedeal.protocol.messages import EarlierPlayer, RoomState, Seat, Standing, Tally
from samedeal.protocol_codes import NoticeCode, RefusalCode
from samedeal.race import room_state
from samedeal.race.commands import CommitShareCommand, JoinCommand, RaceCommand, RevealShareCommand
from samedeal.race.draws import count_down, draw_with_those_there, lose_seats, proof_of
from samedeal.race.held_race import HeldRace
from samedeal.race.values import DrawProgress, FoundDeal, Race, Racer, RaceResult
from samedeal.record import Record, RecordedPlayer
from samedeal_link.evidence.verdict import RaceReading
from samedeal_server.races.race_record import build_record
from tests.lies.deals import GAME, found_deal, some_bytes
from tests.lies.worlds import Client, Plan, Server, with_share

_Message = TypeVar("_Message")
_Saying = Callable[[Server, Client, _Message], _Message | None]

LIES: Final[dict[str, type[Server]]] = {}


def lie(liar: type[Server]) -> type[Server]:
    LIES[liar.__name__] = type(liar.__name__, (_GoingOn, liar), {})
    return liar


def says(kind: type[_Message], base: type[Server] = Server) -> Callable[[_Saying[_Message]], type[Server]]:
    """Make a liar of a function that returns another message of a kind, or None if nothing is sent in its place."""

    def made(saying: _Saying[_Message]) -> type[Server]:
        def told(self: Server, client: Client, message: Any) -> Sequence[Any]:
            if not isinstance(message, kind):
                return base.told(self, client, message)
            other = saying(self, client, message)
            return () if other is None else (other,)

        name = saying.__name__.title().replace("_", "")
        return type(name, (base,), {"told": told, "__doc__": saying.__doc__})

    return made


def lie_in(kind: type[_Message]) -> Callable[[_Saying[_Message]], type[Server]]:
    return lambda saying: lie(says(kind)(saying))


class _GoingOn(Server):
    """A server that begins the race, although honest clients promise or reveal something else or nothing any more."""

    def apply(self, command: RaceCommand) -> None:
        if isinstance(command, RevealShareCommand) and self.race.lacks_shares and self.race.is_sealed:
            racer = with_share(self.race, self.race.seated(command.player), command.share)
            if racer.commitment != self.race.seated(command.player).commitment:
                self.change_racer(command.player, commitment=racer.commitment)
        super().apply(command)

    def before_race(self) -> None:
        race = self.race
        if race.phase == "countdown" and race.lacks_deal:
            draw_from(self, [with_share(race, racer, racer.share) for racer in race.drawing])


def draw_from(server: Server, racers: Sequence[Racer]) -> None:
    """Complete the draw with the shares of these racers."""
    drawing = (each for each in racers if each.share)
    shares = tuple(sorted(RevealedShare(each.seat, each.name, each.commitment, each.share) for each in drawing))
    seated = tuple(with_fields(each, commitment=b"", share=b"") for each in server.race.racers)
    server.change(racers=seated, draw=with_fields(server.race.draw, shares=shares))


def committed_anew(held: HeldRace, seed: bytes = b"", **terms: Any) -> HeldRace:
    """A race with another seed or other terms, and all commitments and the proof as they follow from these."""
    secret = with_fields(held.secret, seed=seed or held.secret.seed)
    race = with_fields(held.race, **terms)
    digest, number = race.terms.digest, race.draw.number
    promise = commitment(digest, secret.seed)
    shares = tuple(
        each._replace(commitment=share_commitment(digest, promise, each.seat, each.name, number, each.share))
        for each in race.draw.shares
    )
    race = with_fields(race, commitment=promise, draw=with_fields(race.draw, shares=shares))
    if secret.found is not None:
        secret = with_fields(secret, found=with_fields(secret.found, shares=shares))
    if race.result.proof:
        race = with_fields(race, result=with_fields(race.result, proof=proof_of(race, secret)))
    return replace(held, race=race, secret=secret)


class Proving(Server):
    """A server that changes the proof."""

    def proof(self, proof: DealProof) -> DealProof:
        raise NotImplementedError

    def go_on(self) -> None:
        super().go_on()
        result = self.race.result
        if result.proof and not self.past[-1].race.result.proof:
            proof = str(self.proof(DealProof.parse(result.proof)))
            self.held = replace(self.held, race=with_fields(self.race, result=with_fields(result, proof=proof)))


class Drawing(Server):
    """A server that cheats when all have revealed. The racers have their shares then, and the draw is not complete."""

    has_cheated = False

    def apply(self, command: RaceCommand) -> None:
        race = self.race
        awaited = [each.player for each in race.awaited if race.is_sealed]
        if self.has_cheated or not isinstance(command, RevealShareCommand) or awaited != [command.player]:
            super().apply(command)
            return
        self.has_cheated = True
        self.change_racer(command.player, share=command.share)
        self.cheat()

    def cheat(self) -> None:
        raise NotImplementedError

    def lose(self, racer: Racer, reason: LossReason) -> None:
        """Take a seat away, or a share in a window, and draw again if the rules say so."""
        if self.race.window:
            self.blame(racer.seat, racer.name, reason)
            self.redraw()
            return
        self.held = replace(self.held, race=lose_seats(self.race, [racer], reason, self.now)[0])
        self.change()

    def blame(self, seat: int, name: str, reason: LossReason = "silent") -> None:
        """Say that somebody has lost a seat in this draw."""
        draw = self.race.draw
        self.change(draw=with_fields(draw, lost=(*draw.lost, LostShare(draw.number, seat, reason, name))))

    def redraw(self) -> None:
        race, now = self.race, self.now
        drawn = draw_with_those_there(race, self.progress, now) if race.window else count_down(race, now, race.starts)
        self.held = replace(self.held, race=drawn[0])
        self.change()


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
        return other_deal(self.seed) if racer.name == "ana" else super().first_board(racer)


@lie
class OtherStockOfAna(Truncating):
    """Changes cards that lie face down for one player, who turns up other ones then."""

    def first_board(self, racer: Racer) -> Board:
        board = super().first_board(racer)
        piles = (pile[::-1] if at == GAME.stock_at else pile for at, pile in enumerate(board.piles))
        return Board(GAME, tuple(piles)) if racer.name == "ana" else board


@lie
class NoFirstRevision(OtherBoards):
    """Deals another board with the revision 1, so that it is no first board."""

    def told(self, client: Client, message: Any) -> Sequence[Any]:
        is_board = isinstance(message, messages.BoardState) and message.revision == 0
        return (with_fields(message, revision=1) if is_board else message,)


@lie_in(messages.BoardState)
def board_never_shown(server: Server, client: Client, board: messages.BoardState) -> None:
    """Never sends a board."""


@lie
class SecondCandidate(Server):
    """Passes over the deal that must be dealt, also in the proof."""

    def find(self) -> FoundDeal:
        return found_deal(self.race, self.held.secret.seed, super().find().candidate + 1)


@lie
class OtherLimits(Proving):
    """Looks for a deal with other limits than the terms have."""

    def proof(self, proof: DealProof) -> DealProof:
        return replace(proof, terms=proof.terms._replace(budget=proof.terms.budget + 1))


@lie
class OtherSolver(Proving):
    """Says that another version of the solver has found the deal."""

    def proof(self, proof: DealProof) -> DealProof:
        return replace(proof, terms=proof.terms._replace(solver=99))


@lie
class OtherDifficulty(Proving):
    """Deals an easier or harder deal than the terms say."""

    @property
    def other(self) -> Race:
        others = {"winnable hard": "winnable", "winnable easy": "winnable hard", "winnable": "winnable hard"}
        return with_fields(self.race, deal=others.get(self.race.deal, self.race.deal))

    def find(self) -> FoundDeal:
        return found_deal(self.other, self.held.secret.seed)

    def proof(self, proof: DealProof) -> DealProof:
        return replace(proof, terms=self.other.search)


@lie
class PublicProof(Proving):
    """Draws a deal with the players, and deals one that it chose before."""

    chosen = "daily 2026-01-01"

    def seed_of(self, deal: Deal) -> bytes:
        return public_mix(self.chosen) if deal.kind == "winnable" else super().seed_of(deal)

    def find(self) -> FoundDeal:
        alone = with_fields(self.race, draw=DrawProgress(self.race.draw.number))
        return with_fields(found_deal(alone, self.held.secret.seed), shares=self.race.draw.shares)

    def first_board(self, racer: Racer) -> Board:
        found = self.held.secret.found
        if not self.race.is_joint or found is None:
            return super().first_board(racer)
        return candidate_board(self.held.secret.seed, found.candidate, GAME)

    def proof(self, proof: DealProof) -> DealProof:
        return replace(proof, draw=0, lost=(), shares=(), public=self.chosen) if self.race.is_joint else proof


@lie_in(messages.Acked)
def other_undo(server: Server, client: Client, acked: messages.Acked) -> messages.Acked:
    """Shows another board after an undo."""
    if not acked.piles:
        return acked
    other = Board(GAME, (*acked.piles[1:], acked.piles[0]))
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

    def __init__(self, plan: Plan, seed: str) -> None:
        super().__init__(plan, seed)
        self.honest, options = self.race, self.race.options
        self.held = committed_anew(self.held, options=with_fields(options, hints=not options.hints))

    def told(self, client: Client, message: Any) -> Sequence[Any]:
        is_state = isinstance(message, messages.RoomState)
        shown = self.honest
        return (with_fields(message, terms=str(shown.terms), options=shown.options) if is_state else message,)


@lie
class ChosenSecret(Drawing):
    """Chooses the secret when it knows the shares, and commits to it then."""

    def cheat(self) -> None:
        self.held = committed_anew(self.held, some_bytes(f"{self.seed} chosen"))
        draw_from(self, self.race.racers)


@lie
class SecretOfRecord(Server):
    """Chooses the secret when it knows the shares, and commits to it in the proof and in the record."""

    commitment = b""

    def choose(self) -> None:
        if not self.commitment:
            self.commitment = self.race.commitment
            self.held = committed_anew(self.held, some_bytes(f"{self.seed} chosen"))

    def find(self) -> FoundDeal:
        self.choose()
        return super().find()

    def begin_race(self) -> None:
        self.choose()
        super().begin_race()

    def state_for(self, client: Client) -> messages.RoomState:
        state = super().state_for(client)
        return with_fields(state, commitment=self.commitment or state.commitment)


@lie
class OtherPublicDeal(Server):
    """Deals another public deal than the one that it names."""

    def seed_of(self, deal: Deal) -> bytes:
        return some_bytes("other") if deal.public else super().seed_of(deal)


@lie
class DailyOfAnotherDay(Server):
    """Chooses among the daily deals of all days, which it knows, when somebody asks for that of today."""

    def __init__(self, plan: Plan, seed: str) -> None:
        super().__init__(replace(plan, date="1987-05-03"), seed)


@lie
class OtherKind(Server):
    """Opens a room with another kind of deal than was asked for."""

    def __init__(self, plan: Plan, seed: str) -> None:
        other = "random" if plan.options.deal != "random" else "#77"
        other = "winnable hard" if plan.window else other
        super().__init__(replace(plan, options=with_fields(plan.options, deal=other)), seed)


@lie
class OtherLimitOfRoom(Server):
    """Opens a room with another option than was asked for."""

    def __init__(self, plan: Plan, seed: str) -> None:
        super().__init__(replace(plan, options=with_fields(plan.options, limit=plan.options.limit + 60)), seed)


@lie
class OtherTermsOfBob(Server):
    """Shows one player other terms, and does everything for this player as they say."""

    def race_for(self, client: Client | None) -> Race:
        if client is None or client.name != "bob":
            return self.race
        return committed_anew(self.held, options=with_fields(self.race.options, undo="free")).race


@lie
class TermsOfBobInText(OtherTermsOfBob):
    """Shows all players the same text of the terms, and one player other options."""

    def told(self, client: Client, message: Any) -> Sequence[Any]:
        if isinstance(message, messages.RoomState):
            return (with_fields(message, terms=str(self.race.terms), commitment=self.race.commitment),)
        return (message,)


@lie
class UndoAtStart(Server):
    """Changes an option when the race begins."""

    def begin_race(self) -> None:
        options = self.race.options
        undo = "off" if options.undo != "off" else "free"
        self.held = committed_anew(self.held, options=with_fields(options, undo=undo))
        super().begin_race()


@lie_in(messages.RoomState)
def options_beside_terms(server: Server, client: Client, state: messages.RoomState) -> messages.RoomState:
    """Shows options that are not in the terms, and plays by them."""
    return with_fields(state, options=with_fields(state.options, end_when_settled=False))


@lie_in(messages.RoomState)
def unknown_line(server: Server, client: Client, state: messages.RoomState) -> messages.RoomState:
    """Has terms with a line that no release knows."""
    return with_fields(state, terms=f"{state.terms}zone: 7\n")


@lie_in(messages.RoomState)
def unknown_game(server: Server, client: Client, state: messages.RoomState) -> messages.RoomState:
    """Has terms of a game that no release knows."""
    return with_fields(state, terms=state.terms.replace(GAME.name, "unheard-of"))


@lie
class OtherPrivacy(Server):
    """Opens a public room for a private race, and the other way round."""

    def __init__(self, plan: Plan, seed: str) -> None:
        super().__init__(replace(plan, private=not plan.private), seed)


@lie
class OtherWeights(SecondCandidate):
    """Describes the game in another way, and so finds another deal, as another release does."""

    def __init__(self, plan: Plan, seed: str) -> None:
        super().__init__(plan, seed)
        self.held = committed_anew(self.held, description=some_bytes("other weights"))


@lie
class RecordOfOtherTerms(Server):
    """Writes a record with other terms, right in itself."""

    def honest_record(self, client: Client | None) -> Record:
        other = committed_anew(self.held, options=with_fields(self.race.options, hints=True))
        return build_record(other.race, self.logs)


# Draws


@lie
class SecondDraw(Drawing):
    """Draws again although nobody has lost a seat."""

    def cheat(self) -> None:
        self.redraw()


@lie
class SecondDrawOfLost(Drawing):
    """Draws again after it said that somebody lost a seat who was never there."""

    def cheat(self) -> None:
        self.blame(9, "nobody")
        self.redraw()


@lie
class SkippedDraw(Drawing):
    """Leaves out the number of a draw."""

    def cheat(self) -> None:
        if len(self.race.racers) > 1:
            self.change(draw=with_fields(self.race.draw, number=self.race.draw.number + 1))
            self.lose(self.race.racers[-1], "silent")


@lie
class SaidSilent(Drawing):
    """Says that the first player was silent, who was not."""

    reason: LossReason = "silent"

    def cheat(self) -> None:
        racer = self.race.racers[0]
        self.lose(racer, self.reason)
        if not self.race.racers:
            self.change(racers=(racer,))
            self.redraw()


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
        racers = self.race.racers
        self.blame(racers[0].seat, racers[0].name)
        self.change(racers=racers[1:])
        self.show()
        self.change(racers=racers)
        self.clients[racers[0].name].connect()
        self.settle()
        draw_from(self, self.race.racers)


@lie
class LeftAndBack(Drawing):
    """Cuts the line of the first player, and says then that the player had left and come back."""

    def cheat(self) -> None:
        racer = self.race.racers[0]
        client = self.clients[racer.name]
        client.disconnect()
        self.blame(racer.seat, racer.name, "left")
        client.connect()
        self.redraw()


@lie
class LeftAndBackWithRacers(LeftAndBack):
    """Has a racer of its own who loses the seat at the same time, so that the next draw is needed."""

    def begin(self, command: RaceCommand) -> None:
        self.change(racers=(*self.race.racers, Racer("p-mal", "mal", 60, ready=True)))
        super().begin(command)

    def apply(self, command: RaceCommand) -> None:
        super().apply(command)
        mal = self.race.racer("p-mal")
        if mal is not None and self.race.lacks_shares and not mal.commitment:
            shared = with_share(self.race, mal)
            self.change_racer(mal.player, share=shared.share, commitment=shared.commitment)

    def cheat(self) -> None:
        *racers, mal = self.race.racers
        self.change(racers=tuple(racers))
        self.blame(mal.seat, mal.name)
        super().cheat()


@lie
class GivesUp(Drawing):
    """Closes the room when it knows the deal, because it does not like it."""

    def cheat(self) -> None:
        self.change(phase="closed", starts=0, ends=0)


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
        racer = self.race.racers[0]
        self.blame(racer.seat, racer.name)
        self.redraw()


@lie
class EarlierDraw(Drawing):
    """Draws twice, as it may because its own player pretends to be silent, and chooses the first draw then."""

    first: DrawProgress | None = None
    racers: tuple[Racer, ...] = ()

    def cheat(self) -> None:
        self.first, self.racers = self.race.draw, self.race.racers
        self.lose(self.race.racers[-1], "silent")

    def find(self) -> FoundDeal:
        if self.first is not None and self.race.racers:
            draw = with_fields(self.race.draw, number=self.first.number)
            self.held, self.first = replace(self.held, race=with_fields(self.race, draw=draw)), None
            draw_from(self, self.racers)
        return super().find()


@lie
class ReopenedDraw(Drawing):
    """Gives the last player another commitment in the same draw."""

    def cheat(self) -> None:
        *others, last = self.race.racers
        self.change(racers=(*others, with_share(self.race, last, some_bytes(f"{self.seed} chosen"))))
        self.show()
        draw_from(self, self.race.racers)


@lie
class ChosenShare(Drawing):
    """Deals from another share of the last player."""

    def cheat(self) -> None:
        *others, last = self.race.racers
        draw_from(self, (*others, with_share(self.race, last, some_bytes(f"{self.seed} chosen"))))


@lie
class ChosenShareUnshown(ChosenShare):
    """Deals from another share of the last player, and shows no shares before the proof."""

    def told(self, client: Client, message: Any) -> Sequence[Any]:
        return () if isinstance(message, messages.Drawn) else (message,)


@lie
class OmittedShare(Drawing):
    """Leaves out the share of the last player, who stays in the race."""

    def cheat(self) -> None:
        draw_from(self, self.race.racers[:-1])


@lie
class AddedShare(Drawing):
    """Adds a player of its own when it knows the shares."""

    def cheat(self) -> None:
        mal = with_share(self.race, Racer("p-mal", "mal", 60, ready=True))
        self.change(racers=(*self.race.racers, mal))
        draw_from(self, self.race.racers)


@lie
class ForgedPromise(Server):
    """Shows a commitment in the name of the first player that the player did not make, and deals from its share."""

    def apply(self, command: RaceCommand) -> None:
        super().apply(command)
        race = self.race
        if race.lacks_shares and race.racers and race.is_sealed and not race.racers[0].share:
            first, *others = race.racers
            self.change(racers=(with_share(race, first), *others))
        if race.lacks_shares and race.is_sealed and not race.awaited:
            draw_from(self, self.race.racers)


@lie
class NeverSealed(Server):
    """Deals from shares of its own, and asks nobody."""

    def begin(self, command: RaceCommand) -> None:
        super().begin(command)
        if self.race.is_joint:
            if self.race.window:
                self.tick()
            self.show()
            draw_from(self, [with_share(self.race, racer) for racer in self.race.drawing])

    def told(self, client: Client, message: Any) -> Sequence[Any]:
        if isinstance(message, messages.RoomState) and message.phase == "countdown":
            hidden = tuple(with_fields(each, share_commitment=b"") for each in message.players)
            return (with_fields(message, players=hidden),)
        return (message,)


@lie
class NeverSealedUnshown(NeverSealed):
    """Deals from shares of its own, and shows them only in the proof."""

    def told(self, client: Client, message: Any) -> Sequence[Any]:
        return () if isinstance(message, messages.Drawn) else super().told(client, message)


@lie
class NoCountdown(NeverSealed):
    """Deals a joint deal from shares of its own, without a countdown."""

    def told(self, client: Client, message: Any) -> Sequence[Any]:
        if isinstance(message, messages.RoomState) and message.phase == "countdown" and self.race.is_joint:
            return ()
        return () if isinstance(message, messages.Drawn) else (message,)


@lie_in(messages.Drawn)
def other_drawn_of_bob(server: Server, client: Client, drawn: messages.Drawn) -> messages.Drawn:
    """Shows one player other shares than those of the proof."""
    return with_fields(drawn, draw=drawn.draw + 1) if client.name in ("bob", "sue") else drawn


@lie
class HiddenLoss(Proving):
    """Leaves the lost seats out of the proof."""

    def proof(self, proof: DealProof) -> DealProof:
        return replace(proof, lost=())


@lie
class OtherLoss(Proving):
    """Blames another player in the proof."""

    def other(self, lost: LostShare) -> LostShare:
        return lost._replace(name="bob")

    def proof(self, proof: DealProof) -> DealProof:
        return replace(proof, lost=tuple(map(self.other, proof.lost)))


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


@lie_in(messages.RoomState)
def later_loss(server: Server, client: Client, state: messages.RoomState) -> messages.RoomState:
    """Shows a loss in a later draw than that of the proof."""
    return with_fields(state, lost=tuple(with_fields(each, draw=each.draw + 1) for each in state.lost))


@lie
class InventedLoss(Proving):
    """Adds a loss to the proof that nobody was shown."""

    def proof(self, proof: DealProof) -> DealProof:
        return replace(proof, lost=(*proof.lost, LostShare(proof.draw, 40, "left", "zed"))) if proof.draw else proof


# Players


@lie
class OtherNames(Server):
    """Shows a rival under another name."""

    def seat_for(self, client: Client, seat: Seat) -> Seat:
        is_rival = client.name in ("ana", "sue") and seat.name != "ana"
        return with_fields(seat, name="champion") if is_rival else seat


@lie
class HiddenBots(Server):
    """Hides that a rival is a bot, or says that a person is one."""

    def seat_for(self, client: Client, seat: Seat) -> Seat:
        return seat if seat.player == client.player else with_fields(seat, bot=not seat.bot)


@lie
class SwappedNames(Server):
    """Shows each racer the others under each other's names."""

    def seat_for(self, client: Client, seat: Seat) -> Seat:
        names = {"ana": "bob", "bob": "ana"}
        return seat if seat.player == client.player else with_fields(seat, shown=names.get(seat.name, "ana"))


@lie
class IAmABot(Server):
    """Marks a person as a bot, everywhere."""

    def apply(self, command: RaceCommand) -> None:
        was_open = self.race.is_open
        super().apply(command)
        if was_open and not self.race.is_open:  # the host is a person
            self.change(racers=tuple(with_fields(each, bot=each.name == "ana") for each in self.race.racers))


@lie
class RenamedAfterCommit(Server):
    """Gives the first player another name, everywhere, once the player has committed to a share."""

    def apply(self, command: RaceCommand) -> None:
        super().apply(command)
        if isinstance(command, CommitShareCommand) and command.player == "p-ana":
            self.change_racer(command.player, name="anna")


@lie
class RenamedAtStart(Server):
    """Gives the first player another name, everywhere, when the countdown is over."""

    def begin_race(self) -> None:
        if self.race.racer("p-ana") is not None:
            self.change_racer("p-ana", name="anna")
        super().begin_race()


@lie_in(messages.RoomState)
def hidden_rival(server: Server, client: Client, state: messages.RoomState) -> messages.RoomState:
    """Does not show a rival to the first player."""
    if client.name not in ("ana", "sue") or len(state.players) < 2:
        return state
    return with_fields(state, players=tuple(each for each in state.players if each.name == "ana"))


@lie
class AgainWithRivals(Server):
    """Deals an earlier race again while the player is not alone."""

    def begin_race(self) -> None:
        if self.plan.name == "again":
            self.change(racers=(*self.race.racers, Racer("p-mal", "mal", 2, resigned=True)))
        super().begin_race()


@lie
class AgainWithBot(Server):
    """Deals an earlier race again for the player and a bot that is there from the countdown on."""

    def apply(self, command: RaceCommand) -> None:
        super().apply(command)
        if isinstance(command, JoinCommand) and self.plan.name == "again" and len(self.race.racers) == 1:
            self.change(racers=(*self.race.racers, Racer("p-mal", "mal", 2, bot=True)))


# Times


class Ending(Server):
    """A server that ends the race when it likes."""

    def end(self) -> None:
        race = self.race
        self.held = replace(self.held, race=with_fields(race, ends=min(self.now, race.ends)))
        super().tick()
        self.held = replace(self.held, race=with_fields(self.race, ends=race.ends))


class Resulting(Server):
    """A server that changes the results when the race ends."""

    def line(self, line: Standing) -> Standing:
        return line

    def lines(self, lines: Sequence[Standing]) -> Iterator[Standing]:
        return map(self.line, lines)

    def go_on(self) -> None:
        super().go_on()
        result = self.race.result
        if result.standings and not self.past[-1].race.result.standings:
            result = with_fields(result, standings=tuple(self.lines(result.standings)))
            self.held = replace(self.held, race=with_fields(self.race, result=result))


@lie
class TwoStarts(Server):
    """Lets the race begin later for one player, with a record of its own."""

    def race_for(self, client: Client | None) -> Race:
        race = self.race
        if client is None or client.name != "bob" or not race.starts:
            return race
        lines = tuple(with_fields(line, time=line.time and line.time - 2000) for line in race.result.standings)
        result = with_fields(race.result, standings=lines)
        return with_fields(race, starts=race.starts + 2000, ends=race.ends + 2000, result=result)

    def begin_race(self) -> None:
        self.now = max(self.now, self.race.starts) + 2000
        super().begin_race()


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


@lie_in(messages.RoomState)
def later_end(server: Server, client: Client, state: messages.RoomState) -> messages.RoomState:
    """Shows another end of the race than its limit."""
    return with_fields(state, ends=state.ends + 60_000) if state.ends else state


@lie
class EarlyEnd(Ending):
    """Ends the race when it likes."""

    is_early = False

    def tick(self, *, end_wait: bool = False) -> None:
        if self.race.phase == "racing" and any(self.logs.values()):
            self.is_early = True
            self.end()
        else:
            super().tick(end_wait=end_wait)


@lie
class FalseStuck(EarlyEnd):
    """Says that all are stuck, and ends the race."""

    def seat_for(self, client: Client, seat: Seat) -> Seat:
        return with_fields(seat, stuck=self.is_early or seat.stuck)


@lie
class FalseStuckOfRivals(FalseStuck):
    """Says that the rivals are stuck, and ends the race while the first player plays."""

    def seat_for(self, client: Client, seat: Seat) -> Seat:
        return seat if seat.player == client.player else super().seat_for(client, seat)


@lie
class FalseFinish(Resulting, EarlyEnd):
    """Says that a rival has finished, and ends the race."""

    def line(self, line: Standing) -> Standing:
        return with_fields(line, time=61_000, foundation_cards=52) if line.name == "bob" else line


@lie
class EarlierEnd(EarlyEnd):
    """Shows an earlier end when it ends the race."""

    def state_for(self, client: Client) -> messages.RoomState:
        state = super().state_for(client)
        return with_fields(state, ends=max(state.starts, self.now)) if self.is_early else state


@lie
class FalseGone(EarlyEnd):
    """Says that all have lost their connections, and ends the race."""

    def state_for(self, client: Client) -> messages.RoomState:
        state = super().state_for(client)
        gone = tuple(with_fields(each, connected=False) for each in state.tallies)
        return with_fields(state, tallies=gone) if self.is_early else state


@lie
class EarlyRival(Server):
    """Lets a rival begin five seconds early."""

    def ack_time(self, racer: Racer) -> int:
        return min(self.now + 5000, self.race.ends - 1) if racer.name == "bob" else self.now


@lie
class EndAfterFinish(Ending):
    """Ends the race once somebody has finished, whatever its options say."""

    def tick(self, *, end_wait: bool = False) -> None:
        has_winner = any(own.finished_at for own in self.held.progress.values())
        self.end() if has_winner and self.race.phase == "racing" else super().tick(end_wait=end_wait)


@lie
class EndWhenStuck(Ending):
    """Ends the race once all are stuck, whatever its options say."""

    def tick(self, *, end_wait: bool = False) -> None:
        racers = self.race.with_progress(self.held.progress_of_all)
        is_over = all(racer.is_done(own) or racer.is_stuck(own) for racer, own in racers)
        self.end() if is_over and self.race.phase == "racing" else super().tick(end_wait=end_wait)


@lie
class LateAcks(Server):
    """Dates the actions of the first player five seconds later."""

    def ack_time(self, racer: Racer) -> int:
        return min(self.now + 5000, self.race.ends - 1) if racer.name == "ana" else self.now


@lie
class EarlyAcks(Server):
    """Dates the actions of a rival earlier, and so those of the player."""

    def ack_time(self, racer: Racer) -> int:
        return max(self.race.starts, self.now - 2500)


@lie_in(messages.BoardState)
def late_board(server: Server, client: Client, board: messages.BoardState) -> messages.BoardState:
    """Sends the board of the first player four seconds after the start."""
    server.now += 4000 * (board.revision == 0 and client.name == "ana")
    return board


# Moves


@lie
class RefusedMove(Server):
    """Refuses a legal move of the first player."""

    def act(self, client: Client, racer: Racer, act: messages.Act) -> messages.Acked | messages.Refused:
        if racer.name != "ana" or act.revision != 1 or self.race.phase != "racing":
            return super().act(client, racer, act)
        return messages.Refused(to=act.id, code=RefusalCode.ILLEGAL, message="No.", revision=1)


def _refuses(code: RefusalCode, times: int) -> type[Server]:
    """Make a liar that refuses the first player's moves after the first one so many times, for a false reason."""

    class Refuses(Server):
        refused = 0

        def act(self, client: Client, racer: Racer, act: messages.Act) -> messages.Acked | messages.Refused:
            is_own = racer.name == "ana" and act.revision >= 1 and self.race.phase == "racing"
            if not is_own or self.refused == times:
                return super().act(client, racer, act)
            self.refused += 1
            return messages.Refused(to=act.id, code=code, message="No.", revision=act.revision)

    return type(f"Refuses_{times}_{code}", (Refuses,), {})


for _code in ("stale", "time_up", "already_finished", "too_many_actions", "fault", "unavailable", "rate_limited"):
    lie(_refuses(RefusalCode(_code), 1000))
for _code in ("cannot_undo", "malformed", "not_racing", "time_up", "already_finished"):
    lie(_refuses(RefusalCode(_code), 1))


@lie
class RefusedByFault(Server):
    """Says that it failed at the second move of the first player, which her program takes back, and makes it."""

    code = RefusalCode.FAULT

    def act(self, client: Client, racer: Racer, act: messages.Act) -> messages.Acked | messages.Refused:
        answer = super().act(client, racer, act)
        if racer.name != "ana" or act.revision != 1 or isinstance(answer, messages.Refused):
            return answer
        self.show_move(racer, act.action)
        return messages.Refused(to=act.id, code=self.code, message="No.", revision=1)


@lie
class RefusedByFalseKick(RefusedByFault):
    """Says before that that she was removed, which the record does not have."""

    code = RefusalCode.NO_SEAT

    def act(self, client: Client, racer: Racer, act: messages.Act) -> messages.Acked | messages.Refused:
        if racer.name == "ana" and act.revision == 1:
            client.receive(messages.Notice(code="kicked", message="You were removed."))
        return super().act(client, racer, act)


@lie
class Ignores(Server):
    """Neither makes nor answers a move of the first player after the first one."""

    def handle(self, client: Client, request: Any) -> None:
        if client.name != "ana" or not isinstance(request, messages.Act) or request.revision < 1:
            super().handle(client, request)


@lie_in(RoomState)
def ghosts(server: Server, _: Client, state: RoomState) -> RoomState:
    """Says that others have raced this deal before."""
    ghost = EarlierPlayer(name="zed", foundation_cards=52, time=60_000, reached=tuple(range(500, 26_500, 500)))
    return with_fields(state, earlier=(ghost,)) if state.phase in ("countdown", "racing", "finished") else state


@lie_in(RoomState)
def same_ids(_: Server, client: Client, state: RoomState) -> RoomState:
    """Gives all rivals one id."""
    others = [each for each in state.players if each.player != client.player]
    ids = {each.player: others[0].player for each in others}
    seats = tuple(with_fields(each, player=ids.get(each.player, each.player)) for each in state.players)
    tallies = tuple(with_fields(each, player=ids.get(each.player, each.player)) for each in state.tallies)
    return with_fields(state, players=seats, tallies=tallies)


@lie_in(RoomState)
def closed_swapped(server: Server, client: Client, state: RoomState) -> Any:
    """Shows the end of the race as that of the room, with each rival resigned."""
    if state.phase != "finished":
        return state
    seats = tuple(with_fields(each, resigned=each.player != client.player) for each in state.players)
    return with_fields(state, phase="closed", players=seats)


@lie_in(RoomState)
def races_that_never_were(_: Server, _client: Client, state: RoomState) -> RoomState:
    """Says that the race continues a series, whose first one it is."""
    return with_fields(state, rooms_before=(*state.rooms_before, "sunday"))


@lie_in(messages.Pong)
def clock_set_in_race(server: Server, _: Client, pong: messages.Pong) -> messages.Pong:
    """Sets the clock that clients show, once the race runs."""
    return with_fields(pong, time=pong.time + 120_000) if server.race.phase == "racing" else pong


@lie
class EarlyUnanswered(Server):
    """Never confirms the second action of the first player, and dates it before it was made."""

    def ack_time(self, racer: Racer) -> int:
        is_second = racer.name == "ana" and len(self.logs[racer.player]) == 1
        return max(self.race.starts, self.now - 5000) if is_second else self.now

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
class EarlyUnansweredWithLateWrongTime(EarlyUnansweredWithWrongTime):
    """Tells that time from the first action on, and none before."""

    def told(self, client: Client, message: Any) -> Sequence[Any]:
        is_time = isinstance(message, messages.Pong)
        return () if is_time and not client.seen.evidence.acks else super().told(client, message)


@lie
class ResignsForAna(Server):
    """Resigns for the first player."""

    def act(self, client: Client, racer: Racer, act: messages.Act) -> messages.Acked | messages.Refused:
        answer = super().act(client, racer, act)
        if racer.name == "ana" and not self.held.progress_of(racer.player).finished_at:
            self.change_racer(racer.player, resigned=True)
        return answer


@lie
class ResignedInRecord(Resulting):
    """Says only at the end that the first player had resigned."""

    def line(self, line: Standing) -> Standing:
        return with_fields(line, resigned=line.resigned or (line.name == "ana" and not line.time))


@lie
class ForgottenMove(Ending):
    """Forgets the last move of the first player when the race ends, also in the results."""

    def tick(self, *, end_wait: bool = False) -> None:
        before = self.held
        super().tick(end_wait=end_wait)
        if self.race.phase == "finished" and before.race.phase == "racing" and self.logs["p-ana"]:
            self.held = before
            self.undo("p-ana")
            self.end()


class Rewriting(Server):
    """A server that writes the players' moves anew for the record."""

    def rewritten(self, player: RecordedPlayer) -> tuple[tuple[int, str], ...]:
        raise NotImplementedError

    def honest_record(self, client: Client | None) -> Record:
        record = super().honest_record(client)
        players = []
        for player in record.players:
            actions = self.rewritten(player)
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

    def rewritten(self, player: RecordedPlayer) -> tuple[tuple[int, str], ...]:
        return player.actions[:-1] if player.name == "ana" else player.actions


@lie
class AddedMove(Rewriting):
    """Adds a move of the first player to the record."""

    def rewritten(self, player: RecordedPlayer) -> tuple[tuple[int, str], ...]:
        if player.name != "ana":
            return player.actions
        legal = self.held.play("p-ana").board.legal_moves()
        last = player.actions[-1][0] if player.actions else 0
        return (*player.actions, (last, str(legal[0]))) if legal else player.actions


@lie
class RetimedMove(Rewriting):
    """Gives a move of the first player another time in the record."""

    def rewritten(self, player: RecordedPlayer) -> tuple[tuple[int, str], ...]:
        if player.name != "ana" or not player.actions:
            return player.actions
        *before, (time, action) = player.actions
        return (*before, (time + 1, action))


@lie
class WrittenRival(Rewriting):
    """Gives a rival a move in the record that nobody was shown."""

    def rewritten(self, player: RecordedPlayer) -> tuple[tuple[int, str], ...]:
        if player.name in ("ana", "sue"):
            return player.actions
        return player.actions[:-1]


# Results, counts and records


@lie
class InventedCounts(Server):
    """Tells more cards of a rival than the rival has."""

    def tally_for(self, racer: Racer) -> Tally:
        tally = super().tally_for(racer)
        return with_fields(tally, foundation_cards=tally.foundation_cards + 7)


@lie
class InventedFirstCounts(Server):
    """Tells more cards of a rival than the rival has, once."""

    def tally_for(self, racer: Racer) -> Tally:
        tally = super().tally_for(racer)
        return with_fields(tally, foundation_cards=tally.foundation_cards + (tally.moves == 1))


@lie_in(messages.RoomState)
def invented_tallies(server: Server, client: Client, state: messages.RoomState) -> messages.RoomState:
    """Shows more moves of a rival in the state of the room."""
    tallies = (
        with_fields(each, moves=each.moves + 9) if each.player == "p-bob" and each.moves else each
        for each in state.tallies
    )
    return with_fields(state, tallies=tuple(tallies))


@lie_in(messages.DelayedBoard)
def other_watched_boards(server: Server, client: Client, shown: messages.DelayedBoard) -> messages.DelayedBoard:
    """Shows spectators another board."""
    return with_fields(shown, piles=other_deal(server.seed).masked().piles)


@lie_in(messages.DelayedMove)
def other_watched_moves(server: Server, client: Client, shown: messages.DelayedMove) -> messages.DelayedMove:
    """Shows spectators another time of a move."""
    return with_fields(shown, time=shown.time + 1)


@lie_in(messages.RoomState)
def other_results(server: Server, client: Client, state: messages.RoomState) -> messages.RoomState:
    """Shows other results than those of the record."""
    lines = tuple(with_fields(line, moves=line.moves + 1) for line in state.standings)
    return with_fields(state, standings=lines)


@lie_in(messages.RoomState)
def reversed_results(server: Server, client: Client, state: messages.RoomState) -> messages.RoomState:
    """Shows the results in another order than that of the places."""
    return with_fields(state, standings=state.standings[::-1])


@lie_in(messages.RoomState)
def no_results(server: Server, client: Client, state: messages.RoomState) -> messages.RoomState | None:
    """Never shows results."""
    return None if state.phase == "finished" else state


@lie_in(messages.RoomState)
def no_states(server: Server, client: Client, state: messages.RoomState) -> None:
    """Never shows the room."""


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
        self.at_end, result = self.held, self.race.result
        lines = tuple(with_fields(line, foundation_cards=line.foundation_cards + 1) for line in result.standings)
        self.change(result=with_fields(result, standings=lines))
        self.show()
        return self

    def honest_record(self, client: Client | None) -> Record:
        return build_record(self.at_end.race, self.logs)


@lie
class SwappedPlaces(Resulting):
    """Gives the places to others, also in the record."""

    def lines(self, lines: Sequence[Standing]) -> Iterator[Standing]:
        for line, other in zip(lines, lines[::-1], strict=True):
            yield with_fields(line, place=other.place)


@lie_in(messages.RoomState)
def other_table(server: Server, client: Client, state: messages.RoomState) -> messages.RoomState:
    """Adds a point to the table of the series."""
    if state.phase != "finished":
        return state
    lines = (with_fields(line, points=line.points + (line.name == "bob")) for line in state.table)
    return with_fields(state, table=tuple(lines))


@lie_in(messages.RoomState)
def other_seed(server: Server, client: Client, state: messages.RoomState) -> messages.RoomState:
    """Reveals another seed or proof than the record has."""
    seed = some_bytes("other") if state.seed else b""
    return with_fields(state, seed=seed, proof=state.proof and f"{state.proof}\n")


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


@lie_in(messages.BoardState)
def other_heads(server: Server, client: Client, board: messages.BoardState) -> messages.BoardState:
    """Sends heads that do not cover what was shown."""
    return with_fields(board, head=some_bytes("head"))


@lie_in(messages.BoardState)
def no_heads(server: Server, client: Client, board: messages.BoardState) -> messages.BoardState:
    """Sends no heads."""
    return with_fields(board, head=b"")


@lie
class OtherRoom(Server):
    """Puts the players into another room, with everything as there."""

    room = "thursday"

    def told(self, client: Client, message: Any) -> Sequence[Any]:
        is_joined = isinstance(message, messages.Joined | messages.Watching)
        return (with_fields(message, room="friday") if is_joined else message,)


@lie
class ReopenedRoom(Server):
    """Opens the room again after the race, with another deal under the same commitment."""

    def run(self) -> Server:
        super().run()
        held = self.held
        other = Play(other_deal(self.seed), self.race.options.undo_rule)
        self.held = replace(held, plays=dict.fromkeys(held.plays, other))
        self.change(phase="racing", result=RaceResult())
        self.show()
        for client in self.present:
            for message in self.boards_for(client):
                client.receive(message)
        self.held = held
        self.change()
        self.show()
        return self


@lie
class NoticesVerdict(Server):
    """Says what only the program says."""

    def told(self, client: Client, message: Any) -> Sequence[Any]:
        notice = messages.Notice(code=NoticeCode.SAID, message="Fair: nobody could choose the deal.")
        return (message, notice) if isinstance(message, messages.BoardState) else (message,)


@lie_in(messages.RoomState)
def tide_without_tide(server: Server, client: Client, state: messages.RoomState) -> messages.RoomState:
    """Says in the state of the room that the race belongs to a tide."""
    return with_fields(state, tide=60_000)


# Windows


@lie
class EarlyBeginning(Server):
    """Dates the beginning of the first player five seconds earlier, so that her time is up earlier."""

    def begin_time(self, client: Client) -> int:
        return max(self.race.starts, self.now - 5000) if client.name == "ana" else self.now


@lie
class LateBeginning(Server):
    """Dates the beginning of the first player five seconds later, and all that she does after it."""

    def begin_time(self, client: Client) -> int:
        return self.now + 5000 if client.name == "ana" else self.now

    def ack_time(self, racer: Racer) -> int:
        return max(self.now, self.race.began_at(self.held.progress_of(racer.player)))


@lie_in(messages.Begun)
def other_beginning(server: Server, client: Client, begun: messages.Begun) -> messages.Begun:
    """Tells a player another time of the beginning than the state and the record have."""
    return with_fields(begun, time=begun.time + 1)


@lie
class BeginningOfRecord(Server):
    """Lets the record say that each player began earlier, and took longer."""

    def honest_record(self, client: Client | None) -> Record:
        record = super().honest_record(client)
        players = (
            replace(
                player,
                began_at=player.began_at - 1,
                actions=tuple((time + 1, action) for time, action in player.actions),
                time=player.time and player.time + 1,
            )
            if player.began_at
            else player
            for player in record.players
        )
        return replace(record, players=tuple(players))


@lie
class BeginsForAll(Server):
    """Begins for all players, so that their time passes before they come."""

    def begin_race(self) -> None:
        super().begin_race()
        for racer in self.race.racers if self.race.window else ():
            self.held = self.held.begun(racer.player, self.now)
        self.now += 5000 * (self.race.window > 0)


@lie
class ToldTallies(Server):
    """Shows to each player what the others have done in a window that is still open."""

    def state_for(self, client: Client) -> RoomState:
        state = super().state_for(client)
        known = [room_state.tally_of(player, own, self.now) for player, own in self.progress.items()]
        return with_fields(state, tallies=tuple(known)) if self.race.is_hidden else state


@lie
class ToldSeats(Server):
    """Shows to each player in a window that is still open who has resigned or is stuck."""

    def seat_for(self, client: Client, seat: Seat) -> Seat:
        racer = self.race.racer(seat.player)
        is_told = self.race.is_hidden and racer is not None
        return with_fields(seat, resigned=racer.resigned, stuck=racer.stuck_at > 0) if is_told and racer else seat


@lie
class ToldPresence(Server):
    """Shows to each player in a window that is still open who is there."""

    def state_for(self, client: Client) -> RoomState:
        state = super().state_for(client)
        there = {each.player for each in self.present}
        tallies = tuple(with_fields(each, connected=each.player in there) for each in state.tallies)
        return with_fields(state, tallies=tallies) if self.race.is_hidden else state


@lie
class ToldEvents(Server):
    """Numbers the events of a window that is still open, so that players can count what others do."""

    def state_for(self, client: Client) -> RoomState:
        return with_fields(super().state_for(client), event=self.held.event)


@lie
class ToldUpdates(Server):
    """Tells players of each move of the others in a window that is still open."""

    def show_move(self, racer: Racer, action: str) -> None:
        super().show_move(racer, action)
        for client in self.present if self.race.is_hidden else ():
            if client.player != racer.player:
                client.receive(messages.ProgressUpdate.of(racer.seat, self.tally_for(racer), None))


@lie
class ToldBoards(Server):
    """Shows the boards of others to players in a window that is still open."""

    def show_move(self, racer: Racer, action: str) -> None:
        super().show_move(racer, action)
        for client in self.present if self.race.is_hidden else ():
            if client.player != racer.player:
                client.receive(self.watched(racer))


@lie
class LeftOut(Server):
    """Draws the deal of a window without the last player who is there."""

    def apply(self, command: RaceCommand) -> None:
        super().apply(command)
        race = self.race
        if race.window and race.lacks_shares and len(race.draw.seats) > 1 and not any(self.promises):
            self.change(draw=with_fields(race.draw, seats=race.draw.seats[:-1]))

    @property
    def promises(self) -> list[bytes]:
        return [racer.commitment for racer in self.race.racers]


@lie
class OtherWindow(Server):
    """Opens a room with another window than was asked for."""

    def __init__(self, plan: Plan, seed: str) -> None:
        super().__init__(replace(plan, window=plan.window and plan.window + 600), seed)


@lie_in(RoomState)
def moved_window(server: Server, client: Client, state: RoomState) -> RoomState:
    """Lets the window close later than it said when the room was opened."""
    if not state.window or state.phase == "open":
        return state
    return with_fields(state, ends=state.ends + 60_000, doors_close_at=state.doors_close_at + 60_000)


@lie
class ClosesLate(Server):
    """Keeps the window open for longer than it says."""

    def __init__(self, plan: Plan, seed: str) -> None:
        super().__init__(plan, seed)
        if plan.window:
            self.held = replace(self.held, race=with_fields(self.race, ends=self.race.ends + 500))

    def state_for(self, client: Client) -> RoomState:
        state = super().state_for(client)
        if not state.window:
            return state
        return with_fields(state, ends=state.ends - 500, doors_close_at=state.doors_close_at - 500 // 4)


@lie
class EndsForIdle(EarlyEnd):
    """Closes the window because players are idle for four minutes."""

    def tick(self, *, end_wait: bool = False) -> None:
        self.now += 250_000 * (self.race.window > 0 and self.race.phase == "racing" and any(self.logs.values()))
        super().tick(end_wait=end_wait)


@lie
class ResignedAfterLeaving(Server):
    """Says that a player has resigned who has only left the room of a window."""

    def answers_to(self, client: Client, request: Any) -> Iterator[Any]:
        yield from super().answers_to(client, request)
        if self.race.is_hidden and isinstance(request, messages.Leave):
            self.change_racer(client.player, resigned=True)


HONEST: Final = ("OtherWeights", "ReadOnce", "FewAnswers", "NoRecord", "DailyOfAnotherDay")
"""What honest servers do too: of another release, or without a record, or to slow machines."""

UNSEEN: Final = {
    "TwoStarts": "each player's program reads a record of its own, whose result words differ",
    "OtherTermsOfBob": "each player's program sees its own terms, and the words differ",
    "NoticesVerdict": "what a server says is shown as the server's",
    "LateAcks": "the sentence about the clock says it",
    "EarlyAcks": "the sentence about the clock says it",
    "LateBoard": "the sentence about the clock says it",
    "EarlyBeginning": "the sentence about the clock says it",
    "LateBeginning": "the sentence about the clock says it",
    "BeginsForAll": "the sentence about the clock says it to those who begin later",
    "EarlyRival": "the sentence about the clock says it",
    "ClockSetInRace": "the sentence about the clock says it",
}
"""Lies after which a program may say *fair*, and why that is right."""

CLOCK: Final = {
    "LateAcks": ("ana", "ana"),
    "EarlyAcks": ("bob", "bob"),
    "LateBoard": ("ana", "ana"),
    "EarlyRival": ("ana", "bob"),
}
"""Lies about the time, of which the sentence about the clock tells the first client, if the second one has acted."""

CLOCK_OF_WINDOW: Final = {
    "LateAcks": ("ana", "ana"),
    "EarlyAcks": ("bob", "bob"),
    "LateBoard": ("ana", "ana"),
    "EarlyBeginning": ("ana", "ana"),
    "LateBeginning": ("ana", "ana"),
    "BeginsForAll": ("ana", "ana"),
}
"""The same of races with a window, which tell nothing of rivals before the window closes."""
