"""The rules that players read state every ruling and agree with the games."""

from __future__ import annotations

import re

import pytest

from samedeal.cards import Card
from samedeal.game import Game
from samedeal.game_rules import _facts, _sentences, rules_of
from samedeal.games import GAMES
from samedeal.policies import Build
from tests.golden.golden_files import assert_sentences


def stated_rulings(game: Game) -> set[str]:
    """The rulings that the rules of a game state."""
    return {ruling for section in rules_of(game) for point in section.points for ruling in point.rulings.split()}


def test_all_rulings_are_stated() -> None:
    stated = set().union(*(stated_rulings(game) for game in GAMES.values()))
    own = {number for game in GAMES.values() for number in game.file.rulings.values()}
    assert stated == {f"R{number}" for number in {*range(1, 12), *own}}


@pytest.mark.parametrize("game", GAMES.values(), ids=str)
def test_the_wording_of_rules(game: Game) -> None:
    lines = [
        f"{section.title} {point.rulings}".strip() + f"\t{point.text}"
        for section in rules_of(game)
        for point in section.points
    ]
    assert_sentences(f"rules of {game}", lines)


def test_sentences_name_only_facts_and_words() -> None:
    known = {name for game in GAMES.values() for name in _facts(game)} | {
        word["name"] for word in _sentences()["words"]
    }
    sections = [*_sentences()["sections"], *_sentences()["common"]]
    entries = [*_sentences()["words"], *sections, *(point for section in sections for point in section["points"])]
    named = {name for entry in entries for name in re.findall(r"\{([a-z_]+)\}", entry.get("text", entry.get("title")))}
    assert named | {name for entry in entries for name in entry.get("if", {})} <= known


def section_text(game: Game, *titles: str) -> str:
    sections = [section for section in rules_of(game) if section.title in titles]
    return " ".join(point.text for section in sections for point in section.points)


@pytest.mark.parametrize("game", GAMES.values(), ids=str)
def test_the_example_of_a_build_is_legal(game: Game) -> None:
    example = re.search(r"\{(\w\w)\}(?: or \{(\w\w)\})? on \{(\w\w)\}", section_text(game, "Columns"))
    if example is None:
        assert game.piles[game.columns.start].build is Build.DOWN_ANY_SUIT
        return
    under = Card.parse(example[3])
    for text in filter(None, (example[1], example[2])):
        assert Card.parse(text) in game.piles[game.columns.start].on[under]
