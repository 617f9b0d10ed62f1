"""Key files: the bindings that they change, and the errors in them."""

from __future__ import annotations

from ast import literal_eval

import pytest

from samedeal.errors import MalformedText
from samedeal.games import GAMES
from samedeal.moves import Move
from samedeal_client.input.bindings import DEFAULT, PILES, KeyCommand
from samedeal_client.input.intended_move import Rejected
from samedeal_client.input.key_file import load_bindings
from samedeal_client.input.key_grammar import Selected
from tests.client.pressed_keys import effects, last_effect
from tests.golden.golden_files import assert_answers


def test_a_file_changes_keys_of_commands_and_piles() -> None:
    changed = load_bindings('[commands]\nundo = ["delete", "ctrl+y"]\ncollect = "M"\nhint = []\n[piles]\n1 = "&"\n')
    assert changed.commands[KeyCommand.UNDO] == ("delete", "ctrl+y")
    assert effects("willow", "& 2", changed) == [Selected("1", 3), Move.parse("1 2")]
    assert last_effect("willow", "ctrl+y", changed) == KeyCommand.UNDO
    assert last_effect("willow", "m", changed) == KeyCommand.COLLECT
    for key in ("backspace", "x", "?", "1"):
        assert isinstance(last_effect("willow", key, changed), Rejected)
    assert last_effect("willow", "enter", changed) == last_effect("willow", "enter")


def test_default_keys_have_one_meaning() -> None:
    every = [key for keys in (*DEFAULT.commands.values(), *DEFAULT.piles.values()) for key in keys]
    assert len(every) == len(set(every))
    assert set(KeyCommand) == set(DEFAULT.commands)
    for game in GAMES.values():
        assert set(game.typed_keys) < set(PILES)


def mistake(_: str, question: str) -> str:
    with pytest.raises(MalformedText) as error:
        load_bindings(literal_eval(question))
    return str(error.value)


def test_wrong_key_files_are_refused_as_the_page_says() -> None:
    assert_answers("key_files", mistake)
