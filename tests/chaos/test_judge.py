"""The judge finds violations: each test changes a faultless round in one place."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace as altered
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, TypeVar

import pytest
from msgspec.structs import replace

from samedeal.action_chain import next_head
from samedeal.board import Board
from samedeal.board_history import UNDO, Play
from samedeal.deal import commitment, shuffled
from samedeal.deal_proof import DealProof, LostShare, RevealedShare
from samedeal.games import game_named
from samedeal.joint_deal import mix, secret_commitment, share_commitment, won_candidates
from samedeal.moves import Move
from samedeal.options import Options
from samedeal.protocol.messages import (
    Acked,
    Act,
    BoardState,
    Created,
    DelayedBoard,
    DelayedMove,
    Done,
    DrawnShare,
    Join,
    Joined,
    LostSeat,
    ProgressUpdate,
    Refused,
    Resign,
    RevealShare,
    RoomState,
    Seat,
    Standing,
    TideLine,
    ToClient,
    Watch,
    Watching,
    Welcome,
)
from samedeal.solver.solve import SOLVER
from samedeal.tides import ordered
from samedeal_server.races.log_entry import LogEntry
from samedeal_server.races.public_facts import RaceNews, news_of
from samedeal_server.races.race import Race, Racer
from samedeal_server.races.race_record import first_head
from samedeal_server.rooms.tide_tables import standing_lines
from samedeal_server.store import keys
from samedeal_server.store.events import MoveCommitted, PresenceChanged, RaceChanged, SequencedEvent
from samedeal_server.store.sessions import SESSION_LIFETIME
from samedeal_server.store.store import LIFETIME
from tests.chaos.client_journal import Evidence, Journal, ReceivedMessage, RoomEvidence, SentMessage, StoredKey
from tests.chaos.judge import Case, draws_are_honest, judge
from tests.client.lone_player import ROOM
from tests.client.server_messages import acked, board_state
from tests.shared.joint_deals import public_deal, some_bytes

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

Spoil = Callable[["Round"], object]
AnySpoil = TypeVar("AnySpoil", bound=Callable[..., object])
SEED = bytes(range(32))
START = 1_790_000_000_000
ENDS = START + 10_000
DELAY = 3_000
ANA, BOB = "aaaa", "bbbb"
NAMES = {ANA: "ana", BOB: "bob"}


def chained(events: Sequence[SequencedEvent]) -> list[SequencedEvent]:
    """Number events, each with the number of its predecessor."""
    return [replace(event, number=at + 1, previous=at) for at, event in enumerate(events)]


class Round:
    """A round with one room, the racers ana and bob, and the spectator eve. Tests may change anything in it."""

    def __init__(self) -> None:
        game = game_named("athena")
        self.deal = Play(Board.deal(game, shuffled(SEED, game.decks)), Options(undo="free").undo_rule)
        self.plays = {ANA: self.played("draw", "undo", "draw", "draw"), BOB: self.played("draw", "up")}
        self.logs = {player: self.log(player, plays) for player, plays in self.plays.items()}
        self.race = Race(
            room="friday",
            options=Options(games=("athena",), undo="free", limit=10, delay=DELAY // 1000),
            round=0,
            deal="random",
            commitment=commitment(SEED),
            private=False,
            created=START - 9_000,
            changed_at=ENDS,
            phase="finished",
            racers=(Racer(ANA, "ana", 1), Racer(BOB, "bob", 2)),
            starts=START,
            ends=ENDS,
            seed=SEED,
            next="friday-2",
            standings=self.standings(),
        )
        self.heads = {racer.player: self.chain(racer) for racer in self.race.racers}
        self.journals = {
            "ana": self.racer("ana", ANA),
            "bob": self.racer("bob", BOB),
            "eve": self.spectator(),
        }
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
        self.tides: dict[tuple[str, int], tuple[TideLine, ...]] = {}
        self.alter_events: Callable[[list[SequencedEvent]], list[SequencedEvent]] = lambda events: events

    def played(self, *actions: str) -> list[tuple[str, Play]]:
        """The plays after each action. The action ``up`` stands for some legal transfer."""
        plays = [("", self.deal)]
        for action in actions:
            play = plays[-1][1]
            if action == "up":
                action = str(next(move for move in play.board.legal_moves() if move.is_transfer))
            plays.append((action, play.act(action if action == UNDO else Move.parse(action))))
        return plays

    def log(self, player: str, plays: list[tuple[str, Play]]) -> list[LogEntry]:
        return [
            LogEntry(
                revision=play.revision,
                request=100 + play.revision,
                action=action,
                seen=play.seen,
                foundation_cards=play.board.foundation_cards,
                moves=play.moves,
                undos=play.undos,
                committed_at=START + 1_000 * play.revision,
            )
            for action, play in plays[1:]
        ]

    def chain(self, racer: Racer) -> list[bytes]:
        heads = [first_head(self.race, racer)]
        for entry in self.logs[racer.player]:
            heads.append(next_head(heads[-1], entry.revision, entry.committed_at - START, entry.action))
        return heads

    def standings(self) -> tuple[Standing, ...]:
        ends = {player: plays[-1][1] for player, plays in self.plays.items()}
        cards = {player: play.board.foundation_cards for player, play in ends.items()}
        return tuple(
            Standing(
                place=1 + sum(other > cards[player] for other in cards.values()),
                player=player,
                name=NAMES[player],
                foundation_cards=cards[player],
                time=0,
                moves=ends[player].moves,
                undos=ends[player].undos,
            )
            for player in sorted(ends, key=lambda player: -cards[player])
        )

    def state(self, phase: Any) -> RoomState:
        over = phase == "finished"
        return replace(
            ROOM,
            event=99 if over else 1,
            phase=phase,
            game="athena",
            deal="random",
            options=self.race.options,
            host=ANA,
            players=(Seat(player=ANA, name="ana", seat=1), Seat(player=BOB, name="bob", seat=2)),
            tallies=(),
            commitment=self.race.commitment,
            starts=START,
            ends=ENDS,
            seed=SEED if over else b"",
            standings=self.race.standings if over else (),
        )

    def racer(self, name: str, player: str) -> Journal:
        journal = Journal(name, "friday", player=player, tokens=[f"{name}-token"], saw_the_end=True)
        deal = self.deal
        journal.sent.append(SentMessage(1, Join(id=1, room="friday")))
        journal.received += [
            ReceivedMessage(1, Joined(to=1, room="friday", seat=1, generation=1), START - 100),
            ReceivedMessage(1, replace(board_state("friday", deal), head=self.heads[player][0]), START + 1),
        ]
        for action, play in self.plays[player][1:]:
            act = Act(id=100 + play.revision, revision=play.revision - 1, action=action)
            journal.sent.append(SentMessage(1, act))
            at = self.logs[player][play.revision - 1].committed_at
            ack = acked(play, act, at)
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
            board = DelayedBoard(
                player=player, revision=0, piles=self.deal.board.masked().piles, moves=0, undos=0, time=START
            )
            journal.received.append(ReceivedMessage(1, board, START + DELAY))
            action, play = self.plays[player][1]
            at = START + 1_000
            move = DelayedMove(player=player, revision=1, action=action, seen=play.seen, time=at)
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
            tides=self.tides,
        )

    def race_before(self) -> Race:
        """The race before its end."""
        racers = tuple(replace(racer, resigned=False) for racer in self.race.racers)
        return replace(self.race, phase="countdown", racers=racers, seed=b"", standings=())

    def change(self, name: str, kind: type[ToClient], **fields: Any) -> None:
        """Change fields of the last message of a type that a client received."""
        received = self.journals[name].received
        at = max(number for number, each in enumerate(received) if isinstance(each.message, kind))
        received[at] = altered(received[at], message=replace(received[at].message, **fields))

    def add_received(self, name: str, message: ToClient, at: int = START + 5_000) -> None:
        self.journals[name].received.append(ReceivedMessage(1, message, at))


JUDGED: list[ParameterSet] = []
JUDGED_DRAWS: list[ParameterSet] = []


def judged(*sentences: str, among: list[ParameterSet] = JUDGED) -> Callable[[AnySpoil], AnySpoil]:
    """Mark a function that changes a round. Each sentence is part of a violation that the judge then reports."""

    def add(spoil: AnySpoil) -> AnySpoil:
        among.append(pytest.param(spoil, sentences, id=spoil.__name__))
        return spoil

    return add


judged_draw = partial(judged, among=JUDGED_DRAWS)
"""Mark a function that changes a round with a joint deal. The judge says this about its draws, and nothing else."""


def check(spoil: Spoil, *sentences: str) -> None:
    """Change a round and check that each sentence is part of a violation that the judge reports."""
    played = Round()
    spoil(played)
    found = judge(played.evidence())
    for sentence in sentences:
        assert any(sentence in violation for violation in found), found
    assert bool(found) == bool(sentences), found


def test_faultless_round_has_no_violations() -> None:
    check(lambda played: None)


def test_table_of_a_tide_without_a_result_is_found() -> None:
    def of_tide(played: Round) -> None:
        played.race = replace(played.race, tide=START)
        played.tides["athena", START] = ordered(standing_lines(played.race, played.race.standings))

    def short(played: Round) -> None:
        of_tide(played)
        played.tides["athena", START] = played.tides["athena", START][:1]

    check(of_tide)
    check(short, "the table of the tide in athena")


@judged("ana: was sent another table of the series")
def wrong_table_of_a_series(played: Round) -> None:
    played.race = replace(played.race, options=replace(played.race.options, series=2))


SPOILED: dict[str, Spoil] = {
    "is lost": lambda played: played.logs[ANA].pop(),
    "was acked as revision 4, the log has": lambda played: played.logs[ANA].append(
        replace(played.logs[ANA].pop(), request=7)
    ),
    "can't be played": lambda played: played.logs[BOB].append(replace(played.logs[BOB].pop(), action="1 1")),
    "are not 1, 2, 3": lambda played: played.logs[BOB].pop(0),
    "differs from its replay": lambda played: played.logs[BOB].append(
        replace(played.logs[BOB].pop(), foundation_cards=5)
    ),
    "which it had not sent": lambda played: played.change("bob", Acked, to=1),
    "another board of revision 0": lambda played: played.change("ana", BoardState, piles=played.deal.board.piles),
    "which does not exist": lambda played: played.change("ana", BoardState, revision=40),
    "not answered once for each request": lambda played: played.add_received(
        "ana", Refused(to=104, code="unavailable", message="Try again")
    ),
    "bob: was sent wrong standings": lambda played: played.change("bob", RoomState, standings=()),
    "bob: was sent wrong times": lambda played: played.change("bob", RoomState, ends=ENDS + 1),
    "eve: was sent the seed (none)": lambda played: played.change("eve", RoomState, seed=b""),
    "was sent the seed in a Acked": lambda played: played.change("ana", Acked, seen=SEED),
    "event 98 after event 99": lambda played: played.add_received("eve", replace(played.state("finished"), event=98)),
    "ana: is racing and was sent a DelayedBoard": lambda played: played.add_received(
        "ana", DelayedBoard(player=BOB, revision=0, piles=(), moves=0, undos=0, time=START)
    ),
    "eve: saw another board": lambda played: played.change("eve", DelayedBoard, piles=()),
    "eve: saw other progress": lambda played: played.change("eve", DelayedBoard, reached=(5,)),
    "saw an action that nobody made": lambda played: played.change("eve", DelayedBoard, player="zzzz"),
    "eve: was refused as fault": lambda played: played.add_received("eve", Refused(to=-1, code="fault", message="Oh")),
    "gone by itself": lambda played: played.node_failures.append("node-1.log: gone by itself"),
    "was told 2 times": lambda played: played.news.extend([told(played.race)] * 2),
    "bytes of Redis": lambda played: played.keys.append(StoredKey(keys.events("friday"), LIFETIME, 150_000)),
}


@pytest.mark.parametrize(("sentence", "spoil"), SPOILED.items(), ids=SPOILED)
def test_violation_is_found(sentence: str, spoil: Spoil) -> None:
    check(spoil, sentence)


@judged("which was not sent")
def action_logged_twice(played: Round) -> None:
    last = played.logs[ANA][-1]
    played.logs[ANA].append(replace(last, revision=last.revision + 1))


def test_action_that_nobody_sent_is_found() -> None:
    check(lambda played: played.journals["ana"].sent.pop(), "which was not sent", "which it had not sent")


@pytest.mark.parametrize("at", [START - 1, ENDS, ENDS + 7])
def test_action_outside_the_race_is_found(at: int) -> None:
    check(
        lambda played: played.logs[BOB].append(replace(played.logs[BOB].pop(), committed_at=at)),
        "outside the time of the race",
    )


@pytest.mark.parametrize(
    ("first", "sentences"), [(True, ()), (False, ("action 2 counts outside the time of the race",))]
)
def test_first_finish_ends_the_race(first: bool, sentences: tuple[str, ...]) -> None:
    """Within the same millisecond, actions before the finish count, and actions after it do not."""

    def finish_together(played: Round) -> None:
        played.race = replace(played.race, options=replace(played.race.options, first_finish_ends=True))
        for name in played.journals:
            for at, received in enumerate(played.journals[name].received):
                if isinstance(received.message, RoomState):
                    played.journals[name].received[at] = altered(
                        received, message=replace(received.message, options=played.race.options)
                    )

        for name, player in (("ana", ANA), ("bob", BOB)):
            played.logs[player].append(replace(played.logs[player].pop(), committed_at=ENDS))
            played.change(name, Acked, time=ENDS)

        def with_early_finish(events: list[SequencedEvent]) -> list[SequencedEvent]:
            result = []
            for each in events:
                event = each.event
                if isinstance(event, MoveCommitted) and (event.player, event.revision) == (
                    (BOB, 2) if first else (ANA, 4)
                ):
                    event = replace(event, finished=True)
                result.append(replace(each, event=event))
            return result

        played.alter_events = with_early_finish

    check(finish_together, *sentences)


@pytest.mark.parametrize("stepped", [0, 3_000])
def test_log_times_that_go_backwards_are_found(stepped: int) -> None:
    """Even if the clock is set back, the times in a log must not be."""

    def go_back(played: Round) -> None:
        played.stepped = stepped
        played.logs[ANA].append(replace(played.logs[ANA].pop(), committed_at=START + 1))

    check(go_back, "go backwards")


@pytest.mark.parametrize(
    "fields",
    [
        {"hash": b"otherhash"[:8]},
        {"seen": b"\x01"},
        {"time": START},
        {"may_undo": False},
    ],
    ids=lambda fields: next(iter(fields)),
)
def test_ack_with_another_outcome_is_found(fields: dict[str, Any]) -> None:
    check(lambda played: played.change("bob", Acked, **fields), "with another board than the log's")


def test_two_answers_to_an_action_are_found() -> None:
    """They can't both match the log."""
    check(
        lambda played: played.journals["ana"].received.append(
            ReceivedMessage(2, Acked(to=104, time=START, hash=b"", receipt=b""), START + 4_900)
        ),
        "with another board than the log's",
    )


