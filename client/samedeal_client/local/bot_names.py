"""The names of bots."""

from __future__ import annotations

from typing import Final

BOT_NAMES: Final = (
    *("ada", "bo", "cleo", "dov", "ea", "finn", "gus", "hana"),
    *("ivo", "june", "kit", "lux", "mo", "nia", "ott"),
)
