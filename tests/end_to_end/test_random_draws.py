"""A server that deviates at random while a deal is drawn: it cannot choose the deal of a player without being noticed.

The client's part is in the process: ``JointShares`` with a journal, and ``check_deal``. Whatever the server shows, a deal
that the client calls fair follows from the shares that were promised when the client revealed its last one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace as with_fields

from samedeal.deal_proof import DealProof, LostShare, RevealedShare
from samedeal.difficulty import states_of
from samedeal.games import game_named
from samedeal.joint_deal import (
    MAX_DRAWS,
    DealTerms,
    WonCandidate,
    mix,
    secret_commitment,
    share_commitment,
    won_candidates,
)
from samedeal.options import Options
from samedeal.protocol.messages import (
    CommitShare,
    DrawnShare,
    Joined,
    LostSeat,
    Phase,
    RevealShare,
    RoomState,
    Seat,
    Welcome,
)
from samedeal.solver.solve import SOLVER
from samedeal_client.net.joint_shares import JointShares
from samedeal_client.state.deal_check import Verdict
from samedeal_client.state.deal_verification import check_deal
from samedeal_client.state.draws import ShownSeat, shown_seats
from samedeal_client.state.journal_file import RaceJournals, draw_difference
from samedeal_client.state.model import Model
from tests.client.server_messages import room_state
from tests.shared.joint_deals import some_bytes

GAME: Final = game_named("ace-of-hearts")
ROOM: Final = "friday"
ME: Final = "ana"
LEAST, BUDGET = states_of(GAME, "easy")
pytestmark = pytest.mark.xdist_group("random draws")  # the last test counts what the first one has found

TERMS: Final = DealTerms(ROOM, GAME, SOLVER, BUDGET, LEAST)
SECRET: Final = some_bytes("secret")
COMMITMENT: Final = secret_commitment(TERMS, SECRET)
OPTIONS: Final = Options(games=(GAME.name,), deal="winnable easy")
GUESTS: Final = {1: "eve", 3: "mallory"}
SEATS: Final = {2: ME, **GUESTS}

Reveal = tuple[int, tuple[ShownSeat, ...], bytes]
"""A draw, the seats that were shown in it, and the share that the player revealed."""


def guest_share(seat: int, draw: int, variant: int) -> RevealedShare:
    """One of the shares among which the server chooses for the guest in a seat."""
    name = GUESTS[seat]
    share = some_bytes(f"{name} {draw} {variant}")
    return RevealedShare(seat, name, share_commitment(ROOM, name, draw, share), share)


@cache
def first_won(mixed: bytes) -> WonCandidate:
    return next(won_candidates(mixed, GAME, BUDGET, range(999), LEAST))


@dataclass
class Player:
    """The client of one player. ``commitments`` and ``reveals`` are all that it has sent."""

    store: RaceJournals
    model: Model = field(default_factory=Model)
    commitments: dict[int, bytes] = field(default_factory=dict)
    reveals: list[Reveal] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    drawn: int = 0

    def __post_init__(self) -> None:
        self.start()

    def start(self) -> None:
        """Start the client, which may be another process than before."""
        self.shares = JointShares(self.new_share, self.store)
        welcome = Welcome(to=1, session="s", player="me", name=ME, time=0, server="test")
        self.model = Model().after(welcome)
        self.join()

    def new_share(self) -> bytes:
        self.drawn += 1
        return some_bytes(f"share {self.drawn}")

    def join(self) -> None:
        self.shares.entered(ROOM)
        self.model = self.model.after(Joined(to=2, room=ROOM, seat=2, generation=1))
        self.starts.append(len(self.reveals))

    def see(self, state: RoomState) -> None:
        if self.shares.is_other_race(state):
            return
        request = self.shares.answer(state, "me")
        if isinstance(request, CommitShare):
            self.commitments[request.draw] = request.commitment
        if isinstance(request, RevealShare):
            self.shares.sent(with_fields(request, id=len(self.reveals) + 1))
            self.reveals.append((request.draw, shown_seats(state), request.share))
        self.model = replace(self.model.after(state), draws=self.shares.draws)


@dataclass
class Server:
    """What the server shows. ``variants`` are the shares that it chooses for its guests."""

    player: Player
    draw: int = 0
    phase: Phase = "open"
    seats: tuple[int, ...] = (1, 2, 3)
    sealed: bool = False
    own: int = 0
    variants: dict[int, int] = field(default_factory=dict)
    lost: list[LostSeat] = field(default_factory=list)
    shown: tuple[RevealedShare, ...] = ()

    def commitment(self, seat: int) -> bytes:
        if not self.sealed:
            return b""
        if seat == 2:
            return some_bytes("forged") if self.own else self.player.commitments.get(self.draw, b"")
        return guest_share(seat, self.draw, self.variants.get(seat, 0)).commitment

    def state(self) -> RoomState:
        players = tuple(
            Seat(
                player="me" if seat == 2 else SEATS[seat],
                name=SEATS[seat],
                seat=seat,
                share_commitment=self.commitment(seat),
            )
            for seat in self.seats
        )
        return room_state(
            ROOM,
            OPTIONS,
            players,
            phase=self.phase,
            commitment=COMMITMENT,
            draw=self.draw,
            lost=tuple(self.lost),
            shares=tuple(DrawnShare(**share._asdict()) for share in self.shown),
        )

    def push(self) -> None:
        self.player.see(self.state())

    def begin(self, number: int) -> None:
        self.phase, self.draw, self.sealed, self.shown = "countdown", number, False, ()
        self.push()

    def seal(self) -> None:
        self.sealed = True
        self.push()

    def lose(self, seat: int, reason: str) -> None:
        if seat in self.seats:
            self.seats = tuple(each for each in self.seats if each != seat)
            self.lost.append(LostSeat(draw=max(self.draw, 1), seat=seat, name=SEATS[seat], reason=reason))  # type: ignore[arg-type]  # one of its words

    def known(self, draw: int) -> list[RevealedShare]:
        """Return the shares that the server can prove in the player's name in a draw: those of all draws, and one more."""
        shares = [share for _, _, share in self.player.reveals[-2:]] + [some_bytes("invented")]
        return [RevealedShare(2, ME, share_commitment(ROOM, ME, draw, share), share) for share in shares]

    def prove(self, draw: int, shares: Sequence[RevealedShare]) -> RoomState:
        won = first_won(mix(SECRET, [(share.seat, share.share) for share in shares]))
        lost = [LostShare(number, 9, "left", "nobody") for number in range(1, draw)]
        proof = DealProof(TERMS, COMMITMENT, SECRET, draw, tuple(lost), tuple(shares), won.number, won.line)
        return with_fields(self.state(), phase="finished", shares=(), proof=str(proof))


