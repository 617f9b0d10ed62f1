"""Key files: the bindings that they change, and the errors in them."""

from __future__ import annotations

import pytest

from samedeal.errors import MalformedText
from samedeal.games import GAMES
from samedeal.moves import Move
from samedeal_client.input.bindings import DEFAULT, PILES, KeyCommand, normal_key
from samedeal_client.input.intended_move import Problem
from samedeal_client.input.key_file import load_bindings
from samedeal_client.input.key_grammar import RunCommand, Selected
from tests.client.pressed_keys import effects, last_effect, problem_of
from tests.golden.golden_files import assert_sentences


def test_a_file_changes_keys_of_commands_and_piles() -> None:
    changed = load_bindings('[commands]\nundo = ["delete", "ctrl+y"]\ncollect = "M"\nhint = []\n[piles]\n1 = "&"\n')
    assert changed.commands[KeyCommand.UNDO] == ("delete", "ctrl+y")
    assert effects("willow", "& 2", changed) == [Selected("1", 3), Move.parse("1 2")]
    assert last_effect("willow", "ctrl+y", changed) == RunCommand(KeyCommand.UNDO)
    assert last_effect("willow", "m", changed) == RunCommand(KeyCommand.COLLECT)
    for key in ("backspace", "x", "?", "1"):
        assert problem_of(last_effect("willow", key, changed)) is Problem.UNKNOWN_KEY
    assert last_effect("willow", "enter", changed) == last_effect("willow", "enter")


def test_an_empty_file_changes_nothing() -> None:
    assert load_bindings("") == DEFAULT
    assert load_bindings("# keys\n[commands]\n[piles]\n") == DEFAULT


WRONG_FILES = {
    "not TOML": "[commands\n",
    "unknown table": "[colours]\nred = 1\n",
    "entry outside a table": "undo = 'z'\n",
    "unknown command": "\n[commands]\n\nundoo = 'z'\n",
    "unknown pile": "[piles]\n9 = 'z'\n",
    "number as key": "[commands]\nundo = 3\n",
    "number in a list": "[commands]\nundo = ['z', 3]\n",
    "misspelt key": "[commands]\nundo = 'bakspace'\n",
    "empty key": "[commands]\nundo = ''\n",
    "unknown modifier": "[commands]\nundo = 'hyper+z'\n",
    "modifier twice": "[commands]\nundo = 'ctrl+ctrl+z'\n",
    "key with a fixed meaning": "[commands]\nundo = 'Ctrl+Z'\n",
    "pile without a key": "[piles]\n1 = []\n",
    "key of another command": "[commands]\nundo = 'x'\n",
    "key of a pile": "[commands]\nundo = 'q'\n",
    "key of two commands": "[commands]\nundo = 'm'\nhint = 'm'\n",
    "key of a command and a pile": "[commands]\nundo = 'm'\n[piles]\n1 = 'm'\n",
}
"""Key files with one mistake."""


def test_default_keys_have_one_meaning() -> None:
    every = [key for keys in (*DEFAULT.commands.values(), *DEFAULT.piles.values()) for key in keys]
    assert len(every) == len(set(every))
    assert set(KeyCommand) == set(DEFAULT.commands)
    for game in GAMES.values():
        assert set(game.typed_keys) < set(PILES)


def test_keys_have_one_name() -> None:
    names = [normal_key(key) for key in (" ", "return", "minus", "equals_sign", "q")]
    assert names == ["space", "enter", "-", "=", "q"]


def test_sentences_of_key_files() -> None:
    lines: list[str] = []
    for case, text in WRONG_FILES.items():
        with pytest.raises(MalformedText) as error:
            load_bindings(text)
        lines.append(f"{case}\t{error.value}")
    assert_sentences("key file", lines)