@pytest.mark.parametrize("code", ["illegal", "cannot_undo", "time_up", "stale", "already_finished"])
def test_refused_action_in_the_log_is_found(code: str) -> None:
    def refuse(played: Round) -> None:
        played.journals["ana"].sent.append(SentMessage(1, Act(id=104, revision=3, action="draw")))
        played.add_received("ana", Refused(to=104, code=code, message="No", revision=4))

    check(refuse, f"is in the log and was refused as {code}")


@judged()
def early_action_may_count_later(played: Round) -> None:
    played.journals["ana"].sent.append(SentMessage(1, Act(id=104, revision=3, action="draw")))
    played.add_received("ana", Refused(to=104, code="stale", message="Not yet", revision=1))


@judged("was sent over a replaced connection")
def action_over_a_replaced_connection(played: Round) -> None:
    came = PresenceChanged(BOB, 2, connected=True)
    played.alter_events = lambda events: chained([SequencedEvent(0, 0, START, came), *events])


def test_board_that_never_existed_is_found() -> None:
    check(lambda played: played.change("ana", BoardState, hash=b"12345678"), "another board of revision 0")
    check(lambda played: played.change("ana", BoardState, head=bytes(16)), "another board of revision 0")
    check(lambda played: played.change("ana", BoardState, may_undo=True), "another board of revision 0")


