"""The judge finds what was broken: a round in which all went well, spoilt in one place a case."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace as altered
from typing import Any

import pytest
from msgspec.structs import replace

from samedeal.board import Board
from samedeal.deal import commitment, shuffled
from samedeal.games import Game
from samedeal.moves import Move
from samedeal.options import Options
from samedeal.play import UNDO, Play
from samedeal.protocol.messages import (
    Acked,
    Act,
    BoardState,
    Created,
    Done,
    Join,
    Joined,
    LateBoard,
    LateMove,
    Progress,
    Refused,
    Resign,
    RoomState,
    Seat,
    Standing,
    Tally,
    ToClient,
    Watch,
    Watching,
    Welcome,
)
from samedeal_server.race import Race, Racer
from samedeal_server.store.commits import Entry
from samedeal_server.store.events import Changed, Moved, Numbered, Presence
from tests.chaos.journal import Evidence, Journal, RoomEvidence, Said, Told
from tests.chaos.judge import judge

SEED = bytes(range(32))
START = 1_790_000_000_000
ENDS = START + 10_000
DELAY = 3_000
ANA, BOB = "aaaa", "bbbb"


def chained(events: Sequence[Numbered]) -> list[Numbered]:
    """Events, each with a number and that of the one before it."""
    return [altered(event, number=at + 1, after=at) for at, event in enumerate(events)]


class Round:
    """A round with one room, ana and bob who race, and eve who watches. Everything in it may be spoilt."""

    def __init__(self) -> None:
        game = Game.named("athena")
        self.deal = Play(Board.deal(game, shuffled(SEED, game.decks)), Options(undo="free").undo_rule)
        self.plays = {ANA: self.played("draw", "undo", "draw", "draw"), BOB: self.played("draw", "up")}
        self.logs = {player: self.log(player, plays) for player, plays in self.plays.items()}
        self.journals = {
            "ana": self.racer("ana", ANA),
            "bob": self.racer("bob", BOB),
            "eve": self.spectator(),
        }
        self.race = Race(
            room="friday",
            options=Options(games=("athena",), undo="free", limit=10, delay=DELAY // 1000),
            round=0,
            deal="random",
            commitment=commitment(SEED),
            private=False,
            created=START - 9_000,
            idle=ENDS,
            phase="finished",
            racers=(Racer(ANA, "ana", 1), Racer(BOB, "bob", 2)),
            starts=START,
            ends=ENDS,
            seed=SEED,
            next="friday-2",
            standings=self.standings(),
        )
        self.finished_at = ENDS + 20
        for name in self.journals:
            self.journals[name].told.insert(2, Told(1, self.state("racing"), START))
            self.journals[name].told.append(Told(1, self.state("finished"), self.finished_at + 5))
        self.lasting_keys: list[str] = []
        self.node_logs = ["node-1.log: " + json.dumps({"event": "race", "room": "friday"})]
        self.mishaps: list[str] = []
        self.events_spoilt: Callable[[list[Numbered]], list[Numbered]] = lambda events: events

    def played(self, *actions: str) -> list[tuple[str, Play]]:
        """Plays after each action; ``up`` is some legal transfer."""
        plays = [("", self.deal)]
        for action in actions:
            play = plays[-1][1]
            if action == "up":
                action = str(next(move for move in play.board.legal_moves() if move.is_transfer))
            plays.append((action, play.act(action if action == UNDO else Move.parse(action))))
        return plays

    def log(self, player: str, plays: list[tuple[str, Play]]) -> list[Entry]:
        return [
            Entry(
                revision=play.revision,
                request=100 + play.revision,
                action=action,
                seen=play.seen,
                up=play.board.cards_up,
                moves=play.moves,
                undos=play.undos,
                at=START + 1_000 * play.revision,
            )
            for action, play in plays[1:]
        ]

    def standings(self) -> tuple[Standing, ...]:
        ana, bob = (self.plays[player][-1][1] for player in (ANA, BOB))
        lines = [
            Standing(place=0, player=ANA, name="ana", up=ana.board.cards_up, time=0, moves=ana.moves, undos=ana.undos),
            Standing(place=0, player=BOB, name="bob", up=bob.board.cards_up, time=0, moves=bob.moves, undos=bob.undos),
        ]
        lines.sort(key=lambda line: -line.up)
        return tuple(replace(line, place=1 + sum(other.up > line.up for other in lines)) for line in lines)

    def state(self, phase: Any) -> RoomState:
        over = phase == "finished"
        return RoomState(
            room="friday",
            event=99 if over else 1,
            phase=phase,
            game="athena",
            deal="random",
            options=self.race.options,
            private=False,
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
        journal = Journal(name, "friday", player=player, tokens=[f"{name}-token"], ended=True)
        deal = self.deal
        journal.said.append(Said(1, Join(id=1, room="friday")))
        journal.told += [
            Told(1, Joined(to=1, room="friday", seat=1, generation=1), START - 100),
            Told(1, board_state(deal), START + 1),
        ]
        for action, play in self.plays[player][1:]:
            act = Act(id=100 + play.revision, revision=play.revision - 1, action=action)
            journal.said.append(Said(1, act))
            at = self.logs[player][play.revision - 1].at
            journal.told.append(Told(1, acked(act, play, at), START + 1_000 * play.revision + 2))
        rival = BOB if player == ANA else ANA
        journal.told.append(Told(1, Progress(tallies=(self.tally(rival, 1),)), START + 1_100))
        return journal

    def tally(self, player: str, revision: int) -> Tally:
        play, entry = self.plays[player][revision][1], self.logs[player][revision - 1]
        return Tally(player=player, up=play.board.cards_up, moves=play.moves, undos=play.undos, active=entry.at)

    def spectator(self) -> Journal:
        journal = Journal("eve", "friday", watches=True, player="eeee", ended=True)
        journal.said.append(Said(1, Watch(id=1, room="friday")))
        journal.told.append(Told(1, Watching(to=1, room="friday", delay=3), START))
        for player in (ANA, BOB):
            board = LateBoard(
                player=player, revision=0, piles=self.deal.board.masked().piles, moves=0, undos=0, at=START
            )
            journal.told.append(Told(1, board, START + DELAY))
            action, play = self.plays[player][1]
            at = START + 1_000
            move = LateMove(player=player, revision=1, action=action, seen=play.seen, at=at)
            journal.told.append(Told(1, move, at + DELAY + 5))
        return journal

    def evidence(self) -> Evidence:
        moved = [
            Numbered(
                0,
                0,
                entry.at,
                Moved(
                    player, entry.revision, entry.action, entry.seen, entry.up, entry.moves, entry.undos, False, False
                ),
            )
            for player, log in self.logs.items()
            for entry in log
        ]
        finished = Numbered(0, 0, self.finished_at, Changed(self.race, ("finished",), ""))
        events = chained([*moved, finished])
        room = RoomEvidence(self.race, SEED, self.logs, self.events_spoilt(events))
        return Evidence(
            {"friday": room},
            list(self.journals.values()),
            self.lasting_keys,
            self.node_logs,
            self.mishaps,
            calm=START + 5_000,
        )

    def change(self, name: str, kind: type[ToClient], **fields: Any) -> None:
        """Have someone be told the last message of a kind with other fields."""
        told = self.journals[name].told
        at = max(number for number, each in enumerate(told) if isinstance(each.message, kind))
        told[at] = altered(told[at], message=replace(told[at].message, **fields))

    def tell(self, name: str, message: ToClient, at: int = START + 5_000) -> None:
        self.journals[name].told.append(Told(1, message, at))


def board_state(play: Play) -> BoardState:
    return BoardState(
        room="friday",
        revision=play.revision,
        game="athena",
        piles=play.board.masked().piles,
        hash=play.board.state_hash(),
        moves=play.moves,
        undos=play.undos,
        stuck=play.board.stuck,
    )


def acked(act: Act, play: Play, at: int) -> Acked:
    return Acked(
        to=act.id,
        revision=play.revision,
        seen=play.seen,
        hash=play.board.state_hash(),
        up=play.board.cards_up,
        moves=play.moves,
        undos=play.undos,
        stuck=play.board.stuck,
        piles=play.board.masked().piles if act.action == UNDO else (),
        at=at,
    )


def check(spoil: Callable[[Round], object], *sentences: str) -> None:
    """Spoil a round, and see that the judge says so: each sentence is part of one of the judge's."""
    played = Round()
    spoil(played)
    found = judge(played.evidence())
    for sentence in sentences:
        assert any(sentence in violation for violation in found), found
    assert bool(found) == bool(sentences), found


