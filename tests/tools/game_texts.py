"""Texts that follow from others: ``python -m tests.tools.game_texts`` writes them again after a game was changed.

They are the games as JSON for the page and the checker, the terminal's pictures of court cards for the page, and blocks
of the documents. A block begins with a comment such
as ``<!-- games: piles -->`` and ends with ``<!-- end -->``.
"""

from __future__ import annotations

import re
import textwrap
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Final

from samedeal.board import Board
from samedeal.deal import DIFFICULTIES, Deal, shuffled
from samedeal.difficulty import states_of
from samedeal.game import Game, Group
from samedeal.game_json import games_json
from samedeal.game_rules import count_text, sections_of
from samedeal.games import GAMES
from samedeal.policies import Base, Build, Faces, Kind, Lift
from samedeal.stock import STOCKS

ROOT: Final = Path(__file__).parents[2]
JSON: Final = "server/samedeal_server/page/static/games.json"
COURTS: Final = "server/samedeal_server/page/static/courts.mjs"
DOCUMENTS: Final = ("README.md", "shared/DEALS.md", "shared/GAMES.md", "shared/PROTOCOL.md", "shared/RULES.md")

_BLOCK: Final = re.compile(r"(?<=<!-- games: )(\w+) -->\n.*?(?=<!-- end -->)", re.DOTALL)
_TITLES: Final = {
    "deal": "The deal",
    "draw": "Drawing",
    "redeal": "Redeals",
    "rows": "Dealing from the stock",
    "columns": "Columns",
    "fans": "Fans",
    "reserve": "The reserve",
    "cells": "Cells",
    "together": "Moving cards together",
    "suits": "Suits",
    "foundations": "Which foundation",
    "to-foundation": "To the foundation",
    "take-back": "Moves off a foundation",
}
"""What the rulings of a game are about, as titles."""


def _in_brief(game: Game) -> str:
    """Return a sentence that says what a game is played with, such as "One deck, seven columns and four foundations."."""
    parts = ["one deck" if game.decks == 1 else "two decks"]
    for group in game.groups:
        count = len(group.keys)
        single = group.kind in (Kind.STOCK, Kind.WASTE, Kind.RESERVE)
        parts.append(f"a {group.kind}" if single else f"{count_text(count)} {group.kind}{'s' * (count != 1)}")
    return f"{_listed(parts)}.".capitalize()