@judged("not answered once for each request")
def answers_out_of_order(played: Round) -> None:
    received = played.journals["ana"].received
    received[3], received[4] = received[4], received[3]


@judged("the race is racing, not finished")
def unfinished_race(played: Round) -> None:
    played.race = replace(played.race, phase="racing")


@judged("finished 6.0 s after its end")
def late_end(played: Round) -> None:
    played.finished_at = ENDS + 6_000


@judged("bob: learned of the end 7.0 s after it")
def late_announcement_of_the_end(played: Round) -> None:
    received = played.journals["bob"].received
    received[-1] = altered(received[-1], received_at=played.finished_at + 7_000)


@judged("finished 2 times")
def race_finished_twice(played: Round) -> None:
    played.alter_events = lambda events: chained([*events, events[-1]])


@judged("the events have a gap", "the events differ from the log")
def gap_in_events(played: Round) -> None:
    played.alter_events = lambda events: [*events[:1], *events[2:]]


@pytest.mark.parametrize(
    "fields", [{"foundation_cards": 9}, {"time": 5}, {"moves": 1}, {"place": 4}], ids=lambda each: next(iter(each))
)
def test_wrong_standings_are_found(fields: dict[str, Any]) -> None:
    def other(played: Round) -> None:
        first, second = played.race.standings
        played.race = replace(played.race, standings=(replace(first, **fields), second))

    check(other, "the replay gives", "was sent wrong standings")