def test_a_round_in_which_all_went_well_has_nothing_broken() -> None:
    check(lambda played: None)


# ---------------------------------------------------------------- what was acked, and what is kept


def test_an_acked_action_that_is_lost() -> None:
    check(lambda played: played.logs[ANA].pop(), "is lost")


def test_an_action_that_is_in_the_log_twice() -> None:
    def twice(played: Round) -> None:
        last = played.logs[ANA][-1]
        played.logs[ANA].append(replace(last, revision=last.revision + 1))

    check(twice, "which was not asked for")


def test_an_action_that_nobody_sent() -> None:
    check(lambda played: played.journals["ana"].said.pop(), "which was not asked for", "had not asked for that")


def test_an_action_that_is_kept_under_another_request() -> None:
    check(
        lambda played: played.logs[ANA].append(replace(played.logs[ANA].pop(), request=7)),
        "was acked as revision 4, the log has",
    )


def test_a_log_that_can_not_be_played() -> None:
    check(lambda played: played.logs[BOB].append(replace(played.logs[BOB].pop(), action="1 1")), "can't be played")


def test_a_log_with_a_gap() -> None:
    check(lambda played: played.logs[BOB].pop(0), "are not 1, 2, 3")


def test_counts_in_a_log_that_are_wrong() -> None:
    check(lambda played: played.logs[BOB].append(replace(played.logs[BOB].pop(), up=5)), "its replay does not")


