from __future__ import annotations

from samedeal.play import Play
from samedeal_client.rooms.model import Watched
from samedeal_client.rooms.reel import MOST_FRAMES, Reel
from tests.client.boards import board

START = Play(board("willow", "1: AS 2S"))


def seen(at: int, revision: int = 0) -> Watched:
    return Watched(Play(START.board, revision=revision), at)


def test_a_board_is_as_it_was_at_a_time() -> None:
    reel = Reel()
    frames = [seen(at, at) for at in (100, 200, 300)]
    for frame in frames:
        reel.add({"ana": frame})
        reel.add({"ana": frame})
    assert reel.begins == 100
    assert [reel.at(time)["ana"] for time in (50, 100, 199, 200, 1_000)] == [
        frames[0],
        frames[0],
        frames[0],
        frames[1],
        frames[2],
    ]


def test_a_board_sent_anew_takes_the_place_of_what_was_later() -> None:
    reel = Reel()
    for at in (100, 200, 300):
        reel.add({"ana": seen(at, at)})
    anew = seen(250, 9)
    reel.add({"ana": anew})
    assert reel.at(1_000)["ana"] is anew
    assert reel.at(220)["ana"].at == 200


def test_the_oldest_boards_go_first() -> None:
    reel = Reel()
    for at in range(1, MOST_FRAMES + 101):
        reel.add({"ana": seen(at)})
    assert reel.begins == 101


def test_nothing_seen_yet() -> None:
    assert Reel().begins == 0
    assert Reel().at(5) == {}
