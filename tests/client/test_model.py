"""The model after messages and actions: predicted moves, refusals, resyncs, rivals, spectated boards."""

from __future__ import annotations

from typing import get_args

import msgspec
import pytest

from samedeal.board_history import UNDO
from samedeal.errors import CannotUndo, IllegalMove, PlayError
from samedeal.moves import DRAW, Move
from samedeal.protocol.messages import (
    Acked,
    BoardState,
    DelayedBoard,
    Joined,
    ProgressUpdate,
    Refused,
    Seat,
    Tally,
    ToClient,
    Watching,
)
from samedeal_link.model.model import HANDLERS, Model
from samedeal_link.model.own_play import Rollback
from tests.client.race_server import START, RaceServer
from tests.client.server_messages import delayed_board, delayed_move
from tests.golden.golden_files import assert_sentences


@pytest.fixture
def server() -> RaceServer:
    return RaceServer()


def test_action_with_an_unseen_card_delays_later_ones() -> None:
    server = RaceServer("athena")
    dealt = server.shown
    draw = server.act(DRAW)
    assert server.shown == dealt
    assert server.awaiting_face()
    second = server.act(DRAW)
    assert second.revision == 1
    server.ack(draw)
    assert server.shown == server.play.board.masked()
    assert server.awaiting_face()
    server.ack(second)
    assert not server.awaiting_face()
    assert server.shown == server.play.board.masked()
    server.act(DRAW)
    assert server.act("1 1").action == "1 1"  # only the server knows the card that is turned up before


@pytest.mark.parametrize(
    ("before", "action", "undo", "error"),
    [
        ([], "1 1", "free", IllegalMove),
        ([], "8 1", "free", IllegalMove),
        ([], UNDO, "free", CannotUndo),
        ([DRAW], UNDO, "no-reveal", CannotUndo),
        ([DRAW], UNDO, "off", CannotUndo),
    ],
)
def test_impossible_action_raises(before: list[Move], action: str, undo: str, error: type[PlayError]) -> None:
    server = RaceServer("athena", undo=undo)
    for each in before:
        server.ack(server.act(each))
    with pytest.raises(error):
        server.model.with_action(action, 99, START)


def test_move_outside_the_race_raises(server: RaceServer) -> None:
    resigned = (Seat(player="me", name="ana", seat=1, resigned=True),)
    models = {
        "without cards": Model(),
        "open": server.model.after(server.state("open")),
        "countdown": server.model.after(server.state("countdown")),
        "finished": server.model.after(server.state("finished")),
        "resigned": server.model.after(server.state("racing", players=resigned)),
    }
    lines: list[str] = []
    for case, model in models.items():
        with pytest.raises(PlayError) as error:
            model.with_action(server.legal()[0], 99, START)
        lines.append(f"{case}\t{error.value}")
    assert_sentences("moves outside a race", lines)


def test_refusal_takes_back_the_move_and_later_ones(server: RaceServer) -> None:
    before = server.shown
    first, second, third = [server.act(move) for move in server.legal(3)]
    server.ack(first)
    after_first = server.play.board.masked()
    server.refuse(second)
    assert server.shown == after_first != before
    assert server.model.own.pending == ()
    rollback = server.model.own.rollback
    assert rollback == Rollback(second.action, "illegal", "No")
    server.refuse(third, "stale")
    assert server.shown == after_first
    assert not server.out_of_sync()
    assert server.model.own.rollback is None
    assert server.act(server.legal()[0]).revision == 1


def test_undo_of_a_known_step_is_shown_at_once(server: RaceServer) -> None:
    dealt = server.shown
    move = server.act(server.legal()[0])
    undo = server.act(UNDO)
    assert server.shown == dealt
    server.ack(move)
    server.ack(undo)
    assert server.shown == dealt
    play = server.model.own.play
    assert play is not None
    assert (play.moves, play.undos, play.revision) == (1, 1, 2)


