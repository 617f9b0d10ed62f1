"""The settings of a node."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from samedeal.errors import MalformedText
from samedeal.protocol.admin import FOR_MODERATORS
from samedeal.tides import tide_times
from samedeal_server.config.hook_addresses import HookAddress
from samedeal_server.config.limits import Limits
from samedeal_server.config.setting_sources import InvalidValue, check_patterns, section
from samedeal_server.config.trusted_proxies import TrustedProxies

PROGRAM: Final = "samedeal-server"
"""The name of the command that runs a node."""

DEFAULT_PORT: Final = 7777

HOUSE_KEY: Final = "SAMEDEAL_HOUSE_KEY"
"""The environment variable with the key of the house that the server runs, for that house and for workers."""

OTHER_VARIABLES: Final = frozenset(
    f"SAMEDEAL_{name}" for name in ("ADMIN_URL", "CONFIG", "DEBUG", "HOUSE_KEY", "PASSPHRASE", "REDIS_SERVER", "WORKER")
)
"""Environment variables that begin with ``SAMEDEAL_`` and are not settings."""


def _parse_hooks(hooks: tuple[str, ...]) -> None:
    for each in hooks:
        HookAddress.parse(each)


def _check_requests(requests: tuple[str, ...]) -> None:
    if unknown := [each for each in requests if each not in FOR_MODERATORS]:
        raise ValueError(f"Moderators can't send {unknown[0]!r}. Choose from {', '.join(sorted(FOR_MODERATORS))}.")


LogStyle = Literal["auto", "json", "pretty"]


def default_data() -> Path:
    """Return the default directory for the data of the embedded Redis, such as ``~/.local/share/samedeal/server``."""
    given = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    try:
        home = Path(given).expanduser()
    except RuntimeError:  # a user without a home directory, such as a system service
        home = Path("/var/lib")
    return home / "samedeal" / "server"


_DEFAULT_DATA: Final = default_data()


@dataclass(frozen=True)
class Config:
    """The settings of a node. ``settings.toml`` has what the help says of them, and their bounds.

    ``redis`` is the URL of a Redis. If ``redis`` is empty, the node starts its own Redis, which keeps its files in
    ``data``.
    """

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    workers: int = 1
    redis: str = ""
    origins: tuple[str, ...] = ()
    replicas: int = 0
    admin_token: str = ""
    admin_token_file: str = ""
    moderator_token_file: str = ""
    moderator_requests: tuple[str, ...] = ()
    data: Path = _DEFAULT_DATA
    durability: Literal["always", "everysec"] = "always"
    games: Path | None = None
    tides: tuple[str, ...] = ()
    tls_cert: Path | None = None
    tls_key: Path | None = None
    trusted_proxies: tuple[str, ...] = ()
    public_url: str = ""
    page: bool = True
    hook: tuple[str, ...] = ()
    report_hook: tuple[str, ...] = ()
    hook_secret: str = ""
    hook_secret_file: str = ""
    house: int = 0
    house_key_file: str = ""
    privacy_url: str = ""
    imprint_url: str = ""
    contact: str = ""
    door: str = ""
    health_host: str = "127.0.0.1"
    health_port: int | None = None
    drain_delay: float = 0.0
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_style: LogStyle = "auto"
    announce: bool = False
    limits: Limits = section(Limits, "limit", "limits (maximum values)")

    def __post_init__(self) -> None:
        if (self.tls_cert is None) != (self.tls_key is None):
            given, missing = ("tls-cert", "tls-key") if self.tls_key is None else ("tls-key", "tls-cert")
            raise InvalidValue(
                given, f"--{missing} is missing. A certificate needs its key, and a key its certificate."
            )
        if not self.host:
            raise InvalidValue(
                "host", "It is empty. Give an address, or write 'all' to listen on every address of this machine."
            )
        check_patterns(self)
        parsers: tuple[tuple[str, Callable[[tuple[str, ...]], object], tuple[str, ...]], ...] = (
            ("tides", tide_times, self.tides),
            ("trusted-proxies", TrustedProxies, self.trusted_proxies),
            ("hook", _parse_hooks, self.hook),
            ("report-hook", _parse_hooks, self.report_hook),
            ("moderator-requests", _check_requests, self.moderator_requests),
        )
        for name, parse, value in parsers:
            try:
                parse(value)
            except (MalformedText, ValueError) as error:
                raise InvalidValue(name, str(error)) from None
