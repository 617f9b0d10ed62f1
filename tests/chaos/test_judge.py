"""The judge finds violations: ``tests/golden/answers/judge.txt`` changes a faultless round in one place after another."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace as altered
from typing import Any

from msgspec.structs import replace

from samedeal.board_history import Play
from samedeal.deal import commitment  # noqa: F401  # the page uses it
from samedeal.deal_proof import LostShare
from samedeal.options import Options
from samedeal.protocol.messages import (
    Acked,
    Act,
    BoardState,  # noqa: F401  # the page uses it
    Created,
    DelayedBoard,
    DelayedMove,
    Done,
    Drawn,
    Join,
    Joined,
    LostSeat,  # noqa: F401  # as above
    Phase,
    ProgressUpdate,
    Refused,
    Resign,
    RevealShare,
    RoomState,
    ToClient,
    Watch,
    Watching,
    Welcome,
)
from samedeal.race.held_race import HeldRace
from samedeal.race.progress import MoveCommitted
from samedeal.race.room_state import acked, board_state, room_state
from samedeal.race.room_state import drawn as drawn_shares
from samedeal.race.values import DealSecret, KickedPlayers, Race, Racer
from samedeal_server.races.log_entry import LogEntry
from samedeal_server.races.public_facts import RaceNews, news_of
from samedeal_server.races.race_record import first_head
from samedeal_server.store import keys
from samedeal_server.store.events import PresenceChanged, RaceChanged, SequencedEvent
from samedeal_server.store.sessions import SESSION_LIFETIME
from samedeal_server.store.store import LIFETIME
from tests.chaos.client_journal import Evidence, Journal, ReceivedMessage, RoomEvidence, SentMessage, StoredKey
from tests.chaos.judge import Case, draws_are_honest, judge
from tests.client.server_messages import delayed_board, delayed_move
from tests.golden.golden_files import assert_answers
from tests.shared.joint_deals import drawn_proof, public_deal, some_bytes
from tests.shared.race_values import SEED, changed, new_race

START = 1_790_000_000_000
ENDS = START + 10_000
DELAY = 3_000
ANA, BOB = "aaaa", "bbbb"


def chained(events: Sequence[SequencedEvent]) -> list[SequencedEvent]:
    """Number events, each with the number of its predecessor."""
    return [replace(event, number=at + 1, previous=at) for at, event in enumerate(events)]


def _counts(play: Play) -> tuple[bytes, int, int, int]:
    return play.seen, play.board.foundation_cards, play.moves, play.undos


class Round:
    """A round with one room, the racers ana and bob, and the spectator eve. Tests may change anything in it.

    ``terms`` are fields of the race that are fixed when its room is opened.
    """

    def __init__(self, **terms: Any) -> None:
        options = Options(games=("athena",), undo="free", limit=10, delay=DELAY // 1000)
        racing = {"phase": "racing", "starts": START, "ends": ENDS, "next": "friday-2"}
        racers = (Racer(ANA, "ana", 1), Racer(BOB, "bob", 2))
        race = new_race(created=START - 9_000, racers=racers, **{"options": options, **racing, **terms})
        held = HeldRace(race, DealSecret(SEED))
        self.deal = held.play(ANA)
        self.plays: dict[str, list[tuple[str, Play]]] = {ANA: [("", self.deal)], BOB: [("", self.deal)]}
        for player, actions in ((ANA, ("draw", "undo", "draw", "draw")), (BOB, ("draw", "6 5"))):
            for number, action in enumerate(actions, 1):
                held = held.acted(player, action, START + 1_000 * number)
                self.plays[player].append((action, held.play(player)))
        self.race = held.passed(ENDS).race
        self.logs = {player: self.log(plays) for player, plays in self.plays.items()}
        self.journals = {"ana": self.racer("ana", ANA), "bob": self.racer("bob", BOB), "eve": self.spectator()}
        self.finished_at = ENDS + 20
        for name in self.journals:
            self.journals[name].received.insert(2, ReceivedMessage(1, self.state("racing"), START))
            self.journals[name].received.append(ReceivedMessage(1, self.state("finished"), self.finished_at + 5))
        self.keys = [
            StoredKey(keys.ROOMS, None, 100),
            StoredKey(keys.session("0123"), SESSION_LIFETIME, 100),
            StoredKey(keys.meta("friday"), LIFETIME, 2_000),
            StoredKey(keys.log("friday", ANA), LIFETIME, 3_000),
        ]
        self.node_logs = ["node-1.log: " + json.dumps({"event": "race_changed", "room": "friday"})]
        self.node_failures: list[str] = []
        self.lost = range(0)
        self.stepped = 0
        self.news: list[RaceNews] = []
        self.alter_events: Callable[[list[SequencedEvent]], list[SequencedEvent]] = lambda events: events

    def open_with(self, **terms: Any) -> None:
        """Let the whole round have other terms."""
        self.__dict__ = Round(**terms).__dict__

    def log(self, plays: list[tuple[str, Play]]) -> list[LogEntry]:
        return [
            LogEntry(play.revision, 100 + play.revision, action, *_counts(play), START + 1_000 * play.revision)
            for action, play in plays[1:]
        ]

    def state(self, phase: Phase) -> RoomState:
        """The room as all are shown it in a phase."""
        over = phase == "finished"
        race = self.race if over else replace(self.race_before(), phase=phase)
        return room_state(race, {}, event=99 if over else 1, spectator_count=0, now=0)

    def racer(self, name: str, player: str) -> Journal:
        journal = Journal(name, "friday", player=player, tokens=[f"{name}-token"], saw_the_end=True)
        journal.sent.append(SentMessage(1, Join(id=1, room="friday")))
        journal.received += [
            ReceivedMessage(1, Joined(to=1, room="friday", seat=1, generation=1), START - 100),
            ReceivedMessage(
                1, board_state("friday", self.deal, first_head(self.race, self.race.seated(player))), START + 1
            ),
        ]
        for action, play in self.plays[player][1:]:
            act = Act(id=100 + play.revision, revision=play.revision - 1, action=action)
            journal.sent.append(SentMessage(1, act))
            at = self.logs[player][play.revision - 1].committed_at
            ack = acked(act, play, at)
            journal.received.append(ReceivedMessage(1, ack, START + 1_000 * play.revision + 2))
        rival = BOB if player == ANA else ANA
        journal.received.append(ReceivedMessage(1, self.update(rival), START + 1_100))
        return journal

    def update(self, player: str, **wrong: int) -> ProgressUpdate:
        """The update of a player's first action."""
        play, entry = self.plays[player][1][1], self.logs[player][0]
        counts = {
            "seat": 1 if player == ANA else 2,
            "foundation_cards": play.board.foundation_cards,
            "moves": play.moves,
            "acted_at": entry.committed_at,
        }
        return ProgressUpdate(**{**counts, **wrong})  # type: ignore[arg-type]  # all given counts are numbers

    def spectator(self) -> Journal:
        journal = Journal("eve", "friday", is_spectator=True, player="eeee", saw_the_end=True)
        journal.sent.append(SentMessage(1, Watch(id=1, room="friday")))
        journal.received.append(ReceivedMessage(1, Watching(to=1, room="friday", delay=3), START))
        for player in (ANA, BOB):
            board = delayed_board(player, self.deal, START)
            journal.received.append(ReceivedMessage(1, board, START + DELAY))
            action, play = self.plays[player][1]
            at = START + 1_000
            move = delayed_move(player, play, action, at)
            journal.received.append(ReceivedMessage(1, move, at + DELAY + 5))
        return journal

    def evidence(self) -> Evidence:
        moved = []
        for player, log in self.logs.items():
            for each in log:
                counts = (each.seen, each.foundation_cards, each.moves, each.undos)
                move = MoveCommitted(player, each.revision, each.action, *counts, False, False)
                moved.append(SequencedEvent(0, 0, each.committed_at, move))
        finished = SequencedEvent(0, 0, self.finished_at, RaceChanged(self.race, ("finished",), ""))
        started = SequencedEvent(0, 0, START - 1, RaceChanged(self.race_before(), ("countdown",), ""))
        events = chained([started, *moved, finished])
        room = RoomEvidence(self.race, SEED, self.logs, self.alter_events(events))
        return Evidence(
            {"friday": room},
            list(self.journals.values()),
            self.keys,
            self.node_logs,
            self.node_failures,
            calm_at=START + 5_000,
            lost=self.lost,
            stepped=self.stepped,
            news=self.news,
        )

    def race_before(self) -> Race:
        """The race before its end."""
        racers = tuple(replace(racer, resigned=False) for racer in self.race.racers)
        return changed(self.race, phase="countdown", racers=racers, seed=b"", standings=())

    def change(self, name: str, kind: type[ToClient], **fields: Any) -> None:
        """Change fields of the last message of a type that a client received."""
        received = self.journals[name].received
        at = max(number for number, each in enumerate(received) if isinstance(each.message, kind))
        received[at] = altered(received[at], message=replace(received[at].message, **fields))

    def receive(self, name: str, message: ToClient, at: int = START + 5_000, connection: int = 1) -> None:
        """Let a client receive a message more."""
        self.journals[name].received.append(ReceivedMessage(connection, message, at))

    def refuse(self, code: str, revision: int) -> None:
        """Refuse ana's last action, which is in the log."""
        self.journals["ana"].sent.append(SentMessage(1, Act(id=104, revision=3, action="draw")))
        self.receive("ana", Refused(to=104, code=code, message="No", revision=revision))

    def log_again(self, player: str, **fields: Any) -> None:
        """Change a player's last entry in the log."""
        self.logs[player].append(replace(self.logs[player].pop(), **fields))

    def delay(self, name: str, at: int, by: int) -> None:
        """Let a client receive one of its messages some milliseconds later."""
        received = self.journals[name].received
        received[at] = altered(received[at], received_at=received[at].received_at + by)

    def place_first(self, **fields: Any) -> None:
        """Change the first line of the standings."""
        first, second = self.race.result.standings
        self.race = changed(self.race, standings=(replace(first, **fields), second))

    def rematch(self, name: str, room: str) -> None:
        """Tell a client the room of the rematch."""
        self.journals[name].sent.append(SentMessage(1, Join(id=900, room="friday")))
        self.receive(name, Created(to=900, room=room))

    def begin(self, changes: tuple[str, ...] = ("left",), **fields: Any) -> None:
        """Let the events begin with the race as it was, with some other fields."""
        before = SequencedEvent(0, 0, START - 2, RaceChanged(changed(self.race_before(), **fields), changes, ""))
        self.alter_events = lambda events: chained([before, *events])


