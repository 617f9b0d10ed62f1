"""Honest races as each client sees them, and the server that holds them. Pure and deterministic.

A race follows a script: words such as ``ana:move`` or ``race``, each of which is a step. The server applies commands to
the real race. Liars override methods of ``Server``, so that everything after a lie is computed anew.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Final

from msgspec.structs import replace as with_fields

from samedeal.action_chain import next_head
from samedeal.board import Board
from samedeal.board_history import UNDO, Play
from samedeal.deal import Deal, commitment
from samedeal.errors import SamedealError
from samedeal.joint_deal import public_mix, share_commitment
from samedeal.options import Options
from samedeal.protocol import messages
from samedeal.protocol.messages import EarlierPlayer, RoomState, Seat, TableLine, Tally
from samedeal.protocol_codes import RefusalCode
from samedeal.race import room_state
from samedeal.race.commands import (
    CommandRequest,
    FixDealCommand,
    JoinCommand,
    LeaveCommand,
    LinkRematchCommand,
    RaceCommand,
    TickCommand,
    command_of,
)
from samedeal.race.draws import first_board
from samedeal.race.due_times import due_at
from samedeal.race.held_race import HeldRace
from samedeal.race.openings import first_race
from samedeal.race.progress import ProgressByPlayer
from samedeal.race.values import DealSecret, FoundDeal, Race, RaceBefore, Racer
from samedeal.record import Record
from samedeal_link.evidence.facts import ANYTHING, AskedToEnter, Wanted
from samedeal_link.evidence.verdict import RaceReading
from samedeal_server.races.log_entry import LogEntry
from samedeal_server.races.race_record import build_record, first_head
from tests.client.room_lines import line
from tests.client.server_messages import delayed_board, delayed_move
from tests.lies.deals import GAME, answers, found_deal, some_bytes
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
    window: int = 0


def with_share(race: Race, racer: Racer, share: bytes = b"") -> Racer:
    """A racer who has committed to a share and revealed it."""
    share = share or some_bytes(f"forced {racer.name} {race.draw.number}")
    place = racer.seat, racer.name, race.draw.number
    promise = share_commitment(race.terms.digest, race.commitment, *place, share)
    return with_fields(racer, share=share, commitment=promise)


class Client:
    """An honest client. ``trail`` has the client before each of its events."""

    def __init__(self, server: Server, name: str, asked: AskedToEnter) -> None:
        self.server, self.name, self.role, self.called = server, name, asked.role, name
        self.player = f"p-{name}"
        self.chance = random.Random(f"{server.seed} {server.plan.name} {name}")
        self.events: list[Event] = []
        self.seen = Seen.of(asked, self.player, name, server.seed)
        self.trail: list[Seen] = []
        self.ids = 0
        self.hears = 2  # 0 gets no states of the countdown, and 1 no sealed ones, because the network is slow
        self.is_lossy = False  # whether requests are lost on their way
        self.is_deaf = False  # whether messages are
        self.is_slow = False  # whether messages are still on their way
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
        race = self.server.race
        return self.is_slow or (race.phase == "countdown" and self.hears <= (race.is_sealed or bool(race.draw.shares)))

    def speak(self) -> None:
        """Send the request of the draw that is due, if any."""
        if self.seen.ready is not None:
            self.send(self.seen.ready)

    def connect(self) -> None:
        """Enter the room, on a new connection."""
        self.hears = 2
        self.send(messages.Hello(id=0, name=self.called, session="s"))
        self.send(messages.Ping(id=0))
        own = self.seen.own.play
        if self.role == "spectator":
            self.send(messages.Watch(id=0, room="friday"))
        else:
            revision = own.revision if own is not None and not self.seen.own.out_of_sync else -1
            self.send(messages.Join(id=0, room="friday", revision=revision))

    def disconnect(self) -> None:
        """Lose the connection, and all that is on its way."""
        server = self.server
        server.inbox = [(each, request) for each, request in server.inbox if each is not self]
        self.held.clear()
        if self in server.present:
            server.present.remove(self)
        racer = server.racer_of(self)
        if racer is not None and server.held.progress_of(racer.player).connected:
            server.set_presence(racer.player, connected=False)
            server.tell(racer)


class Server:
    """An honest server with one room."""

    room = "friday"

    def __init__(self, plan: Plan, seed: str) -> None:
        self.plan, self.seed, self.now = plan, seed, NOW
        self.clients: dict[str, Client] = {}
        self.present: list[Client] = []
        self.inbox: list[tuple[Client, Any]] = []
        self.logs: dict[str, list[LogEntry]] = defaultdict(list)
        self.answers: dict[tuple[str, int], messages.Acked] = {}
        self.lost_records: dict[str, Record | None] = {}
        self.reading = RaceReading()
        deal = Deal.parse(plan.options.deal).on(plan.date)
        options = with_fields(plan.options, deal="winnable") if deal.kind == "again" else plan.options
        seeded = self.seed_of(deal)
        race = first_race(
            self.room, options, deal, seeded, NOW, private=plan.private, tide=plan.tide, window=plan.window
        )
        race = with_fields(race, round=plan.round, before=RaceBefore(table=plan.table, rooms=plan.rooms_before))
        race = with_fields(race, commitment=commitment(race.terms.digest, seeded))
        self.held = HeldRace(race, DealSecret(seeded))
        self.past: list[HeldRace] = []
        self.shown = race

    # What liars change

    def told(self, client: Client, message: Any) -> Sequence[Any]:
        """What a client is sent in place of a message."""
        return (message,)

    def seed_of(self, deal: Deal) -> bytes:
        if deal.kind == "number":
            return deal.public_seed()
        return public_mix(str(deal)) if deal.public else some_bytes(f"secret {self.seed} {self.plan.name}")

    def race_for(self, client: Client | None) -> Race:
        """The race that a client is shown, also in its record."""
        return self.race

    def first_board(self, racer: Racer) -> Board:
        board = first_board(self.race, self.held.secret)
        assert board is not None
        return board

    def find(self) -> FoundDeal:
        return found_deal(self.race, self.held.secret.seed)

    def state_for(self, client: Client) -> RoomState:
        given = self.race_for(client), self.progress, self.held.event, 0, self.now, client.player
        state = room_state.room_state(*given)
        return with_fields(state, players=tuple(self.seat_for(client, each) for each in state.players))

    def seat_for(self, client: Client, seat: Seat) -> Seat:
        return seat

    def tally_for(self, racer: Racer) -> Tally:
        """The counts of a racer that all others are told."""
        return room_state.tally_of(racer.player, self.held.progress_of(racer.player), self.now)

    def begin_time(self, client: Client) -> int:
        return self.now

    def ack_time(self, racer: Racer) -> int:
        return self.now

    def record_for(self, client: Client | None) -> Record | None:
        return self.honest_record(client) if self.race.result.standings else None

    def honest_record(self, client: Client | None) -> Record:
        return build_record(self.race_for(client), self.logs)

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

    # The race

    @property
    def race(self) -> Race:
        return self.held.race

    @property
    def progress(self) -> ProgressByPlayer:
        """The progress of all players. In a race with a window, those who are connected have just been seen."""
        known = self.held.progress_of_all
        seen = self.now if self.race.window else 0
        return {player: with_fields(own, last_seen=seen or own.last_seen) for player, own in known.items()}

    def is_dealt(self, player: str) -> bool:
        """Whether a player has cards."""
        return bool(self.held.plays) and self.race.began_at(self.held.progress_of(player)) > 0

    def racer_of(self, client: Client) -> Racer | None:
        return self.race.racer(client.player)

    def apply(self, command: RaceCommand) -> None:
        """Apply a command to the race, and do what is due then."""
        self.past.append(self.held)
        self.held = self.held.told(command, self.now)
        self.go_on()

    def change(self, **fields: Any) -> None:
        """Change the race against its rules, as liars do."""
        self.held = replace(self.held, race=with_fields(self.race, **fields), event=self.held.event + 1)
        self.go_on()

    def change_racer(self, player: str, **fields: Any) -> None:
        self.change(racers=self.race.with_racer(self.race.seated(player), **fields).racers)

    def go_on(self) -> None:
        """Find the deal once all shares are known, and deal it at the start."""
        if self.race.needs_search:
            found = self.find()
            self.held = replace(self.held, secret=with_fields(self.held.secret, found=found))
            is_lone = self.race.deal.startswith("daily") and sum(not each.bot for each in self.race.racers) == 1
            self.held = self.held.told(FixDealCommand(found, (_ATTEMPT,) if is_lone else ()), self.now)
        is_dealt = self.race.phase in ("racing", "finished") or self.race.is_hidden
        if is_dealt and not self.held.plays:
            rules = {each.player: self.race_for(self.clients.get(each.name)).options for each in self.race.racers}
            plays = {
                each.player: Play(self.first_board(each), rules[each.player].undo_rule) for each in self.race.racers
            }
            self.held = replace(self.held, plays=plays)

    def begin(self, command: RaceCommand) -> None:
        """Begin the countdown."""
        self.apply(command)

    def begin_race(self) -> None:
        self.now = max(self.now, self.race.starts)
        self.tick()

    def tick(self, *, end_wait: bool = False) -> None:
        self.apply(TickCommand(self.progress, self.held.secret, end_wait))

    def set_presence(self, player: str, *, connected: bool) -> None:
        before = self.held.progress_of(player)
        now = with_fields(before, generation=before.generation + connected, connected=connected)
        self.held = replace(self.held, progress={**self.held.progress, player: now})

    def play_on(self, player: str, action: str, time: int, request: int = 0, revision: int | None = None) -> Play:
        """Make an action of a player."""
        self.past.append(self.held)
        self.held = self.held.acted(player, action, time, revision)
        play, own = self.held.play(player), self.held.progress_of(player)
        counts = own.foundation_cards, own.moves, own.undos
        self.logs[player].append(LogEntry(play.revision, request, action, play.seen, *counts, own.last_action_at))
        return play

    def undo(self, player: str) -> LogEntry:
        """Lose the newest action of a player."""
        own = self.held.progress_of(player)
        before = next(held for held in reversed(self.past) if held.progress_of(player).revision < own.revision)
        back = with_fields(before.progress_of(player), generation=own.generation, connected=own.connected)
        progress, plays = {**self.held.progress, player: back}, {**self.held.plays, player: before.play(player)}
        self.held = replace(self.held, progress=progress, plays=plays)
        return self.logs[player].pop()

    # Requests

    def handle(self, client: Client, request: Any) -> None:
        try:
            for message in self.answers_to(client, request):
                client.receive(message)
        except SamedealError as error:
            revision = self.held.progress_of(client.player).revision if self.is_dealt(client.player) else -1
            client.receive(messages.Refused(to=request.id, code=error.code, message="No.", revision=revision))
        is_waiting = self.race.window and self.race.lacks_shares and not self.race.draw.seats
        is_change = isinstance(request, CommandRequest | messages.Leave | messages.Act)
        if is_waiting or (self.race.phase == "racing" and is_change):
            self.tick()

    def answers_to(self, client: Client, request: Any) -> Iterator[Any]:
        """Yield the answer to a request, and what only this client is sent after it. Raise SamedealError to refuse it."""
        player, progress = client.player, self.progress
        match request:
            case messages.Hello():
                yield messages.Welcome(request.id, "s", player, client.called, time=self.now, server="test")
            case messages.Ping():
                yield messages.Pong(to=request.id, time=self.now)
            case messages.Join():
                is_back = self.race.racer(player) is not None
                self.apply(JoinCommand(player, client.called, progress, client.name in self.plan.bots))
                self.set_presence(player, connected=True)
                self.come(client)
                racer, own = self.race.seated(player), self.held.progress_of(player)
                revision = own.revision if self.is_dealt(player) else -1
                yield messages.Joined(request.id, self.race.room, racer.seat, own.generation, revision)
                if is_back:
                    yield from self.room_for(client)
                    if revision > request.revision:
                        yield self.board_for(client, racer)
                    self.tell(racer)
            case messages.Watch():
                self.come(client)
                yield messages.Watching(to=request.id, room=self.race.room, delay=self.race.options.delay)
                yield from self.room_for(client)
                yield from map(self.watched, self.race.racers if self.held.plays else ())
            case messages.Begin():
                yield messages.Begun(to=request.id, time=self.attempt(client, request), receipt=b"receipt")
                yield self.state_for(client)
                yield self.board_for(client, self.race.seated(player))
            case messages.Act():
                racer = self.race.seated(player)
                answer = self.act(client, racer, request)
                yield answer
                if isinstance(answer, messages.Acked):
                    self.show_move(racer, request.action)
            case messages.Recover() if request.receipt != b"receipt":
                yield messages.Refused(to=request.id, code=RefusalCode.BAD_RECEIPT, message="No.")
                yield self.board_for(client, self.race.seated(player))
            case messages.Recover():
                for each in request.actions:
                    self.play_on(player, each.action, each.time)
                yield messages.Done(to=request.id)
                self.tell(self.race.seated(player))
            case messages.Leave():
                if client in self.present:
                    self.present.remove(client)
                self.apply(LeaveCommand(player))
                yield messages.Done(to=request.id)
            case _:
                command = command_of(player, request, progress)
                self.begin(command) if isinstance(request, messages.Start) else self.apply(command)
                yield messages.Done(to=request.id)

    def act(self, client: Client, racer: Racer, act: messages.Act) -> messages.Acked | messages.Refused:
        known = racer.player, act.id
        if known not in self.answers:
            play = self.play_on(racer.player, act.action, self.ack_time(racer), act.id, act.revision)
            time = self.held.progress_of(racer.player).last_action_at
            self.answers[known] = room_state.acked(act, play, time, b"receipt")
        return self.answers[known]

    def attempt(self, client: Client, begin: messages.Begin) -> int:
        """Begin a player's attempt. Return when it began."""
        self.held = self.held.begun(client.player, begin.time or self.begin_time(client))
        return self.held.progress_of(client.player).began_at

    def come(self, client: Client) -> None:
        if client not in self.present:
            self.present.append(client)

    # Messages

    def settle(self) -> None:
        """Handle all requests. Who changes the room often does not flood the others."""
        self.show()
        while self.inbox:
            client, request = self.inbox.pop(0)
            self.now += HOP
            self.handle(client, request)
            if not self.inbox:
                self.show()

    def show(self) -> None:
        """Send everybody in the room what has changed."""
        before, self.shown = self.shown, self.race
        if self.race == before:
            return
        is_drawn = before.draw.shares != self.race.draw.shares
        is_dealt = before.is_waiting and bool(self.held.plays) and not self.race.window
        for client in list(self.present):
            own = [room_state.own_race(race, client.player) for race in (before, self.race)]
            if before.is_hidden and self.race.is_hidden and own[0] == own[1]:
                continue
            room = self.room_for(client) if is_drawn else [self.state_for(client)]
            for message in chain(room, self.boards_for(client) if is_dealt else ()):
                client.receive(message)

    def room_for(self, client: Client) -> Iterator[messages.Drawn | RoomState]:
        if (drawn := room_state.drawn(self.race_for(client))) is not None:
            yield drawn
        yield self.state_for(client)

    def boards_for(self, client: Client) -> Iterator[messages.BoardState | messages.DelayedBoard]:
        own = self.racer_of(client)
        if own is not None and client.role == "player":
            yield self.board_for(client, own)
        elif client.role == "spectator":
            yield from map(self.watched, self.race.racers)

    def board_for(self, client: Client, racer: Racer) -> messages.BoardState:
        race = self.race_for(client)
        began = race.began_at(self.held.progress_of(racer.player))
        head = first_head(race, racer, began)
        for entry in self.logs[racer.player]:
            head = next_head(head, entry.revision, entry.committed_at - began, entry.action)
        return self.held.board_state(racer.player, head)

    def watched(self, racer: Racer) -> messages.DelayedBoard:
        began = self.race.began_at(self.held.progress_of(racer.player))
        time = self.held.progress_of(racer.player).last_action_at or began
        reached: tuple[int, ...] = ()
        for entry in self.logs[racer.player]:
            count, at = entry.foundation_cards, entry.committed_at - began
            reached = reached[:count] + (at,) * (count - len(reached))
        return with_fields(delayed_board(racer.player, self.held.play(racer.player), time), reached=reached)

    def show_move(self, racer: Racer, action: str) -> None:
        self.tell(racer)
        play, time = self.held.play(racer.player), self.held.progress_of(racer.player).last_action_at
        for client in list(self.present):
            if client.role == "spectator":
                moved = delayed_move(racer.player, play, action, time)
                client.receive(self.watched(racer) if action == UNDO else moved)

    def tell(self, racer: Racer) -> None:
        """Tell all others how a racer's counts have changed."""
        for client in () if self.race.is_hidden else list(self.present):
            before, tally = client.tally.get(racer.seat), self.tally_for(racer)
            if client.player != racer.player and tally != before:
                client.tally[racer.seat] = tally
                client.receive(messages.ProgressUpdate.of(racer.seat, tally, before))

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
        client = self.ask(name, "spectator" if what == "watch" else "player") if name else None
        STEPS[what](self, client)
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