@pytest.mark.parametrize("at", [START - 1, ENDS, ENDS + 7])
def test_an_action_out_of_time(at: int) -> None:
    check(lambda played: played.logs[BOB].append(replace(played.logs[BOB].pop(), at=at)), "out of time")


@pytest.mark.parametrize(("first", "sentences"), [(True, ()), (False, ("action 2 was taken out of time",))])
def test_who_is_first_home_sets_the_end(first: bool, sentences: tuple[str, ...]) -> None:
    """What came before in the same millisecond counts, what came after does not."""

    def home(played: Round) -> None:
        played.race = replace(played.race, options=replace(played.race.options, first_home_ends=True))
        for name in played.journals:
            for at, told in enumerate(played.journals[name].told):
                if isinstance(told.message, RoomState):
                    played.journals[name].told[at] = altered(
                        told, message=replace(told.message, options=played.race.options)
                    )
                elif isinstance(told.message, Acked) and told.message.revision == {"ana": 4, "bob": 2}[name]:
                    played.journals[name].told[at] = altered(told, message=replace(told.message, at=ENDS))
        for player in (ANA, BOB):
            played.logs[player].append(replace(played.logs[player].pop(), at=ENDS))

        def spoilt(events: list[Numbered]) -> list[Numbered]:
            spoilt = []
            for each in events:
                event = each.event
                if isinstance(event, Moved) and (event.player, event.revision) == ((BOB, 2) if first else (ANA, 4)):
                    event = replace(event, home=True)
                spoilt.append(altered(each, event=event))
            return spoilt

        played.events_spoilt = spoilt

    check(home, *sentences)


