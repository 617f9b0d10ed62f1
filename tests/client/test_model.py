"""What a client knows after each message: moves shown before they are acknowledged, taken back, made up for, and proven."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from samedeal.board import Board
from samedeal.deal import Deal, commitment, shuffled
from samedeal.errors import PlayError
from samedeal.games import Game
from samedeal.moves import DRAW, Move
from samedeal.options import Options
from samedeal.play import UNDO, Play, Undo
from samedeal.protocol.messages import (
    Acked,
    Act,
    BoardState,
    Joined,
    LateBoard,
    LateMove,
    Phase,
    Progress,
    Refused,
    RoomState,
    Seat,
    Tally,
    Watching,
    Welcome,
)
from samedeal_client.rooms.model import Model, Rollback
from samedeal_client.rooms.proof import proof

START = 1_790_000_000_000


class Server:
    """The server's side of one player's race, and the model of that player's client."""

    def __init__(self, game: str = "willow", *, deal: str = "#7", undo: str = "no-reveal") -> None:
        self.options = Options(games=(game,), deal=deal, undo=undo)  # type: ignore[arg-type]  # one of its words
        self.game = Game.named(game)
        self.seed = Deal.parse(deal).public_seed()
        self.play = Play(Board.deal(self.game, shuffled(self.seed, self.game.decks)), Undo(undo))
        self.dealt = self.play
        self.model = Model().after(Welcome(to=1, session="s", player="me", name="ana", time=START, server="test"))
        self.model = self.model.after(Joined(to=2, room="k7", seat=1, generation=1)).after(self.state("racing"))
        self.last_id = 10
        self.tell_board()

    def state(self, phase: Phase, *, room: str = "k7", **changes: Any) -> RoomState:
        state = RoomState(
            room=room,
            event=3,
            phase=phase,
            game=self.game.name,
            deal=self.options.deal,
            options=self.options,
            private=False,
            host="me",
            players=(Seat(player="me", name="ana", seat=1), Seat(player="you", name="bo", seat=2)),
            tallies=(Tally(player="me"), Tally(player="you")),
            commitment=commitment(self.seed),
            starts=START,
            ends=START + 900_000,
            seed=self.seed if phase == "finished" else b"",
        )
        return msgspec.structs.replace(state, **changes)

    def tell_board(self) -> None:
        board = self.play.board
        self.model = self.model.after(
            BoardState(
                room="k7",
                revision=self.play.revision,
                game=self.game.name,
                piles=board.masked().piles,
                hash=board.state_hash(),
                moves=self.play.moves,
                undos=self.play.undos,
                stuck=board.stuck,
            )
        )

    def act(self, action: Move | str, at: int = START) -> Act:
        """The player acts; nothing is answered yet."""
        self.last_id += 1
        self.model, act = self.model.acting(action, self.last_id, at)
        return act

    def answer(self, act: Act) -> Acked:
        """The server's acknowledgement, not heard yet."""
        self.play = self.play.act(act.action, act.revision)
        board = self.play.board
        return Acked(
            to=act.id,
            revision=self.play.revision,
            seen=self.play.seen,
            hash=board.state_hash(),
            up=board.cards_up,
            moves=self.play.moves,
            undos=self.play.undos,
            stuck=board.stuck,
            piles=board.masked().piles if act.action == UNDO else (),
        )

    def ack(self, act: Act) -> None:
        self.model = self.model.after(self.answer(act))

    def refuse(self, act: Act, code: str = "illegal", revision: int | None = None) -> None:
        known = self.play.revision if revision is None else revision
        self.model = self.model.after(Refused(to=act.id, code=code, message="No", revision=known))

    @property
    def acknowledged(self) -> Play:
        assert self.model.play is not None
        return self.model.play

    def astray(self) -> bool:
        return self.model.astray

    def unsettled(self) -> bool:
        return self.model.unsettled

    @property
    def shown(self) -> Board:
        assert self.model.board is not None
        return self.model.board

    def legal(self, count: int = 1) -> list[Move]:
        """Moves that can be made one after another and turn up nothing."""
        moves = []
        board = self.play.board
        for _ in range(count):
            move = next(m for m in board.legal_moves() if not board.turns_up(m) and not board.is_null(m))
            board = board.play(move).board
            moves.append(move)
        return moves