def _hasty(action: str) -> Callable[[Server, Client], None]:
    """A step in which a player deals cards, and does not wait for them before sending an action that is forbidden."""

    def deal_and_act(server: Server, client: Client) -> None:
        shown = client.seen.own.shown
        if shown is not None and (
            turning := [move for move in shown.board.legal_moves() if shown.board.turns_up(move)]
        ):
            _send_act(client, str(turning[0]))
            _send_act(client, action)

    return deal_and_act


def _win(server: Server, client: Client) -> None:
    """Play the line of the proof to the end."""
    found = server.held.secret.found
    for move in found.line.split(", ") if found is not None else ():
        server.now += 100
        _send_act(client, move)
        server.settle()


def _block(server: Server, client: Client) -> None:
    """Make bad moves until none is left."""
    for _ in range(_BLOCKED_AFTER):
        shown = client.seen.own.shown
        if shown is not None and (legal := shown.board.legal_moves()):
            server.now += 100
            _send_act(client, str(legal[-1]))
            server.settle()


def _connect(server: Server, client: Client) -> None:
    client.connect()


def _again(what: Any = None) -> Callable[[Server, Client], None]:
    """Cut the connection, and let the client return: requests on their way may be lost."""

    def connect_again(server: Server, client: Client) -> None:
        if client not in server.present:
            return
        client.disconnect()
        if what is not None:
            client.happens(Event(what, client.now))
        client.connect()
        server.settle()
        for pending in client.seen.own.pending:
            client.send(messages.Act(id=pending.id, revision=pending.revision, action=pending.action))

    return connect_again


