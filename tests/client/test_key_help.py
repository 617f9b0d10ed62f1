"""The keys as the help tells them, those of a player's own included."""

from __future__ import annotations

import pytest

from samedeal_client.board.bindings import DEFAULT, Bindings, Command, load_bindings
from samedeal_client.text.look import Look
from samedeal_client.text.spans import row_text, row_width
from samedeal_client.views.help import help_view
from samedeal_client.views.key_help import COMMAND_WORDS, Where, key_rows, key_word, keys_of


def told(bindings: Bindings = DEFAULT, width: int = 80) -> list[str]:
    return [" ".join(row_text(row).split()) for row in key_rows(bindings, Look(), width)]


@pytest.mark.parametrize("command", Command, ids=lambda command: command.value)
def test_every_command_is_told_with_its_keys(command: Command) -> None:
    assert f"{keys_of(DEFAULT, command)} {COMMAND_WORDS[command]}" in told()


@pytest.mark.parametrize(
    ("key", "word"),
    [("enter", "Enter"), ("space", "Space"), ("f1", "F1"), ("ctrl+q", "Ctrl+Q"), ("x", "x"), ("?", "?"), ("+", "+")],
)
def test_keys_are_written_in_words(key: str, word: str) -> None:
    assert key_word(key) == word


def test_keys_of_ones_own_are_told() -> None:
    own = load_bindings('[commands]\nundo = "u"\nhint = []\n[piles]\n3 = "#"\nu = "U"')
    lines = told(own)
    assert f"u {COMMAND_WORDS[Command.UNDO]}" in lines
    assert f"no key {COMMAND_WORDS[Command.HINT]}" in lines
    assert "# 5 from column 3 to column 5; a pile's key stands by it" in lines
    assert "# pile 3" in lines
    assert "Piles with keys of your own" in lines


def test_without_keys_of_ones_own_none_are_told() -> None:
    assert "Piles with keys of your own" not in told()


def test_the_page_of_a_game_names_its_piles_by_the_keys_in_force() -> None:
    own = load_bindings('[piles]\nq = "ö"')
    assert "ö 5" in help_view("willow", own, Look(), 80, 60).text()
    assert "(ö w e r)" in help_view("willow", own, Look(), 80, 60).text()
    assert "w 5" in help_view("athena", DEFAULT, Look(), 80, 60).text()


HEADINGS: dict[Where, str] = {
    "race": "Moving cards takes two keys, a pile and another",
    "lobby": "In the lobby",
    "new room": "In the form of a new room",
    "waiting": "In a room before its race",
    "results": "When a race is over",
    "watch": "When you watch",
}


@pytest.mark.parametrize("over", HEADINGS)
def test_the_keys_of_the_screen_in_hand_come_first_and_all_others_after_them(over: Where) -> None:
    lines = [row_text(row).strip() for row in key_rows(DEFAULT, Look(), 80, over)]
    assert lines[0] == HEADINGS[over]
    assert all(lines.count(heading) == 1 for heading in HEADINGS.values())


def test_the_bars_beside_a_racer_are_told() -> None:
    assert "▁▃▆▂ moves made lately: a bar for every 5 seconds, the newest last; taller is more" in told(width=120)
    assert any("_:+." in row_text(row) for row in key_rows(DEFAULT, Look(ascii=True), 80))


def test_the_signs_on_a_board_are_told_as_they_are_drawn() -> None:
    assert "(3♥) a card face down that you have seen" in told()
    drawn = "\n".join(row_text(row) for row in key_rows(DEFAULT, Look(ascii=True), 80))
    assert "(3H)" in drawn
    assert ":+5" in drawn


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_keys_fit_the_width(width: int) -> None:
    assert all(row_width(row) <= width for row in key_rows(DEFAULT, Look(), width))
