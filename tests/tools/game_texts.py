"""Texts that follow from the games: ``python -m tests.tools.game_texts`` writes them again after a game was changed.

They are the games as JSON for the page and the checker, and the rules of each game in RULES.md.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from samedeal.game_json import games_json
from samedeal.games import GAMES

ROOT: Final = Path(__file__).parents[2]


def texts() -> dict[Path, str]:
    """Return what the files that depend on games should contain."""
    return {
        ROOT / "server/samedeal_server/page/static/games.json": games_json(GAMES.values()).decode(),
    }


def main() -> None:
    """Write the files."""
    for path, text in texts().items():
        path.write_text(text, encoding="utf-8")
        print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
