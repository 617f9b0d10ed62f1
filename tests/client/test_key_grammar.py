"""The two-key grammar: which moves and effects keys have."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samedeal.board import Board
from samedeal.cards import Card
from samedeal.moves import DEAL, DRAW, Move
from samedeal_client.drawing.marks import Marks, selection_marks
from samedeal_client.input.bindings import NAMED_KEYS, PILES, KeyCommand
from samedeal_client.input.intended_move import Problem, Rejected
from samedeal_client.input.key_grammar import (
    Cancelled,
    EntryPrompt,
    FindCard,
    KeyGrammar,
    MoveChoice,
    RunCommand,
    ScreenCommand,
    Selected,
    ViewPile,
)
from tests.client.boards import board, reachable
from tests.client.pressed_keys import POSITIONS, effects, last_effect, problem_of


def move(text: str) -> Move:
    return Move.parse(text)


@pytest.mark.parametrize(
    ("game", "keys", "expected"),
    [
        ("athena", "w 2", "w 2"),
        ("athena", "3 5", "3 5"),
        ("athena", "1 5", "1 5 x3"),
        ("steve", "1 3", "1 3"),
        ("steve", "8 3", "8 3"),
        ("steve", "1 2", "1 2 x3"),
        ("steve", "1 4", "1 4 x3"),
        ("steve", "1 1", "1 0"),
        ("steve", "1 0", "1 0"),
        ("steve", "2 4", "2 4"),
        ("willow", "1 2", "1 2"),
        ("willow", "1 3", "1 3 x2"),
        ("willow", "1 7", "1 7 x3"),
        ("willow", "1 0", "1 0"),
        ("willow", "5 q", "5 q"),
        ("willow", "w 5", "w 5"),
        ("phoenix", "q 1", "q 1"),
        ("phoenix", "d 0", "d 0"),
        ("phoenix", "d d", "d 0"),
        ("phoenix", "u 3", "u 3"),
        ("phoenix", "2 3", "2 3"),
        ("ace-of-hearts", "1 2", "1 2 x3"),
        ("ace-of-hearts", "4 3", "4 3 x2"),
    ],
)
def test_two_keys_are_a_move(game: str, keys: str, expected: str) -> None:
    assert last_effect(game, keys) == move(expected)


@pytest.mark.parametrize(
    ("game", "keys", "problem"),
    [
        ("athena", "5", Problem.EMPTY_SOURCE),
        ("athena", "0", Problem.LOCKED_SOURCE),
        ("athena", "4 1", Problem.ILLEGAL_MOVE),
        ("athena", "4 5", Problem.ILLEGAL_MOVE),
        ("athena", "4 4", Problem.ILLEGAL_MOVE),
        ("athena", "3 w", Problem.ILLEGAL_MOVE),
        ("steve", "3 1", Problem.ILLEGAL_MOVE),
        ("willow", "q 2", Problem.ILLEGAL_MOVE),
        ("willow", "w e", Problem.ILLEGAL_MOVE),
        ("willow", "1 - 2", Problem.ILLEGAL_MOVE),
        ("phoenix", "1 k", Problem.ILLEGAL_MOVE),
        ("phoenix", "1 a", Problem.ILLEGAL_MOVE),
        ("athena", "q", Problem.UNKNOWN_KEY),
        ("athena", "ctrl+t", Problem.UNKNOWN_KEY),
        ("athena", "8", Problem.UNKNOWN_KEY),
        ("athena", "enter", Problem.NO_SOURCE),
        ("athena", "-", Problem.NO_SOURCE),
        ("athena", "4 enter", Problem.NO_USEFUL_TARGET),
        ("willow", "space", Problem.NO_STOCK),
        ("steve", "0 0", Problem.FOUNDATION_TO_FOUNDATION),
        ("steve", "0 enter", Problem.NO_TARGET),
    ],
)
def test_rejected_keys_end_the_entry(game: str, keys: str, problem: Problem) -> None:
    assert problem_of(last_effect(game, keys)) is problem
    grammar = KeyGrammar()
    for key in keys.split():
        grammar, _ = grammar.press(key, board(game, POSITIONS[game]))
    assert grammar.idle


def test_source_selects_all_cards_that_move_together() -> None:
    assert effects("athena", "1") == [Selected("1", 3)]
    assert effects("athena", "3") == [Selected("3", 1)]
    assert effects("athena", "w") == [Selected("w", 1)]
    assert effects("steve", "0") == [Selected("0", 1)]
    assert effects("ace-of-hearts", "1") == [Selected("1", 3)]


@pytest.mark.parametrize(
    ("game", "keys", "problem"),
    [
        ("athena", "5 1", Problem.EMPTY_SOURCE),
        ("athena", "0 4", Problem.LOCKED_SOURCE),
        ("athena", "5 enter", Problem.EMPTY_SOURCE),
    ],
)
def test_target_of_empty_source_is_no_new_source(game: str, keys: str, problem: Problem) -> None:
    """If the first key names an empty pile, the second one, typed at once, does not select its pile."""
    assert [problem_of(effect) for effect in effects(game, keys)] == [problem] * 2
    assert effects(game, f"{keys} 3 5")[2:] == effects(game, "3 5")


def test_minus_and_plus_change_the_number_of_cards() -> None:
    assert effects("willow", "1 - 7") == [Selected("1", 3), Selected("1", 2), move("1 7 x2")]
    assert effects("willow", "1 - - + 7")[1:] == [Selected("1", 2), Selected("1", 1), Selected("1", 2), move("1 7 x2")]


@pytest.mark.parametrize(("keys", "size"), [("1 - - -", 1), ("1 +", 3), ("1 =", 3), ("3 -", 1)])
def test_number_of_cards_at_its_limit_stays(keys: str, size: int) -> None:
    effect = last_effect("willow", keys)
    assert isinstance(effect, Selected)
    assert (effect.source, effect.size) == (keys[0], size)
    assert effect.sentence


def test_minus_and_plus_skip_groups_that_cannot_move() -> None:
    position = "1: 4S KD 3H KC 9C | 2: TH | 3: "
    entered = effects("ace-of-hearts", "1 - - + 3", position=position)
    assert [effect.size for effect in entered if isinstance(effect, Selected)] == [4, 2, 2, 4]
    assert entered[-1] == move("1 3 x4")


def test_enter_moves_to_the_most_useful_target() -> None:
    assert last_effect("willow", "1 enter") == move("1 0")
    assert last_effect("willow", "5 enter") == move("5 q")
    assert last_effect("willow", "1 - enter") == move("1 3 x2")
    assert last_effect("willow", "1 - - enter") == move("1 0")
    assert last_effect("steve", "1 enter") == move("1 0")
    assert last_effect("athena", "w enter") == move("w 2")


def test_foundation_cards_move_back_in_steve() -> None:
    selected, choice = effects("steve", "0 8")
    assert selected == Selected("0", 1)
    assert isinstance(choice, MoveChoice)
    assert choice.moves == (move("01 8"), move("02 8"))
    assert last_effect("steve", "0 8 2") == move("02 8")
    assert problem_of(last_effect("steve", "0 8 4")) is Problem.NOT_A_CHOICE
    assert problem_of(last_effect("steve", "0 8 x")) is Problem.NOT_A_CHOICE
    assert last_effect("steve", "0 8 escape") == Cancelled(idle=False)
    assert problem_of(last_effect("steve", "0 3")) is Problem.ILLEGAL_MOVE
    assert effects("steve", "0 1", position="1: 6H | 02: AS-5S | 03: AD")[-1] == move("02 1")
    assert problem_of(effects("steve", "0", position="1: 6H")[0]) is Problem.EMPTY_SOURCE


def test_space_draws_or_deals() -> None:
    assert last_effect("athena", "space") == DRAW
    assert last_effect("athena", "3 space") == DRAW
    assert last_effect("steve", "space") == DEAL
    assert last_effect("ace-of-hearts", "space") == DEAL
    assert problem_of(effects("steve", "space", position="1: 9C")[0]) is Problem.ILLEGAL_MOVE
    assert effects("athena", "space", position="w: 9C") == [DRAW]


@pytest.mark.parametrize(
    ("key", "command"),
    [
        ("x", KeyCommand.COLLECT),
        ("X", KeyCommand.COLLECT),
        ("backspace", KeyCommand.UNDO),
        ("z", KeyCommand.UNDO),
        ("?", KeyCommand.HINT),
        ("question_mark", KeyCommand.HINT),
        ("f1", KeyCommand.HELP),
    ],
)
def test_command_keys_run_commands(key: str, command: ScreenCommand) -> None:
    assert last_effect("phoenix", key) == RunCommand(command)


def test_help_keeps_the_entry_and_other_commands_end_it() -> None:
    assert effects("willow", "1 f1 2")[-1] == move("1 2")
    assert effects("willow", "1 ? 2")[-1] == Selected("2", 1)


def test_escape_cancels_the_entry() -> None:
    assert effects("willow", "1 escape escape") == [Selected("1", 3), Cancelled(idle=False), Cancelled(idle=True)]
    assert last_effect("willow", "/ escape") == Cancelled(idle=False)
    assert last_effect("willow", "v escape") == Cancelled(idle=False)


def test_cards_are_found_by_rank_and_suit() -> None:
    assert effects("willow", "/ 7 h") == [EntryPrompt("/"), EntryPrompt("/7"), FindCard(Card.parse("7H"))]
    assert effects("willow", "/ 1 0 s") == [
        EntryPrompt("/"),
        EntryPrompt("/1"),
        EntryPrompt("/10"),
        FindCard(Card.parse("TS")),
    ]
    assert last_effect("willow", "slash t S") == FindCard(Card.parse("TS"))
    assert last_effect("willow", "/ q d") == FindCard(Card.parse("QD"))
    assert effects("willow", "/ 7 backspace q backspace backspace")[2:] == [
        EntryPrompt("/"),
        EntryPrompt("/Q"),
        EntryPrompt("/"),
        Cancelled(idle=False),
    ]


@pytest.mark.parametrize(
    ("keys", "text"), [("/ x", "/"), ("/ h", "/"), ("/ 0", "/"), ("/ 1 h", "/1"), ("/ 7 x", "/7"), ("/ a 2", "/A")]
)
def test_wrong_character_of_a_card_changes_nothing(keys: str, text: str) -> None:
    effect = last_effect("willow", keys)
    assert isinstance(effect, EntryPrompt)
    assert effect.text == text
    assert effect.sentence
    assert last_effect("willow", f"{keys} escape") == Cancelled(idle=False)


def test_a_pile_can_be_viewed() -> None:
    assert effects("willow", "v 1")[-1] == ViewPile("1")
    assert isinstance(effects("willow", "v 1")[0], EntryPrompt)
    assert last_effect("willow", "1 v") == ViewPile("1")
    assert last_effect("athena", "v w") == ViewPile("w")
    assert last_effect("ace-of-hearts", "v 0") == ViewPile("01")
    assert problem_of(last_effect("willow", "v 0")) is Problem.WHOLE_FOUNDATION


def test_mouse_selects_a_card_and_those_on_top_of_it() -> None:
    now = board("willow", POSITIONS["willow"])
    grammar, effect = KeyGrammar().select("1", now, 2)
    assert effect == Selected("1", 2)
    assert grammar.choose_target("3", now).effect == move("1 3 x2")
    assert grammar.choose_target("7", now).effect == move("1 7 x2")
    assert problem_of(grammar.choose_target("03", now).effect) is Problem.ILLEGAL_MOVE
    assert KeyGrammar().select("1", now).grammar.choose_target("03", now).effect == move("1 0")
    assert KeyGrammar().choose_target("1", now).effect == Selected("1", 3)
    assert grammar.choose_best(now).effect == move("1 3 x2")
    steve = board("steve", POSITIONS["steve"])
    assert KeyGrammar().select("02", steve).grammar.choose_target("1", steve).effect == move("02 1")
    assert problem_of(KeyGrammar().select("1", steve, 4).effect) is Problem.ILLEGAL_MOVE
    athena = board("athena", POSITIONS["athena"])
    assert problem_of(KeyGrammar().select("stock", athena).effect) is Problem.LOCKED_SOURCE


def test_targets_of_foundation_cards_are_marked() -> None:
    marks = selection_marks(board("steve", POSITIONS["steve"]), "0")
    assert marks == Marks(None, frozenset(["1", "4", "5", "6", "7", "8"]))


@given(reachable(), st.data())
def test_any_keys_give_a_legal_move_or_a_sentence(now: Board, data: st.DataObject) -> None:
    """Every legal move has two keys, apart from copies of the same card, and from groups smaller than another that fits."""
    now, grammar = now.masked(), KeyGrammar()
    for key in data.draw(st.lists(st.sampled_from([*PILES, *NAMED_KEYS[:4], *"xz?/v-+hm"]), max_size=12)):
        grammar, effect = grammar.press(key, now)
        if isinstance(effect, Move):
            assert now.is_legal(effect)
        if isinstance(effect, MoveChoice):
            assert all(now.is_legal(candidate) for candidate in effect.moves)
        if isinstance(effect, Rejected):
            assert effect.sentence
            assert grammar.idle
    for legal in now.legal_moves():
        if not legal.is_transfer:
            assert KeyGrammar().press("space", now).effect == legal
            continue
        at = now.game.index[legal.source]
        source = "0" if at in now.game.foundations else legal.source
        second = KeyGrammar().press(source, now).grammar.press(legal.target, now)
        if isinstance(second.effect, MoveChoice):
            tops = [now.piles[now.game.index[candidate.source]][-1] for candidate in second.effect.moves]
            assert now.piles[at][-1] in tops
            last = second.effect.moves[-1]
            assert second.grammar.press(last.source[1:], now).effect == last
        elif isinstance(second.effect, Move) and second.effect.size > legal.size:
            resized = KeyGrammar().select(source, now).grammar
            while resized.size != legal.size and source != "0":
                resized = resized.press("-" if (resized.size or 99) > legal.size else "+", now).grammar
            assert resized.press(legal.target, now).effect == legal or source == "0"
        elif source == "0":
            assert isinstance(second.effect, Move)
        else:
            assert second.effect == legal
