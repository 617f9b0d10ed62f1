"""Replays of recorded races: the state, the screen, and the race in sentences."""

from __future__ import annotations

import contextlib
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from functools import cache
from itertools import pairwise

import pytest
from textual.pilot import Pilot

from samedeal.board_history import Play
from samedeal.errors import RequestRefused
from samedeal.moves import Move
from samedeal.solver.solve import Answer, Outcome
from samedeal_client.full_screen.replay_app import ReplayApp
from samedeal_client.full_screen.screens.replay import PracticeRequest, ReplayScreen
from samedeal_client.panels.replay import ranking_at, replay_lines
from samedeal_client.text.appearance import Look
from samedeal_link.records.ghost_link import ROOM, GhostLink
from samedeal_link.records.replay import Moment, RecordedRace, Replay, Track
from samedeal_link.session.client_session import ClientSession
from samedeal_link.solving.losing_move import Review, actions_kept
from tests.client.referee import session_in, wait_until
from tests.golden.golden_files import assert_answers, assert_golden
from tests.shared.playouts import won_record
from tests.shared.recorded import recorded
from tests.textual_internals import screen_text, wait_for_screen

STILL = Replay(playing=False)


@cache
def race() -> RecordedRace:
    """Ana wins, ben does the same at half the speed, and Zoë undoes a move and gives up."""
    won = won_record("willow").actions
    slow = tuple((2 * time, action) for time, action in won[:40])
    undone = ((900, won[0][1]), (1_700, "undo"))
    return RecordedRace(recorded("willow", "#1", ("ana", won), ("*ben", slow), ("Zoë", undone)))


def pressed(replay: Replay, *keys: str, on: RecordedRace | None = None) -> Replay:
    for key in keys:
        after = replay.press(key, on or race())
        assert after is not None
        replay = after
    return replay


