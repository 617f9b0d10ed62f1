"""Conclusions from the output of Redis's INFO: whether Redis may lose acknowledged moves, and whether it has SPUBLISH.

Redis's CONFIG is not used, because many hosted services forbid it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def evicting_policy(info: Mapping[str, Any]) -> str:
    """Return the policy by which a full Redis evicts keys, or an empty string if Redis evicts no keys.

    A policy that evicts only keys with an expiry also counts, because every key of a room has an expiry.
    """
    policy = str(info.get("maxmemory_policy", "noeviction"))
    return "" if policy == "noeviction" or info.get("maxmemory") == 0 else policy


def has_sharded_pubsub(info: Mapping[str, Any]) -> bool:
    """Return whether Redis has SPUBLISH, as Redis 7.0 or newer and Valkey do.

    ``prelude.lua`` must decide in the same way.
    """
    return int(str(info.get("redis_version", "0")).partition(".")[0]) >= 7


def risk(info: Mapping[str, Any]) -> str:
    """Return the reason why Redis may lose acknowledged moves, or an empty string if Redis is safe."""
    if policy := evicting_policy(info):
        return f"maxmemory-policy is {policy}, so acknowledged moves are evicted when Redis is full"
    policy = str(info.get("maxmemory_policy", "noeviction"))
    if policy != "noeviction":
        return f"maxmemory-policy is {policy}, so acknowledged moves are evicted once maxmemory is set and reached"
    if info.get("aof_enabled") == 0:
        return "appendonly is no, so acknowledged moves are lost when Redis restarts"
    return ""
