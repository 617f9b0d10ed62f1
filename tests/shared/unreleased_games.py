"""Games of books that are in no release. Each needs a policy that no game of a release has."""

from __future__ import annotations

from typing import Final

from samedeal.game import Game
from samedeal.game_file import parse_game_file


def file_text(
    title: str,
    columns: str,
    sizes: str,
    lift: str,
    foundations: str,
    more: str = "",
    takes: str = "any card",
    **first: object,
) -> str:
    """A file of a game with these columns, whose empty ones take what ``takes`` says, and four foundations for a deck."""
    count = 4 * int(str(first.get("decks", 1)))
    return "\n".join([
        f'title = "{title}"',
        *(f"{name} = {value!r}" for name, value in first.items()),
        f'[[piles]]\nkind = "column"\nkeys = "{columns}"\ncards = "{sizes}"\nempty = "{takes}"\n{lift}',
        f'[[piles]]\nkind = "foundation"\nkeys = "{" ".join(f"0{at + 1}" for at in range(count))}"\n{foundations}',
        more,
    ])  # fmt: skip


UP: Final = 'build = "up by one in the same suit"\nempty = "only an ace"'

FILES: Final = {
    "thirty-six": file_text(
        "Thirty-Six",
        "1 2 3 4 5 6",
        "6 6 6 6 6 6",
        'build = "down by one in any suit"\nlift = "runs in any suit"',
        UP,
        '[[piles]]\nkind = "stock"\nkeys = "stock"\n[[piles]]\nkind = "waste"\nkeys = "w"',
        stock="draws of one, without redeals",
    ),
    "mrs-mop": file_text(
        "Mrs. Mop",
        "1 2 3 4 5 6 7 8 9 t j q k",
        "8 8 8 8 8 8 8 8 8 8 8 8 8",
        'build = "down by one in any suit"\nlift = "runs in the same suit"',
        'build = "down by one in the same suit"\nempty = "only a complete suit"',
        decks=2,
    ),
    "raglan": file_text(
        "Raglan",
        "1 2 3 4 5 6 7 8 9",
        "1 2 3 4 5 6 7 7 7",
        'build = "down by one in alternating colours"',
        f'cards = "1 1 1 1"\n{UP}\nlift = "the top card"',
        '[[piles]]\nkind = "reserve"\nkeys = "q w e r t y"\ncards = "1 1 1 1 1 1"',
    ),
    "scorpion": file_text(
        "Scorpion",
        "1 2 3 4 5 6 7",
        "7 7 7 7 7 7 7",
        'faces = [3, 3, 3, 3, 0, 0, 0]\nbuild = "down by one in the same suit"\nlift = "any face-up cards"',
        'build = "down by one in the same suit"\nempty = "only a complete suit"',
        '[[piles]]\nkind = "stock"\nkeys = "stock"',
        takes="only a king",
        stock="dealt in rows",
    ),
}
"""Games with runs in any suit, with thirteen columns, with aces that lie on the foundations before the deal, and with
cards that lie face down in some columns only."""

UNRELEASED: Final = {name: Game(name, parse_game_file(name, text)[name]) for name, text in FILES.items()}
