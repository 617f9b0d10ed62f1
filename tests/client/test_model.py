"""The model after messages and actions: predicted moves, refusals, resyncs, rivals, spectated boards."""

from __future__ import annotations

from typing import Any, get_args

import msgspec
import pytest

from samedeal.board_history import UNDO, Play
from samedeal.errors import CannotUndo, IllegalMove, PlayError
from samedeal.moves import DRAW
from samedeal.protocol.messages import (
    Acked,
    BoardState,
    DelayedBoard,
    DelayedMove,
    Joined,
    Phase,
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
from tests.golden.golden_files import assert_sentences


def test_moves_do_not_wait_for_acknowledgements() -> None:
    server = RaceServer()
    acts = [server.act(move) for move in server.legal(3)]
    assert [act.revision for act in acts] == [0, 1, 2]
    shown = server.shown
    for act in acts:
        server.ack(act)
        assert server.shown == shown
    assert server.acknowledged.revision == 3


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
    assert (
        server.shown.piles[server.held.race.game.waste_at][-1]
        == server.play.board.piles[server.held.race.game.waste_at][-1]
    )


def test_illegal_move_raises() -> None:
    server = RaceServer()
    with pytest.raises(IllegalMove):
        server.model.with_action("1 1", 99, START)
    with pytest.raises(IllegalMove):
        server.model.with_action("8 1", 99, START)


def test_move_after_an_unseen_card_is_left_to_the_server() -> None:
    server = RaceServer("athena")
    server.act(DRAW)
    act = server.act("1 1")
    assert act.action == "1 1"


def test_move_outside_the_race_raises() -> None:
    server = RaceServer()
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


def test_refusal_takes_back_the_move_and_later_ones() -> None:
    server = RaceServer()
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


def test_undo_of_a_known_step_is_shown_at_once() -> None:
    server = RaceServer()
    dealt = server.shown
    move = server.act(server.legal()[0])
    undo = server.act(UNDO)
    assert server.shown == dealt
    server.ack(move)
    server.ack(undo)
    assert server.shown == dealt
    play = server.acknowledged
    assert (play.moves, play.undos, play.revision) == (1, 1, 2)


def test_undo_past_a_revealed_card_raises() -> None:
    server = RaceServer("athena")
    server.ack(server.act(DRAW))
    with pytest.raises(CannotUndo):
        server.model.with_action(UNDO, 99, START)


def test_free_undo_keeps_seen_cards_known() -> None:
    server = RaceServer("athena", undo="free")
    server.ack(server.act(DRAW))
    server.ack(server.act(UNDO))
    assert server.shown == server.play.board.masked()
    act = server.act(DRAW)
    assert not server.awaiting_face()
    server.ack(act)
    assert server.shown == server.play.board.masked()


def test_undo_of_an_unknown_step_is_left_to_the_server() -> None:
    server = RaceServer()
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


def test_undo_after_resume_is_offered_if_allowed() -> None:
    server = RaceServer("athena", deal="#1")
    server.move(DRAW)
    [known] = server.legal()
    server.model = RaceServer("athena", deal="#1").model.after(server.state("racing"))
    server.send_board()
    assert not server.may_undo()
    server.ack(server.act(known))
    assert server.may_undo()
    server.ack(server.act(UNDO))
    assert not server.may_undo()


def test_undo_without_a_step_raises() -> None:
    with pytest.raises(CannotUndo):
        RaceServer().model.with_action(UNDO, 99, START)
    with pytest.raises(CannotUndo):
        RaceServer(undo="off").model.with_action(UNDO, 99, START)


def test_wrong_hash_is_out_of_sync_until_a_whole_board() -> None:
    server = RaceServer()
    act = server.act(server.legal()[0])
    ack = server.answer(act)
    server.model = server.model.after(msgspec.structs.replace(ack, hash=b"notsame!"))
    assert server.out_of_sync()
    server.send_board()
    assert not server.out_of_sync()
    assert server.shown == server.play.board.masked()


def test_messages_that_do_not_fit_are_out_of_sync() -> None:
    server = RaceServer()
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


def test_acknowledgements_update_the_own_tally() -> None:
    server = RaceServer()
    for number, move in enumerate(server.legal(3), 1):
        answer = server.answer(server.act(move))
        server.model = server.model.after(msgspec.structs.replace(answer, time=START + number))
    cards = server.play.board.foundation_cards
    tally = server.model.tallies["me"]
    assert (tally.foundation_cards, tally.moves, tally.undos, tally.acted_at) == (cards, 3, 0, START + 3)


def test_repeated_acknowledgements_keep_the_record_whole() -> None:
    server = RaceServer()
    acts = [server.act(move, START + 1000 * number) for number, move in enumerate(server.legal(3))]
    answers = [
        msgspec.structs.replace(server.answer(act), time=START + 1000 * number) for number, act in enumerate(acts)
    ]
    server.model = server.model.after(Joined(to=50, room="k7", seat=1, generation=2))
    server.send_board()
    for answer in answers:
        server.model = server.model.after(answer)
    assert server.shown == server.play.board.masked()
    assert server.model.own.actions == tuple((1000 * number, act.action) for number, act in enumerate(acts))


def test_board_ahead_of_the_pending_actions_replaces_it() -> None:
    server = RaceServer()
    act = server.act(server.legal()[0])
    server.answer(act)
    for move in server.legal(2):
        server.move(move)
    server.send_board()
    assert server.shown == server.play.board.masked()
    assert server.model.record() is None
    server.model = server.model.after(Acked(to=act.id, time=START, hash=b"whatever", receipt=b""))
    assert server.shown == server.play.board.masked()
    assert not server.out_of_sync()


def test_entering_another_room_forgets_the_race() -> None:
    server = RaceServer()
    server.ack(server.act(server.legal()[0]))
    model = server.model.after(Joined(to=60, room="k8", seat=1, generation=1))
    assert model.room is None
    assert model.board is None
    assert (model.me, model.name) == ("me", "ana")
    assert model.after(server.state("open", room="k8")).is_in("k8")


def test_times_follow_the_server_clock() -> None:
    model = RaceServer().model
    assert model.until_start(START - 2500) == 2500
    assert model.until_start(START + 1) == 0
    assert model.time_left(START + 1) == 899_999
    assert model.time_left(START + 900_001) == 0
    assert Model().time_left(START) == 0


def watching(server: RaceServer) -> Model:
    model = server.model.after(Watching(to=70, room="k7", delay=15)).after(server.state("racing"))
    return model.after(
        DelayedBoard(player="you", revision=0, piles=server.dealt.board.masked().piles, moves=0, undos=0, time=START)
    )


def delayed_move(play: Play) -> DelayedMove:
    assert play.last
    return DelayedMove(player="you", revision=play.revision, action=str(play.last.move), seen=play.seen, time=START + 9)


@pytest.mark.parametrize("game", ["willow", "athena", "steve"])
def test_delayed_moves_update_the_watched_board(game: str) -> None:
    server = RaceServer(game)
    model = watching(server)
    play = server.dealt
    for _ in range(12):
        play = play.act(play.board.legal_moves()[-1])
        model = model.after(delayed_move(play))
        assert model.watched["you"].play.board == play.board.masked()
    assert not model.out_of_sync
    assert model.board is None


def test_missed_delayed_move_is_out_of_sync() -> None:
    server = RaceServer()
    model = watching(server)
    first = server.dealt.act(server.legal(2)[0])
    second = first.act(server.legal(2)[1])
    model = model.after(delayed_move(second))
    assert model.out_of_sync
    again = model.after(Watching(to=71, room="k7", delay=15))
    assert not again.out_of_sync
    assert again.room is not None


def test_a_spectator_who_joins_is_a_player() -> None:
    server = RaceServer()
    model = watching(server).after(Joined(to=80, room="k7", seat=1, generation=1))
    assert model.delay is None
    assert not model.watched


def progress(server: RaceServer, **counts: Any) -> None:
    server.model = server.model.after(ProgressUpdate(seat=2, **counts))


def reconnect(server: RaceServer, phase: Phase = "racing", **counts: Any) -> None:
    server.model = server.model.after(Joined(to=9, room="k7", seat=1, generation=2))
    server.model = server.model.after(server.state(phase, tallies=(Tally(player="you", **counts),)))


def moved(server: RaceServer, at: int) -> int:
    """The moves of the rival with known times in the second that ends ``at`` milliseconds after the start."""
    return server.model.recent["you"].activity(START + at - 1, 1, 1_000)[0]


def test_moves_without_a_connection_have_no_time() -> None:
    server = RaceServer()
    progress(server, moves=1, acted_at=START + 500)
    assert moved(server, 1_000) == 1
    reconnect(server, moves=12, acted_at=START + 9_500)
    assert moved(server, 10_000) == 0
    progress(server, moves=14, acted_at=START + 10_500)
    assert moved(server, 11_000) == 2


def delayed_board(server: RaceServer, cards: int, revision: int, at: int, reached: tuple[int, ...] = ()) -> int:
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
    assert delayed_board(server, cards=3, revision=30, at=40_000, reached=reached) == expected
    assert moved(server, 41_000) == 0, "moves of unknown times"


def test_spectator_sees_when_cards_last_changed() -> None:
    server = RaceServer()
    server.model = watching(server)
    assert delayed_board(server, cards=8, revision=1, at=7_000) == 7_000
    assert delayed_board(server, cards=8, revision=2, at=8_000) == 7_000
    assert delayed_board(server, cards=7, revision=3, at=9_000) == 9_000
    assert moved(server, 10_000) == 1
    assert delayed_board(server, cards=9, revision=7, at=10_000) == 10_000
    assert moved(server, 11_000) == 0, "moves were skipped"


def test_every_message_has_a_handler() -> None:
    assert set(HANDLERS) == set(get_args(ToClient))
