"""Honest races as each client sees them, and the server that holds them. Pure and deterministic.

A race follows a script: words such as ``ana:move`` or ``race``, each of which is a step. Liars override methods of
``Server``, so that everything after a lie is computed anew.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from msgspec.structs import replace as with_fields

from samedeal.action_chain import first_head, next_head
from samedeal.board import Board
from samedeal.board_history import UNDO, Play
from samedeal.deal import Deal, commitment, shuffled
from samedeal.deal_proof import DealProof, LostShare, RevealedShare
from samedeal.errors import SamedealError
from samedeal.joint_deal import LossReason, public_mix
from samedeal.options import Options
from samedeal.protocol import messages
from samedeal.protocol.messages import DrawnShare, LostSeat, RoomState, Seat, Standing, TableLine, Tally
from samedeal.protocol_codes import NoticeCode, RefusalCode
from samedeal.record import Record, RecordedPlayer
from samedeal.series import with_race
from samedeal.standings import Result, ranked
from samedeal.terms import RoomTerms
from samedeal_link.evidence.facts import ANYTHING, AskedToEnter, Wanted
from samedeal_link.evidence.verdict import RaceReading
from tests.lies.deals import GAME, answers, proof_of, some_bytes
from tests.lies.seen import Event, Seen

NOW: Final = 1_764_000_000_000
LOCAL: Final = 1_763_999_000_000
"""What the clients' clocks, which count from any moment, lack to the server's."""

HOP: Final = 15
"""Time, in milliseconds, that a message travels."""


@dataclass(frozen=True)
class Plan:
    """A race: its options, its script, and how the clients came to it."""

    name: str
    script: tuple[str, ...]
    options: Options
    wanted: Mapping[str, Wanted] = field(default_factory=dict)
    round: int = 0
    tide: int = 0
    private: bool = False
    table: tuple[TableLine, ...] = ()
    rooms_before: tuple[str, ...] = ()
    date: str = "2026-11-21"
    today: str = "2026-11-21"
    bots: tuple[str, ...] = ()


@dataclass
class Racer:
    """A player on the server."""

    player: str
    name: str
    seat: int
    bot: bool = False
    generation: int = 0
    ready: bool = False
    resigned: bool = False
    stuck_at: int = -1
    connected: bool = True
    promise: bytes = b""
    share: bytes = b""
    play: Play | None = None
    actions: list[tuple[int, str]] = field(default_factory=list)
    head: bytes = b""
    acked_at: int = 0
    progress_at: int = 0
    finished_at: int = 0
    answers: dict[int, messages.Acked] = field(default_factory=dict)

    @property
    def stuck(self) -> bool:
        return self.play is not None and self.stuck_at == self.play.board.foundation_cards

    def tally(self) -> Tally:
        play = self.play
        return Tally(
            player=self.player,
            foundation_cards=play.board.foundation_cards if play else 0,
            moves=play.moves if play else 0,
            undos=play.undos if play else 0,
            acted_at=self.acked_at,
            last_progress_at=self.progress_at,
            finished_at=self.finished_at,
            connected=self.connected,
        )


class Client:
    """An honest client. ``trail`` has the client before each of its events."""

    def __init__(self, server: Server, name: str, asked: AskedToEnter) -> None:
        self.server, self.name, self.role = server, name, asked.role
        self.player = f"p-{name}"
        self.chance = random.Random(f"{server.seed} {server.plan.name} {name}")
        self.events: list[Event] = []
        self.seen = Seen.of(asked, self.player, name, server.seed)
        self.trail: list[Seen] = []
        self.ids = 0
        self.hears = 2  # 0 gets no states of the countdown, and 1 no sealed ones, because the network is slow
        self.is_lossy = False  # whether requests are lost on their way
        self.is_deaf = False  # whether messages are
        self.skew = 0
        self.held: list[Any] = []
        self.tally: dict[int, Tally] = {}

    def happens(self, event: Event) -> None:
        self.trail.append(self.seen)
        self.events.append(event)
        self.seen = self.seen.after(event)

    @property
    def now(self) -> int:
        return self.server.now - LOCAL + self.skew

    def send(self, request: Any) -> None:
        self.ids += 1
        request = with_fields(request, id=self.ids) if request.id == 0 else request
        before = self.seen.skipped
        self.happens(Event("sent", self.now, request))
        if self.seen.skipped == before and not self.is_lossy:
            self.server.inbox.append((self, request))

    def receive(self, message: Any) -> None:
        for told in () if self.is_deaf else self.server.told(self, message):
            self.held.append(told)
        self.deliver()

    def deliver(self, *, anyway: bool = False) -> None:
        """Receive what has arrived."""
        while self.held and (anyway or not self.is_stalled):
            self.happens(Event("received", self.now + HOP, self.held.pop(0)))
            self.speak()

    @property
    def is_stalled(self) -> bool:
        return self.server.phase == "countdown" and self.hears <= self.server.sealed

    def speak(self) -> None:
        """Send the request of the draw that is due, if any."""
        if self.seen.ready is not None:
            self.send(self.seen.ready)


class Server:
    """An honest server with one room."""

    def __init__(self, plan: Plan, seed: str) -> None:
        self.plan, self.seed = plan, seed
        self.now, self.room, self.event = NOW, "friday", 0
        self.options = plan.options
        self.deal = Deal.parse(plan.options.deal).on(plan.date)
        self.secret = some_bytes(f"secret {seed} {plan.name}")
        self.racers: list[Racer] = []
        self.gone: dict[str, Racer] = {}
        self.asleep: dict[str, Racer] = {}
        self.clients: dict[str, Client] = {}
        self.present: list[Client] = []
        self.inbox: list[tuple[Client, Any]] = []
        self.phase: Any = "open"
        self.draw, self.sealed = 0, False
        self.lost: list[LostShare] = []
        self.shares: tuple[RevealedShare, ...] = ()
        self.proof: DealProof | None = None
        self.starts = self.ends = self.finished_at = 0
        self.lost_records: dict[str, Record | None] = {}
        self.standings: tuple[Standing, ...] = ()
        self.next = ""
        self.seats = 0
        self.is_early = False
        self.reading = RaceReading()

    # What liars change

    def told(self, client: Client, message: Any) -> Sequence[Any]:
        """What a client is sent in place of a message."""
        return (message,)

    def terms_for(self, client: Client | None) -> RoomTerms:
        plan = self.plan
        options = self.options_for(client)
        return RoomTerms.of(
            self.room, options, self.deal, round_number=plan.round, private=plan.private, tide=plan.tide
        )

    def options_for(self, client: Client | None) -> Options:
        return RoomTerms.options_with(self.options, self.deal)

    def commitment_for(self, client: Client | None) -> bytes:
        return commitment(self.terms_for(client).digest, self.committed())

    def committed(self) -> bytes:
        if self.deal.kind == "number":
            return self.deal.public_seed()
        return public_mix(str(self.deal)) if self.deal.public else self.secret

    def first_board(self, racer: Racer) -> Board:
        return self.honest_board()

    def honest_board(self) -> Board:
        if self.deal.has_proof:
            assert self.proof is not None
            return self.proof.board()
        return Board.deal(GAME, shuffled(self.committed(), GAME.decks))

    def find_proof(self) -> DealProof | None:
        if not self.deal.has_proof:
            return None
        digest = self.terms_for(None).digest
        return proof_of(
            self.room, self.deal, digest, self.secret, self.draw, tuple(self.lost), self.shares, self.first_candidate()
        )

    def first_candidate(self) -> int:
        return 0

    def state_for(self, client: Client) -> RoomState:
        return self.honest_state(client)

    def start_for(self, client: Client | None) -> int:
        return self.starts

    def drawn_for(self, client: Client) -> messages.Drawn:
        shares = tuple(DrawnShare(**share._asdict()) for share in self.shares)
        return messages.Drawn(room=self.room, draw=self.draw, shares=shares)

    def board_for(self, client: Client, racer: Racer) -> messages.BoardState:
        play = racer.play
        assert play is not None
        return messages.BoardState(
            room=self.room,
            revision=play.revision,
            game=GAME.name,
            piles=play.board.masked().piles,
            hash=play.board.state_hash(),
            moves=play.moves,
            undos=play.undos,
            head=racer.head,
            may_undo=play.why_no_undo is None,
        )

    def acked(self, racer: Racer, act: messages.Act, after: Play, time: int) -> messages.Acked:
        return messages.Acked(
            to=act.id,
            time=time,
            hash=after.board.state_hash(),
            receipt=b"receipt",
            seen=after.seen,
            piles=after.board.masked().piles if act.action == UNDO else (),
            may_undo=act.action != UNDO or after.why_no_undo is None,
        )

    def update_for(self, client: Client, racer: Racer, tally: Tally, before: Tally | None) -> messages.ProgressUpdate:
        return messages.ProgressUpdate.of(racer.seat, tally, before)

    def ack_time(self, racer: Racer) -> int:
        return self.now

    def is_refused(self, racer: Racer, act: messages.Act) -> bool:
        return False

    def is_over(self) -> bool:
        has_winner = any(racer.finished_at for racer in self.racers)
        done = all(map(self.is_done, self.awaited))
        return self.is_early or done or self.now >= self.ends or (self.options.first_finish_ends and has_winner)

    @property
    def awaited(self) -> list[Racer]:
        """The racers for whom the race goes on."""
        people = [racer for racer in self.racers if not racer.bot]
        return people if people and self.options.end_when_settled else self.racers

    def is_done(self, racer: Racer) -> bool:
        is_blocked = racer.play is not None and racer.play.no_moves_left
        is_stuck = self.options.end_when_settled and racer.stuck
        return bool(racer.finished_at) or racer.resigned or is_blocked or is_stuck

    def record_for(self, client: Client | None) -> Record | None:
        return self.honest_record(client) if self.standings else None

    def before_race(self) -> None:
        """Called when the countdown is over."""

    def read_for(self, client: Client) -> RaceReading:
        record = self.record_for(client)
        if record is None:
            return RaceReading()
        read = self.lost_records.get(client.name) or record
        if (read, record.digest) != (self.reading.record, self.reading.second):
            found = answers(read.proof) if read.proof else None
            self.reading = RaceReading(read, second=record.digest, answers=found)
        return self.reading

    # What honest servers show

    def honest_state(self, client: Client | None) -> RoomState:
        terms, options = self.terms_for(client), self.options_for(client)
        start = self.start_for(client) if self.starts else 0
        is_over = self.phase == "finished"
        table = self.plan.table
        if is_over and options.series > 1:
            table = with_race(table, self.standings_for(client), self.finished_at - start)
        return RoomState(
            room=self.room,
            event=self.event,
            phase=self.phase,
            game=terms.game.name,
            deal=str(self.deal),
            options=with_fields(options, deal="winnable") if self.deal.kind == "again" else options,
            private=self.plan.private,
            host=self.racers[0].player if self.racers and options.hosted else "",
            players=tuple(self.seat_of(racer, client) for racer in self.racers),
            tallies=tuple(racer.tally() for racer in self.racers),
            commitment=self.commitment_for(client),
            starts=start,
            ends=start + 1000 * options.limit if start else 0,
            seed=self.committed() if is_over and not self.deal.has_proof else b"",
            next=self.next,
            standings=self.standings_for(client) if is_over else (),
            finished_at=self.finished_at,
            proof=self.proof_text(client) if is_over else "",
            draw=self.draw,
            lost=tuple(LostSeat(**lost._asdict()) for lost in self.lost),
            round=self.plan.round,
            table=table,
            rooms_before=self.plan.rooms_before,
            tide=self.plan.tide,
            terms=str(terms),
        )

    def proof_text(self, client: Client | None) -> str:
        proof = self.proof_for(client)
        return str(proof) if proof else ""

    def proof_for(self, client: Client | None) -> DealProof | None:
        return self.proof

    def head_of(self, racer: Racer) -> bytes:
        client = self.clients.get(racer.name)
        start = self.start_for(client)
        head = first_head(self.terms_for(client).digest, start, racer.seat, racer.name, bot=racer.bot)
        for revision, (time, action) in enumerate(racer.actions, 1):
            head = next_head(head, revision, time - start, action)
        return head

    def standings_for(self, client: Client | None) -> tuple[Standing, ...]:
        start = self.start_for(client)
        return tuple(
            with_fields(line, time=line.time + self.starts - start) if line.time else line for line in self.standings
        )

    def seat_of(self, racer: Racer, client: Client | None) -> Seat:
        return Seat(
            player=racer.player,
            name=racer.name,
            seat=racer.seat,
            ready=racer.ready,
            resigned=racer.resigned,
            bot=racer.bot,
            stuck=racer.stuck,
            share_commitment=racer.promise if self.sealed else b"",
        )

    def honest_record(self, client: Client | None) -> Record:
        start = self.start_for(client)
        places = {line.player: line for line in self.standings_for(client)}
        players = tuple(
            RecordedPlayer(
                racer.seat,
                racer.name,
                places[racer.player].place,
                places[racer.player].foundation_cards,
                tuple((time - start, action) for time, action in racer.actions),
                places[racer.player].time,
                racer.bot,
                places[racer.player].resigned,
            )
            for racer in sorted(self.racers, key=lambda racer: racer.seat)
        )
        return Record(
            self.terms_for(client),
            self.commitment_for(client),
            start,
            self.finished_at,
            b"" if self.deal.has_proof else self.committed(),
            len(players),
            players,
            self.proof_for(client),
        )

    def standing(self, place: int, racer: Racer) -> Standing:
        assert racer.play is not None
        return Standing(
            place=place,
            player=racer.player,
            name=racer.name,
            foundation_cards=racer.play.board.foundation_cards,
            time=racer.finished_at - self.starts if racer.finished_at else 0,
            moves=racer.play.moves,
            undos=racer.play.undos,
            resigned=racer.resigned and not racer.finished_at,
            bot=racer.bot,
        )

    # The room

    def racer_of(self, client: Client) -> Racer | None:
        return next((racer for racer in self.racers if racer.player == client.player), None)

    def push(self) -> None:
        self.event += 1
        for client in list(self.present):
            client.receive(self.state_for(client))

    def settle(self) -> None:
        while self.inbox:
            client, request = self.inbox.pop(0)
            self.now += HOP
            self.handle(client, request)

    def handle(self, client: Client, request: Any) -> None:
        racer = self.racer_of(client)
        match request:
            case messages.Hello():
                client.receive(
                    messages.Welcome(
                        to=request.id,
                        session="s",
                        player=client.player,
                        name=client.name,
                        time=self.now,
                        server="test",
                    )
                )
            case messages.Ping():
                client.receive(messages.Pong(to=request.id, time=self.now))
            case messages.Join():
                self.enter(client, request)
            case messages.Watch():
                client.receive(messages.Watching(to=request.id, room=self.room, delay=self.options.delay))
                self.present.append(client)
                client.receive(self.state_for(client))
                if self.shares:
                    client.receive(self.drawn_for(client))
                for each in self.racers:
                    if each.play is not None:
                        client.receive(self.watched(each))
            case messages.Ready() | messages.Start():
                client.receive(messages.Done(to=request.id))
                if racer is not None:
                    racer.ready = True
                self.begin() if isinstance(request, messages.Start) else self.push()
            case messages.CommitShare() | messages.RevealShare():
                is_reveal = isinstance(request, messages.RevealShare)
                if racer is None or request.draw != self.draw or is_reveal > self.sealed:
                    client.receive(messages.Refused(to=request.id, code=RefusalCode.BAD_SHARE, message="No."))
                    return
                client.receive(messages.Done(to=request.id))
                if isinstance(request, messages.RevealShare):
                    racer.share = racer.share or request.share
                    self.fix()
                elif not self.sealed:
                    racer.promise = request.commitment
                    self.seal()
            case messages.Act():
                if racer is not None:
                    self.act(client, racer, request)
            case messages.Recover():
                self.recover(client, racer, request)
            case _:
                client.receive(messages.Done(to=request.id))
                self.give_up(client, racer, request)

    def enter(self, client: Client, request: messages.Join) -> None:
        racer = self.racer_of(client)
        is_drawing = self.phase == "countdown" and not self.sealed and not self.shares
        if racer is None and is_drawing and client.name in self.asleep:
            self.racers.append(self.asleep.pop(client.name))
            self.push()
            racer = self.racer_of(client)
        if racer is None and self.phase != "open":
            client.receive(messages.Refused(to=request.id, code=RefusalCode.RACE_STARTED, message="The race is on."))
            return
        is_new = racer is None
        if racer is None:
            taken = {each.seat for each in self.racers}
            seat = next(number for number in range(1, 65) if number not in taken)
            racer = Racer(client.player, client.name, seat, bot=client.name in self.plan.bots)
            self.racers.append(racer)
        racer.generation += 1
        racer.connected = True
        if client not in self.present:
            self.present.append(client)
        revision = racer.play.revision if racer.play else -1
        joined = messages.Joined(
            to=request.id, room=self.room, seat=racer.seat, generation=racer.generation, revision=revision
        )
        client.receive(joined)
        if is_new:
            self.push()
            return
        client.receive(self.state_for(client))
        if self.shares:
            client.receive(self.drawn_for(client))
        if revision > request.revision:
            client.receive(self.board_for(client, racer))
        self.tell(racer)

    def begin(self) -> None:
        self.phase = "countdown"
        self.starts = max(self.now + 1000 * self.options.countdown, self.options.start_at)
        self.ends = self.starts + 1000 * self.options.limit
        if self.deal.kind == "winnable":
            self.redraw()
        else:
            self.proof = self.find_proof()
            self.push()

    def redraw(self) -> None:
        self.draw, self.sealed = self.draw + 1, False
        for racer in self.racers:
            racer.promise = racer.share = b""
        self.push()

    def seal(self) -> None:
        if not self.sealed and self.racers and all(racer.promise for racer in self.racers):
            self.sealed = True
            self.push()

    def fix(self) -> None:
        if self.sealed and not self.shares and all(racer.share for racer in self.racers):
            self.shares = tuple(
                RevealedShare(racer.seat, racer.name, racer.promise, racer.share)
                for racer in sorted(self.racers, key=lambda racer: racer.seat)
            )
            self.proof = self.find_proof()
            for client in list(self.present):
                client.receive(self.drawn_for(client))

    def lose(self, racer: Racer, reason: LossReason) -> None:
        """Take a seat away before the race."""
        self.racers.remove(racer)
        self.gone[racer.name] = racer
        if self.phase != "countdown" or self.deal.kind != "winnable":
            self.push()
            return
        lacks_shares = not self.shares
        if lacks_shares or not self.racers:
            self.lost.append(LostShare(self.draw, racer.seat, reason, racer.name))
        if not self.racers:
            self.phase, self.starts, self.ends, self.shares, self.sealed = "open", 0, 0, (), False
            self.push()
        elif lacks_shares and self.sealed:
            self.starts = max(self.starts, self.now + 1000 * self.options.countdown)
            self.ends = self.starts + 1000 * self.options.limit
            self.redraw()
        else:
            self.push()
            self.seal()

    def race(self) -> None:
        self.now = max(self.now, self.starts)
        self.phase = "racing"
        for racer in self.racers:
            racer.play = Play(self.first_board(racer), self.options_for(self.clients.get(racer.name)).undo_rule)
            racer.head = self.head_of(racer)
        self.push()
        for client in list(self.present):
            own = self.racer_of(client)
            if own is not None and client.role == "player":
                client.receive(self.board_for(client, own))
            elif client.role == "spectator":
                for racer in self.racers:
                    client.receive(self.watched(racer))
        self.end_if_over()

    def watched(self, racer: Racer) -> messages.DelayedBoard:
        play = racer.play
        assert play is not None
        return messages.DelayedBoard(
            player=racer.player,
            revision=play.revision,
            piles=play.board.masked().piles,
            moves=play.moves,
            undos=play.undos,
            time=racer.acked_at or self.starts,
        )

    def act(self, client: Client, racer: Racer, act: messages.Act) -> None:
        if act.id in racer.answers:
            client.receive(racer.answers[act.id])
            return
        if self.now >= self.ends:
            self.end_if_over()
        play = racer.play
        code, after = "", Play(Board(GAME, ()))
        if play is None or self.phase != "racing" or racer.resigned or racer.finished_at:
            code = RefusalCode.NOT_RACING
        elif self.is_refused(racer, act):
            code = RefusalCode.ILLEGAL
        else:
            try:
                after = play.act(act.action, act.revision)
            except SamedealError:
                code = RefusalCode.ILLEGAL if act.revision == play.revision else RefusalCode.STALE
        if code:
            revision = play.revision if play is not None else -1
            client.receive(messages.Refused(to=act.id, code=code, message="No.", revision=revision))
            return
        assert play is not None
        time = max(self.ack_time(racer), racer.acked_at)
        self.play_on(racer, after, act.action, time)
        racer.answers[act.id] = self.acked(racer, act, after, time)
        client.receive(racer.answers[act.id])
        self.show_move(racer, act.action)
        self.end_if_over()

    def play_on(self, racer: Racer, after: Play, action: str, time: int) -> None:
        before = racer.play
        assert before is not None
        racer.play, racer.acked_at = after, time
        racer.actions.append((time, action))
        racer.head = self.head_of(racer)
        if after.board.foundation_cards != before.board.foundation_cards:
            racer.progress_at = time
        if after.board.won:
            racer.finished_at = time

    def show_move(self, racer: Racer, action: str) -> None:
        self.tell(racer)
        play = racer.play
        assert play is not None
        for client in list(self.present):
            if client.role == "spectator":
                moved = messages.DelayedMove(
                    player=racer.player,
                    revision=play.revision,
                    action=action,
                    seen=play.seen,
                    time=racer.acked_at,
                )
                client.receive(self.watched(racer) if action == UNDO else moved)

    def tell(self, racer: Racer) -> None:
        """Tell all others how a racer's counts have changed."""
        for client in list(self.present):
            if client.player == racer.player:
                continue
            before, tally = client.tally.get(racer.seat), racer.tally()
            client.tally[racer.seat] = tally
            if tally != before:
                client.receive(self.update_for(client, racer, tally, before))

    def recover(self, client: Client, racer: Racer | None, request: messages.Recover) -> None:
        assert racer is not None
        assert racer.play is not None
        if request.receipt != b"receipt":
            client.receive(messages.Refused(to=request.id, code=RefusalCode.BAD_RECEIPT, message="No."))
            client.receive(self.board_for(client, racer))
            return
        for each in request.actions:
            self.play_on(racer, racer.play.act(each.action), each.action, each.time)
        client.receive(messages.Done(to=request.id))
        self.tell(racer)

    def give_up(self, client: Client, racer: Racer | None, request: Any) -> None:
        if isinstance(request, messages.Leave) and client in self.present:
            self.present.remove(client)
        if racer is None:
            return
        if isinstance(request, messages.DeclareStuck):
            if self.phase == "racing" and racer.play is not None:
                racer.stuck_at = racer.play.board.foundation_cards
        elif self.phase == "racing":
            racer.resigned = True
        elif isinstance(request, messages.Leave) and self.phase in ("open", "countdown"):
            self.lose(racer, "left")
            return
        self.push()
        self.end_if_over()

    def end_if_over(self) -> None:
        if self.phase == "racing" and self.is_over():
            self.finish()

    def finish(self) -> None:
        newest = [racer.acked_at for racer in self.racers]
        self.finished_at = max(self.starts, *newest, min(self.now, self.ends))
        results = [
            (racer, Result(racer.seat, racer.play.board.foundation_cards, racer.finished_at, racer.progress_at))
            for racer in self.racers
            if racer.play is not None
        ]
        self.standings = tuple(self.standing(place, racer) for place, racer in ranked(results))
        self.phase = "finished"
        self.push()

    # Scripts

    def ask(self, name: str, role: Any = "player") -> Client:
        if name not in self.clients:
            wanted = self.plan.wanted.get(name, ANYTHING)
            asked = AskedToEnter(role, "friday", wanted, name in self.plan.bots, self.plan.today)
            self.clients[name] = Client(self, name, asked)
        return self.clients[name]

    def run(self) -> Server:
        for word in self.plan.script:
            self.step(word)
        return self

    def step(self, word: str) -> None:
        self.now += 200
        name, _, what = word.rpartition(":")
        if name:
            client = self.ask(name, "spectator" if what == "watch" else "player")
            STEPS[what](self, client)
        else:
            STEPS[what](self, None)
        self.settle()


