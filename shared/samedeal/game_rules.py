"""The rules of a game as sentences for players: those of ``rules.toml`` that fit the policies of its piles.

``{9S}`` in a sentence is a card. Each point names the rulings of RULES.md that it states: those that hold in all games,
and those whose numbers the game's file has.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final, NamedTuple

from samedeal.data_files import read_data
from samedeal.game import Game
from samedeal.policies import Faces, Kind, Lift

_NUMBERS: Final = tuple(
    "no one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen".split()  # noqa: SIM905 - easier to read than a list
)
_NAME: Final = re.compile(r"\{([a-z_]+)\}")


class RulePoint(NamedTuple):
    """One point of the rules, and the rulings of RULES.md that the point states."""

    text: str
    rulings: str = ""


class Section(NamedTuple):
    """A title with the points below it."""

    title: str
    points: tuple[RulePoint, ...]


_Facts = Mapping[str, Any]
"""What decides which sentences fit a game, and the numbers and names in them."""


@cache
def _sentences() -> dict[str, Any]:
    return read_data("samedeal", "rules.toml", dict[str, Any])


def rules_of(game: Game) -> tuple[Section, ...]:
    """Return the complete rules of a game: the game's own rules, then the rules common to all games."""
    return tuple(_sections(game, "sections", "common"))


def sections_of(game: Game) -> tuple[Section, ...]:
    """Return the rules of a game, without those common to all games."""
    return tuple(_sections(game, "sections"))


def rules_in_short(game: Game) -> tuple[str, ...]:
    """Return the rules of a game in three lines of at most 54 columns."""
    facts = _facts(game)
    return tuple(_filled(f"{{short_{line}}}", facts) for line in ("foundations", "columns", "others"))


def _sections(game: Game, *parts: str) -> Iterator[Section]:
    facts = _facts(game)
    for section in [section for part in parts for section in _sentences()[part] if _fits(section, facts)]:
        title = _filled(section["title"], facts)
        points = [
            RulePoint(text[0].upper() + text[1:], " ".join(_rulings(game, point.get("rulings", ""))))
            for point in section["points"]
            if _fits(point, facts) and (text := _filled(point["text"], facts))
        ]
        points += [RulePoint(note) for note in game.file.notes.get(title.lower(), ())]
        yield Section(title, tuple(points))


def _fits(entry: dict[str, Any], facts: _Facts) -> bool:
    return all(
        facts.get(name) in (value if isinstance(value, list) else [value])
        for name, value in entry.get("if", {}).items()
    )


def _filled(text: str, facts: _Facts) -> str:
    """Return a sentence with its facts and words filled in."""

    def word(name: str) -> str:
        found = (each["text"] for each in _sentences()["words"] if each["name"] == name and _fits(each, facts))
        return _filled(str(facts[name]) if name in facts else next(found, ""), facts)

    return _NAME.sub(lambda match: word(match[1]), text.replace("\n", " "))


def _rulings(game: Game, names: str) -> Iterator[str]:
    """Yield rulings by their numbers. ``names`` has some by their numbers, and others by what they are about."""
    for name in names.split():
        if name.startswith("R"):
            yield name
        elif name in game.file.rulings:
            yield f"R{game.file.rulings[name]}"


def _facts(game: Game) -> _Facts:
    stock, columns = game.stock, game.piles[game.columns.start]
    undealt = game.cards - sum(sum(group.sizes) for group in game.groups)
    rows, rest = divmod(undealt, len(game.columns))
    last = [group for group in game.groups if sum(group.sizes) and group.kind is not Kind.FOUNDATION][-1]
    facts: dict[str, Any] = {
        "cards": game.cards,
        "decks": game.decks,
        "suits": game.file.suits,
        "undealt": undealt,
        "drawn": stock.drawn,
        "redeals": stock.redeals,
        "fills_columns": stock.fills_columns,
        "deals": _deals(rows, len(game.columns), rest),
        "times": count_text(game.cards // 13),
        "column_hides": columns.faces is not Faces.UP,
        "column_takes": columns.base.removeprefix("only "),
        "in_suit": columns.lift in (Lift.SUIT_RUN, Lift.FREE_SUIT_RUN),
        "needs_places": columns.needs_places,
        "column_listed": isinstance(columns.faces, tuple),
        "column_down": _face_down(columns.keys, columns.faces) if isinstance(columns.faces, tuple) else "",
        f"{last.kind}_end": "{open}",
        **{kind: any(group.kind is kind for group in game.groups) for kind in Kind},
    }
    for group, row in zip(game.groups, game.rules["piles"], strict=True):
        own = {
            **row,
            "dealt": sum(group.sizes) > 0,
            "cards": count_text(sum(group.sizes)),
            "sizes": _sizes(group.sizes) if any(group.sizes) else "",
            "dealt_to": " ".join(key for key, size in zip(group.keys, group.sizes, strict=False) if size),
            "first": group.keys[0],
            "last": group.keys[-1],
        }
        facts |= {f"{group.kind}s": _counted(len(group.keys), group.kind)}
        facts |= {f"{group.kind}_{name}": value for name, value in own.items()}
    return facts


def count_text(number: int) -> str:
    """Return a number as a word, or as digits above sixteen."""
    return _NUMBERS[number] if number < len(_NUMBERS) else str(number)


def _counted(number: int, name: str) -> str:
    return f"{count_text(number)} {name}{'s' * (number != 1)}"


def _deals(rows: int, columns: int, rest: int) -> str:
    """Return how many rows of cards are dealt from the stock, such as "are five deals of seven cards"."""
    first = "the first column" if rest == 1 else f"the first {count_text(rest)} columns"
    if not rows:
        return f"is one deal of {_counted(rest, 'card')}, to {first}"
    last = f", then one of {count_text(rest)} to {first}" if rest else ""
    return f"{'is' if rows == 1 else 'are'} {_counted(rows, 'deal')} of {count_text(columns)} cards{last}"


def _face_down(keys: tuple[str, ...], numbers: tuple[int, ...]) -> str:
    """Return which cards of columns are dealt face down, such as "the bottom three cards of columns 1 and 2"."""
    parts = []
    for number in dict.fromkeys(filter(None, numbers)):
        columns = [key for key, each in zip(keys, numbers, strict=True) if each == number]
        cards = "card" if number == 1 else f"{count_text(number)} cards"
        parts.append(f"the bottom {cards} of column{'s' * (len(columns) > 1)} {_listed(columns)}")
    return _listed(parts)


def _listed(words: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _sizes(sizes: tuple[int, ...]) -> str:
    """Return how many cards the piles of a row get, such as "of six cards each"."""
    if len(set(sizes)) == 1:
        return f"of {_counted(sizes[0], 'card')}{' each' * (len(sizes) > 1)}"
    words = [count_text(size) for size in sizes]
    if len(sizes) > 4 and all(size == at for at, size in enumerate(sizes, sizes[0])):
        return f"of {', '.join(words[:3])} and so on to {words[-1]} cards"
    return f"of {', '.join(words[:-1])} and {words[-1]} cards"
