"""Engines: what they are told, how they fail, and matches between them."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from random import Random
from typing import Any

import pytest

from samedeal.board_history import UNDO, Play, Undo
from samedeal.games import game_named
from samedeal.moves import Move
from samedeal.options import Options
from samedeal.standings import Result
from samedeal_bots import engine as engine_module
from samedeal_bots.action_choice import PAUSE, RESIGN, WAIT, ActionChooser
from samedeal_bots.built_in_engine import BuiltInEngine
from samedeal_bots.commands import match
from samedeal_bots.engine import (
    LONGEST_LINE,
    MAX_FAILURES,
    MAX_LINES,
    START_TIMEOUT,
    STOP_TIMEOUT,
    Engine,
    EngineFailed,
    engine_command,
)
from samedeal_bots.engine_protocol import VERSION, Clock, Contest, position_line
from samedeal_bots.match import RaceAlone, pairs
from samedeal_bots.sequential_test import EDGE, Comparison, compared
from samedeal_client.cli import main
from samedeal_link.model.rivals import Rival
from samedeal_link.solving.strategy import BotMemory
from samedeal_link.solving.temperament import Temperament
from tests.child_processes import is_alive, kill_and_wait
from tests.client.boards import board as positioned
from tests.client.boards import dealt, with_other_hidden_cards
from tests.client.engine_scripts import READY, answering, script
from tests.golden.golden_files import assert_golden
from tests.programs import skip_without
from tests.server.waiting import until

EXAMPLES = Path(__file__).parents[2] / "shared" / "engines"
PAGE = (EXAMPLES.parent / "ENGINES.md").read_text(encoding="utf-8")
CLOCK = Clock(900, 3)


def test_position_matches_its_golden() -> None:
    play = Play(dealt("klondike", 7), Undo.FREE).act("draw")
    assert_golden("position.txt", position_line(play, Clock(812.5, 3)) + "\n")


def test_position_has_the_rivals_and_the_options() -> None:
    counts = [("Zoë; x", 5, 31, 0, False, False), ("bo", 0, 12, 0, True, False), ("cy", 9, 9, 0, False, True)]
    rivals = [
        Rival(name, cards, moves, time, True, resigned, stuck) for name, cards, moves, time, resigned, stuck in counts
    ]
    race = Contest((*rivals, Rival("di", 52, 80, 9000, False, True, True)), Options(games=("willow",), limit=60))
    line = position_line(Play(dealt("willow", 1)), CLOCK, race)
    assert "; rivals 5 31 racing, 0 12 resigned, 9 9 stuck, 52 80 won; options {" in line
    assert json.loads(line.rpartition("; options ")[2])["limit"] == 60
    assert "Zo" not in line


async def test_engine_hears_the_results_of_a_match(tmp_path: Path) -> None:
    """It is written to a file, and each race of a match ends with a line."""
    lines = tmp_path / "lines"
    path = script(tmp_path, f"tee -a {lines} | sed -u -n 's/^samedeal.*/ready 1/p; s/^go.*/bestmove resign/p'")
    async with Engine([path], pytest.fail) as engine, Engine([path], pytest.fail) as other:
        _ = [pair async for pair in pairs((engine, other), [game_named("willow")], 2, 3)]
    assert lines.read_text().count("result 1 2\n") == 4


@pytest.mark.parametrize("game", ["klondike", "athena", "spider", "yukon"])
def test_position_does_not_depend_on_hidden_cards(game: str) -> None:
    board = dealt(game, 1)
    other = with_other_hidden_cards(board)
    assert other != board
    assert position_line(Play(other), CLOCK) == position_line(Play(board), CLOCK)


@pytest.mark.parametrize(
    ("game", "number", "undo_rule"), [("yukon", 3, Undo.FREE), ("klondike", 2, Undo.NO_REVEAL), ("steve", 2, Undo.OFF)]
)
def test_built_in_engine_plays_like_the_bot(game: str, number: int, undo_rule: Undo) -> None:
    rng = Random("7")
    bot = ActionChooser("greedy", BotMemory(rng, temperament=Temperament.random(rng)))
    engine = BuiltInEngine("greedy")
    assert [*engine.answer("samedeal 1")][-1] == "ready 1"
    assert [*engine.answer("option seed 7")] == []
    play = Play(dealt(game, number), undo_rule)
    made: list[Move | str] = []
    while len(made) < 60 and not play.board.won:
        left = 900 - 3 * len(made)
        assert [*engine.answer(position_line(play, Clock(left, 3)))] == []
        action = bot.choose_action(play.masked(), left / 3, from_deal=True)
        assert [*engine.answer("go 3000")] == [f"bestmove {PAUSE if action == WAIT else action}"]
        made.append(action)
        if action in (RESIGN, WAIT):
            break
        play = play if action == PAUSE else play.act(action)
    assert UNDO in made or undo_rule is not Undo.FREE


IMPATIENT = {
    "is not ready": "START_TIMEOUT",
    "is silent": "_SHORTEST_TIME STOP_TIMEOUT",
    "misspells its answer": "_SHORTEST_TIME STOP_TIMEOUT",
}
"""The timeouts that are shortened for a failure, because it lasts as long."""

FAILURES = {
    "ends": ("exit 3", "ended with code 3"),
    "ends with an error": ("echo 'no such module' >&2; exit 1", "no such module"),
    "is killed": (READY + "kill -9 $$", "ended by SIGKILL"),
    "is not ready": ("cat >/dev/null", "'ready 1'"),
    "has another version": ("read -r line; echo ready 2", "version '2'"),
    "writes binary rubbish": ("printf '\\377\\376\\n'; cat", "UTF-8"),
    "floods": ("exec yes", "1000 lines"),
    "floods with options": ("exec yes option x", "1000 lines"),
    "floods without lines": ("exec cat /dev/zero", "65536 bytes"),
    "floods its errors and ends": ("yes oops | head -c 300000 >&2; exit 1", "oops"),
    "is silent": (READY + "exec cat >/dev/null", "did not answer"),
    "misspells its answer": (READY + "echo best move; exec cat >/dev/null", "'best move'"),
    "answers for another game": (answering("*) answer='a 0'"), "a 0 is not legal"),
    "answers with no action": (answering("*) answer=castle"), "'castle'"),
    "answers with nothing": (answering("*) answer="), "''"),
    "undoes at the start": (answering("*) answer=undo"), "undo"),
}


@pytest.mark.parametrize("name", FAILURES)
async def test_failing_engine_is_started_again_twice(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for timeout in IMPATIENT.get(name, "").split():
        monkeypatch.setattr(engine_module, timeout, 0.05)
    text, words = FAILURES[name]
    said: list[str] = []
    async with Engine([script(tmp_path, text)], said.append) as engine:
        with pytest.raises(EngineFailed, match=words):
            await engine.choose(Play(dealt("willow", 1)), Clock(900, 0.01))
    assert len(said) == MAX_FAILURES - 1
    assert all(words in sentence for sentence in said)


async def test_second_answer_to_a_question_is_said(tmp_path: Path) -> None:
    said: list[str] = []
    twice = answering("*) answer='pause\nbestmove draw'")
    async with Engine([script(tmp_path, twice)], said.append) as engine:
        assert [await engine.choose(Play(dealt("willow", 1)), CLOCK) for _ in range(2)] == [PAUSE, PAUSE]
    assert [sentence.split(". ")[0] for sentence in said] == ["The engine wrote 'bestmove draw' without a 'go'"]


async def test_engine_is_stopped_when_its_time_is_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_module, "_SHORTEST_TIME", 0.05)
    late = answering('*) read -r line; answer="pause"; [ $line = stop ] || exit')
    async with Engine([script(tmp_path, late)], pytest.fail) as engine:
        assert await engine.choose(Play(dealt("willow", 1)), Clock(900, 0.01)) == PAUSE


async def test_line_of_actions_is_dropped_when_a_card_turns_up(tmp_path: Path) -> None:
    asked: list[str] = []
    text = answering("'position 0;'*) answer='draw, draw'", "*) answer='undo, draw, undo'")
    async with Engine([script(tmp_path, text)], pytest.fail, trace=asked.append, peek=True) as engine:
        play = Play(dealt("klondike", 1), Undo.FREE)
        made: list[str] = []
        for _ in range(4):
            action = await engine.choose(play.masked(), CLOCK)
            made.append(str(action))
            play = play.act(action)
    assert made == ["draw", "undo", "draw", "undo"]
    assert sum(line.startswith("> go") for line in asked) == 2


async def test_engine_is_not_asked_at_a_dead_end() -> None:
    board = positioned("ace-of-hearts", "1: QH | 2: QD | 3: QC | 4: QS | 5: TH | 6: TD | 7: TC")
    play = Play(board)
    assert not play.board.legal_moves()
    async with Engine(["no such program"], pytest.fail) as engine:
        assert await engine.choose(play, CLOCK) == RESIGN


async def test_options_are_set(tmp_path: Path) -> None:
    text = (
        'read -r line; echo option depth 3; echo "id name ${SAMEDEAL_PASSPHRASE-unset}"; echo ready 1; read -r line\n'
    )
    said: list[str] = []
    async with Engine([script(tmp_path, text + "cat")], pytest.fail, {"depth": "5"}, said.append) as engine:
        await engine.start()
        assert (engine.name, said[-1]) == ("unset", "> option depth 5")
    async with Engine([script(tmp_path, text)], pytest.fail, {"death": "5"}) as engine:
        with pytest.raises(EngineFailed, match="no option death"):
            await engine.start()


def stubborn(folder: Path) -> tuple[str, Callable[[], Coroutine[Any, Any, list[int]]]]:
    """The path of an engine that ignores signals, as its child does, and what waits for the ids of both processes."""
    pids = folder / "pids"
    text = f"trap '' HUP TERM INT\n{READY}sleep 100 & echo $$ $! >{pids}.new; mv {pids}.new {pids}; sleep 100"

    async def processes() -> list[int]:
        await until(pids.exists)
        return [*map(int, pids.read_text().split())]

    return script(folder, text), processes


async def test_children_of_an_engine_end_with_it(tmp_path: Path) -> None:
    path, processes = stubborn(tmp_path)
    async with Engine([path], pytest.fail) as engine:
        await engine.start()
        running = await processes()
    await until(lambda: not any(map(is_alive, running)))


async def test_engine_ends_if_its_match_is_killed(tmp_path: Path) -> None:
    path, processes = stubborn(tmp_path)
    owner = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "samedeal_client", "match", path, path), stdout=asyncio.subprocess.DEVNULL
    )
    running = await processes()
    await kill_and_wait(owner)
    await until(lambda: not any(map(is_alive, running)))


def awk() -> str:
    return f"gawk -f {EXAMPLES}/eager.awk" if shutil.which("gawk") else f"mawk -W interactive -f {EXAMPLES}/eager.awk"


async def test_examples_play_alike() -> None:
    skip_without(awk().split(maxsplit=1)[0])
    commands = [engine_command(f"{EXAMPLES}/eager.py"), engine_command(awk())]
    async with Engine(commands[0], pytest.fail) as python, Engine(commands[1], pytest.fail) as engine:
        games = [game_named("yukon"), game_named("klondike")]
        played = [pair async for pair in pairs((python, engine), games, 1, 3)]
    assert [(pair.first, pair.second) for pair in played] == [(False, False)] * 2
    assert [pair.races[1].won for pair in played] == [True, False]


async def test_first_engine_of_the_page_plays(tmp_path: Path) -> None:
    (text,) = re.findall(r"```sh\n#!/bin/sh\n(.*?)```", PAGE, re.DOTALL)
    async with Engine([script(tmp_path, text)], pytest.fail) as engine:
        play = Play(dealt("willow", 1))
        for _ in range(20):
            action = await engine.choose(play, CLOCK)
            assert action == play.board.legal_moves()[0]
            play = play.act(action)


def test_page_names_the_limits() -> None:
    assert f"version {VERSION} of the engine protocol" in PAGE
    assert f"more than {MAX_LINES} lines without an answer, a line of more than {LONGEST_LINE} bytes" in PAGE
    assert f"nor within {STOP_TIMEOUT:g} seconds after `stop`" in PAGE
    assert f"within {START_TIMEOUT:g} seconds" in PAGE
    assert f"at least {EDGE:.0%}".replace("%", " %") in PAGE
    fields = [field.split(" ")[0] for field in position_line(Play(dealt("willow", 1)), CLOCK).split("; ")]
    assert re.findall(r"^\| `([a-z]+) ", PAGE.partition("## The position")[2], re.MULTILINE) == fields


def test_match_tells_the_better_engine(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", "greedy", "random", "--games", "yukon", "--deals", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "A is greedy, B is random."
    assert lines[1].startswith("yukon #1")
    assert lines[1].endswith(": A is ahead")
    assert lines[-1].startswith("Not decided: A is ahead in ")


def test_match_with_an_engine_that_always_fails_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(match, "_MAX_FAILED", 2)
    path = script(tmp_path, READY + "exit 1")
    assert main(["match", "random", path, "--games", "yukon"]) == 1
    printed = capsys.readouterr()
    assert printed.out.count("B failed at 0: A is ahead") == 2
    assert "samedeal: B has failed" in printed.err
    assert "Traceback" not in printed.err


def test_engine_that_failed_is_never_ahead() -> None:
    failed, poor = RaceAlone(Result(0, 20, 0, 9), failed=True), RaceAlone(Result(0, 0, 0, 0), failed=False)
    assert (failed.is_ahead_of(poor), poor.is_ahead_of(failed), failed.is_ahead_of(failed)) == (False, True, False)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [(0, 0, "OPEN"), (19, 0, "OPEN"), (20, 0, "FIRST"), (0, 20, "SECOND"), (72, 72, "OPEN"), (73, 73, "EVEN")],
)
def test_match_ends_when_it_is_decided(first: int, second: int, expected: str) -> None:
    assert compared(first, second) is Comparison[expected]
