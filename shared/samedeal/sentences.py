"""What a server tells people of requests that it refuses, and in notices. ``sentences.toml`` has the sentences.

Other refusals are made elsewhere: of illegal moves, of malformed messages, and of requests that exceed a rate.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from samedeal.data_files import read_data
from samedeal.errors import RequestRefused
from samedeal.protocol.messages import Notice


class SentenceRow(Struct, frozen=True, forbid_unknown_fields=True):
    """A row of the table. An empty ``code`` stands for the name of the row."""

    sentence: str
    code: str = ""
    retry_after: float | None = None


_TABLE: Final = read_data("samedeal", "sentences.toml", dict[str, dict[str, SentenceRow]])
REFUSALS: Final = _TABLE["refusals"]
NOTICES: Final = _TABLE["notices"]
MISTAKES: Final = _TABLE["mistakes"]


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


def mistake(name: str, /, **words: object) -> str:
    """Return the sentence about this mistake in a record or a proof, with ``words`` in it."""
    return MISTAKES[name].sentence.format(**words)
