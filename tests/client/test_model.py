"""The model after messages and actions: predicted moves, refusals, resyncs, rivals, spectated boards."""

from __future__ import annotations

from contextlib import suppress
from random import Random
from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samedeal.board_history import UNDO, Undo
from samedeal.errors import PlayError
from samedeal.protocol.messages import (
    Act,
    BoardState,
    Joined,
    Refused,
    Seat,
    ToClient,
    Watching,
)
from samedeal_link.model.model import HANDLERS, Model
from tests.client.race_server import START, RaceServer
from tests.client.server_messages import delayed_board, delayed_move
from tests.golden.golden_files import assert_sentences


@pytest.fixture
def server() -> RaceServer:
    return RaceServer()


@given(st.sampled_from(["willow", "athena", "steve"]), st.sampled_from(list(Undo)), st.integers(0, 1 << 32))
def test_answered_client_shows_what_the_server_has(game: str, undo: Undo, seed: int) -> None:
    """Whatever was moved, undone and refused, and however often the connection was lost before or after an answer."""
    server, rng = RaceServer(game, undo=undo.value), Random(seed)
    unanswered: list[Act] = []
    log: list[tuple[int, str]] = []

    def judge() -> ToClient:
        """The answer to the oldest action. After a refusal, the others are on another revision."""
        act = unanswered.pop(0)
        at = START + 1_000 * len(log)
        try:
            answer = server.answer(act, at)
        except PlayError as error:
            return Refused(to=act.id, code=error.code, message="No", revision=server.play.revision)
        log.append((at - START, act.action))
        return answer

    for _ in range(30):
        match rng.randrange(6):
            case 0 if unanswered:
                server.send(judge())
            case 1 if unanswered:
                server.refuse(unanswered.pop(0))
            case 2:
                lost = [judge() for _ in range(rng.randint(0, len(unanswered)))]
                server.send(Joined(to=50, room="k7", seat=1, generation=2))
                server.send_board()
                for answer in lost:
                    server.send(answer)
            case _:
                with suppress(PlayError):
                    moves = server.shown.legal_moves()
                    action = UNDO if rng.random() < 0.3 or not moves else rng.choice(moves)
                    unanswered.append(server.act(action))
    while unanswered:
        server.send(judge())
    own = server.model.own
    assert (server.shown, own.pending, server.out_of_sync()) == (server.play.board.masked(), (), False)
    assert own.actions == tuple(log)
    assert own.play is not None
    assert (own.play.moves, own.play.undos) == (server.play.moves, server.play.undos)
    tally = server.model.tallies["me"]
    assert (tally.foundation_cards, tally.moves, tally.undos) == (
        *(server.play.board.foundation_cards, server.play.moves, server.play.undos),
    )


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


def test_messages_that_do_not_fit_are_out_of_sync(server: RaceServer) -> None:
    first, second = [server.act(move) for move in server.legal(2)]
    answers = [server.answer(act) for act in (first, second)]
    board = BoardState(
        room="k7", revision=0, game="willow", piles=server.dealt.board.piles, hash=b"otherone", moves=0, undos=0
    )
    for message in (
        Refused(to=first.id, code="stale", message="No", revision=4),
        msgspec.structs.replace(answers[0], seen=bytes([1])),
        msgspec.structs.replace(answers[0], hash=b"notsame!"),
        answers[1],  # before an earlier one
        board,
    ):
        assert server.model.after(message).out_of_sync, message


def watching(server: RaceServer) -> Model:
    model = server.model.after(Watching(to=70, room="k7", delay=15)).after(server.state("racing"))
    return model.after(delayed_board("you", server.dealt, START))


def test_missed_delayed_move_is_out_of_sync(server: RaceServer) -> None:
    model = watching(server)
    first, second = server.legal(2)
    model = model.after(delayed_move("you", server.dealt.act(first).act(second), str(second), START + 9))
    assert model.out_of_sync
    again = model.after(Watching(to=71, room="k7", delay=15))
    assert not again.out_of_sync
    assert again.room is not None


def test_every_message_has_a_handler() -> None:
    assert set(HANDLERS) == set(get_args(ToClient))
