"""The nodes of a fuzzer: how long each of them serves, and that they must log no fault."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any, Final

from tests.fuzz.campaign import BrokenPromise

INPUTS_PER_NODE: Final = 400
"""The number of inputs after which a node is replaced."""


Log = list[MutableMapping[str, Any]]
"""What nodes have logged, as ``structlog.testing.capture_logs`` collects it."""


@contextmanager
def no_faults(log: Log) -> Iterator[None]:
    """Raise BrokenPromise if something was logged as an error before the end of the block. Empties the log."""
    try:
        yield
    finally:
        lines, log[:] = [*log], []
    if faults := [line for line in lines if line["event"] == "fault" or line["log_level"] in ("error", "critical")]:
        raise BrokenPromise(f"the node logged a fault: {faults[0]}")