def swap(received: list[ReceivedMessage]) -> None:
    """Swap the first two acks."""
    received[3], received[4] = received[4], received[3]


def replace_connection(played: Round) -> None:
    """Let bob's connection be replaced before he moves over it."""
    came = PresenceChanged(BOB, 2, connected=True)
    played.alter_events = lambda events: chained([SequencedEvent(0, 0, START, came), *events])


def board_of_bob() -> DelayedBoard:
    return DelayedBoard(player=BOB, revision=0, piles=(), moves=0, undos=0, time=START)


def finish_together(played: Round, finish: tuple[str, int]) -> None:
    """Let both players make their last actions as the race ends with one of them, before its time is up."""
    played.open_with(options=replace(played.race.options, first_finish_ends=True, limit=11))
    for name, player in (("ana", ANA), ("bob", BOB)):
        played.log_again(player, committed_at=ENDS)
        played.change(name, Acked, time=ENDS)

    def finished(each: SequencedEvent) -> SequencedEvent:
        event = each.event
        if isinstance(event, MoveCommitted) and (event.player, event.revision) == finish:
            return replace(each, event=replace(event, finished=True))
        return each

    played.alter_events = lambda events: [finished(each) for each in events]


def intrude(played: Round) -> None:
    """Let cid, who has no seat, make a move that counts."""
    move = SequencedEvent(0, 0, START + 2_000, MoveCommitted("cccc", 1, "draw", b"", 0, 1, 0, False, False))
    cid = played.journals["cid"] = Journal("cid", "friday", player="cccc", saw_the_end=True)
    ack = acked(Act(id=1, revision=0, action="draw"), played.plays[ANA][1][1], START)
    cid.received.append(ReceivedMessage(1, ack, START))
    played.alter_events = lambda events: chained([events[0], move, *events[1:]])


