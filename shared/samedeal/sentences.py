"""What a server tells people of requests that it refuses, and in notices. ``sentences.toml`` has the sentences.

Other refusals are made elsewhere: of illegal moves, of malformed messages, and of requests that exceed a rate.
"""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import Final

import msgspec
from msgspec import Struct

from samedeal.errors import RequestRefused
from samedeal.protocol.messages import Notice


class SentenceRow(Struct, frozen=True, forbid_unknown_fields=True):
    """A row of the table. An empty ``code`` stands for the name of the row."""

    sentence: str
    code: str = ""
    retry_after: float | None = None


def read_sentences(package: str, file: str) -> dict[str, dict[str, SentenceRow]]:
    """Return the rows of a table by their groups and names."""
    text = resources.files(package).joinpath(file).read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), dict[str, dict[str, SentenceRow]])


_TABLE: Final = read_sentences("samedeal", "sentences.toml")
REFUSALS: Final = _TABLE["refusals"]
NOTICES: Final = _TABLE["notices"]


def refused(name: str, /, retry_after: float | None = None, **words: object) -> RequestRefused:
    """Return the refusal with this name, and with ``words`` in its sentence.

    ``retry_after`` is given if it depends on the request.
    """
    row = REFUSALS[name]
    return RequestRefused(row.code or name, row.sentence.format(**words), retry_after or row.retry_after)


def notice(name: str, /, **words: object) -> Notice:
    """Return the notice with this name, and with ``words`` in its sentence."""
    row = NOTICES[name]
    return Notice(code=row.code or name, message=row.sentence.format(**words))