STEPS: Final = st.one_of(
    st.tuples(st.just("draw"), st.sampled_from((1, 1, 3))),
    st.tuples(st.just("redraw"), st.sampled_from((1, 3))),
    st.tuples(st.just("begin"), st.sampled_from((1, 1, 1, 2, 0, -1))),
    st.tuples(
        st.sampled_from(("seal", "seal", "seal", "push", "confirm", "connect", "restart", "join", "open")), st.just(0)
    ),
    st.tuples(st.just("lose"), st.sampled_from((1, 3, 1, 3, 2))),
    st.tuples(st.sampled_from(("silence", "seat", "vary")), st.sampled_from((1, 2, 3))),
    st.tuples(st.sampled_from(("forge", "show")), st.just(0)),
)
FAIR: list[int] = []


def perform(server: Server, word: str, number: int) -> None:
    """Do one step of the server, of the network, or of the player."""
    player = server.player
    match word:
        case "confirm":
            for request in range(len(player.reveals) + 1):
                player.shares.accepted(request)
        case "connect":
            player.shares.connected()
            server.push()
        case "restart":
            player.start()
            server.push()
        case "join":
            player.join()
            server.push()
        case _:
            deviate(server, word, number)


def deviate(server: Server, word: str, number: int) -> None:
    """Do one step of the server."""
    match word:
        case "draw" | "redraw":
            if word == "redraw":
                server.lose(number, "left")
            server.begin(min(server.draw + 1, MAX_DRAWS + 1))
            server.seal()
        case "begin":
            server.begin(min(max(server.draw + number, 1), MAX_DRAWS + 1))
        case "seal":
            server.seal()
        case "push":
            server.push()
        case "open":
            server.phase, server.sealed, server.shown = "open", False, ()
            server.push()
        case "lose":
            server.lose(number, "left")
        case "silence":
            server.lose(number, "silent")
        case "seat":
            server.seats = tuple(sorted({*server.seats, number}))
        case "vary":
            server.variants[number] = 1 - server.variants.get(number, 0)
        case "forge":
            server.own = 1 - server.own
        case _:
            if server.draw and 2 in server.seats:
                server.shown = tuple(sorted((*guests_of(server), server.known(server.draw)[0])))
                server.push()