def _move(server: Server, client: Client) -> None:
    shown = client.seen.own.shown
    if shown is None or shown.board.won or client.seen.own.awaiting_face:
        return
    legal = shown.board.legal_moves()
    useful = [move for move in legal if not shown.board.is_null(move) and not shown.board.is_worry_back(move)]
    if useful or legal:
        _send_act(client, str(client.chance.choice(useful or legal)))


def _send_act(client: Client, action: str) -> None:
    own = client.seen.own
    client.send(messages.Act(id=0, revision=own.next_revision, action=action))


def _undo(server: Server, client: Client) -> None:
    """Undo a move that turned up nothing, which the player makes first if there is one."""
    shown = client.seen.own.shown
    if shown is None:
        return
    if not client.seen.own.may_undo:
        quiet = [move for move in shown.board.legal_moves() if move.is_transfer and not shown.board.turns_up(move)]
        if not quiet:
            return
        _send_act(client, str(quiet[0]))
        server.settle()
    _send_act(client, UNDO)


def _win(server: Server, client: Client) -> None:
    """Play the line of the proof to the end."""
    for move in server.proof.line if server.proof else ():
        server.now += 100
        _send_act(client, str(move))
        server.settle()


def _block(server: Server, client: Client) -> None:
    """Make bad moves until none is left."""
    for _ in range(_BLOCKED_AFTER):
        shown = client.seen.own.shown
        if shown is not None and (legal := shown.board.legal_moves()):
            server.now += 100
            _send_act(client, str(legal[-1]))
            server.settle()


