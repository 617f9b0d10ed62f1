"""The nodes of a fuzzer: how long each of them serves, and that they must log no fault."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from structlog.testing import capture_logs

from tests.fuzz.campaign import BrokenPromise

INPUTS_PER_NODE: Final = 400
"""The number of inputs after which a node is replaced."""


@contextmanager
def no_faults() -> Iterator[None]:
    """Raise BrokenPromise if something is logged as an error inside the block. The log shows nothing of it."""
    with capture_logs() as lines:
        yield
    if faults := [line for line in lines if line["event"] == "fault" or line["log_level"] in ("error", "critical")]:
        raise BrokenPromise(f"the node logged a fault: {faults[0]}")
