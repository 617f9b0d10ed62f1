"""How a node is to run."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from samedeal_server.limits import Limits
from samedeal_server.logs import LogStyle

DEFAULT_PORT = 7777


def default_data() -> Path:
    """Where the embedded Redis keeps its data unless it is told: the user's data directory."""
    home = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(home).expanduser() / "samedeal" / "server"


@dataclass(frozen=True)
class Config:
    """``redis`` is the URL of a Redis, or empty for an embedded one with its files under ``data``."""

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    redis: str = ""
    data: Path = field(default_factory=default_data)
    durability: Literal["always", "everysec"] = "always"
    log_level: str = "info"
    log_style: LogStyle = "auto"
    limits: Limits = field(default_factory=Limits)