def _enter(server: Server, client: Client) -> None:
    client.hears = 2
    client.send(messages.Hello(id=0, name=client.name, session="s"))
    client.send(messages.Ping(id=0))
    own = client.seen.own.play
    if client.role == "spectator":
        client.send(messages.Watch(id=0, room="friday"))
    else:
        revision = own.revision if own is not None and not client.seen.own.out_of_sync else -1
        client.send(messages.Join(id=0, room="friday", revision=revision))


def _cut(server: Server, client: Client) -> None:
    """Cut the connection, and let the client return: requests on their way may be lost."""
    if client not in server.present:
        return
    _gone(server, client)
    _enter(server, client)
    server.settle()
    for pending in client.seen.own.pending:
        client.send(messages.Act(id=pending.id, revision=pending.revision, action=pending.action))


def _gone(server: Server, client: Client) -> None:
    server.inbox = [(each, request) for each, request in server.inbox if each is not client]
    client.held.clear()
    racer = server.racer_of(client)
    if client in server.present:
        server.present.remove(client)
    if racer is not None and racer.connected:
        racer.connected = False
        server.tell(racer)


def _restart(server: Server, client: Client) -> None:
    if client not in server.present:
        return
    _gone(server, client)
    client.happens(Event("restarted", client.now))
    _enter(server, client)


