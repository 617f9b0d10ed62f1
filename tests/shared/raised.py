"""The error that a call raises, as a value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from samedeal.errors import SamedealError


def error_of(function: Callable[..., object], *arguments: Any) -> SamedealError:
    """Call a function that must raise a SamedealError, and return the error."""
    with pytest.raises(SamedealError) as caught:
        function(*arguments)
    return caught.value