# ---------------------------------------------------------------- moving


def test_a_move_that_turns_up_nothing_is_shown_at_once() -> None:
    server = Server()
    [move] = server.legal()
    before = server.shown
    act = server.act(move)
    assert act.revision == 0
    assert server.shown == before.play(move).board
    assert server.acknowledged.board == before
    server.ack(act)
    assert server.acknowledged.board == server.shown == server.play.board.masked()
    assert server.model.pending == ()


def test_moves_follow_each_other_without_waiting() -> None:
    server = Server()
    acts = [server.act(move) for move in server.legal(3)]
    assert [act.revision for act in acts] == [0, 1, 2]
    shown = server.shown
    for act in acts:
        server.ack(act)
        assert server.shown == shown
    assert server.acknowledged.revision == 3


def test_what_turns_up_a_card_waits_for_its_face_and_holds_up_what_comes_after() -> None:
    server = Server("athena")
    dealt = server.shown
    draw = server.act(DRAW)
    assert server.shown == dealt
    assert server.unsettled()
    second = server.act(DRAW)
    assert second.revision == 1
    server.ack(draw)
    assert server.shown == server.play.board.masked()
    assert server.unsettled()
    server.ack(second)
    assert not server.unsettled()
    assert server.shown.piles[server.game.waste_at][-1] == server.play.board.piles[server.game.waste_at][-1]


def test_a_move_that_is_known_to_be_illegal_is_not_even_sent() -> None:
    server = Server()
    with pytest.raises(PlayError, match="onto itself"):
        server.model.acting("1 1", 99, START)
    with pytest.raises(PlayError, match="no pile"):
        server.model.acting("8 1", 99, START)


def test_after_an_unknown_card_the_server_judges() -> None:
    server = Server("athena")
    server.act(DRAW)
    act = server.act("1 1")
    assert act.action == "1 1"


@pytest.mark.parametrize(
    ("phase", "why"), [("open", "has not begun"), ("countdown", "has not begun"), ("finished", "is over")]
)
def test_nothing_moves_outside_the_race(phase: Phase, why: str) -> None:
    server = Server()
    model = server.model.after(server.state(phase))
    with pytest.raises(PlayError, match=why):
        model.acting(server.legal()[0], 99, START)


def test_nothing_moves_without_a_board_or_once_out() -> None:
    server = Server()
    [move] = server.legal()
    with pytest.raises(PlayError, match="no board"):
        Model().acting(move, 99, START)
    out = server.model.after(server.state("racing", players=(Seat(player="me", name="ana", seat=1, out=True),)))
    with pytest.raises(PlayError, match="out of this race"):
        out.acting(move, 99, START)


# ---------------------------------------------------------------- refusals


def test_a_refused_move_is_taken_back_with_its_reason_and_those_after_it_with_it() -> None:
    server = Server()
    before = server.shown
    first, second, third = [server.act(move) for move in server.legal(3)]
    server.ack(first)
    after_first = server.play.board.masked()
    server.refuse(second)
    assert server.shown == after_first != before
    assert server.model.pending == ()
    rollback = server.model.rollback
    assert rollback == Rollback(second.action, "illegal", "No")
    server.refuse(third, "stale")
    assert server.shown == after_first
    assert not server.model.astray
    assert server.model.rollback is None
    assert server.act(server.legal()[0]).revision == 1


def test_a_refusal_on_another_revision_leads_astray() -> None:
    server = Server()
    act = server.act(server.legal()[0])
    server.refuse(act, "stale", revision=4)
    assert server.model.astray


# ---------------------------------------------------------------- undo