@judged("ana: has not resigned, contrary to the answers")
def resigned(played: Round, at: int = START + 4_500) -> None:
    """Ana resigns and gets an acknowledgement."""
    played.journals["ana"].sent.append(SentMessage(1, Resign(id=500)))
    received = played.journals["ana"].received
    received.insert(len(received) - 1, ReceivedMessage(1, Done(to=500), at))


@judged("ana: has resigned, contrary to the answers")
def out(played: Round) -> None:
    """The race records that ana has resigned."""
    ana, bob = played.race.racers
    standings = tuple(replace(line, resigned=line.player == ANA) for line in played.race.standings)
    played.race = replace(played.race, racers=(replace(ana, resigned=True), bob), standings=standings)
    for journal in played.journals.values():
        journal.received[-1] = altered(journal.received[-1], message=played.state("finished"))


@judged()
def resignation_is_no_violation(played: Round) -> None:
    resigned(played)
    out(played)


def test_resignation_after_the_race_is_no_violation() -> None:
    check(lambda played: resigned(played, at=ENDS + 1))


@judged("ana: action 1 counts although it came after the resignation")
def action_after_the_resignation(played: Round) -> None:
    resigned(played)
    out(played)
    first = SequencedEvent(0, 0, START, RaceChanged(played.race, ("resigned",), ANA))
    played.alter_events = lambda events: chained([first, *events])


