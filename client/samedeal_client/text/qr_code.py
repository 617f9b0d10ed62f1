"""QR codes as text: each character shows two modules, one above the other."""

from __future__ import annotations

from functools import lru_cache
from itertools import zip_longest
from typing import Final

_MARGIN: Final = 2
"""Number of bright modules around the code. The standard asks for four, but cameras need no more than two."""

_DARK_HALVES: Final = {(False, False): " ", (True, False): "▀", (False, True): "▄", (True, True): "█"}


@lru_cache(maxsize=4)
def qr_lines(link: str) -> tuple[str, ...]:
    """Return the lines of a QR code, which must be shown in a dark colour on a bright background.

    A link of up to 53 characters takes at most 17 lines of 33 columns, one of up to 78 characters two lines more.
    """
    import segno  # only when a code is shown, because importing it takes long

    modules = [list(map(bool, row)) for row in segno.make(link, error="l", micro=False).matrix_iter(border=_MARGIN)]
    halves = zip_longest(modules[::2], modules[1::2], fillvalue=[False] * len(modules))
    return tuple("".join(_DARK_HALVES[pair] for pair in zip(*both, strict=True)) for both in halves)