def _forget(server: Server, client: Client) -> None:
    if client not in server.present:
        return
    _gone(server, client)
    client.happens(Event("forgot", client.now))
    _enter(server, client)


def _hears(level: int) -> Callable[[Server, Client], None]:
    def set_hears(server: Server, client: Client) -> None:
        client.hears = level
        client.deliver()

    return set_hears


def _lossy(server: Server, client: Client) -> None:
    client.is_lossy = not client.is_lossy


def _silent(server: Server, _: Client) -> None:
    """Take the seats of those who have not committed or revealed."""
    late = [racer for racer in server.racers if not (racer.share if server.sealed else racer.promise)]
    if server.phase != "countdown" or server.shares or not late or server.deal.kind != "winnable":
        return
    sealed = server.sealed
    for racer in late:
        server.racers.remove(racer)
        server.gone[racer.name] = racer
        if not sealed:
            server.asleep[racer.name] = racer
        server.lost.append(LostShare(server.draw, racer.seat, "silent", racer.name))
    if not server.racers:
        server.phase, server.starts, server.ends, server.sealed = "open", 0, 0, False
        server.push()
    elif sealed:
        server.redraw()
    else:
        server.push()
        server.seal()


def _kick(server: Server, client: Client) -> None:
    racer = server.racer_of(client)
    if racer is None or server.phase not in ("open", "countdown"):
        return
    client.receive(messages.Notice(code=NoticeCode.KICKED, message="You were removed."))
    if client in server.present:
        server.present.remove(client)
    server.lose(racer, "kicked")


