"""How a node is to run: the one table of its settings."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from samedeal_server.limits import Limits
from samedeal_server.proxies import Proxies
from samedeal_server.settings import section, setting

DEFAULT_PORT: Final = 7777

OTHER_VARIABLES: Final = frozenset(
    {"SAMEDEAL_ADMIN_URL", "SAMEDEAL_CONFIG", "SAMEDEAL_DEBUG", "SAMEDEAL_PASSPHRASE", "SAMEDEAL_REDIS_SERVER"}
)
"""Variables with our prefix that are no settings of a node."""

LogStyle = Literal["auto", "json", "pretty"]


def default_data() -> Path:
    """Where the embedded Redis keeps its data unless it is told: the user's data directory, or the system's."""
    given = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    try:
        home = Path(given).expanduser()
    except RuntimeError:  # a user without a home, as system services have
        home = Path("/var/lib")
    return home / "samedeal" / "server"


@dataclass(frozen=True)
class Config:
    """``redis`` is the URL of a Redis, or empty for an embedded one with its files under ``data``."""

    host: str = setting("127.0.0.1", "address to listen on; 0.0.0.0 for all of this machine's", metavar="ADDRESS")
    port: int = setting(DEFAULT_PORT, "port to listen on, 0 for any free one", metavar="PORT", least=0, most=65535)
    redis: str = setting(
        "",
        "the Redis of all nodes; without it one is started here",
        metavar="URL",
        hides=r"(?<=://).*(?=@)|(?<=password=)[^&]*",
    )
    origins: tuple[str, ...] = setting(
        (),
        "pages whose browsers may connect, beside the server's own: https://cards.example.org, or *",
        metavar="ORIGINS",
    )
    replicas: int = setting(
        0, "replicas of Redis that must have a move before it is acked", metavar="N", least=0, most=100
    )
    admin_token: str = setting(
        "",
        "what an operator has to show, 16 characters at the least; samedeal admin is refused without one",
        metavar="TOKEN",
        hides=r"(?s).+",
    )
    admin_token_file: str = setting(
        "", "a file that holds the token, for where the environment can be read", metavar="FILE"
    )
    data: Path = setting(default_data(), "where the Redis started here keeps its data", metavar="DIR")
    durability: Literal["always", "everysec"] = setting(
        "always", "whether the Redis started here has a move on disk before it is acked, or a second later"
    )
    tls_cert: Path | None = setting(
        None, "certificate, with those between it and its authority, to speak TLS with", metavar="FILE"
    )
    tls_key: Path | None = setting(None, "private key of the certificate", metavar="FILE")
    trusted_proxies: tuple[str, ...] = setting(
        (),
        "proxies whose X-Forwarded-For is believed: addresses or networks such as 10.0.0.0/8",
        metavar="ADDRESSES",
    )
    public_url: str = setting("", "the address that players are told, behind a proxy", metavar="URL")
    health_host: str = setting("127.0.0.1", "address of the listener for health and metrics", metavar="ADDRESS")
    health_port: int | None = setting(
        None, "its port, for /healthz, /readyz and /metrics; 0 for any free one", metavar="PORT", least=0, most=65535
    )
    drain_delay: float = setting(
        0.0,
        "seconds between saying on /readyz that this node stops and sending its clients elsewhere",
        metavar="SECONDS",
        least=0,
        most=3600,
    )
    log_level: Literal["debug", "info", "warning", "error"] = setting("info", "the least that is logged")
    log_style: LogStyle = setting("auto", "JSON lines or pretty ones; auto is pretty on a terminal")
    announce: bool = setting(
        default=False, words="print 'listening on ADDRESS' to standard output once clients can come"
    )
    limits: Limits = section(Limits, "limit", "limits")

    def __post_init__(self) -> None:
        if (self.tls_cert is None) != (self.tls_key is None):
            missing = "--tls-key" if self.tls_key is None else "--tls-cert"
            raise ValueError(f"A certificate and its key go together: {missing} is not given")
        Proxies(self.trusted_proxies)
        if self.public_url and not re.fullmatch(r"(wss?|https?|samedeal)://[^\s/]+(/\S*)?", self.public_url):
            raise ValueError(f"--public-url: {self.public_url!r} will not do: write wss://cards.example.org")
