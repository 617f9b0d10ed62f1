"""Resuming a seat or a view: what is sent on a new connection, and what follows from each answer."""

from __future__ import annotations

from itertools import count

from samedeal.protocol.messages import (
    MAX_ACTIONS_PER_RECOVER,
    Act,
    Done,
    Join,
    Joined,
    Recover,
    Refused,
    ToServer,
    Watch,
    Watching,
)
from samedeal_link.connection.resume import NextStep, Resumption
from samedeal_link.evidence.evidence import Ack
from tests.client.scripted_server import acked
from tests.golden.golden_files import assert_answers


class Resuming(Resumption):
    """A client in no room, the acknowledged actions that its evidence has, and the id of its newest request."""

    def __init__(self) -> None:
        self.known: list[Ack] = []
        self.ids = count(100)
        self.newest = 0
        self.explained = False
        super().__init__(self.number, lambda: self.known)

    def number(self) -> int:
        self.newest = next(self.ids)
        return self.newest

    def does(self, *words: str) -> NextStep:
        """Do what words of the page say. Answers are to the newest request."""
        joined = Joined(to=self.newest, room="k7", seat=1, generation=1)
        watching = Watching(to=self.newest, room="k7", delay=15)
        match words:
            case ["join", room]:
                self.accepted(Join(id=1, room=room), joined)
            case ["watch", room]:
                self.accepted(Watch(id=1, room=room), watching)
            case ["ack", *revisions]:
                self.acknowledges(*map(int, revisions))
            case ["leave"]:
                self.left()
            case ["board", revision]:
                return self.board_received(int(revision))
            case ["connect"]:
                return self.begin()
            case ["resync"]:
                return self.resync()
            case ["joined", revision]:
                return self.answered(Joined(to=self.newest, room="k7", seat=1, generation=1, revision=int(revision)))
            case ["watching"]:
                return self.answered(watching)
            case ["done"]:
                return self.answered(Done(to=self.newest))
            case ["refused", code, retry_after]:
                return self.answered(Refused(self.newest, code=code, message="No", retry_after=float(retry_after)))
            case ["cut", *joining]:
                self.disconnected(10.0, join_pending=bool(joining))
            case ["taken", at]:
                self.explained = self.explains_takeover(float(at))
            case _:
                raise AssertionError(words)
        return NextStep()

    def acknowledges(self, *revisions: int) -> None:
        """Acknowledge the actions that led to these revisions. Each has its revision as its id, time and receipt."""
        for revision in revisions:
            act = Act(id=revision, revision=revision - 1, action="3 5")
            self.known.append(Ack(revision, revision, revision, act.action, b"", may_undo=True))
            self.accepted(act, acked(act))


def sent(message: ToServer) -> str:
    match message:
        case Join(room=room, revision=revision):
            return f"join {room} with {revision}"
        case Watch(room=room):
            return f"watch {room}"
        case Recover(revision=revision, actions=actions, receipt=receipt):
            return f"recover {actions[0].id}-{actions[-1].id} on {revision} with receipt {receipt.decode()}"
        case _:
            raise AssertionError(message)


def test_seats_are_resumed_as_the_page_says() -> None:
    def answer(_: str, question: str) -> str:
        """What a client that was in no room sends and does after the last one of some events."""
        resuming = Resuming()
        step = [resuming.does(*event.split()) for event in question.split(", ")][-1]
        done = {
            "unanswered requests": step.send_pending,
            f"reconnect after {step.reconnect_after} s": step.reconnect_after is not None,
            "the seat is lost": step.seat_lost,
            "moves are lost": step.moves_lost,
            "the takeover is this client's own": resuming.explained,
            "all else waits for the seat": resuming.awaiting_seat,
        }
        return ", ".join([*map(sent, step.send), *(words for words, is_so in done.items() if is_so)]) or "nothing"

    assert_answers("resumptions", answer)


def test_answers_to_other_requests_are_not_expected() -> None:
    resuming = Resuming()
    resuming.does("join", "k7")
    resuming.begin()
    assert resuming.expects(Done(to=resuming.newest))
    assert not resuming.expects(Done(to=7))


def test_long_recovery_is_split_with_a_receipt_each() -> None:
    most = MAX_ACTIONS_PER_RECOVER
    resuming = Resuming()
    resuming.does("join", "k7")
    resuming.acknowledges(*range(1, 2 * most + 6))
    assert [sent(each) for each in resuming.board_received(3).send] == [
        f"recover {first}-{last} on {first - 1} with receipt {last}"
        for first, last in ((4, 3 + most), (4 + most, 3 + 2 * most), (4 + 2 * most, 5 + 2 * most))
    ]