@judged("does not match the commitment", "was sent a wrong commitment")
def seed_unlike_its_commitment(played: Round) -> None:
    played.race = replace(played.race, commitment=commitment(bytes(32)))


@judged("friday: the deal is not proven")
def deal_of_another_day(played: Round) -> None:
    proof = str(public_deal("ace-of-hearts"))
    played.race = replace(played.race, deal="daily 2026-11-22", solver=SOLVER, seed=b"", proof=proof)


def drawn(played: Round) -> None:
    """Give a round a joint deal of the two racers, in the second draw. Cid was silent in the first one."""
    shares = tuple(
        RevealedShare(seat, name, share_commitment("friday", name, 2, some_bytes(name)), some_bytes(name))
        for seat, name in ((1, "ana"), (2, "bob"))
    )
    lost = (LostShare(1, 3, "silent", "cid"),)
    race = replace(played.race, deal="winnable", solver=SOLVER, draw=2, lost=lost, shares=shares, seed=b"")
    played.race = replace(race, commitment=secret_commitment(race.terms, SEED))
    found = won_candidates(mix(SEED, [(share.seat, share.share) for share in shares]), race.game, race.budget, count())
    won = next(found)
    terms, line = played.race.terms, won.line
    proof = DealProof(terms, played.race.commitment, SEED, 2, lost, shares, won.number, line)
    played.race = replace(played.race, proof=str(proof))
    for name in ("ana", "bob"):
        played.journals[name].revealed[2] = tuple(share[:3] for share in shares)
        played.journals[name].sent.append(SentMessage(2, RevealShare(id=950, draw=2, share=some_bytes(name))))
        played.add_received(name, Done(to=950))
        played.add_received(name, shown(played))


