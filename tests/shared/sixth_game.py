"""Hamlet, a sixth game made of today's policies."""

from __future__ import annotations

from pathlib import Path

from samedeal.game import Game
from samedeal.game_file import parse_game_file

HAMLET_FILE = (Path(__file__).parent / "hamlet.toml").read_text(encoding="utf-8")

HAMLET = Game("hamlet", parse_game_file("hamlet", HAMLET_FILE)["hamlet"])