def test_free_undo_keeps_seen_cards_known() -> None:
    server = RaceServer("athena", undo="free")
    server.ack(server.act(DRAW))
    server.ack(server.act(UNDO))
    assert server.shown == server.play.board.masked()
    act = server.act(DRAW)
    assert not server.awaiting_face()
    server.ack(act)
    assert server.shown == server.play.board.masked()


def test_undo_of_an_unknown_step_is_left_to_the_server(server: RaceServer) -> None:
    for move in server.legal(2):
        server.move(move)
    server.model = RaceServer().model.after(server.state("racing"))
    server.send_board()
    before = server.shown
    undo = server.act(UNDO)
    assert server.shown == before
    assert server.awaiting_face()
    server.ack(undo)
    assert server.shown == server.play.board.masked() != before
    assert not server.out_of_sync()
    server.ack(server.act(UNDO))
    assert server.shown == server.dealt.board.masked()


def test_wrong_hash_is_out_of_sync_until_a_whole_board(server: RaceServer) -> None:
    act = server.act(server.legal()[0])
    ack = server.answer(act)
    server.send(msgspec.structs.replace(ack, hash=b"notsame!"))
    assert server.out_of_sync()
    server.send_board()
    assert not server.out_of_sync()
    assert server.shown == server.play.board.masked()


def test_messages_that_do_not_fit_are_out_of_sync(server: RaceServer) -> None:
    first, second = [server.act(move) for move in server.legal(2)]
    answers = [server.answer(act) for act in (first, second)]
    board = BoardState(
        room="k7", revision=0, game="willow", piles=server.dealt.board.piles, hash=b"otherone", moves=0, undos=0
    )
    for message in (
        Refused(to=first.id, code="stale", message="No", revision=4),
        msgspec.structs.replace(answers[0], seen=bytes([1])),
        answers[1],  # before an earlier one
        board,
    ):
        assert server.model.after(message).out_of_sync, message


def test_acknowledgements_update_the_own_tally(server: RaceServer) -> None:
    for number, move in enumerate(server.legal(3), 1):
        answer = server.answer(server.act(move))
        server.send(msgspec.structs.replace(answer, time=START + number))
    cards = server.play.board.foundation_cards
    tally = server.model.tallies["me"]
    assert (tally.foundation_cards, tally.moves, tally.undos, tally.acted_at) == (cards, 3, 0, START + 3)


def test_repeated_acknowledgements_keep_the_record_whole(server: RaceServer) -> None:
    acts = [server.act(move, START + 1000 * number) for number, move in enumerate(server.legal(3))]
    answers = [
        msgspec.structs.replace(server.answer(act), time=START + 1000 * number) for number, act in enumerate(acts)
    ]
    server.send(Joined(to=50, room="k7", seat=1, generation=2))
    server.send_board()
    for answer in answers:
        server.send(answer)
    assert server.shown == server.play.board.masked()
    assert server.model.own.actions == tuple((1000 * number, act.action) for number, act in enumerate(acts))


def test_board_ahead_of_the_pending_actions_replaces_it(server: RaceServer) -> None:
    act = server.act(server.legal()[0])
    server.answer(act)
    for move in server.legal(2):
        server.move(move)
    server.send_board()
    assert server.shown == server.play.board.masked()
    assert server.model.record() is None
    server.send(Acked(to=act.id, time=START, hash=b"whatever", receipt=b""))
    assert server.shown == server.play.board.masked()
    assert not server.out_of_sync()


def test_entering_another_room_forgets_the_race(server: RaceServer) -> None:
    server.ack(server.act(server.legal()[0]))
    model = server.model.after(Joined(to=60, room="k8", seat=1, generation=1))
    assert model.room is None
    assert model.board is None
    assert (model.me, model.name) == ("me", "ana")
    assert model.after(server.state("open", room="k8")).is_in("k8")


def watching(server: RaceServer) -> Model:
    model = server.model.after(Watching(to=70, room="k7", delay=15)).after(server.state("racing"))
    return model.after(delayed_board("you", server.dealt, START))