def test_a_log_that_runs_backwards() -> None:
    check(
        lambda played: played.logs[ANA].append(replace(played.logs[ANA].pop(), at=START + 1)),
        "runs backwards in time",
    )


@pytest.mark.parametrize(
    "fields",
    [{"hash": b"otherhash"[:8]}, {"up": 3}, {"seen": b"\x01"}, {"moves": 9}, {"undos": 9}, {"stuck": True}],
    ids=lambda fields: next(iter(fields)),
)
def test_an_ack_with_another_outcome(fields: dict[str, Any]) -> None:
    check(lambda played: played.change("bob", Acked, **fields), "with another board than the log's")


def test_two_answers_to_one_action() -> None:
    """Whichever comes first: both can't be what the log says."""
    check(
        lambda played: played.journals["ana"].told.append(
            Told(2, Acked(to=104, revision=4, seen=b"", hash=b"", up=0, moves=4, undos=0), START + 4_900)
        ),
        "with another board than the log's",
    )


def test_an_ack_of_another_revision() -> None:
    check(lambda played: played.change("bob", Acked, revision=1), "had not asked for that")


@pytest.mark.parametrize("code", ["illegal", "cannot_undo", "time_up", "stale", "done"])
def test_an_action_that_is_refused_and_kept(code: str) -> None:
    def refuse(played: Round) -> None:
        played.journals["ana"].said.append(Said(1, Act(id=104, revision=3, action="draw")))
        played.tell("ana", Refused(to=104, code=code, message="No", revision=4))

    check(refuse, f"is in the log and was refused as {code}")


def test_an_action_that_came_too_early_and_counts_later() -> None:
    def ahead(played: Round) -> None:
        played.journals["ana"].said.append(Said(1, Act(id=104, revision=3, action="draw")))
        played.tell("ana", Refused(to=104, code="stale", message="Not yet", revision=1))

    check(ahead)


def test_an_action_over_a_connection_that_had_been_replaced() -> None:
    def replaced(played: Round) -> None:
        came = Presence(BOB, 2, here=True)
        played.events_spoilt = lambda events: chained([Numbered(0, 0, START, came), *events])

    check(replaced, "came over a connection that had been replaced")


def test_a_board_that_never_was() -> None:
    check(lambda played: played.change("ana", BoardState, hash=b"12345678"), "another board of revision 0")


def test_a_board_that_is_not_masked() -> None:
    check(
        lambda played: played.change("ana", BoardState, piles=played.deal.board.piles),
        "another board of revision 0",
    )


def test_a_board_of_a_revision_to_come() -> None:
    check(lambda played: played.change("ana", BoardState, revision=40), "which there is not")


def test_a_request_that_is_answered_twice() -> None:
    check(
        lambda played: played.tell("ana", Refused(to=104, code="unavailable", message="Try again")),
        "not answered once for each request",
    )


def test_answers_out_of_order() -> None:
    def swap(played: Round) -> None:
        told = played.journals["ana"].told
        told[3], told[4] = told[4], told[3]

    check(swap, "not answered once for each request")


# ---------------------------------------------------------------- the race


def test_a_race_that_does_not_end() -> None:
    def racing(played: Round) -> None:
        played.race = replace(played.race, phase="racing")

    check(racing, "the race is racing, not finished")


def test_a_race_that_ends_late() -> None:
    def late(played: Round) -> None:
        played.finished_at = ENDS + 6_000

    check(late, "finished 6.0 s after its end")


def test_an_end_that_is_told_late() -> None:
    def late(played: Round) -> None:
        told = played.journals["bob"].told
        told[-1] = altered(told[-1], at=played.finished_at + 7_000)

    check(late, "bob: was told of the end 7.0 s after it")


