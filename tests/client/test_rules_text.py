"""The rules that players read: each ruling is told where it holds, and what is told is what the games do."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from samedeal.cards import Card
from samedeal.games import GAMES, Base, Build, Game, Kind, Lift
from samedeal_client.text.look import Look
from samedeal_client.text.rules_text import Section, rules_of, rules_rows
from samedeal_client.text.spans import row_text, row_width

EVERYWHERE = {
    "R1": "same cards in the same order",
    "R2": "same cards in the same order",
    "R6": "counts as a move and changes nothing",
    "R7": "told that you are stuck",
    "R8": "Nothing goes up by itself",
    "R9": "counts as one move",
    "R10": "Undo takes back the last move",
    "R11": "the ten is T",
}
GROUPS = {"R3": "deepest of those that move must fit"}
FOR_GOOD = {"R5": "stays there"}

TOLD = {
    "athena": GROUPS
    | FOR_GOOD
    | {
        "R4": "turned up at once",
        "R12": "from the deepest, one face down, one face up, one face down, and the top one face up",
        "R13": "one after another, so that the third lies on top",
        "R14": "unshuffled, and draws nothing yet",
        "R15": "Only a king, alone or leading its run",
    },
    "steve": GROUPS
    | {
        "R5": "One card goes up at a time",
        "R16": "one, two, three and so on to eight",
        "R17": "eight deals of eight cards, then one of four",
        "R18": "down by one in one suit",
        "R19": "the first gets it",
        "R20": "never go to another foundation",
    },
    "phoenix": GROUPS | FOR_GOOD | {"R21": "Nothing is ever put into the reserve", "R22": "Any card, or any such run"},
    "ace-of-hearts": GROUPS
    | FOR_GOOD
    | {
        "R23": "three deals of seven cards, then one of three",
        "R24": "then any ace, any two and round again",
        "R25": "in whatever order they lie",
        "R26": "Only the top card of a column goes up",
    },
    "willow": GROUPS
    | FOR_GOOD
    | {"R27": "Four fans of six cards", "R28": "A fan that is empty stays empty", "R29": "alternating colours"},
}


def sentences(game: Game, ruling: str) -> str:
    """What a game's rules say where they name a ruling."""
    points = [point for section in rules_of(game) for point in section.points]
    return " ".join(point.text for point in points if ruling in point.rulings.split())


@pytest.mark.parametrize(
    ("name", "ruling", "words"),
    [(name, ruling, words) for name in GAMES for ruling, words in {**EVERYWHERE, **TOLD[name]}.items()],
)
def test_each_ruling_is_told(name: str, ruling: str, words: str) -> None:
    assert words in sentences(Game.named(name), ruling)


def test_all_rulings_are_told_somewhere() -> None:
    told = {
        ruling
        for game in GAMES.values()
        for section in rules_of(game)
        for point in section.points
        for ruling in point.rulings.split()
    }
    assert told == {f"R{number}" for number in range(1, 30)}


@pytest.mark.parametrize("game", GAMES.values(), ids=str)
def test_no_game_is_told_the_rulings_of_another(game: Game) -> None:
    own = {ruling for ruling in TOLD[game.name] if int(ruling[1:]) >= 12}
    others = {ruling for name in GAMES for ruling in TOLD[name] if int(ruling[1:]) >= 12} - own
    assert not [ruling for ruling in others if sentences(game, ruling)]


NUMBERS = {4: "four", 6: "six", 7: "seven", 8: "eight", 16: "sixteen"}


def text_of(game: Game) -> str:
    return " ".join(point.text for section in rules_of(game) for point in section.points)


def told_of(game: Game, *titles: str) -> str:
    found: list[Section] = [section for section in rules_of(game) if section.title in titles]
    return " ".join(point.text for section in found for point in section.points)


