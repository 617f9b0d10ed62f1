"""What spectators see, and when: boards as they were a delay ago, masked, in whatever order things come."""

from __future__ import annotations

from random import Random

import pytest

from samedeal.board import Board
from samedeal.cards import UNSEEN
from samedeal.deal import shuffled
from samedeal.games import Game
from samedeal.play import UNDO, Play, Undo
from samedeal.protocol.messages import LateBoard, LateMove
from samedeal_server.gallery import Gallery
from samedeal_server.store.commits import Entry

SEED = bytes(range(32))
STARTS = 100_000
DELAY = 15_000
ATHENA = Game.named("athena")
DEALT = Board.deal(ATHENA, shuffled(SEED, 1))

Shown = list[LateBoard | LateMove]


def actions(count: int, seed: int = 1, *, undo: bool = True) -> list[str]:
    """So many actions that Athena's deal allows, some of them undone."""
    rng = Random(seed)
    play = Play(DEALT, Undo.FREE)
    taken: list[str] = []
    while len(taken) < count:
        action = UNDO if undo and play.last and rng.random() < 0.2 else str(rng.choice(play.board.legal_moves()))
        play = play.act(action)
        taken.append(action)
    return taken


def entries(taken: list[str], *, every: int = 1000) -> list[Entry]:
    return [
        Entry(number, number, action, b"", 0, 0, 0, STARTS + every * number) for number, action in enumerate(taken, 1)
    ]


def hung(**logs: list[Entry]) -> Gallery:
    gallery = Gallery(DEALT, Undo.FREE, STARTS, DELAY)
    for player, log in logs.items():
        gallery.enter(player, log)
    return gallery


def replayed(taken: list[str]) -> Play:
    play = Play(DEALT, Undo.FREE)
    for action in taken:
        play = play.act(action)
    return play


def followed(shown: Shown) -> dict[str, tuple[int, tuple[bytes, ...]]]:
    """What a spectator has on the screen who takes everything shown, in order: revision and piles by player."""
    screen: dict[str, tuple[int, tuple[bytes, ...]]] = {}
    for message in shown:
        if isinstance(message, LateBoard):
            screen[message.player] = (message.revision, message.piles)
        else:
            revision, piles = screen[message.player]
            assert message.revision == revision + 1
            step = Play(Board(ATHENA, piles), Undo.FREE).act(message.action, faces=message.seen or None)
            screen[message.player] = (message.revision, step.board.piles)
    return screen


def test_nothing_is_shown_before_the_delay_is_over() -> None:
    gallery = hung(ana=[])
    assert gallery.boards() == []
    assert gallery.next_at() == STARTS + DELAY
    assert gallery.show(STARTS + DELAY - 1) == []
    assert gallery.boards() == []
    (shown,) = gallery.show(STARTS + DELAY)
    assert shown == LateBoard(player="ana", revision=0, piles=DEALT.masked().piles, moves=0, undos=0, at=STARTS)
    assert gallery.boards() == [shown]


def test_each_action_is_shown_when_it_is_a_delay_old() -> None:
    gallery = hung(ana=entries(actions(3, undo=False)))
    gallery.show(STARTS + DELAY)
    for number in (1, 2, 3):
        due = STARTS + 1000 * number + DELAY
        assert gallery.next_at() == due
        assert gallery.show(due - 1) == []
        (shown,) = gallery.show(due)
        assert isinstance(shown, LateMove)
        assert (shown.revision, shown.at) == (number, due - DELAY)
    assert gallery.next_at() is None


def test_actions_are_shown_in_the_order_of_time_whoever_took_them() -> None:
    gallery = hung(ana=[], bob=[])
    gallery.show(STARTS + DELAY)
    ana, bob = actions(2, 1, undo=False), actions(1, 2, undo=False)
    assert gallery.add("ana", 1, ana[0], STARTS + 10)
    assert gallery.add("ana", 2, ana[1], STARTS + 30)
    assert gallery.add("bob", 1, bob[0], STARTS + 20)
    assert [message.player for message in gallery.show(STARTS + 30 + DELAY)] == ["ana", "bob", "ana"]


