"""Valid requests to start from: at least one of each type."""

from __future__ import annotations

from typing import Final

from samedeal.protocol.messages import ToServer
from tests.shared.protocol.samples import SAMPLES

REQUESTS: Final[tuple[ToServer, ...]] = tuple(sample for sample in SAMPLES if isinstance(sample, ToServer))