def _listed(words: Sequence[str]) -> str:
    """Return words as a sentence lists them, such as "one, two and three"."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if words[1:] else words)


def texts() -> dict[str, str]:
    """Return what the files that depend on games should contain, by their paths."""
    documents = {name: (ROOT / name).read_text(encoding="utf-8") for name in DOCUMENTS}
    blocks = {
        name: _BLOCK.sub(lambda found: f"{found[1]} -->\n{BLOCKS[found[1]]()}", text)
        for name, text in documents.items()
    }
    return {JSON: games_json(GAMES.values()).decode(), COURTS: _court_module(), **blocks}


def _court_module() -> str:
    """Return the module with the pictures of court cards for the page: seven pixels in each of ten rows."""
    pictures = tomllib.loads((ROOT / "client/samedeal_client/board/court_pictures.toml").read_text(encoding="utf-8"))
    lines = (f'\t{rank[0].upper()}: "{" ".join(sizes["5"].split())}"' for rank, sizes in pictures.items())
    return "// The terminal's pictures of court cards. `make games` writes this module.\n" + (
        "export const COURTS = {\n" + ",\n".join(lines) + "\n}\n"
    )


def _lines(text: str, known: str = "") -> Iterator[str]:
    """Yield the sentences of a text that are not in the text ``known``, each on lines of its own."""
    plain = re.sub(r"\{(\w\w)\}", r"`\1`", text)
    for sentence in re.split(r"(?<=\.) (?=[A-Z`])", plain):
        if sentence not in known:
            yield from textwrap.wrap(sentence, 118, break_long_words=False, break_on_hyphens=False)


def _rules() -> str:
    for_all = (ROOT / "shared/RULES.md").read_text(encoding="utf-8").partition("<!-- games: rules -->")[0]
    told: dict[tuple[str, ...], int] = {}
    return "\n".join(line for game in GAMES.values() for line in _rules_of(game, " ".join(for_all.split()), told))


def _rules_of(game: Game, for_all: str, told: dict[tuple[str, ...], int]) -> Iterator[str]:
    """Yield the lines about a game.

    They repeat no sentence of the text ``for_all`` about all games. ``told`` has the lines of the rulings so far, with
    their numbers: an earlier ruling that holds here too is not told again.
    """
    points = [point for section in sections_of(game) for point in section.points]
    rulings = game.file.rulings
    general = {word for point in points for word in point.rulings.split()} - {
        f"R{number}" for number in rulings.values()
    }
    yield from (f"## {game.title}", "")
    if base := GAMES.get(game.file.variant_of):
        yield f"The rules are those of {base.title}, except for what follows."
        others = {point.text for section in sections_of(base) for point in section.points}
        points = [point for point in points if point.text not in others]
        rulings = {about: number for about, number in rulings.items() if number not in base.file.rulings.values()}
    else:
        yield _in_brief(game)
    plain = [point.text for point in points if set(point.rulings.split()) <= general and "R4" not in point.rulings]
    lines = [line for text in plain for line in _lines(text, for_all)]
    same = {each: number for each, number in told.items() if set(each) <= set(lines)}
    yield from (line for line in lines if not any(line in each for each in same))
    if same:
        links = [f"[R{number}](#r{number})" for number in sorted(same.values())]
        yield f"{_listed(links)} hold{'s' * (len(links) == 1)} here too."
    yield ""
    for number, about in groupby(sorted(rulings, key=lambda about: rulings[about]), rulings.__getitem__):
        titles = [_TITLES[subject] for subject in about]
        title = " and ".join([titles[0], *(each[0].lower() + each[1:] for each in titles[1:])])
        yield from (f'<a id="r{number}"></a>', f"**R{number} {title}.**")
        lines = [
            line for point in points if f"R{number}" in point.rulings.split() for line in _lines(point.text, for_all)
        ]
        first = told.setdefault(tuple(lines), number)
        yield from lines if first == number else [f"As [R{first}](#r{first})."]
        yield ""


def _games() -> str:
    games = [game for game in GAMES.values() if not game.file.variant_of]
    variants = [game for game in GAMES.values() if game.file.variant_of]
    text = f"There are {count_text(len(games))} games: {_listed([f'**{game.title}**' for game in games])}."
    if variants:
        text += f" Variants are {_listed([game.title for game in variants])}."
    return "\n".join(_lines(text)) + "\n"


def _piles() -> str:
    alike: defaultdict[tuple[int, str], list[str]] = defaultdict(list)
    for game in GAMES.values():
        alike[game.decks, ", ".join(_keys(group.keys) for group in game.groups)].append(f"`{game}`")
    rows = [f"| {', '.join(games)} | {decks} | {keys} |" for (decks, keys), games in alike.items()]
    return "\n".join(["| games | decks | piles |", "|---|---|---|", *rows]) + "\n"


def _keys(keys: Sequence[str]) -> str:
    """Return the keys of a group of piles: those that count up as a range, such as `1` to `7`, and the others as a list."""
    numbers = [key for key in keys if key.isdecimal()]
    first = [f"`{numbers[0]}` to `{numbers[-1]}`"] if len(numbers) > 1 else [f"`{key}`" for key in numbers]
    return " ".join([*first, *(f"`{key}`" for key in keys if key not in numbers)])


def _hashes() -> str:
    seed = Deal.parse("#4821").public_seed()
    boards = [Board.deal(game, shuffled(seed, game.decks)) for game in GAMES.values()]
    return "\n".join(["```hashes", *(f"{board.game} {board.state_hash().hex()}" for board in boards), "```"]) + "\n"


def _sizes(group: Group) -> str:
    sizes = group.sizes
    if group.kind is Kind.RESERVE:
        return f"a reserve of {sum(sizes)} cards"
    cards = ", ".join(map(str, sizes if len(set(sizes)) > 1 else sizes[:1]))
    if sizes == tuple(range(1, len(sizes) + 1)):
        cards = f"1, 2, ... {len(sizes)}"
    faces = "" if group.faces is Faces.UP else f", {group.faces}"
    if isinstance(group.faces, tuple):
        faces = f", {', '.join(map(str, group.faces))} of them face down"
    return f"{len(sizes)} {group.kind}s of {cards} cards{faces}"


def _deals() -> str:
    rows = []
    for game in GAMES.values():
        columns, *others = [_sizes(group) for group in game.groups if sum(group.sizes)]
        stock = game.cards - sum(sum(group.sizes) for group in game.groups)
        rows.append(
            f"| {game.title} | {game.decks} | {game.file.suits} | {columns} | {', '.join(others)} | {stock or ''} |".replace(
                "  |", " |"
            )
        )
    head = ["| game | decks | suits | columns | then | cards in the stock |", "|---|---|---|---|---|---|"]
    return "\n".join([*head, *rows]) + "\n"


def _difficulties() -> str:
    rows = []
    for game in GAMES.values():
        if game.file.difficulty:
            highest = [states_of(game, difficulty)[1] for difficulty in DIFFICULTIES[:-1]]
            rows.append(f"| {game.title} | {' | '.join(f'{states:,}' for states in highest)} |")
    return "\n".join(["| game | easy | medium |", "|---|--:|--:|", *rows]) + "\n"


def _words() -> str:
    choices: dict[str, Iterable[str]] = {
        "stock": STOCKS,
        "kind": Kind,
        "faces": Faces,
        "build": Build,
        "empty": Base,
        "lift": Lift,
    }
    rows = [f"| `{name}` | {', '.join(f'`{word}`' for word in words)} |" for name, words in choices.items()]
    return "\n".join(["| key | words |", "|---|---|", *rows]) + "\n"


BLOCKS: Final[dict[str, Callable[[], str]]] = {
    "deals": _deals,
    "difficulties": _difficulties,
    "hashes": _hashes,
    "list": _games,
    "piles": _piles,
    "rules": _rules,
    "words": _words,
}


def main() -> None:
    """Write the files that are not as they should be."""
    for name, text in texts().items():
        if (ROOT / name).read_text(encoding="utf-8") != text:
            (ROOT / name).write_text(text, encoding="utf-8")
            print(name)


if __name__ == "__main__":
    main()