def shown(played: Round) -> RoomState:
    """The room after the draw, as all are shown it."""
    race = played.race
    return replace(
        played.state("racing"),
        draw=2,
        lost=tuple(LostSeat(**lost._asdict()) for lost in race.lost),
        shares=tuple(DrawnShare(**share._asdict()) for share in race.shares),
    )


def check_draw(spoil: Spoil, *sentences: str) -> None:
    """Change a round with a joint deal, and compare what the judge says about its draws."""
    played = Round()
    played.race = replace(played.race, budget=100_000)
    drawn(played)
    spoil(played)
    evidence = played.evidence()
    found = list(draws_are_honest(Case(evidence, {})))
    assert len(found) == len(sentences), found
    for sentence, violation in zip(sentences, found, strict=True):
        assert sentence in violation


def test_honest_draw_has_no_violations() -> None:
    check_draw(lambda played: None)


@judged_draw("ana: the deal was drawn from other seats than those shown in draw 2")
def deal_of_other_seats_than_shown(played: Round) -> None:
    played.journals["ana"].revealed[2] = played.journals["ana"].revealed[2][:1]


def test_racer_who_did_not_reveal_is_found() -> None:
    check_draw(lambda played: played.journals["bob"].revealed.clear(), "bob: the deal was drawn from other seats")


def test_seats_shown_in_another_draw_do_not_matter() -> None:
    check_draw(lambda played: played.journals["bob"].revealed.update({1: ()}))


@judged_draw("cid: revealed its share in draw 1, and is listed as silent")
def silent_player_who_had_revealed(played: Round) -> None:
    journal = played.journals["eve"]
    journal.name = "cid"
    journal.sent.append(SentMessage(1, RevealShare(id=7, draw=1, share=bytes(32))))
    played.add_received("eve", Done(to=7))


@judged_draw()
def silent_player_whose_share_was_refused_is_not_found(played: Round) -> None:
    journal = played.journals["eve"]
    journal.name = "cid"
    journal.sent.append(SentMessage(1, RevealShare(id=7, draw=1, share=bytes(32))))
    played.add_received("eve", Refused(to=7, code="bad_share", message="too late"))


@judged_draw("ana: was shown other shares than those of the deal")
def other_shares_than_those_of_the_deal(played: Round) -> None:
    played.change("ana", RoomState, shares=shown(played).shares[:1])


@judged_draw()
def shares_of_an_earlier_draw_are_not_compared(played: Round) -> None:
    played.change("ana", RoomState, draw=1, shares=shown(played).shares[:1])


@judged_draw("bob: was shown other lost seats than those of the race")
def other_lost_seats_than_those_of_the_race(played: Round) -> None:
    played.change("bob", RoomState, lost=(LostSeat(draw=1, seat=3, name="cid", reason="left"),))


@judged_draw("friday: dan lost seat 4 in draw 1 and is not listed")
def lost_seat_that_is_not_listed(played: Round) -> None:
    dan = Racer("dddd", "dan", 4)
    drawing = replace(played.race_before(), draw=1, lost=(), shares=(), proof="", racers=(*played.race.racers, dan))
    before = SequencedEvent(0, 0, START - 2, RaceChanged(drawing, ("countdown",), ""))
    played.alter_events = lambda events: chained([before, *events])


@judged_draw("friday: the list of lost seats was changed")
def changed_list_of_lost_seats(played: Round) -> None:
    lost = (LostShare(1, 3, "left", "cid"),)
    before = SequencedEvent(0, 0, START - 2, RaceChanged(replace(played.race_before(), lost=lost), ("left",), ""))
    played.alter_events = lambda events: chained([before, *events])


def test_proof_of_another_draw_is_found() -> None:
    def spoil(played: Round) -> None:
        drawn(played)
        played.race = replace(played.race, draw=3)

    played = Round()
    played.race = replace(played.race, budget=100_000)
    spoil(played)
    assert any("friday: the proof is about another draw" in violation for violation in judge(played.evidence()))


def test_room_that_could_not_draw_its_deal_need_not_finish() -> None:
    def spoil(played: Round) -> None:
        played.race = replace(played.race, phase="closed", standings=(), seed=b"")

    played = Round()
    spoil(played)
    last = SequencedEvent(0, 0, ENDS, RaceChanged(played.race, ("left", "not_drawn", "closed"), ""))
    played.alter_events = lambda events: chained([*events[:-1], last])
    assert not any("not finished" in violation for violation in judge(played.evidence()))


