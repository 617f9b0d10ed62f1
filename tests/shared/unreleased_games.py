"""Games of books that are in no release. Each needs a policy that no game of a release has.

They are games with runs in any suit, with thirteen columns, with aces that lie on the foundations before the deal, and
with cards that lie face down in some columns only.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from samedeal.game import Game
from samedeal.game_file import parse_game_file

UNRELEASED: Final = {
    name: Game(name, parse_game_file(name, (Path(__file__).parent / f"unreleased/{name}.toml").read_text())[name])
    for name in ("thirty-six", "mrs-mop", "raglan", "scorpion")
}
