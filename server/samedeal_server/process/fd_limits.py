"""The operating system's limit on open files, which also limits connections.

A node that has reached the limit cannot even reject clients.
"""

from __future__ import annotations

import resource
from dataclasses import replace
from typing import Final

from samedeal_server.config.limits import Limits
from samedeal_server.telemetry.logger import get_logger

RESERVED: Final = 128
"""Number of open files that are reserved for other purposes than clients.

They are for connections to Redis, listening sockets, logs and temporary files.
"""

_SMALL_SHARE: Final = 8
"""Divisor of the number of open files for clients. The result is the maximum number of pending handshakes, and of
programs that listen to the news.

It is used only if too few files can be open for all limits.
"""

_log = get_logger()


def fit_to_open_file_limit(limits: Limits) -> Limits:
    """Raise the limit on open files so that all connections in ``limits`` fit, and return ``limits``.

    If the system does not allow so many open files, return lower limits.
    """
    wanted = limits.connections + limits.handshakes + limits.listeners + RESERVED
    allowed = _raise_limit(wanted)
    if allowed >= wanted:
        return limits
    for_clients = max(3, allowed - RESERVED)
    handshakes, listeners = (
        min(limit, max(1, for_clients // _SMALL_SHARE)) for limit in (limits.handshakes, limits.listeners)
    )
    connections = min(limits.connections, for_clients - handshakes - listeners)
    lowered = replace(limits, connections=connections, handshakes=handshakes, listeners=listeners)
    _log.warning(
        "open_files_limited",
        limit=allowed,
        wanted=wanted,
        connections=lowered.connections,
        handshakes=lowered.handshakes,
        help="raise the limit on open files (ulimit -n, LimitNOFILE), or lower --limit-connections",
    )
    return lowered


def _raise_limit(wanted: int) -> int:
    """Raise this process's limit on open files to ``wanted``, or as far as possible. Return the new limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return wanted
    raised = wanted if hard == resource.RLIM_INFINITY else min(hard, wanted)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
    except (OSError, ValueError):  # some systems have a further limit below the hard one
        return soft
    return raised
