"""What typed keys and typed lines mean: ``tests/golden/answers/input.txt``, and properties of all keys."""

from __future__ import annotations

from ast import literal_eval

from hypothesis import given
from hypothesis import strategies as st

from samedeal.board import Board
from samedeal.moves import Move
from samedeal_client.board.marks import Marks, selection_marks
from samedeal_client.input.bindings import NAMED_KEYS, PILES, KeyCommand
from samedeal_client.input.intended_move import Ambiguous, Rejected
from samedeal_client.input.key_grammar import (
    Cancelled,
    EntryPrompt,
    FindCard,
    KeyGrammar,
    MoveChoice,
    Selected,
    ViewPile,
)
from samedeal_client.line_by_line.line_parser import TypedCommand, parse_command, parse_line
from tests.client.boards import board, reachable
from tests.client.pressed_keys import effects
from tests.golden.golden_files import assert_answers

STEVE = "1: 9H 8S 7S 6S | 2: 9D | 3: 7D | 4: | 01: AH-5H | 02: AS-5S | 03: AD | 04: AH-5H | 8: 6C | stock: [3C]"


def in_words(effect: object) -> str:
    """What a key or a line does."""
    match effect:
        case Move():
            return f"move {effect}"
        case Rejected(sentence):
            return f"rejected: {sentence}"
        case Selected(source, size, sentence):
            return f"select {source} x{size}{f' ({sentence})' * bool(sentence)}"
        case MoveChoice(moves, sentence):
            return f"{' or '.join(map(str, moves))} ({sentence})"
        case Ambiguous(moves):
            return f"move {' or '.join(map(str, moves))}"
        case EntryPrompt(text, sentence):
            return f"type {text}{f' ({sentence})' * bool(sentence)}"
        case FindCard(card):
            return f"find {card}"
        case ViewPile(pile):
            return f"view {pile}"
        case KeyCommand() as command:
            return command.name.lower()
        case Cancelled(idle):
            return "nothing to cancel" if idle else "cancel"
        case TypedCommand(word, card):
            return word.value if card is None else f"{word.value} {card}"
        case _:
            raise AssertionError(effect)


def test_input_means_what_the_page_says() -> None:
    def answer(heading: str, question: str) -> str:
        kind, _, rest = heading.partition(", ")
        game, _, position = rest.partition(" @ ")
        if kind == "Keys":
            done: list[object] = [*effects(game, question, position=position)]
        elif game == "without a board":
            done = [found] if (found := parse_command(literal_eval(question))) else []
        else:
            done = [parse_line(board(game, position).masked(), literal_eval(question))]
        return ", then ".join(map(in_words, done)) or "nothing"

    assert_answers("input", answer)


def test_targets_of_foundation_cards_are_marked() -> None:
    marks = selection_marks(board("steve", STEVE), "0")
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