def resigned(played: Round, at: int = START + 4_500) -> None:
    """Let ana resign and get an acknowledgement."""
    played.journals["ana"].sent.append(SentMessage(1, Resign(id=500)))
    received = played.journals["ana"].received
    received.insert(len(received) - 1, ReceivedMessage(1, Done(to=500), at))


def out(played: Round) -> None:
    """Let the race say that ana has resigned."""
    ana, bob = played.race.racers
    standings = tuple(replace(line, resigned=line.player == ANA) for line in played.race.result.standings)
    played.race = changed(played.race, racers=(replace(ana, resigned=True), bob), standings=standings)
    for journal in played.journals.values():
        journal.received[-1] = altered(journal.received[-1], message=played.state("finished"))


def resigned_at_once(played: Round) -> None:
    """Let ana have resigned before all actions."""
    first = SequencedEvent(0, 0, START, RaceChanged(played.race, ("resigned",), ANA))
    played.alter_events = lambda events: chained([first, *events])


def kicked(played: Round) -> None:
    """Let bob be kicked during the race, which counts as a resignation."""
    racers = [replace(racer, resigned=racer.player == BOB) for racer in played.race.racers]
    standings = [replace(line, resigned=line.player == BOB) for line in played.race.result.standings]
    kicked = KickedPlayers((BOB,))
    played.race = changed(played.race, racers=tuple(racers), standings=tuple(standings), kicked=kicked)
    played.journals["bob"].exclude("kicked")
    for name in played.journals:
        played.change(name, RoomState, standings=played.race.result.standings)


