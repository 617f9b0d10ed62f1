"""The sentences that tell a player why an input makes no move, or what to type next."""

from __future__ import annotations

from samedeal_client.input.intended_move import Problem, Rejected
from samedeal_client.input.key_grammar import Effect, EntryPrompt, MoveChoice, Selected
from samedeal_client.input.line_parser import parse_command, parse_line
from tests.client.boards import board
from tests.client.pressed_keys import POSITIONS, effects, last_effect
from tests.golden.golden_files import assert_sentences

KEYS = (
    ("athena", "5"),
    ("athena", "0"),
    ("athena", "8"),
    ("athena", "ctrl+t"),
    ("athena", "enter"),
    ("athena", "-"),
    ("athena", "4 1"),
    ("athena", "4 enter"),
    ("athena", "4 - enter"),
    ("willow", "space"),
    ("willow", "1 +"),
    ("willow", "3 -"),
    ("willow", "v"),
    ("willow", "v 0"),
    ("willow", "/ x"),
    ("willow", "/ 7 enter"),
    ("steve", "0 0"),
    ("steve", "0 enter"),
    ("steve", "0 8"),
    ("steve", "0 8 4"),
)
LINES = ("", "three five", "find ZZ", "8 1", "6", "0 0")


def sentence_of(effect: object) -> str:
    """The sentence of an effect, after the code of its problem if it has one."""
    match effect:
        case Rejected(problem, sentence):
            return f"{problem.value}: {sentence}"
        case MoveChoice(_, sentence) | Selected(_, _, sentence):
            return sentence
        case EntryPrompt(text, sentence):
            return sentence or text
        case _:
            raise AssertionError(effect)


def test_sentences_of_keys_and_lines() -> None:
    answers: dict[str, Effect | object] = {f"{game}, keys {keys}": last_effect(game, keys) for game, keys in KEYS}
    answers["steve, keys 0, no card"] = effects("steve", "0", position="1: 6H")[0]
    willow = board("willow", POSITIONS["willow"])
    for line in LINES:
        answers[f"willow, line {line!r}"] = parse_command(line) or parse_line(willow, line)
    assert_sentences("input", [f"{case}\t{sentence_of(answer)}" for case, answer in answers.items()])
    problems = {answer.problem for answer in answers.values() if isinstance(answer, Rejected)}
    assert problems == set(Problem) - {Problem.STOCK_AS_TARGET}