def _race(server: Server, _: Client) -> None:
    for client in list(server.clients.values()):
        client.deliver(anyway=True)
    server.settle()
    server.before_race()
    if server.phase == "countdown" and server.racers and (server.proof or not server.deal.has_proof):
        server.race()


def _limit(server: Server, _: Client) -> None:
    server.now = max(server.now, server.ends)
    server.end_if_over()


def _request(request: Any) -> Callable[[Server, Client], None]:
    def send(server: Server, client: Client) -> None:
        if client in server.present:
            client.send(request)

    return send


def _push(server: Server, _: Client) -> None:
    server.push()


def _next(server: Server, _: Client) -> None:
    server.next = "saturday"
    server.push()


def _host_start(server: Server, client: Client) -> None:
    if server.phase == "open" and server.racer_of(client) is not None:
        client.send(messages.Start(id=0))


def _due(server: Server, _: Client) -> None:
    if server.phase == "open" and server.racers:
        server.begin()


STEPS: dict[str, Callable[[Server, Any], None]] = {
    "join": _enter,
    "watch": _enter,
    "ready": _request(messages.Ready(id=0)),
    "start": _host_start,
    "due": _due,
    "ping": _request(messages.Ping(id=0)),
    "quiet": _hears(0),
    "commits": _hears(1),
    "speaks": _hears(2),
    "lossy": _lossy,
    "silent": _silent,
    "race": _race,
    "move": _move,
    "undo": _undo,
    "win": _win,
    "block": _block,
    "resign": _request(messages.Resign(id=0)),
    "stuck": _request(messages.DeclareStuck(id=0)),
    "leave": _request(messages.Leave(id=0)),
    "kick": _kick,
    "cut": _cut,
    "restart": _restart,
    "forget": _forget,
    "limit": _limit,
    "push": _push,
    "next": _next,
}
"""The steps of scripts. ``tests.lies.troubles`` has more."""