def test_a_race_that_is_finished_twice() -> None:
    def twice(played: Round) -> None:
        played.events_spoilt = lambda events: chained([*events, events[-1]])

    check(twice, "finished 2 times")


def test_events_with_a_gap() -> None:
    def gap(played: Round) -> None:
        played.events_spoilt = lambda events: events[1:]

    check(gap, "the events don't follow each other", "the events tell other actions")


@pytest.mark.parametrize(
    "fields", [{"up": 9}, {"time": 5}, {"moves": 1}, {"place": 4}], ids=lambda each: next(iter(each))
)
def test_standings_that_do_not_follow(fields: dict[str, Any]) -> None:
    def other(played: Round) -> None:
        first, second = played.race.standings
        played.race = replace(played.race, standings=(replace(first, **fields), second))

    check(other, "by the logs they are", "was told other standings")


def test_standings_that_one_client_was_told_otherwise() -> None:
    check(lambda played: played.change("bob", RoomState, standings=()), "bob: was told other standings")


def test_an_end_that_one_client_was_told_otherwise() -> None:
    check(lambda played: played.change("bob", RoomState, ends=ENDS + 1), "bob: was told other times")


def resigned(played: Round, at: int = START + 4_500) -> None:
    """Ana asks to resign, and is told that it is done."""
    played.journals["ana"].said.append(Said(1, Resign(id=500)))
    told = played.journals["ana"].told
    told.insert(len(told) - 1, Told(1, Done(to=500), at))


def out(played: Round) -> None:
    """Ana is out."""
    ana, bob = played.race.racers
    standings = tuple(replace(line, out=line.player == ANA) for line in played.race.standings)
    played.race = replace(played.race, racers=(replace(ana, out=True), bob), standings=standings)
    for journal in played.journals.values():
        journal.told[-1] = altered(journal.told[-1], message=played.state("finished"))


def test_who_has_resigned() -> None:
    def both(played: Round) -> None:
        resigned(played)
        out(played)

    check(both)


def test_who_has_resigned_and_is_not_out() -> None:
    check(resigned, "ana: is not out, and was told otherwise")


def test_a_resignation_that_came_too_late_for_the_race() -> None:
    check(lambda played: resigned(played, at=ENDS + 1))


def test_who_is_out_and_has_not_resigned() -> None:
    check(out, "ana: is out, and was told otherwise")


def test_an_action_after_the_resignation() -> None:
    def after(played: Round) -> None:
        resigned(played)
        out(played)
        first = Numbered(0, 0, START, Changed(played.race, ("resigned",), ANA))
        played.events_spoilt = lambda events: chained([first, *events])

    check(after, "ana: action 1 counts, and came after the resignation")


def test_a_seed_that_is_not_the_one_bound_to() -> None:
    def other(played: Round) -> None:
        played.race = replace(played.race, commitment=commitment(bytes(32)))

    check(other, "not the one of the commitment", "told another commitment")


def test_a_seed_that_is_not_told() -> None:
    check(lambda played: played.change("eve", RoomState, seed=b""), "eve: was told the seed (none)")


def test_a_seed_that_is_told_too_early() -> None:
    def early(played: Round) -> None:
        played.tell("ana", replace(played.state("racing"), event=100, seed=SEED), START + 50)

    check(early, "of a race that was racing", "was told that the race is racing after it was finished")


def test_a_seed_in_another_message() -> None:
    check(lambda played: played.change("ana", Acked, seen=SEED), "was told the seed by a Acked")


def test_changes_that_come_out_of_order() -> None:
    check(lambda played: played.tell("eve", replace(played.state("finished"), event=98)), "event 98 after event 99")


def test_two_rooms_for_one_rematch() -> None:
    def two(played: Round) -> None:
        for name, room in (("ana", "friday-2"), ("bob", "other")):
            played.journals[name].said.append(Said(1, Join(id=900, room="friday")))
            played.tell(name, Created(to=900, room=room))

    check(two, "the rematch is in friday-2, other")