def kicked_before_the_start(played: Round, moves: int) -> None:
    """Tell ana of moves of cid, who was kicked before the start."""
    played.begin(("joined",), racers=(*played.race.racers, Racer("cccc", "cid", 3)))
    played.receive("ana", ProgressUpdate(seat=3, moves=moves))


def closed(played: Round) -> None:
    """Let the operator close the room before the race is finished."""
    played.race = changed(played.race, phase="closed", seed=b"", standings=())
    end = RaceChanged(played.race, ("closed_by_operator", "closed"), "")
    played.alter_events = lambda events: [*events[:-1], replace(events[-1], event=end)]
    for name in played.journals:
        played.change(name, RoomState, phase="closed", seed=b"", standings=())


def excluded_after_losing_the_seat(played: Round) -> None:
    """Exclude cid, who did not take part in a draw. Eve stands for him."""
    played.journals["eve"].name = "cid"
    played.journals["eve"].excluded = "race_started"
    played.race = changed(played.race, lost=(LostShare(1, 3, "silent", "cid"),))


def show_the_rest(played: Round) -> None:
    """Show eve all other moves of bob when the race is over."""
    for action, play in played.plays[BOB][2:]:
        at = START + 1_000 * play.revision
        move = DelayedMove(player=BOB, revision=play.revision, action=action, seen=play.seen, time=at)
        played.receive("eve", move, played.finished_at)


def told(race: Race) -> RaceNews:
    news = news_of(changed(race, private=False, finished_at=ENDS + 20), "finished")
    assert news is not None
    return news


def deal_of_another_day(played: Round) -> None:
    proof = str(public_deal("ace-of-hearts"))
    played.race = changed(played.race, deal="daily 2026-11-22", seed=b"", proof=proof)


def drawn(played: Round) -> None:
    """Give a round a joint deal of the two racers, in the second draw. Cid was silent in the first one."""
    lost = (LostShare(1, 3, "silent", "cid"),)
    race = changed(played.race, deal="winnable", number=2, lost=lost, seed=b"")
    racers = ((1, "ana", some_bytes("ana")), (2, "bob", some_bytes("bob")))
    proof = drawn_proof(race.search, race.terms.digest, SEED, 2, lost, racers)
    played.race = changed(race, commitment=proof.commitment, shares=proof.shares, proof=str(proof))
    for name in ("ana", "bob"):
        played.journals[name].revealed[2] = tuple(share[:3] for share in proof.shares)
        played.journals[name].sent.append(SentMessage(2, RevealShare(id=950, draw=2, share=some_bytes(name))))
        played.receive(name, Done(to=950))
        played.receive(name, told_shares(played))
        played.receive(name, played.state("racing"))


def told_shares(played: Round) -> Drawn:
    """The shares of the draw, as all are shown them."""
    told = drawn_shares(played.race)
    assert told is not None
    return told


def reveal_as_cid(played: Round, answer: ToClient) -> None:
    """Let cid reveal a share in the first draw, in which he is listed as silent. Eve stands for him."""
    journal = played.journals["eve"]
    journal.name = "cid"
    journal.sent.append(SentMessage(1, RevealShare(id=7, draw=1, share=bytes(32))))
    played.receive("eve", answer)


def lose_seat_of_dan(played: Round) -> None:
    dan = Racer("dddd", "dan", 4)
    played.begin(("countdown",), number=1, lost=(), shares=(), proof="", racers=(*played.race.racers, dan))


def test_judge_says_what_the_page_says() -> None:
    def answer(heading: str, question: str) -> str:
        played = Round()
        draws = heading.startswith("Joint deals")
        if draws:
            drawn(played)
        exec(question, globals(), {"played": played})
        found = draws_are_honest(Case(played.evidence(), {})) if draws else judge(played.evidence())
        return "; ".join(violation[:90] for violation in found) or "nothing"

    assert_answers("judge", answer)


def test_changed_player_id_is_found() -> None:
    journal = Round().journals["bob"]
    journal.record_received(2, Welcome(to=1, session="s", player="cccc", name="bob", time=0, server=""))
    assert journal.complaints == ["was bbbb and is now cccc"]