def test_undo_is_shown_at_once_where_the_step_is_known() -> None:
    server = Server()
    dealt = server.shown
    move = server.act(server.legal()[0])
    undo = server.act(UNDO)
    assert server.shown == dealt
    server.ack(move)
    server.ack(undo)
    assert server.shown == dealt
    play = server.acknowledged
    assert (play.moves, play.undos, play.revision) == (1, 1, 2)


def test_undo_past_a_card_that_was_seen_is_refused_here_already() -> None:
    server = Server("athena")
    server.ack(server.act(DRAW))
    with pytest.raises(PlayError, match="turned up a card"):
        server.model.acting(UNDO, 99, START)


def test_where_undo_is_free_cards_once_seen_stay_known() -> None:
    server = Server("athena", undo="free")
    server.ack(server.act(DRAW))
    server.ack(server.act(UNDO))
    assert server.shown == server.play.board.masked()
    act = server.act(DRAW)
    assert not server.unsettled()
    server.ack(act)
    assert server.shown == server.play.board.masked()


def test_undo_of_a_step_from_before_this_client_is_the_servers_to_do() -> None:
    server = Server()
    for move in server.legal(2):
        server.play = server.play.act(move)
    server.model = Server().model.after(server.state("racing"))
    server.tell_board()
    before = server.shown
    undo = server.act(UNDO)
    assert server.shown == before
    assert server.unsettled()
    server.ack(undo)
    assert server.shown == server.play.board.masked() != before
    assert not server.model.astray
    server.ack(server.act(UNDO))
    assert server.shown == server.dealt.board.masked()


def test_with_nothing_to_take_back_undo_is_refused_here() -> None:
    with pytest.raises(PlayError, match="no move to take back"):
        Server().model.acting(UNDO, 99, START)
    with pytest.raises(PlayError, match="undo is off"):
        Server(undo="off").model.acting(UNDO, 99, START)


# ---------------------------------------------------------------- out of step


def test_a_board_that_is_not_the_servers_leads_astray_and_a_whole_one_back() -> None:
    server = Server()
    act = server.act(server.legal()[0])
    ack = server.answer(act)
    server.model = server.model.after(msgspec.structs.replace(ack, hash=b"notsame!"))
    assert server.astray()
    server.tell_board()
    assert not server.astray()
    assert server.shown == server.play.board.masked()


@pytest.mark.parametrize("change", [{"revision": 5}, {"seen": bytes([1])}])
def test_an_acknowledgement_that_does_not_fit_leads_astray(change: dict[str, object]) -> None:
    server = Server()
    ack = server.answer(server.act(server.legal()[0]))
    server.model = server.model.after(msgspec.structs.replace(ack, **change))
    assert server.model.astray


def test_a_board_whose_hash_is_wrong_is_not_trusted() -> None:
    server = Server()
    board = server.play.board
    model = server.model.after(
        BoardState(room="k7", revision=0, game="willow", piles=board.piles, hash=b"otherone", moves=0, undos=0)
    )
    assert model.astray


# ---------------------------------------------------------------- after a cut


def test_acks_that_were_lost_are_made_up_for_by_their_repetition_and_the_record_stays_whole() -> None:
    server = Server()
    acts = [server.act(move, START + 1000 * number) for number, move in enumerate(server.legal(3))]
    answers = [server.answer(act) for act in acts]
    server.model = server.model.after(Joined(to=50, room="k7", seat=1, generation=2))
    server.tell_board()
    for answer in answers:
        server.model = server.model.after(answer)
    assert server.shown == server.play.board.masked()
    assert server.model.done == tuple((1000 * number, act.action) for number, act in enumerate(acts))


def test_a_board_that_is_further_than_what_was_asked_is_taken() -> None:
    server = Server()
    act = server.act(server.legal()[0])
    server.answer(act)
    for move in server.legal(2):
        server.play = server.play.act(move)
    server.tell_board()
    assert server.shown == server.play.board.masked()
    assert server.model.record() is None
    server.model = server.model.after(Acked(to=act.id, revision=1, seen=b"", hash=b"whatever", up=0, moves=1, undos=0))
    assert server.shown == server.play.board.masked()
    assert not server.model.astray


