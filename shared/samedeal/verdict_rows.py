"""The rows of the table of verdicts: what turns the verdict on a race, and the sentence about it.

``verdicts.toml`` has them. The page for browsers reads the same table.
"""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta, Struct

VerdictKind = Literal["fair", "checked", "unsure", "wrong"]
"""The verdicts on a race, from the best to the worst.

``fair`` means that nobody could choose the deal, and that everything else is as it was shown. ``checked`` means the same,
except that somebody could choose the deal. ``unsure`` means that something could not be checked. ``wrong`` means that the
server contradicted itself or the rules.
"""

Excuse = Literal["loss", "window"]
"""Troubles that honest servers and players have: the store lost data; the player used another program for this race too."""


class VerdictRow(Struct, frozen=True, forbid_unknown_fields=True):
    """A row of the table. ``fact`` is the number of the fact that it is about (DEALS.md, *The verdict*)."""

    fact: Annotated[int, Meta(ge=1, le=18)]
    verdict: Literal["unsure", "wrong"]
    sentence: str
    excuses: tuple[Excuse, ...] = ()


TABLE_TEXT: Final = resources.files("samedeal").joinpath("verdicts.toml").read_text(encoding="utf-8")

ROWS: Final = msgspec.convert(tomllib.loads(TABLE_TEXT), dict[str, VerdictRow])
"""The rows by their names."""


def row_sentence(row: str, detail: str) -> str:
    """Return the sentence of a row about what was seen."""
    return ROWS[row].sentence.format(detail=detail).rstrip()
