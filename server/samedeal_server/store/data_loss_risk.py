"""What INFO reports about a Redis: settings under which it loses acknowledged moves, and whether it has sharded pub/sub.

CONFIG is not used, because many hosted services forbid it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def evicting_policy(info: Mapping[str, Any]) -> str:
    """Return the policy by which a full Redis evicts keys, or an empty string if it evicts none.

    Policies that evict only keys with an expiry are no exception: every key of a room has one.
    """
    policy = str(info.get("maxmemory_policy", "noeviction"))
    return "" if policy == "noeviction" or info.get("maxmemory") == 0 else policy


def has_sharded_pubsub(info: Mapping[str, Any]) -> bool:
    """Return whether Redis has SPUBLISH, as Redis has since 7.0 and every Valkey. ``prelude.lua`` decides alike."""
    return int(str(info.get("redis_version", "0")).partition(".")[0]) >= 7


def risk(info: Mapping[str, Any]) -> str:
    """Return why Redis may lose acknowledged moves, or an empty string."""
    if policy := evicting_policy(info):
        return f"maxmemory-policy is {policy}, so acknowledged moves are evicted when Redis is full"
    if info.get("aof_enabled") == 0:
        return "appendonly is no, so acknowledged moves are lost when Redis restarts"
    return ""
