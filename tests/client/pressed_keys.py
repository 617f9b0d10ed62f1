"""Keys pressed on small boards, one for each game."""

from __future__ import annotations

from samedeal_client.input.bindings import DEFAULT, Bindings
from samedeal_client.input.intended_move import Problem, Rejected
from samedeal_client.input.key_grammar import Effect, KeyGrammar
from tests.client.boards import board

POSITIONS = {
    "athena": "1: KH QS JD | 2: TC | 3: ?? KD | 4: 2H | 5: | w: 9C AH 9D | stock: ??",
    "steve": "1: 9H 8S 7S 6S | 2: 9D | 3: 7D | 4: | 01: AH-5H | 02: AS-5S | 03: AD | 04: AH-5H | 8: 6C | stock: [3C]",
    "willow": "1: TH 9S 8H | 2: 9C | 3: TD | 5: 8C | q: 8S | w: 7H | e: | 01: AH-7H",
    "phoenix": "1: 8S | 2: QH | q: 7H | d: AC | u: KS | k: 7D",
    "ace-of-hearts": "1: 4S 9C 3D | 2: 5S | 3: | 4: KD 2C | stock: [AH]",
}


def effects(game: str, keys: str, bindings: Bindings = DEFAULT, position: str | None = None) -> list[Effect]:
    """The effect of each of some keys, separated by blanks, on the game's board above or on another position."""
    now = board(game, POSITIONS[game] if position is None else position)
    grammar = KeyGrammar(bindings)
    effects: list[Effect] = []
    for key in keys.split():
        grammar, effect = grammar.press(key, now)
        effects.append(effect)
    return effects


def last_effect(game: str, keys: str, bindings: Bindings = DEFAULT) -> Effect:
    """The effect of the last of some keys."""
    return effects(game, keys, bindings)[-1]


def problem_of(effect: object) -> Problem | None:
    """Why an input was rejected; None if it was not."""
    return effect.problem if isinstance(effect, Rejected) else None