@judged()
def exclusion_of_a_player_who_lost_the_seat_is_justified(played: Round) -> None:
    played.journals["eve"].name = "cid"
    played.journals["eve"].excluded = "race_started"
    played.race = replace(played.race, lost=(LostShare(1, 3, "silent", "cid"),))


@judged("while the race was racing", "was sent the phase racing after finished")
def early_seed(played: Round) -> None:
    played.add_received("ana", replace(played.state("racing"), event=100, seed=SEED), START + 50)


@judged("the rematch is in friday-2, other")
def two_rooms_for_a_rematch(played: Round) -> None:
    for name, room in (("ana", "friday-2"), ("bob", "other")):
        played.journals[name].sent.append(SentMessage(1, Join(id=900, room="friday")))
        played.add_received(name, Created(to=900, room=room))


@judged()
def racer_may_see_boards_after_the_race(played: Round) -> None:
    board = DelayedBoard(player=BOB, revision=0, piles=(), moves=0, undos=0, time=START)
    played.add_received("ana", board, played.finished_at)


@pytest.mark.parametrize("fields", [{"foundation_cards": 7}, {"moves": 30}, {"acted_at": 5}, {"seat": 9}], ids=str)
def test_wrong_counts_of_a_rival_are_found(fields: dict[str, Any]) -> None:
    check(
        lambda played: played.add_received("ana", played.update(BOB, **fields)),
        "ana: was sent wrong counts of",
    )


@pytest.mark.parametrize(("moves", "sentences"), [(0, ()), (1, ("wrong counts of cccc: no such seat",))])
def test_player_without_a_seat_has_no_counts(moves: int, sentences: tuple[str, ...]) -> None:
    """Cid was kicked before the start."""

    def kick(played: Round) -> None:
        race = replace(played.race_before(), racers=(*played.race.racers, Racer("cccc", "cid", 3)))
        joined = SequencedEvent(0, 0, START - 2, RaceChanged(race, ("joined",), "cccc"))
        played.alter_events = lambda events: chained([joined, *events])
        played.add_received("ana", ProgressUpdate(seat=3, moves=moves))

    check(kick, *sentences)


@judged()
def counts_of_a_lost_action_are_no_violation(played: Round) -> None:
    played.lost = range(START, START + 2_000)
    played.change("ana", ProgressUpdate, acted_at=START + 900)


@judged("5 ms too early")
def board_shown_too_early(played: Round) -> None:
    received = played.journals["eve"].received
    received[-2] = altered(received[-2], received_at=received[-2].received_at - 10)


@pytest.mark.parametrize(("early", "found"), [(3_005, []), (3_010, ["5 ms too early"])])
def test_clock_may_differ_by_its_steps(early: int, found: list[str]) -> None:
    def step(played: Round) -> None:
        played.stepped = 3_000
        received = played.journals["eve"].received
        received[-2] = altered(received[-2], received_at=received[-2].received_at - early)

    check(step, *found)


@judged()
def boards_may_be_shown_after_the_race(played: Round) -> None:
    for action, play in played.plays[BOB][2:]:
        move = DelayedMove(player=BOB, revision=play.revision, action=action, seen=play.seen, time=ENDS)
        played.add_received("eve", move, played.finished_at)


@pytest.mark.parametrize("fields", [{"action": "1 2"}, {"seen": b"\x01"}, {"revision": 2}], ids=str)
def test_wrong_move_shown_is_found(fields: dict[str, Any]) -> None:
    check(lambda played: played.change("eve", DelayedMove, **fields), "eve: saw")


@judged()
def kicked(played: Round) -> None:
    """Bob is kicked during the race, which counts as a resignation."""
    racers = [replace(racer, resigned=racer.player == BOB) for racer in played.race.racers]
    standings = [replace(line, resigned=line.player == BOB) for line in played.race.standings]
    played.race = replace(played.race, racers=tuple(racers), standings=tuple(standings), kicked=(BOB,))
    played.journals["bob"].exclude("kicked")
    for name in played.journals:
        played.change(name, RoomState, standings=played.race.standings)