def test_an_ack_that_comes_twice_counts_once() -> None:
    server = Server()
    act = server.act(server.legal()[0])
    ack = server.answer(act)
    server.model = server.model.after(ack).after(ack)
    assert server.shown == server.play.board.masked()


def test_another_room_is_another_race() -> None:
    server = Server()
    server.ack(server.act(server.legal()[0]))
    model = server.model.after(Joined(to=60, room="k8", seat=1, generation=1))
    assert model.room is None
    assert model.board is None
    assert (model.me, model.name) == ("me", "ana")
    assert model.after(server.state("open", room="k8")).commitment == commitment(server.seed)


# ---------------------------------------------------------------- rivals and time


def test_progress_changes_the_tallies_that_it_names() -> None:
    server = Server()
    model = server.model.after(Progress(tallies=(Tally(player="you", up=3, moves=9),)))
    assert model.tallies["you"].up == 3
    assert model.tallies["me"].up == 0
    assert server.model.tallies["you"].up == 0


def test_time_is_the_servers() -> None:
    model = Server().model
    assert model.until_start(START - 2500) == 2500
    assert model.until_start(START + 1) == 0
    assert model.time_left(START + 1) == 899_999
    assert model.time_left(START + 900_001) == 0
    assert Model().time_left(START) == 0


# ---------------------------------------------------------------- watching


def watching(server: Server) -> Model:
    model = server.model.after(Watching(to=70, room="k7", delay=15)).after(server.state("racing"))
    return model.after(
        LateBoard(player="you", revision=0, piles=server.dealt.board.masked().piles, moves=0, undos=0, at=START)
    )


def late_move(play: Play) -> LateMove:
    assert play.last
    return LateMove(player="you", revision=play.revision, action=str(play.last.move), seen=play.seen, at=START + 9)


@pytest.mark.parametrize("game", ["willow", "athena", "steve"])
def test_a_spectator_sees_boards_move_by_move(game: str) -> None:
    server = Server(game)
    model = watching(server)
    play = server.dealt
    for _ in range(12):
        play = play.act(play.board.legal_moves()[-1])
        model = model.after(late_move(play))
        assert model.watched["you"].play.board == play.board.masked()
    assert not model.astray
    assert model.board is None


def test_a_move_that_was_missed_is_noticed() -> None:
    server = Server()
    model = watching(server)
    first = server.dealt.act(server.legal(2)[0])
    second = first.act(server.legal(2)[1])
    model = model.after(late_move(second))
    assert model.astray
    assert model.watched["you"].missed
    again = model.after(Watching(to=71, room="k7", delay=15))
    assert not again.astray
    assert again.room is not None


def test_a_spectator_who_joins_is_a_player() -> None:
    server = Server()
    model = watching(server).after(Joined(to=80, room="k7", seat=1, generation=1))
    assert model.delay is None
    assert not model.watched


# ---------------------------------------------------------------- the proof


def finished(server: Server, **changes: Any) -> Model:
    return server.model.after(server.state("finished", **changes))


def played(game: str) -> Server:
    server = Server(game)
    for _ in range(10):
        server.ack(server.act(server.play.board.legal_moves()[-1]))
    return server


@pytest.mark.parametrize("game", ["willow", "athena", "steve", "phoenix", "ace-of-hearts"])
def test_a_race_that_was_dealt_as_promised_is_proven(game: str) -> None:
    server = played(game)
    checked = proof(finished(server))
    assert checked is not None
    assert checked.holds
    assert "your cards were dealt from it" in checked.sentence
    record = finished(server).record()
    assert record is not None
    assert record.replay().board == server.play.board


def test_nothing_is_proven_before_the_seed_is_known() -> None:
    assert proof(Server().model) is None