def test_an_undo_is_shown_as_the_board_after_it() -> None:
    taken = [*actions(1, undo=False), UNDO]
    gallery = hung(ana=entries(taken))
    gallery.show(STARTS + DELAY)
    move, undone = gallery.show(STARTS + 2000 + DELAY)
    assert isinstance(move, LateMove)
    after = replayed(taken)
    assert undone == LateBoard(
        player="ana", revision=2, piles=after.board.masked().piles, moves=1, undos=1, at=STARTS + 2000
    )


@pytest.mark.parametrize("late", [0, 1, 7, 20, 40])
def test_who_comes_late_sees_the_boards_as_they_are_in_sight_and_then_the_moves(late: int) -> None:
    taken = actions(40)
    gallery = hung(ana=entries(taken))
    gallery.show(STARTS + DELAY + 1000 * late)
    shown = gallery.boards()
    assert followed(shown)["ana"] == (late, replayed(taken[:late]).board.masked().piles)
    shown += gallery.show(STARTS + DELAY + 1000 * 40)
    assert followed(shown)["ana"] == (40, replayed(taken).board.masked().piles)


def test_a_gallery_that_is_opened_in_mid_race_shows_where_the_boards_were_a_delay_ago() -> None:
    taken = actions(40)
    gallery = hung(ana=entries(taken))
    (shown,) = gallery.show(STARTS + DELAY + 10_500)
    assert isinstance(shown, LateBoard)
    assert shown.piles == replayed(taken[:10]).board.masked().piles


def test_at_the_finish_all_of_it_is_shown() -> None:
    taken = actions(40)
    gallery = hung(ana=entries(taken), bob=[])
    shown = gallery.show(STARTS + 40_000, everything=True)
    assert followed(shown)["ana"] == (40, replayed(taken).board.masked().piles)
    watched = hung(ana=entries(taken))
    shown = watched.show(STARTS + DELAY) + watched.show(STARTS + DELAY + 1, everything=True)
    assert followed(shown)["ana"] == (40, replayed(taken).board.masked().piles)


def test_no_card_is_shown_that_its_player_has_not_seen() -> None:
    taken = actions(60)
    gallery = hung(ana=entries(taken))
    shown = gallery.show(STARTS + DELAY)
    turned_up = {card for pile in DEALT.piles for card in pile if card < UNSEEN}
    for number in range(61):
        for message in shown:
            if isinstance(message, LateBoard):
                known = {card & 0x3F for pile in message.piles for card in pile if card < UNSEEN}
                assert all(card == UNSEEN for pile in message.piles for card in pile if card >= UNSEEN)
            else:
                turned_up |= set(message.seen)
                known = set(message.seen)
            assert known <= turned_up
        shown = gallery.show(STARTS + DELAY + 1000 * number)


def test_an_action_noted_twice_is_shown_once_and_a_gap_is_told() -> None:
    first, second, third = actions(3, undo=False)
    gallery = hung(ana=[])
    assert gallery.add("ana", 1, first, STARTS + 1)
    assert gallery.add("ana", 1, first, STARTS + 1)
    assert not gallery.add("ana", 3, third, STARTS + 3)
    assert not gallery.add("bob", 1, first, STARTS + 3)
    assert gallery.newest("ana") == 1
    assert gallery.newest("bob") == -1
    assert gallery.add("ana", 2, second, STARTS + 2)
    assert gallery.add("ana", 3, third, STARTS + 3)
    assert followed(gallery.show(STARTS + DELAY + 3))["ana"][0] == 3


def test_a_clock_that_was_put_back_does_not_put_moves_out_of_order() -> None:
    taken = actions(6, undo=False)
    assert len(set(taken)) > 1
    gallery = hung(ana=[])
    gallery.show(STARTS + DELAY)
    for number, action in enumerate(taken, 1):
        gallery.add("ana", number, action, STARTS + 5000 - number)
    shown = gallery.show(STARTS + 5000 + DELAY)
    assert [message.action for message in shown if isinstance(message, LateMove)] == taken