@pytest.mark.parametrize("code", ["kicked", "banned", "room_closed", "race_started", "no_tide"])
def test_exclusion_without_a_reason_is_found(code: str) -> None:
    check(lambda played: played.journals["bob"].exclude(code), f"bob: was excluded as {code} without a reason")


@judged("which is more than 60 s")
def closed(played: Round) -> None:
    """The operator closes the room before the race is finished."""
    played.race = replace(played.race, phase="closed", seed=b"", standings=())
    end = RaceChanged(played.race, ("closed_by_operator", "closed"), "")
    played.alter_events = lambda events: [*events[:-1], replace(events[-1], event=end)]
    for name in played.journals:
        played.change(name, RoomState, phase="closed", seed=b"", standings=())


@judged()
def room_closed_by_the_operator_is_no_violation(played: Round) -> None:
    closed(played)
    played.keys.clear()
    played.journals["bob"].exclude("room_closed")


@judged("bob: did not see the end")
def client_without_the_end(played: Round) -> None:
    played.journals["bob"].saw_the_end = False


def test_changed_player_id_is_found() -> None:
    journal = Round().journals["bob"]
    journal.record_received(2, Welcome(to=1, session="s", player="cccc", name="bob", time=0, server=""))
    assert journal.complaints == ["was bbbb and is now cccc"]


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("Traceback (most recent call last):", "node-1.log wrote a line that is not an event"),
        ('{"event": "fault", "exception": "..."}', "node-1.log logged a fault"),
        (json.dumps({"event": "race_changed", "seed": SEED.hex()}), "node-1.log logged a secret"),
        (json.dumps({"event": "hello", "session": "ana-token"}), "node-1.log logged a secret"),
    ],
    ids=["traceback", "fault", "seed", "token"],
)
def test_faults_and_secrets_in_node_logs_are_found(line: str, sentence: str) -> None:
    check(lambda played: played.node_logs.append(f"node-1.log: {line}"), sentence)


@pytest.mark.parametrize(
    ("name", "lifetime", "sentence"),
    [
        (keys.progress("friday", ANA), None, "never expires"),
        (keys.progress("friday", ANA), LIFETIME + 1, "expires in 691201 s, which is more than 691200 s"),
        (keys.guest("0123"), SESSION_LIFETIME, "which is more than 3600 s"),
        (keys.guesses("friday", 1, "203.0.113.0"), LIFETIME, "which is more than 1200 s"),
        ("samedeal:unknown", 1, "samedeal:unknown is an unknown key"),
        (keys.log("friday", "cccc"), 60, "belongs to a player without a seat"),
        (keys.progress("friday", "cccc"), 60, "belongs to a player without a seat"),
    ],
)
def test_wrong_key_is_found(name: str, lifetime: float | None, sentence: str) -> None:
    check(lambda played: played.keys.append(StoredKey(name, lifetime, 100)), sentence)


@judged("the private room friday was told")
def news_of_a_private_room(played: Round) -> None:
    played.race = replace(played.race, private=True)
    played.news.append(told(played.race))


def told(race: Race) -> RaceNews:
    news = news_of(replace(race, private=False, finished_at=ENDS + 20), "finished")
    assert news is not None
    return news


def test_action_without_a_seat_is_found() -> None:
    move = SequencedEvent(0, 0, START + 2_000, MoveCommitted("cccc", 1, "draw", b"", 0, 1, 0, False, False))
    cid = Journal("cid", "friday", player="cccc", saw_the_end=True)
    ack = acked(Round().plays[ANA][1][1], Act(id=1, revision=0, action="draw"), START)
    cid.received.append(ReceivedMessage(1, ack, START))

    def intrude(played: Round) -> None:
        played.journals["cid"] = cid
        played.alter_events = lambda events: chained([events[0], move, *events[1:]])

    check(intrude, "friday: cccc: action 1 counts although the player has no seat", "cid: was acked an action without")


@pytest.mark.parametrize(("spoil", "sentences"), JUDGED)
def test_judge_finds_what_was_changed(spoil: Spoil, sentences: tuple[str, ...]) -> None:
    check(spoil, *sentences)


@pytest.mark.parametrize(("spoil", "sentences"), JUDGED_DRAWS)
def test_judge_finds_what_was_changed_in_a_draw(spoil: Spoil, sentences: tuple[str, ...]) -> None:
    check_draw(spoil, *sentences)