def _off(server: Server, client: Client) -> None:
    """Go away for as long as others like."""
    if client in server.present:
        client.disconnect()


def _hears(level: int) -> Callable[[Server, Client], None]:
    def set_hears(server: Server, client: Client) -> None:
        client.hears = level
        client.deliver()

    return set_hears


def _lossy(server: Server, client: Client) -> None:
    client.is_lossy = not client.is_lossy


def _silent(server: Server, _: Client) -> None:
    """Take the seats of those who have not committed or revealed."""
    if server.race.awaited:
        server.now = max(server.now, server.race.draw.reveal_by)
        server.tick()


def _race(server: Server, _: Client) -> None:
    for client in list(server.clients.values()):
        client.deliver(anyway=True)
    server.settle()
    server.before_race()
    if server.race.phase == "countdown" and server.race.racers and not server.race.lacks_deal:
        server.begin_race()


def _limit(server: Server, _: Client) -> None:
    if server.race.phase == "racing":
        server.now = max(server.now, server.race.ends)
        server.tick()


def _up(server: Server, _: Client) -> None:
    """Wait until the time of all who have begun in a window is up."""
    if server.race.phase == "racing":
        server.now += 1000 * server.race.options.limit
        server.tick()


def _request(request: Any) -> Callable[[Server, Client], None]:
    def send(server: Server, client: Client) -> None:
        if client in server.present:
            client.send(request)

    return send


