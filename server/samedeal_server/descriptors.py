"""File descriptors: a node has one for each connection, and one that is out of them can't even say that it is full."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import structlog

from samedeal_server.limits import Limits

RESERVED: Final = 128
"""Descriptors for what is no client: the connections to Redis, listeners, logs, and what a library opens for a moment."""

_FOR_HANDSHAKES: Final = 8
"""One descriptor of so many is for handshakes, where there are too few for all."""

_log: structlog.stdlib.BoundLogger = structlog.get_logger("descriptors")


def fitting(limits: Limits) -> Limits:
    """The limits of a node, lowered where this process may not open as many files; its own bound is raised first."""
    wanted = limits.connections + limits.handshakes + RESERVED
    there = _at_most(wanted)
    if there >= wanted:
        return limits
    room = max(2, there - RESERVED)
    handshakes = min(limits.handshakes, max(1, room // _FOR_HANDSHAKES))
    fewer = replace(limits, connections=min(limits.connections, room - handshakes), handshakes=handshakes)
    _log.warning(
        "descriptors",
        limit=there,
        wanted=wanted,
        connections=fewer.connections,
        handshakes=fewer.handshakes,
        help="raise the limit of open files (ulimit -n, LimitNOFILE), or lower --limit-connections",
    )
    return fewer


def _at_most(wanted: int) -> int:
    """How many files this process may have open, after it has asked for so many."""
    try:
        import resource
    except ModuleNotFoundError:  # Windows has no such bound
        return wanted
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return wanted
    more = wanted if hard == resource.RLIM_INFINITY else min(hard, wanted)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (more, hard))
    except (OSError, ValueError):  # a system may have a bound of its own below the hard one
        return soft
    return more