@pytest.mark.parametrize("game", ["willow", "athena", "steve"])
def test_delayed_moves_update_the_watched_board(game: str) -> None:
    server = RaceServer(game)
    model = watching(server)
    play = server.dealt
    for _ in range(12):
        move = play.board.legal_moves()[-1]
        play = play.act(move)
        model = model.after(delayed_move("you", play, str(move), START + 9))
        assert model.watched["you"].play.board == play.board.masked()
    assert not model.out_of_sync
    assert model.board is None


def test_missed_delayed_move_is_out_of_sync(server: RaceServer) -> None:
    model = watching(server)
    first, second = server.legal(2)
    model = model.after(delayed_move("you", server.dealt.act(first).act(second), str(second), START + 9))
    assert model.out_of_sync
    again = model.after(Watching(to=71, room="k7", delay=15))
    assert not again.out_of_sync
    assert again.room is not None


def test_a_spectator_who_joins_is_a_player(server: RaceServer) -> None:
    model = watching(server).after(Joined(to=80, room="k7", seat=1, generation=1))
    assert model.delay is None
    assert not model.watched


def progress(server: RaceServer, moves: int, at: int) -> None:
    """The other player has made a number of moves ``at`` milliseconds after the start."""
    server.send(ProgressUpdate(seat=2, moves=moves, acted_at=START + at))


def reconnect(server: RaceServer, moves: int, at: int) -> None:
    server.send(Joined(to=9, room="k7", seat=1, generation=2))
    server.send(server.state("racing", tallies=(Tally(player="you", moves=moves, acted_at=START + at),)))


def moved(server: RaceServer, at: int) -> int:
    """The moves of the rival with known times in the second that ends ``at`` milliseconds after the start."""
    return server.model.recent["you"].activity(START + at - 1, 1, 1_000)[0]


def test_moves_without_a_connection_have_no_time() -> None:
    server = RaceServer()
    progress(server, 1, 500)
    assert moved(server, 1_000) == 1
    reconnect(server, 12, 9_500)
    assert moved(server, 10_000) == 0
    progress(server, 14, 10_500)
    assert moved(server, 11_000) == 2


def board_shown(server: RaceServer, cards: int, revision: int, at: int, reached: tuple[int, ...] = ()) -> int:
    """Let a board with ``cards`` foundation cards arrive, whose newest move was made ``at`` milliseconds after the start.

    Return how long after the start the number of its foundation cards last changed, as far as the client knows.
    """
    foundation = bytes(range(0x31, 0x31 + cards))
    piles = tuple(foundation if key == "01" else b"" for key in server.held.race.game.keys)
    late = DelayedBoard(
        player="you", revision=revision, piles=piles, moves=revision, undos=0, time=START + at, reached=reached
    )
    server.model = server.model.after(late)
    return server.model.watched["you"].last_progress_at - START


@pytest.mark.parametrize(
    ("reached", "expected"),
    [((), 40_000), ((9_000, 20_000, 20_000), 20_000), ((9_000, 20_000, 20_000, 21_000), 20_000)],
    ids=["after an undo", "all is told", "too much is told"],
)
def test_late_spectator_is_told_of_the_last_progress(reached: tuple[int, ...], expected: int) -> None:
    server = RaceServer()
    server.model = Model("me", "ana").after(Watching(to=3, room="k7", delay=15)).after(server.state("racing"))
    assert board_shown(server, cards=3, revision=30, at=40_000, reached=reached) == expected
    assert moved(server, 41_000) == 0, "moves of unknown times"


def test_spectator_sees_when_cards_last_changed() -> None:
    server = RaceServer()
    server.model = watching(server)
    assert board_shown(server, cards=8, revision=1, at=7_000) == 7_000
    assert board_shown(server, cards=8, revision=2, at=8_000) == 7_000
    assert board_shown(server, cards=7, revision=3, at=9_000) == 9_000
    assert moved(server, 10_000) == 1
    assert board_shown(server, cards=9, revision=7, at=10_000) == 10_000
    assert moved(server, 11_000) == 0, "moves were skipped"


def test_every_message_has_a_handler() -> None:
    assert set(HANDLERS) == set(get_args(ToClient))