def guests_of(server: Server) -> list[RevealedShare]:
    return [
        guest_share(seat, min(max(server.draw, 1), MAX_DRAWS), server.variants.get(seat, 0))
        for seat in server.seats
        if seat in GUESTS
    ]


TWEAKS: Final = st.sampled_from(("omit", "vary", "add", "own", "draw"))


def every_share(draw: int) -> list[RevealedShare]:
    return [guest_share(seat, draw, variant) for seat in GUESTS for variant in (0, 1)]


def tweaked(server: Server, word: str, draw: int, shares: list[RevealedShare]) -> tuple[int, list[RevealedShare]]:
    """Change the shares from which the server claims to have dealt."""
    mine = next(share for share in shares if share.seat == 2)
    guests = [share for share in shares if share is not mine]
    match word:
        case "omit":
            guests = guests[1:]
        case "vary":
            guests = [
                next(other for other in every_share(draw) if other.seat == share.seat and other != share)
                for share in guests
            ]
        case "add":
            present = {share.seat for share in guests}
            guests += [share for share in every_share(draw)[::2] if share.seat not in present]
        case "own":
            mine = server.known(draw)[0]
        case _:
            draw = draw % MAX_DRAWS + 1
            guests = [guest_share(share.seat, draw, 0) for share in guests]
            mine = mine._replace(commitment=share_commitment(ROOM, ME, draw, mine.share))
    return draw, [*guests, mine]


def check_reveals(player: Player) -> None:
    """Check that the player has revealed only for one set in a draw, and in another draw only as the rules allow."""
    for at, (draw, seats, share) in enumerate(player.reveals):
        assert sum(seat.name == ME for seat in seats) == 1
        assert all(other == (draw, seats, share) for other in player.reveals[:at] if other[0] == draw)
        assert all(other[0] == draw for other in player.reveals[:at] if other[2] == share)
        assert draw <= MAX_DRAWS
    for at, ((draw, seats, _), (after, remaining, _)) in enumerate(pairwise(player.reveals), 1):
        has_joined = any(start == at for start in player.starts)
        if after != draw and not has_joined:
            assert after == draw + 1
            assert {seat[:2] for seat in remaining} < {seat[:2] for seat in seats}


@settings(max_examples=400)
@given(st.data())
def test_fair_deal_follows_from_the_last_draw(data: st.DataObject) -> None:
    with TemporaryDirectory() as directory:
        player = Player(RaceJournals(Path(directory)))
        server = Server(player)
        server.push()
        for word, number in data.draw(st.lists(STEPS, max_size=14)):
            perform(server, word, number)
            check_reveals(player)
        if 2 not in server.seats:
            server.seats = (2, *server.seats)
        last = player.reveals[-1] if player.reveals else (0, (), b"")
        draw, seats, share = data.draw(st.sampled_from([last, last, *player.reveals]))
        draw = draw or 1
        shares = [each for each in every_share(draw) if each[:3] in seats]
        shares.append(
            RevealedShare(2, ME, share_commitment(ROOM, ME, draw, share), share) if share else server.known(draw)[0]
        )
        for word in data.draw(st.lists(TWEAKS, max_size=2)):
            draw, shares = tweaked(server, word, draw, shares)
        shares.sort()
        player.see(with_fields(server.state(), phase="racing", shares=()))
        player.see(server.prove(draw, shares))
        found = check_deal(player.model)
        assert found is not None
        promised = tuple(ShownSeat(share.seat, share.name, share.commitment) for share in shares)
        is_promised = (draw, promised) == last[:2] and any(share.share == last[2] for share in shares)
        if found.verdict is Verdict.FAIR:
            FAIR.append(draw)
            assert is_promised
        journal = player.store.journal_of(player.model)
        if journal is not None and journal.draws and not is_promised:
            record = type(
                "Proved", (), {"proof": DealProof.parse(player.model.room.proof if player.model.room else "")}
            )
            assert draw_difference(record, journal.draws)  # type: ignore[arg-type]  # only the proof is compared


def test_random_server_is_sometimes_honest() -> None:
    """Otherwise the test above would prove nothing."""
    assert len(FAIR) > 5
    assert max(FAIR) > 1
