"""The settings of a node."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from samedeal.errors import MalformedText
from samedeal.protocol.admin import FOR_MODERATORS
from samedeal.tides import tide_times
from samedeal_server.config.hook_addresses import HookAddress
from samedeal_server.config.limits import Limits
from samedeal_server.config.setting_sources import InvalidValue, section, setting
from samedeal_server.config.trusted_proxies import TrustedProxies

PROGRAM: Final = "samedeal-server"
"""The name of the command that runs a node."""

DEFAULT_PORT: Final = 7777

HOUSE_KEY: Final = "SAMEDEAL_HOUSE_KEY"
"""The environment variable with the key of the house that the server runs, for that house and for workers."""

OTHER_VARIABLES: Final = frozenset(
    (
        *("SAMEDEAL_ADMIN_URL", "SAMEDEAL_CONFIG", "SAMEDEAL_DEBUG", "SAMEDEAL_PASSPHRASE", HOUSE_KEY),
        *("SAMEDEAL_REDIS_SERVER", "SAMEDEAL_WORKER", "SAMEDEAL_WORKER_HOMES"),
    )
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


@dataclass(frozen=True)
class Config:
    """The settings of a node.

    ``redis`` is the URL of a Redis. If ``redis`` is empty, the node starts its own Redis, which keeps its files in
    ``data``.
    """

    host: str = setting(
        "127.0.0.1",
        "address to listen on; all is every address of this machine (0.0.0.0 is every IPv4 address, :: every IPv6 address)",
        metavar="ADDRESS",
    )
    port: int = setting(DEFAULT_PORT, "port to listen on; 0 is any free port", metavar="PORT", minimum=0, maximum=65535)
    workers: int = setting(
        1,
        "number of processes that serve clients on the port, for machines with several cores; limits apply to each",
        minimum=1,
        maximum=64,
    )
    redis: str = setting(
        "",
        "Redis shared by all nodes; without it, the node starts its own",
        metavar="URL",
        redact=r"(?<=://).*(?=@)|(?<=password=)[^&]*",
    )
    origins: tuple[str, ...] = setting(
        (),
        "origins of web pages that may connect besides the server's own, such as https://cards.example.org, or *",
        metavar="ORIGINS",
    )
    replicas: int = setting(
        0, "number of Redis replicas that must confirm a move before it is acknowledged", minimum=0, maximum=100
    )
    admin_token: str = setting(
        "",
        "token that operators log in with, at least 16 characters; without it samedeal admin is disabled",
        metavar="TOKEN",
        redact=r"(?s).+",
    )
    admin_token_file: str = setting(
        "", "file that holds the admin token; safer than a variable if others can read the environment", metavar="FILE"
    )
    moderator_token: str = setting(
        "",
        "token that moderators log in with, who may send only --moderator-requests; at least 16 characters",
        metavar="TOKEN",
        redact=r"(?s).+",
    )
    moderator_token_file: str = setting("", "file that holds the moderators' token", metavar="FILE")
    moderator_requests: tuple[str, ...] = setting(
        (),
        "requests of ADMIN.md that moderators may send; without it, all but backup and drain",
        metavar="REQUESTS",
    )
    data: Path = setting(default_data(), "data directory of the node's own Redis", metavar="DIR")
    durability: Literal["always", "everysec"] = setting(
        "always", "when the node's own Redis writes a move to disk: before it is acknowledged, or within a second"
    )
    games: Path | None = setting(
        None, "directory with files of further games (NAME.toml), which players get from the server", metavar="DIR"
    )
    tides: tuple[str, ...] = setting(
        (),
        "public races of each day: times (UTC) and games, such as '12:00 GAME, *:30 GAME' (* is every hour)",
        metavar="TIDES",
    )
    tls_cert: Path | None = setting(None, "TLS certificate, including intermediate certificates", metavar="FILE")
    tls_key: Path | None = setting(None, "private key of the TLS certificate", metavar="FILE")
    trusted_proxies: tuple[str, ...] = setting(
        (),
        "proxies whose X-Forwarded-For header is trusted: addresses, or networks such as 10.0.0.0/8",
        metavar="ADDRESSES",
    )
    public_url: str = setting(
        "", "address for players, if it differs from the address of this machine, as behind a proxy", metavar="URL"
    )
    page: bool = setting(
        default=True, description="serve a page on which anyone can watch races in a browser, on the same port"
    )
    hook: tuple[str, ...] = setting(
        (),
        "addresses that are told when a public room opens and a race finishes: https://... gets JSON that Discord, Slack "
        "and Matrix take, ntfy+https://... text",
        metavar="URLS",
        redact=r"(?<=://).*",
    )
    report_hook: tuple[str, ...] = setting(
        (), "addresses that are told which names players report, as --hook", metavar="URLS", redact=r"(?<=://).*"
    )
    hook_secret: str = setting(
        "", "secret that signs what hooks get, at least 16 characters", metavar="SECRET", redact=r"(?s).+"
    )
    hook_secret_file: str = setting("", "file that holds the secret of the hooks", metavar="FILE")
    house: int = setting(
        0,
        "number of bots that keep a lone player company; samedeal serve has 3 if nothing is set",
        metavar="BOTS",
        minimum=0,
        maximum=3,
    )
    house_key_file: str = setting(
        "", "file that holds the key of a house, with which others can run one for this server", metavar="FILE"
    )
    privacy_url: str = setting("", "address of your privacy notice, which the page names", metavar="URL")
    imprint_url: str = setting("", "address of your imprint, which the page names", metavar="URL")
    contact: str = setting(
        "", "where players reach you: a mail address or a URL, which the page names", metavar="ADDRESS"
    )
    door: str = setting(
        "",
        "door for ssh that the page names: its address and host key, as in 'cards.example.org:2222 SHA256:...'",
        metavar="ADDRESS",
    )
    health_host: str = setting("127.0.0.1", "address to listen on for health checks and metrics", metavar="ADDRESS")
    health_port: int | None = setting(
        None, "port for /healthz, /readyz and /metrics; 0 is any free port", metavar="PORT", minimum=0, maximum=65535
    )
    drain_delay: float = setting(
        0.0,
        "time from reporting on /readyz that the node is stopping until it disconnects its clients",
        metavar="SECONDS",
        minimum=0,
        maximum=3600,
    )
    log_level: Literal["debug", "info", "warning", "error"] = setting("info", "lowest level that is logged")
    log_style: LogStyle = setting("auto", "format of log lines; auto is pretty on a terminal and JSON otherwise")
    announce: bool = setting(
        default=False, description="print 'listening on ADDRESS' to standard output once clients can connect"
    )
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
        for origin in self.origins:
            if origin not in ("*", "null") and not re.fullmatch(
                r"[a-z][a-z0-9+.-]*://[^\s/?#]+/?", origin, re.IGNORECASE
            ):
                hint = "*, or a scheme, a host and perhaps a port, as in https://cards.example.org"
                raise InvalidValue("origins", f"{origin!r} is not an origin. Write {hint}.")
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
        for name, url in (
            ("privacy-url", self.privacy_url),
            ("imprint-url", self.imprint_url),
            ("contact", self.contact),
        ):
            mail = "|[^\\s@<>/]+@[^\\s@<>/]+" if name == "contact" else ""
            if url and not re.fullmatch(rf"https?://[^\s/]+(/\S*)?{mail}", url):
                hint = "https://cards.example.org/privacy" if not mail else "https://cards.example.org or a@example.org"
                raise InvalidValue(name, f"{url!r} is not an address. Write it as in {hint}.")
        if self.door and not re.fullmatch(r"[^\s:/]*:\d{1,5} SHA256:[A-Za-z0-9+/]{43}", self.door):
            hint = "Write its address and the host key that 'samedeal door key' prints: HOST:PORT SHA256:..."
            raise InvalidValue("door", f"{self.door!r} is not a door. {hint}")
        if self.public_url and not re.fullmatch(r"(wss?|https?|samedeal)://[^\s/]+(/\S*)?", self.public_url):
            raise InvalidValue(
                "public-url", f"{self.public_url!r} is not an address. Write it as in wss://cards.example.org."
            )
