"""The error that a call raises, as a value."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from samedeal.errors import SamedealError


def error_of(function: Callable[..., object], *arguments: Any) -> SamedealError:
    """Call a function that must raise a SamedealError, and return the error."""
    with pytest.raises(SamedealError) as caught:
        function(*arguments)
    return caught.value


def sentence_lines(function: Callable[[str], object], texts: Iterable[str]) -> list[str]:
    """Return a line for each text that a function rejects: the text, cut to 40 characters, and the error's sentence."""
    return [f"{text[:40]!a}\t{error_of(function, text)}" for text in texts]