def script(text: str) -> tuple[str, ...]:
    """The steps of a script. ``ana:move*3`` is three steps."""
    return tuple(step for word in text.split() for step in [word.partition("*")[0]] * int(word.partition("*")[2] or 1))


def options(deal: str = "winnable", **more: Any) -> Options:
    return Options(games=(GAME.name,), deal=deal, **{"delay": 0, **more})


_BLOCKED: Final = 275
"""The number of a deal in which ``_BLOCKED_AFTER`` bad moves leave none."""

_BLOCKED_AFTER: Final = 10

_DRAW: Final = "bob:quiet ana:start bob:commits bob:speaks"
_SHORT: Final = "ana:move bob:move ana:move bob:stuck ana:resign"
_LINE: Final = messages.RoomLine(
    room="friday",
    game=GAME.name,
    deal="winnable",
    phase="open",
    players=1,
    seats=4,
    spectators=True,
    delay=0,
)

_TWO: Final = "ana:join bob:join ana:ready bob:ready"


def _plans() -> Sequence[Plan]:
    four = options(players=4)
    joint = Plan(
        "joint",
        script(f"{_TWO} {_DRAW} race {_SHORT} next"),
        four,
        {"ana": Wanted(options=four, private=False), "bob": Wanted(line=_LINE)},
    )
    hard = options("winnable hard", undo="free", limit=60)
    easy = options("winnable easy", first_finish_ends=True)
    tide = options(players=64, hosted=False, start="at", start_at=NOW + 60_000)
    table = (TableLine(1, "p-ana", "ana", 1, 1.0, 60_000), TableLine(2, "p-bob", "bob", 1, 0.0, 90_000))
    series = options(series=3, deal="winnable")
    daily, number, chance = options("daily"), options(f"#{_BLOCKED}", undo="off"), options("random")
    again = options(f"again {some_bytes('an earlier mix').hex()}", players=1, countdown=0)
    return (
        joint,
        Plan(
            "undo",
            script("ana:join bob:join ana:start race ana:undo ana:move bob:move ana:undo bob:undo limit"),
            hard,
            {"ana": Wanted(options=hard, private=False)},
        ),
        Plan(
            "resumed",
            script(
                f"{_TWO} ana:cut {_DRAW} ana:cut race ana:move ana:cut bob:move ana:move bob:cut bob:resign ana:stuck push"
            ),
            four,
            {"ana": Wanted(options=four, private=False)},
        ),
        Plan(
            "redraw",
            script(
                "ana:join bob:join cid:join cid:commits ana:start silent race ana:move bob:move ana:stuck bob:stuck"
            ),
            four,
        ),
        Plan(
            "asleep",
            script(
                "ana:join bob:join cid:join dan:join dan:quiet cid:commits ana:start silent bob:quiet silent dan:join "
                "bob:speaks race ana:move dan:move bob:move ana:stuck bob:stuck dan:stuck"
            ),
            four,
        ),
        Plan(
            "left",
            script(
                "ana:join bob:join cid:join cid:commits ana:start cid:leave race ana:move bob:move ana:resign bob:stuck"
            ),
            four,
        ),
        Plan(
            "won",
            script("ana:join bob:join ana:start race bob:move ana:win"),
            easy,
            {"ana": Wanted(options=easy, private=False)},
        ),
        Plan(
            "settled",
            script("ana:join bob:join eve:join ana:start race bob:move ana:win bob:stuck"),
            options("winnable easy"),
            bots=("eve",),
        ),
        Plan(
            "restarted",
            script(
                f"{_TWO} ana:restart {_DRAW} ana:restart race ana:move bob:move ana:restart ana:move bob:stuck ana:stuck"
            ),
            four,
        ),
        Plan(
            "tide",
            script("ana:join bob:join cid:join due race ana:move bob:move cid:move ana:stuck bob:stuck cid:stuck"),
            tide,
            {"ana": Wanted(game=GAME.name, tide=NOW + 60_000), "bob": Wanted(game=GAME.name, tide=NOW + 60_000)},
            tide=NOW + 60_000,
        ),
        Plan(
            "daily",
            script(f"ana:join bob:join ana:start race {_SHORT} push"),
            daily,
            {"ana": Wanted(options=daily, private=False)},
        ),
        Plan(
            "number",
            script("ana:join bob:join ana:start race bob:move ana:block bob:resign"),
            number,
            {"ana": Wanted(options=number, private=False)},
        ),
        Plan(
            "random",
            script("ana:join bob:join ana:start race ana:move*2 bob:stuck ana:resign sue:watch"),
            chance,
            {"ana": Wanted(options=chance, private=False)},
        ),
        Plan(
            "again",
            script("ana:join due race ana:move*3 ana:stuck"),
            again,
            {"ana": Wanted(game=GAME.name, tide=0)},
        ),
        Plan(
            "watched",
            script(
                "ana:join sue:watch bob:join ana:start race ana:move bob:move sue:restart ana:undo bob:move ana:stuck "
                "bob:resign"
            ),
            four,
        ),
        Plan(
            "series",
            script(f"ana:join bob:join ana:start race {_SHORT} next"),
            series,
            {
                "ana": Wanted(options=series, round=1, private=False),
                "bob": Wanted(options=series, round=1, private=False),
            },
            round=1,
            table=table,
            rooms_before=("thursday",),
        ),
        Plan(
            "bots",
            script("ana:join eve:join ana:start race eve:move ana:move eve:move ana:stuck eve:stuck limit"),
            options(players=4, end_when_settled=False),
            {"ana": Wanted(game=GAME.name, tide=0)},
            bots=("eve",),
            private=True,
        ),
        Plan(
            "engines",
            script("ana:join bob:join ana:start race ana:move bob:move ana:stuck ana:move bob:resign"),
            four,
            bots=("ana", "bob"),
        ),
    )


PLANS: Final[Mapping[str, Plan]] = {plan.name: plan for plan in _plans()}


def hold(plan: Plan, seed: str, kind: type[Server] = Server) -> Server:
    """Return a server after a race."""
    return kind(plan, seed).run()