# ---------------------------------------------------------------- who sees what


def test_a_racer_who_sees_a_rivals_board() -> None:
    check(
        lambda played: played.tell("ana", LateBoard(player=BOB, revision=0, piles=(), moves=0, undos=0, at=START)),
        "ana: races, and was sent a LateBoard",
    )


def test_a_racer_who_sees_boards_when_the_race_is_over() -> None:
    def over(played: Round) -> None:
        board = LateBoard(player=BOB, revision=0, piles=(), moves=0, undos=0, at=START)
        played.tell("ana", board, played.finished_at)

    check(over)


@pytest.mark.parametrize("fields", [{"up": 7}, {"moves": 30}, {"active": 5}, {"player": "zzzz"}], ids=str)
def test_counts_of_a_rival_that_were_never_so(fields: dict[str, Any]) -> None:
    check(
        lambda played: played.tell("ana", Progress(tallies=(replace(played.tally(BOB, 1), **fields),))),
        "ana: was told of",
    )


def test_a_spectator_who_sees_too_early() -> None:
    def early(played: Round) -> None:
        told = played.journals["eve"].told
        told[-2] = altered(told[-2], at=told[-2].at - 10)

    check(early, "5 ms too early")


def test_a_spectator_who_sees_everything_when_the_race_is_over() -> None:
    def over(played: Round) -> None:
        for action, play in played.plays[BOB][2:]:
            move = LateMove(player=BOB, revision=play.revision, action=action, seen=play.seen, at=ENDS)
            played.tell("eve", move, played.finished_at)

    check(over)


@pytest.mark.parametrize("fields", [{"action": "1 2"}, {"seen": b"\x01"}, {"revision": 2}], ids=str)
def test_a_spectator_who_sees_another_move(fields: dict[str, Any]) -> None:
    check(lambda played: played.change("eve", LateMove, **fields), "eve: saw")


def test_a_spectator_who_sees_another_board() -> None:
    check(lambda played: played.change("eve", LateBoard, piles=()), "eve: saw another board")


def test_a_spectator_who_sees_what_nobody_did() -> None:
    check(lambda played: played.change("eve", LateBoard, player="zzzz"), "saw what nobody did")


# ---------------------------------------------------------------- the clients, the nodes and the store


def test_a_client_that_does_not_come_to_the_end() -> None:
    def stay(played: Round) -> None:
        played.journals["bob"].ended = False

    check(stay, "bob: did not come to the end")


def test_a_client_that_becomes_somebody_else() -> None:
    journal = Round().journals["bob"]
    journal.hear(2, Welcome(to=1, session="s", player="cccc", name="bob", time=0, server=""))
    assert journal.complaints == ["was bbbb and is now cccc"]


def test_a_fault_that_a_client_is_told() -> None:
    check(lambda played: played.tell("eve", Refused(to=-1, code="fault", message="Oh")), "eve: was refused as fault")


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("Traceback (most recent call last):", "node-1.log wrote what is no event"),
        ('{"event": "fault", "exception": "..."}', "node-1.log logged a fault"),
        (json.dumps({"event": "race", "seed": SEED.hex()}), "node-1.log logged a secret"),
        (json.dumps({"event": "hello", "session": "ana-token"}), "node-1.log logged a secret"),
    ],
    ids=["traceback", "fault", "seed", "token"],
)
def test_a_node_that_logs_what_it_should_not(line: str, sentence: str) -> None:
    check(lambda played: played.node_logs.append(f"node-1.log: {line}"), sentence)


def test_a_node_that_ends_by_itself() -> None:
    check(lambda played: played.mishaps.append("node-1.log: gone by itself"), "gone by itself")


def test_a_key_that_stays_for_ever() -> None:
    check(lambda played: played.lasting_keys.append("samedeal:{friday}:log:aaaa"), "never goes from Redis")
