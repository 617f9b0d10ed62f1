"""Hamlet, a sixth game made of today's policies."""

from __future__ import annotations

from samedeal.game import Game
from samedeal.game_file import parse_game_file

HAMLET_FILE = """\
title = "Hamlet"
blurb = "5 half-hidden columns, fans and a reserve"
stock = "draws of three"

[[piles]]
kind = "column"
keys = "1 2 3 4 5"
cards = "4 4 4 4 4"
faces = "down, up, down, up"
build = "down by one in any suit"
empty = "only a king"
lift = "runs in alternating colours"

[[piles]]
kind = "fan"
keys = "q t"
cards = "3 3"
build = "with cards of the same rank"

[[piles]]
kind = "reserve"
keys = "e r"
cards = "1 1"

[[piles]]
kind = "foundation"
keys = "01 02 03 04"
build = "up by one in the same suit"
empty = "only an ace"

[[piles]]
kind = "stock"
keys = "stock"

[[piles]]
kind = "waste"
keys = "w"
"""

HAMLET = Game.of("hamlet", parse_game_file("hamlet", HAMLET_FILE)["hamlet"])