@pytest.mark.parametrize(
    ("cheat", "why"),
    [
        (lambda server: finished(server, seed=bytes(32)), "committed itself to"),
        (lambda server: replace(finished(server), commitment=bytes(32)), "committed itself to"),
        (
            lambda server: replace(finished(server, seed=bytes(32), deal="random"), commitment=commitment(bytes(32))),
            "cards dealt to you",
        ),
        (
            lambda server: replace(finished(server, seed=bytes(32)), commitment=commitment(bytes(32))),
            "NOT that of deal",
        ),
    ],
)
def test_a_race_that_was_dealt_otherwise_is_found_out(cheat: Callable[[Server], Model], why: str) -> None:
    checked = proof(cheat(played("willow")))
    assert checked is not None
    assert not checked.holds
    assert re.search(why, checked.sentence)


def test_cards_that_were_swapped_while_face_down_are_found_out() -> None:
    server = Server("athena")
    stock = server.game.stock_at
    piles = list(server.play.board.piles)
    piles[stock] = piles[stock][:-4] + piles[stock][-1:] + piles[stock][-4:-1]
    server.play = replace(server.play, board=Board(server.game, tuple(piles)))
    server.ack(server.act(DRAW))
    checked = proof(finished(server))
    assert checked is not None
    assert not checked.holds
    assert "turned up" in checked.sentence


def test_who_came_in_the_middle_proves_the_seed_alone() -> None:
    server = Server()
    server.play = server.play.act(server.legal()[0])
    server.model = Model("me", "ana").after(server.state("racing"))
    server.tell_board()
    assert finished(server).record() is None
    checked = proof(finished(server))
    assert checked is not None
    assert checked.holds
    assert "your cards" not in checked.sentence


# ---------------------------------------------------------------- how far the others had come


def told(server: Server, **counts: Any) -> None:
    server.model = server.model.after(Progress(tallies=(Tally(player="you", **counts),)))


def comes_back(server: Server, phase: Phase = "racing", **counts: Any) -> None:
    server.model = server.model.after(Joined(to=9, room="k7", seat=1, generation=2))
    server.model = server.model.after(server.state(phase, tallies=(Tally(player="you", **counts),)))


def test_what_is_told_all_along_is_known_all_along() -> None:
    server = Server()
    told(server, up=1, moves=1, active=START + 1_000, risen=START + 1_000)
    told(server, up=9, moves=12, active=START + 9_000, risen=START + 8_000)
    state = server.state("racing", tallies=(Tally(player="you", up=20, moves=30, active=START + 9_500),))
    server.model = server.model.after(state)
    series = server.model.series["you"]
    assert (series.points[-1], series.missed) == ((START + 9_500, 20, 30), ())


def test_what_happened_while_one_was_cut_off_is_not_known() -> None:
    server = Server()
    told(server, up=1, moves=1, active=START + 1_000, risen=START + 1_000)
    comes_back(server, up=9, moves=12, active=START + 9_000, risen=START + 8_000)
    told(server, up=10, moves=13, active=START + 10_000, risen=START + 10_000)
    series = server.model.series["you"]
    assert series.cards_up(START) == ((1_000, 1), (8_000, 9), (10_000, 10))
    assert series.missed_since(START) == ((1_000, 8_000),)


def test_who_comes_after_the_race_knows_only_when_the_last_card_went_up() -> None:
    server = Server()
    server.model = Model("me", "ana")
    comes_back(server, "finished", up=52, moves=99, active=START + 60_000, risen=START + 60_000)
    series = server.model.series["you"]
    assert (series.cards_up(START), series.missed_since(START)) == (((60_000, 52),), ((0, 60_000),))


def test_a_spectator_who_comes_late_does_not_know_what_was_before() -> None:
    server = Server()
    server.model = Model("me", "ana").after(Watching(to=3, room="k7", delay=15)).after(server.state("racing"))
    board = Board(server.game, tuple(b"\x31\x32\x33" if key == "01" else b"" for key in server.game.keys))
    late = LateBoard(player="you", revision=30, piles=board.piles, moves=30, undos=0, at=START + 40_000)
    server.model = server.model.after(late)
    series = server.model.series["you"]
    assert (series.cards_up(START), series.missed_since(START)) == (((40_000, 3),), ((0, 40_000),))
