"""The rules in words: each sentence of a rule text and each ruling, with positions that show what it means.

In the files of this folder, a line below a sentence has a position, what is asked about it, and the answer, with ``=>`` in
between: usually actions, and the piles that they change or the refusal. A file about several games names the game first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from samedeal.board_history import Play, Undo
from samedeal.games import GAMES
from tests.shared.positions import after, dealt, is_null, moves, position, state


def cases() -> Iterator[tuple[str, str, str, str, str]]:
    """The lines: a name that says the rule, the game, the position, what is asked, and the answer."""
    for path in sorted(Path(__file__).parent.glob("*.txt")):
        for rule in path.read_text(encoding="utf-8").split("\n# ")[1:]:
            title, *lines = filter(None, rule.splitlines())
            for number, line in enumerate(lines, 1):
                game, at, case = line.partition("  ;")[0].rpartition(" @ ")
                for each in GAMES if game == "every game" else [game or path.stem]:
                    text, asked, answer = case.strip().split("=>")
                    name = " - ".join((path.stem, title, str(number), each * bool(at)))
                    yield name, each, text.strip(), asked.strip(), answer.strip()


def answered(game: str, text: str, asked: str) -> str:
    """The answer to what a line asks."""
    match asked.partition(" "):
        case "dealt", _, pile:
            return dealt(game, pile)
        case "moves", _, _:
            return moves(game, text)
        case "state", _, _:
            return state(game, text)
        case "states", _, _:
            return ", ".join(state(game, text, rule) for rule in ("off", "no-reveal", "free"))
        case "null", _, move:
            assert move in moves(game, text).split(", ")
            return "yes" if is_null(game, text, move) else "no"
        case "count", _, actions:
            return counts(game, text, actions)
        case "with", _, how:
            undo, actions = how.split(" undo: ")
            return after(game, text, actions, undo)
        case _:
            return after(game, text, re.sub(r"(\w+) \* (\d+)", lambda many: ", ".join([many[1]] * int(many[2])), asked))


def counts(game: str, text: str, actions: str) -> str:
    play = Play(position(game, text).board, Undo.FREE)
    for action in actions.split(", "):
        play = play.act(action, revision=play.revision)
    up = play.board.foundation_cards
    return f"{play.moves} moves, {play.undos} undos, {up} up, revision {play.revision}"


def test_rules_mean_what_their_positions_show() -> None:
    wrong = {name: found for name, *case, answer in cases() if (found := answered(*case)) != answer}
    assert wrong == {}


def test_last_card_on_a_foundation_wins() -> None:
    play = Play(position("willow", "1: KS | q: KH | 01: AS-QS | 02: AH-QH | 03: AD-KD | 04: AC-KC").board, Undo.OFF)
    for action, found in (("1 0", (False, 50, False)), ("q 0", (False, 51, False))):
        assert (play.board.won, play.board.foundation_cards, play.no_moves_left) == found
        play = play.act(action)
    assert (play.board.won, play.board.foundation_cards, play.no_moves_left) == (True, 52, False)
