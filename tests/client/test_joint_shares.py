"""The draws of a joint deal: when a client commits to a share and reveals it, and when it does not.

A history is a list of room states as text: ``1: ana- bob`` is the first draw, in which Bob has committed and Ana has not.
A state may say who lost a seat (``lost 1 bob``), that all shares are known (``drawn``), or that the player has taken the
seat again (``joins``) or restarted the program (``restarts``).
"""

from __future__ import annotations

from hashlib import sha256
from itertools import count
from pathlib import Path

from msgspec.structs import replace

from samedeal.joint_deal import share_commitment
from samedeal.options import Options
from samedeal.protocol.messages import (
    CommitShare,
    DealRoom,
    DrawnShare,
    LostSeat,
    RevealShare,
    RoomState,
    Seat,
    SeatLostElsewhere,
)
from samedeal_client.net.joint_shares import JointShares
from samedeal_client.state.draws import UNSURE_PROBLEMS, DrawProblem
from samedeal_client.state.journal_file import NO_JOURNALS, RaceJournals
from tests.client.server_messages import room_state
from tests.golden.golden_files import assert_answers, assert_sentences

SEATS = {"ana": 1, "bob": 2, "cid": 3, "dan": 4}
SERVER = sha256(b"the server").digest()


def share_of(name: str, draw: int) -> bytes:
    """The share of another player in a draw."""
    return sha256(f"{name} {draw}".encode()).digest()


class Player:
    """Ana's client, and what it does in a history."""

    def __init__(self, directory: Path | None = None) -> None:
        self._journals = RaceJournals(directory) if directory is not None else NO_JOURNALS
        self._numbers = count()
        self.drawn: list[bytes] = []
        self.asked: list[CommitShare | RevealShare] = []
        self.commitment = SERVER
        self._start()

    def _start(self) -> None:
        self.shares = JointShares(self._new_share, self._journals)
        self.shares.entered("friday")

    def _new_share(self) -> bytes:
        self.drawn.append(sha256(b"%d" % next(self._numbers)).digest())
        return self.drawn[-1]

    def see(self, text: str) -> str:
        """Let the client see a state, and return what it does in a word."""
        if text == "joins":
            self.shares.entered("friday")
            return ""
        if text == "restarts":
            self._start()
            return ""
        request = self.shares.answer(self.state(text), "ana")
        if request is None:
            return "nothing"
        self.asked.append(request)
        if isinstance(request, RevealShare):
            numbered = replace(request, id=len(self.asked))
            self.shares.sent(numbered)
            self.shares.accepted(numbered.id)
            return "reveals"
        return "commits"

    def state(self, text: str) -> RoomState:
        """The room state that a text stands for."""
        number, _, rest = text.partition(": ")
        seated, *more = rest.split("; ")
        draw = int(number)
        names = seated.split()
        lost = tuple(
            LostSeat(draw=int(each.split()[1]), seat=SEATS[each.split()[2]], name=each.split()[2], reason="silent")
            for each in more
            if each.startswith("lost")
        )
        rooms = next((each.split()[1:] for each in more if each.startswith("with")), [])
        gone = [each.split()[1:] for each in more if each.startswith("gone")]
        seats = tuple(self._seat(name, draw) for name in names)
        shares: tuple[DrawnShare, ...] = ()
        if "drawn" in more:
            shares = tuple(
                DrawnShare(
                    seat=each.seat, name=each.name, commitment=each.share_commitment, share=self._share(each.name, draw)
                )
                for each in seats
            )
            seats = tuple(replace(each, share_commitment=b"") for each in seats)
        phase = next((each for each in ("racing", "open") if each in more), "countdown")
        return room_state(
            "friday",
            Options(deal="winnable"),
            seats,
            phase=phase,
            commitment=self.commitment,
            draw=draw,
            lost=lost,
            shares=shares,
            rooms=tuple(DealRoom(room=room, seal=share_of(room, draw), digest=b"") for room in rooms),
            elsewhere=tuple(
                SeatLostElsewhere(draw=int(number), room=room, seat=9, name="hal", reason="left")
                for number, room in gone
            ),
        )

    def _share(self, name: str, draw: int) -> bytes:
        if name != "ana":
            return share_of(name, draw)
        sent = [each.commitment for each in self.asked if isinstance(each, CommitShare) and each.draw == draw]
        return next(
            (share for share in self.drawn if share_commitment("friday", "ana", draw, share) in sent), bytes(32)
        )

    def _seat(self, text: str, draw: int) -> Seat:
        """A seat. The name may be followed by ``-`` for no commitment, or by ``!`` for another one than expected."""
        name = text.rstrip("-!")
        commitment = share_commitment("friday", name, draw, self._share(name, draw))
        if text.endswith("!"):
            commitment = sha256(commitment).digest()
        return Seat(
            player=name, name=name, seat=SEATS[name], share_commitment=b"" if text.endswith("-") else commitment
        )


def told(history: str, directory: Path | None = None) -> tuple[str, DrawProblem | None]:
    """What the client does after the last state of a history, and the problem that it has found."""
    player = Player(directory)
    done = [player.see(text) for text in history.split(" | ")]
    return done[-1], player.shares.draws.problem


FIRST = "1: ana- bob- cid- | 1: ana bob cid"


def test_client_follows_the_rules_of_a_draw_as_the_page_says(tmp_path: Path) -> None:
    """Also if the program is started again before the last state. Only what it had been told of answers is forgotten."""
    number = count()

    def answer(heading: str, question: str) -> str:
        history = " | ".join(filter(None, (heading.partition("fter ")[2], question)))
        *before, last = history.split(" | ")
        does, problem = told(history)
        restarted = told(" | ".join([*before, "restarts", last]), tmp_path / str(next(number)))
        # The restarted program does not know that its share was confirmed.
        assert restarted == (does, DrawProblem.UNHEARD if problem is DrawProblem.DENIED else problem)
        return f"{does}{f', {problem.name}' if problem else ''}"

    assert_answers("draws", answer)


def test_unconfirmed_share_is_no_accusation() -> None:
    player = Player()
    for text in FIRST.split(" | "):
        request = player.shares.answer(player.state(text), "ana")
        assert request is not None
        player.asked.append(request)
    player.shares.sent(RevealShare(id=9, draw=1, share=bytes(32)))
    player.shares.answer(player.state("2: bob- cid-; lost 1 ana"), "ana")
    assert player.shares.draws.problem is DrawProblem.UNHEARD


def test_client_without_a_store_says_nothing_about_shares_that_it_missed() -> None:
    player = Player()
    assert player.see("1: ana bob; drawn; racing") == "nothing"
    assert player.shares.draws.problem is None


def test_client_takes_no_part_in_a_room_that_it_did_not_enter() -> None:
    player = Player()
    other = replace(player.state("1: ana- bob-"), room="monday")
    assert player.shares.answer(other, "ana") is None
    assert player.drawn == []


def test_client_does_not_follow_into_a_room_that_was_opened_anew() -> None:
    player = Player()
    player.see("1: ana- bob-")
    player.commitment = bytes(32)
    anew = player.state("1: ana- bob-")
    assert player.shares.is_other_race(anew)
    player.shares.entered("friday")  # the player has joined again
    assert not player.shares.is_other_race(anew)
    assert player.see("1: ana- bob-") == "commits"
    assert len(player.drawn) == 2  # no share serves twice


def test_problems_are_explained() -> None:
    lines = [f"{each.name.lower()}{' (unsure)' * (each in UNSURE_PROBLEMS)}\t{each.value}" for each in DrawProblem]
    assert_sentences("draws of joint deals", lines)
