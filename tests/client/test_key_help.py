"""The help page of keys, with default and custom bindings."""

from __future__ import annotations

import pytest

from samedeal_client.input.bindings import DEFAULT, Bindings, KeyCommand
from samedeal_client.panels.key_help import HelpContext, key_rows, keys_of
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import row_text
from tests.golden.golden_files import assert_sentences


def lines_of(bindings: Bindings = DEFAULT, width: int = 80) -> list[str]:
    return [" ".join(row_text(row).split()) for row in key_rows(bindings, Look(), width)]


@pytest.mark.parametrize("command", KeyCommand, ids=lambda command: command.name)
def test_every_command_is_listed_with_its_keys(command: KeyCommand) -> None:
    assert f"{keys_of(DEFAULT, command)} {command.description}" in lines_of()


CONTEXTS: tuple[HelpContext, ...] = ("race", "lobby", "new room", "waiting", "results", "watch")


def test_the_keys_of_the_current_screen_come_first() -> None:
    pages = {over: [row_text(row).strip() for row in key_rows(DEFAULT, Look(), 80, over)] for over in CONTEXTS}
    headings = {over: lines[0] for over, lines in pages.items()}
    assert_sentences("first heading of the help", [f"{over}\t{heading}" for over, heading in headings.items()])
    for lines in pages.values():
        assert all(lines.count(heading) == 1 for heading in headings.values())
