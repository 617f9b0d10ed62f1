"""Errors that a test expects by their codes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from samedeal.errors import RequestRefused
from samedeal_server.errors import StartupError


@contextmanager
def refused(code: str) -> Iterator[None]:
    """Expect that a request or a start is refused with a code."""
    with pytest.raises((RequestRefused, StartupError)) as caught:
        yield
    assert caught.value.code == code  # type: ignore[attr-defined]  # both have a code
