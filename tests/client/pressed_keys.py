"""Keys pressed on small boards."""

from __future__ import annotations

from samedeal_client.input.bindings import DEFAULT, Bindings
from samedeal_client.input.key_grammar import Effect, KeyGrammar
from tests.client.boards import board

WILLOW = "1: TH 9S 8H | 2: 9C | 3: TD | 5: 8C | q: 8S | w: 7H | e: | 01: AH-7H"


def effects(game: str, keys: str, bindings: Bindings = DEFAULT, position: str = WILLOW) -> list[Effect]:
    """The effect of each of some keys, separated by blanks, on the board of Willow above or on another position.

    With the mouse, ``on:3`` chooses a target, ``card:1.2`` selects the two topmost cards of a pile, and ``double`` moves
    the selected ones to the best target.
    """
    now = board(game, position)
    grammar = KeyGrammar(bindings)
    effects: list[Effect] = []
    for key in keys.split():
        gesture, _, place = key.partition(":")
        match gesture:
            case "card":
                pile, _, count = place.partition(".")
                grammar, effect = grammar.select(pile, now, int(count) if count else None)
            case "on":
                grammar, effect = grammar.choose_target(place, now)
            case "double":
                grammar, effect = grammar.choose_best(now)
            case _:
                grammar, effect = grammar.press(key, now)
        effects.append(effect)
    return effects


def last_effect(game: str, keys: str, bindings: Bindings = DEFAULT) -> Effect:
    """The effect of the last of some keys."""
    return effects(game, keys, bindings)[-1]