@pytest.mark.parametrize("game", GAMES.values(), ids=str)
def test_the_numbers_are_those_of_the_game(game: Game) -> None:
    deal = told_of(game, "The deal")
    assert f"{NUMBERS[len(game.columns)].capitalize()} columns" in deal
    assert f"all {game.cards} cards" in told_of(game, "Aim")
    dealt = sum(sum(group.sizes) for group in game.groups)
    stock = re.search(r"The other (\d+) cards are the stock", deal)
    assert (int(stock[1]) if stock else 0) == game.cards - dealt
    assert ("There is no stock" in deal) == (game.stock_at < 0)


@pytest.mark.parametrize("game", GAMES.values(), ids=str)
def test_what_columns_take_is_what_the_game_lets_them_take(game: Game) -> None:
    columns = game.piles[game.columns.start]
    told = told_of(game, "Columns")
    builds = {
        Build.DOWN_ALTERNATING: "down by one in alternating colours",
        Build.DOWN_ANY_SUIT: "down by one in any suit",
        Build.DOWN_SAME_SUIT: "down by one in the same suit",
    }
    lifts = {
        Lift.ALTERNATING_RUN: "that run down by one in alternating colours can move together",
        Lift.SUIT_RUN: "that run down by one in one suit",
        Lift.ANY: "Any number of cards",
    }
    assert builds[columns.build] in told
    assert lifts[columns.lift] in told
    assert ("Only a king" in told) == (columns.base is Base.KING)
    assert ("Any card, or any" in told) == (columns.base is Base.ANY)


@pytest.mark.parametrize("game", GAMES.values(), ids=str)
def test_whether_foundations_give_cards_back_is_told(game: Game) -> None:
    gives = game.piles[game.foundations.start].gives
    assert ("may come back to a column" in text_of(game)) == gives
    assert ("stays there" in text_of(game)) == (not gives)


@pytest.mark.parametrize("game", GAMES.values(), ids=str)
def test_the_example_of_a_build_is_one(game: Game) -> None:
    example = re.search(r"\{(\w\w)\}(?: or \{(\w\w)\})? on \{(\w\w)\}", told_of(game, "Columns"))
    if example is None:
        assert game.piles[game.columns.start].build is Build.DOWN_ANY_SUIT
        return
    under = Card.parse(example[3])
    for text in filter(None, (example[1], example[2])):
        assert Card.parse(text) in game.piles[game.columns.start].on[under]


def test_fans_are_told_where_there_are_some() -> None:
    for game in GAMES.values():
        assert bool(told_of(game, "Fans")) == bool(game.fans)
        assert bool(told_of(game, "Reserve")) == bool(game.of_kind(Kind.RESERVE))


@pytest.mark.parametrize("game", GAMES.values(), ids=str)
@pytest.mark.parametrize("width", [40, 60, 78, 118])
def test_rules_fit_the_width(game: Game, width: int) -> None:
    assert all(row_width(row) <= width for row in rules_rows(game, Look(), width))


def test_cards_are_written_as_the_terminal_shows_them() -> None:
    def text(look: Look) -> str:
        return " ".join(" ".join(row_text(row) for row in rules_rows(Game.named("steve"), look, 78)).split())

    assert "9♠ 8♠ 7♠" in text(Look())
    assert "9S 8S 7S" in text(Look(ascii=True))
    assert text(Look(ascii=True)).isascii()


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "samedeal_client", "rules", *arguments]
    return subprocess.run(line, capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL)


def test_the_command_prints_the_rules() -> None:
    done = command("ace-of-hearts")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Ace of Hearts\n\n Aim\n")
    assert "9♥ on 10♥" in done.stdout
    assert "\x1b" not in done.stdout


def test_the_command_prints_ascii() -> None:
    assert command("steve", "--ascii").stdout.isascii()


def test_a_game_that_is_none_is_bad_usage() -> None:
    done = command("bridge")
    assert done.returncode == 2
    assert "'bridge' is not a game: choose one of athena" in done.stderr
