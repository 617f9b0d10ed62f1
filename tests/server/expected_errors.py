"""Errors that a test expects by their codes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from samedeal.errors import RequestRefused
from samedeal_server.errors import StartupError


@contextmanager
def refused(code: str, match: str | None = None) -> Iterator[pytest.ExceptionInfo[Exception]]:
    """Expect that a request or a start is refused with a code and a sentence that matches. Yield the error."""
    with pytest.raises((RequestRefused, StartupError), match=match) as caught:
        yield caught
    assert caught.value.code == code, caught.value  # type: ignore[attr-defined]  # both have a code