def _begin(server: Server, client: Client) -> None:
    state = client.seen.state
    if client in server.present and state is not None and is_open(state):
        client.send(messages.Begin(id=0))


def is_open(state: RoomState) -> bool:
    """Whether players may begin in a race with a window, as a state says."""
    return state.window > 0 and (state.phase == "racing" or (state.phase == "countdown" and state.starts > 0))


def _push(server: Server, _: Client) -> None:
    for client in list(server.present):
        client.receive(server.state_for(client))


def _next(server: Server, _: Client) -> None:
    if server.race.phase == "finished":
        server.apply(LinkRematchCommand("saturday"))


def _host_start(server: Server, client: Client) -> None:
    if (server.race.phase == "open" or server.race.has_lost_draws) and server.racer_of(client) is not None:
        client.send(messages.Start(id=0))


def _due(server: Server, _: Client) -> None:
    race = server.race
    if race.phase == "open" and race.racers and race.options.start == "at":
        server.now = max(server.now, due_at(race))
        server.begin(TickCommand({}, server.held.secret))


STEPS: dict[str, Callable[[Server, Any], None]] = {
    "join": _connect,
    "watch": _connect,
    "ready": _request(messages.Ready(id=0)),
    "start": _host_start,
    "due": _due,
    "begin": _begin,
    "off": _off,
    "back": _connect,
    "ping": _request(messages.Ping(id=0)),
    "quiet": _hears(0),
    "commits": _hears(1),
    "speaks": _hears(2),
    "lossy": _lossy,
    "silent": _silent,
    "race": _race,
    "move": _move,
    "undo": _undo,
    "illegal": _hasty("1 1"),
    "cannot_undo": _hasty(UNDO),
    "win": _win,
    "block": _block,
    "resign": _request(messages.Resign(id=0)),
    "stuck": _request(messages.DeclareStuck(id=0)),
    "leave": _request(messages.Leave(id=0)),
    "cut": _again(),
    "restart": _again("restarted"),
    "forget": _again("forgot"),
    "limit": _limit,
    "up": _up,
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
_ATTEMPT: Final = EarlierPlayer(name="zed", foundation_cards=2, time=0, reached=(1_000, 2_000), started=5_000)
"""Another player's first attempt at a daily deal."""

_SHORT: Final = "ana:move bob:move ana:move bob:stuck ana:resign"
WINDOW: Final = 3600
LINE: Final = line("friday", game=GAME.name, deal="winnable", delay=0)

_TWO: Final = "ana:join bob:join ana:ready bob:ready"
_LATE: Final = "ana:join bob:join cid:join cid:commits ana:start"


def _race_of(name: str, words: str, chosen: Options, **more: Any) -> Plan:
    return Plan(name, script(words), chosen, **more)


def _created(name: str, words: str, chosen: Options) -> Plan:
    """A race in a room that ana has opened, with the options that she wanted."""
    return _race_of(name, words, chosen, wanted={"ana": Wanted(options=chosen, private=False)})


def _plans() -> Sequence[Plan]:
    four = options(players=4)
    joint = Plan(
        "joint",
        script(f"{_TWO} {_DRAW} race {_SHORT} next"),
        four,
        {"ana": Wanted(options=four, private=False), "bob": Wanted(line=LINE)},
    )
    hard = options("winnable hard", undo="free", limit=60)
    easy = options("winnable easy", first_finish_ends=True)
    tide = options(players=64, hosted=False, start="at", start_at=NOW + 60_000)
    table = (TableLine(1, "p-ana", "ana", 1, 1.0, 60_000), TableLine(2, "p-bob", "bob", 1, 0.0, 90_000))
    series = options(series=3, deal="winnable")
    daily, number, chance = options("daily"), options(f"#{_BLOCKED}", undo="off"), options("random")
    again = options(f"again {some_bytes('an earlier mix').hex()}", players=1, countdown=0, start="full")
    in_tide = Wanted(game=GAME.name, tide=NOW + 60_000)
    in_series = Wanted(options=series, round=1, private=False)
    at_once = Wanted(game=GAME.name, tide=0)
    window = options(players=4, bots=False)
    closes = NOW + 250 * WINDOW
    listed = Wanted(line=with_fields(LINE, seats=4, bots=False, spectators=False, closes=closes))
    return (
        joint,
        _created("undo", "ana:join bob:join ana:start race ana:undo ana:move bob:move ana:undo bob:undo limit", hard),
        _created(
            "resumed",
            f"{_TWO} ana:cut {_DRAW} ana:cut race ana:move ana:cut bob:move ana:move bob:cut bob:resign ana:stuck push",
            four,
        ),
        _race_of("redraw", f"{_LATE} silent race ana:move bob:move ana:stuck bob:stuck", four),
        _race_of("left", f"{_LATE} cid:leave race ana:move bob:move ana:resign bob:stuck", four),
        _created("won", "ana:join bob:join ana:start race bob:move ana:win", easy),
        _race_of(
            "settled",
            "ana:join bob:join eve:join ana:start race bob:move ana:win bob:stuck",
            options("winnable easy"),
            bots=("eve",),
        ),
        _race_of(
            "restarted",
            f"{_TWO} ana:restart {_DRAW} ana:restart race ana:move bob:move ana:restart ana:move bob:stuck ana:stuck",
            four,
        ),
        _race_of(
            "tide",
            "ana:join bob:join cid:join due race ana:move bob:move cid:move ana:stuck bob:stuck cid:stuck",
            tide,
            wanted={"ana": in_tide, "bob": in_tide},
            tide=NOW + 60_000,
        ),
        _created("daily", f"ana:join bob:join ana:start race {_SHORT} push", daily),
        _race_of(
            "lone",
            "ana:join eve:join ana:start race ana:move*3 eve:move ana:stuck eve:stuck",
            daily,
            wanted={"ana": Wanted(options=daily, private=False)},
            bots=("eve",),
        ),
        _created("number", "ana:join bob:join ana:start race bob:move ana:block bob:resign", number),
        _created("random", "ana:join bob:join ana:start race ana:move*2 bob:stuck ana:resign sue:watch", chance),
        _race_of("again", "ana:join race ana:move*3 ana:stuck", again, wanted={"ana": at_once}),
        _race_of(
            "watched",
            "ana:join sue:watch bob:join ana:start race ana:move bob:move sue:restart ana:undo bob:move ana:stuck "
            "bob:resign",
            four,
        ),
        _race_of(
            "series",
            f"ana:join bob:join ana:start race {_SHORT} next",
            series,
            wanted={"ana": in_series, "bob": in_series},
            round=1,
            table=table,
            rooms_before=("thursday",),
        ),
        _race_of(
            "bots",
            "ana:join eve:join ana:start race eve:move ana:move eve:move ana:stuck eve:stuck limit",
            options(players=4, end_when_settled=False),
            wanted={"ana": at_once},
            bots=("eve",),
            private=True,
        ),
        _race_of(
            "engines",
            "ana:join bob:join ana:start race ana:move bob:move ana:stuck ana:illegal bob:cannot_undo limit",
            four,
            bots=("ana", "bob"),
        ),
        Plan(
            "window",
            script(
                "ana:join bob:join ana:start race ana:begin ana:move bob:begin bob:move ana:cut ana:move ana:stuck "
                "ana:leave bob:off ana:join bob:back bob:resign push"
            ),
            window,
            {"ana": Wanted(options=with_fields(window, bots=True), private=False, window=WINDOW), "bob": listed},
            window=WINDOW,
        ),
        _race_of(
            "apart",
            "ana:join bob:join cid:join cid:off ana:start race ana:off cid:back cid:begin cid:move cid:off "
            "ana:back ana:begin ana:move ana:resign limit cid:back",
            with_fields(window, limit=60),
            window=WINDOW,
        ),
        _race_of(
            "drawn apart",
            "ana:join bob:join cid:join cid:off bob:commits ana:start cid:back silent race bob:speaks bob:begin bob:move "
            "ana:begin bob:stuck ana:move cid:begin cid:move ana:stuck up",
            with_fields(window, limit=60),
            window=WINDOW,
        ),
        _race_of(
            "reopened",
            "ana:join bob:join bob:commits ana:start ana:quiet silent silent bob:speaks ana:speaks ana:start cid:join "
            "bob:off ana:start race ana:begin ana:move bob:back bob:begin cid:begin cid:move bob:move limit bob:back",
            with_fields(window, limit=60),
            window=WINDOW,
        ),
    )


PLANS: Final[Mapping[str, Plan]] = {plan.name: plan for plan in _plans()}


def hold(plan: Plan, seed: str, kind: type[Server] = Server) -> Server:
    """Return a server after a race."""
    return kind(plan, seed).run()
