"""Python's search for reference cycles, arranged so that it hardly ever delays a move.

Python frees most objects as soon as nothing refers to them. It also searches for cycles of objects that refer to each
other. During a search the event loop stands still. The older objects of a node are mostly boards, which have no cycles.
With Python's own schedule, the searches among them stop a node with 3,000 racers for 100 to 300 ms every few seconds.
"""

from __future__ import annotations

import asyncio
import gc
from typing import Final

_NEW_OBJECTS: Final = 5_000
"""Number of new objects after which Python searches for cycles among them. Python's default is 700.

A move leaves about four new objects and no cycles. A search takes up to 10 ms. With Python's default, a tenth of the
CPU time of each move would go to searches.
"""

_NEVER: Final = 1_000_000_000

_FULL_SEARCH_INTERVAL: Final = 3600.0
"""Interval, in seconds, between two searches for cycles among all objects.

Closed connections and rooms leave no cycles, so this search finds only what failures have left.
"""


def search_new_objects_only() -> None:
    """Let Python search for cycles only among new objects, and ignore all objects that exist now."""
    gc.set_threshold(_NEW_OBJECTS, _NEVER, _NEVER)
    gc.freeze()


async def search_all_at_intervals() -> None:
    """Search all objects for cycles once an hour, until cancelled."""
    while True:
        await asyncio.sleep(_FULL_SEARCH_INTERVAL)
        gc.collect()