@pytest.mark.parametrize("keys", ["", "0"])
def test_left_and_right_make_one_action_at_a_time(keys: str) -> None:
    """Actions that were made at the same time are steps of their own, on one board and on all boards."""
    actions = [action for _, action in won_record("willow").actions]
    together = tuple((1_000 * (at // 3), action) for at, action in enumerate(actions))
    short = tuple((4_000, action) for action in actions[:2])
    fast = RecordedRace(recorded("willow", "#1", ("ana", together), ("ben", short)))
    replay = pressed(STILL, *keys, "end", on=fast)
    shown = [fast.tracks[number] for number in replay.shown(fast)]

    def made() -> list[int]:
        return [track.revision_at(replay.moment) for track in shown]

    steps = [made()]
    for key in ("left", "right"):
        for _ in range(sum(len(track.times) for track in shown)):
            replay = pressed(replay, key, on=fast)
            steps.append(made())
    assert [sum(abs(a - b) for a, b in zip(*pair, strict=True)) for pair in pairwise(steps)] == [1] * (len(steps) - 1)
    assert steps == steps[::-1]


def test_keys_lead_where_the_page_says() -> None:
    def answer(_: str, question: str) -> str:
        """The time in the replay, and the boards that are shown, for keys on a replay that stands still."""
        replay = pressed(STILL, *question.split())
        return f"{replay.time} ms, boards {' '.join(str(at + 1) for at in replay.shown(race()))}"

    assert_answers("replays", answer)
    assert STILL.press("x", race()) is None
    assert not pressed(Replay(), "right").playing


def test_ranking_is_that_of_the_moment() -> None:
    first = [(player.place, player.foundation_cards) for player in ranking_at(race(), Moment(1_000))]
    assert first == [(2, 0), (2, 0), (1, 1)]
    last = ranking_at(race(), Moment(race().length))
    assert [player.place for player in last] == [1, 2, 3]
    assert last[0].time == race().tracks[0].times[-1]


def test_replay_in_sentences() -> None:
    every = list(replay_lines(race(), Look()))
    assert_golden("screens/replay/plain.txt", "\n".join(every) + "\n")
    others = re.compile(r"\d\d:\d\d (?!Zoë:)")
    assert list(replay_lines(race(), Look(), 2)) == [line for line in every if not others.match(line)]


@contextlib.asynccontextmanager
async def replaying(
    size: tuple[int, int], look: Look | None = None, recorded_race: RecordedRace | None = None, back_to: str = ""
) -> AsyncIterator[Pilot[PracticeRequest]]:
    app = ReplayApp(recorded_race or race(), STILL, look or Look(motion=False), back_to)
    async with app.run_test(size=size) as pilot:
        await wait_for_screen(pilot, lambda: isinstance(app.screen, ReplayScreen) and "REPLAY" in screen_text(app))
        yield pilot


@pytest.mark.parametrize("ascii_only", [False, True])
async def test_replay_on_the_screen(*, ascii_only: bool) -> None:
    """One board, two side by side, all of them; and what the keys and the mouse do."""
    look = Look(motion=False, ascii=ascii_only)
    async with replaying((120, 40), look) as pilot:
        screen = pilot.app.screen
        assert isinstance(screen, ReplayScreen)
        for name, keys in (("one", ["pagedown", "right"]), ("two", ["t"]), ("all", ["0"])):
            await pilot.press(*keys)
            await pilot.pause()
            screen.redraw()
            await pilot.pause()
            if ascii_only:
                assert screen_text(pilot.app).isascii()
            else:
                assert_golden(f"screens/replay/{name}_glyphs.txt", screen_text(pilot.app))
        if not ascii_only:
            await pilot.click("Slider", offset=(119, 0))
            assert screen.replay.time == race().length
            await pilot.click("Slider", offset=(0, 0))
            assert screen.replay.time == 0
            await pilot.press("space")
            await wait_for_screen(pilot, lambda: screen.replay.time > 0)
            await pilot.press("q")
            await wait_for_screen(pilot, lambda: not pilot.app.is_running)


async def test_review_matches_its_golden(monkeypatch: pytest.MonkeyPatch) -> None:
    """The move that lost the game, and the player's board next to the one of the winning line."""

    async def found(_: Sequence[Play], actions: Sequence[str], __: Callable[[int], None]) -> Review:
        line = tuple(Move.parse(action) for _, action in won_record("willow").actions[38:])
        answers = {38: Answer(Outcome.WON, line, 1), 39: Answer(Outcome.UNWINNABLE, (), 1)}
        return Review(actions_kept(actions), answers)

    monkeypatch.setattr("samedeal_client.full_screen.screens.replay.review", found)
    async with replaying((120, 40)) as pilot:
        await pilot.press("2", "w")
        await wait_for_screen(pilot, lambda: "lost it" in screen_text(pilot.app))
        await pilot.pause()
        assert_golden("screens/replay/review_glyphs.txt", screen_text(pilot.app))


def practising(play: Play, moment: Moment, ghosts: Sequence[Track]) -> AbstractAsyncContextManager[ClientSession]:
    link = GhostLink("me", race().record, play, moment, ghosts)
    return session_in(ROOM, link, link.run())


async def test_practice_goes_on_from_a_moment_against_ghosts() -> None:
    """The ghosts' boards are those of that moment. The player's moves are judged, and undo is free."""
    ana, ben, zoe = race().tracks
    moment = Moment(ana.times[20])
    async with practising(ana.plays[21], moment, [ben, zoe]) as client:
        assert client.model.board == ana.plays[21].board.masked()
        room = client.model.room
        assert room is not None
        assert [seat.name for seat in room.players] == ["me", "ben (ghost)", "Zoë (ghost)"]
        expected = [track.plays[track.revision_at(moment)].board.foundation_cards for track in (ben, zoe)]
        assert [client.model.tallies[f"ghost-{at}"].foundation_cards for at in (1, 2)] == expected
        client.act(ana.player.actions[21][1])
        await wait_until(lambda: client.model.own.play is not None and client.model.own.play.revision == 1)
        assert client.model.board == ana.plays[22].board.masked()
        client.act("undo")
        await wait_until(lambda: client.model.own.play is not None and client.model.own.play.undos == 1)
        assert client.model.board == ana.plays[21].board.masked()
        with pytest.raises(RequestRefused):
            await client.rooms.rematch()
        await client.rooms.resign()
        await wait_until(lambda: client.model.seat is not None and client.model.seat.resigned)
        await client.leave()
        assert client.model.room is None


async def test_player_can_finish_before_the_ghosts() -> None:
    won = race().tracks[0]
    async with practising(won.plays[-2], Moment(won.times[-2]), [won]) as client:
        client.act(won.player.actions[-1][1])
        await wait_until(lambda: client.model.tallies["you"].finished_at > 0)
        assert client.model.has_finished
        assert not client.model.tallies["ghost-1"].finished_at
