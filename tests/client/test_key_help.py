"""The help page of keys, with default and custom bindings."""

from __future__ import annotations

import pytest

from samedeal_client.input.bindings import DEFAULT, Bindings, KeyCommand
from samedeal_client.input.key_file import load_bindings
from samedeal_client.panels.help import help_rows
from samedeal_client.panels.key_help import HelpContext, key_rows, keys_of
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import row_text
from tests.golden.golden_files import assert_sentences


def lines_of(bindings: Bindings = DEFAULT, width: int = 80) -> list[str]:
    return [" ".join(row_text(row).split()) for row in key_rows(bindings, Look(), width)]


@pytest.mark.parametrize("command", KeyCommand, ids=lambda command: command.name)
def test_every_command_is_listed_with_its_keys(command: KeyCommand) -> None:
    assert f"{keys_of(DEFAULT, command)} {command.description}" in lines_of()


def test_custom_keys_are_listed() -> None:
    own = load_bindings('[commands]\nundo = "u"\nhint = []\n[piles]\n3 = "#"\nu = "U"')
    lines = lines_of(own)
    assert f"u {KeyCommand.UNDO.description}" in lines
    assert f"no key {KeyCommand.HINT.description}" in lines
    assert any(line.startswith("# 5 ") for line in lines)
    assert "# pile 3" in lines


def test_a_game_page_uses_custom_keys() -> None:
    def page(game: str, bindings: Bindings) -> str:
        return "\n".join(row_text(row) for row in help_rows(game, bindings, Look(), 80))

    own = load_bindings('[piles]\nq = "ö"')
    assert "ö 5" in page("willow", own)
    assert "ö w e r" in page("willow", own)
    assert "w 5" in page("athena", DEFAULT)


CONTEXTS: tuple[HelpContext, ...] = ("race", "lobby", "new room", "waiting", "results", "watch")


def test_the_keys_of_the_current_screen_come_first() -> None:
    pages = {over: [row_text(row).strip() for row in key_rows(DEFAULT, Look(), 80, over)] for over in CONTEXTS}
    headings = {over: lines[0] for over, lines in pages.items()}
    assert_sentences("first heading of the help", [f"{over}\t{heading}" for over, heading in headings.items()])
    for lines in pages.values():
        assert all(lines.count(heading) == 1 for heading in headings.values())
