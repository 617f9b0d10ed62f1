"""The proxies of ``deploy/proxy`` as child processes. Only ports, hosts and paths differ from the shipped files."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.child_processes import die_with_parent, kill_and_wait
from tests.server.waiting import until

DEPLOY: Final = Path(__file__).parents[2] / "deploy"
HOST: Final = "localhost"
_START: Final = 20.0


@dataclass(frozen=True)
class Backend:
    """The address of a node, with the port of its health listener in ``health``."""

    host: str
    port: int
    health: int


@dataclass(frozen=True)
class Setting:
    """The values that a proxy's configuration refers to. ``ports`` are free, and ``directory`` is empty."""

    certificate: Path
    key: Path
    nodes: Sequence[Backend]
    ports: Sequence[int]
    directory: Path


@dataclass(frozen=True)
class Kind:
    """A kind of proxy. ``fit`` writes its files into the directory and returns the port and the command line."""

    name: str
    program: str
    package: str
    file: str
    fit: Callable[[str, Setting], Sequence[str]]

    @property
    def found(self) -> str | None:
        """The path of the program, or None. Debian installs some in /usr/sbin, which is not on every user's PATH."""
        return shutil.which(self.program, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")


def replaced(text: str, changes: Mapping[str, str]) -> str:
    """The text after ``changes``, from old to new parts. Raise ValueError if an old part is not in it."""
    for old, new in changes.items():
        if old not in text:
            raise ValueError(f"{old!r} is not in the configuration")
        text = text.replace(old, new)
    return text


def _nginx(text: str, to: Setting) -> Sequence[str]:
    main, *others = to.ports
    text = replaced(
        text,
        {
            "listen 443 ssl": f"listen 127.0.0.1:{main} ssl",
            "listen [::]:443 ssl": f"listen 127.0.0.1:{others[0]} ssl",
            "listen 7777 ssl": f"listen 127.0.0.1:{others[1]} ssl",
            "listen [::]:7777 ssl": f"listen 127.0.0.1:{others[2]} ssl",
            "cards.example.org;": f"{HOST};",
            "/etc/letsencrypt/live/cards.example.org/fullchain.pem": str(to.certificate),
            "/etc/letsencrypt/live/cards.example.org/privkey.pem": str(to.key),
            **_addresses(to),
        },
    )
    (to.directory / "samedeal.conf").write_text(text)
    whole = to.directory / "nginx.conf"
    paths = "".join(
        f"{name}_temp_path {to.directory}/{name};\n" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    user = "user root;\n" if os.geteuid() == 0 else ""
    whole.write_text(
        f"{user}pid {to.directory}/pid;\nworker_processes 2;\nerror_log stderr info;\n"
        "events { worker_connections 1024; }\n"
        f"http {{\naccess_log {to.directory}/access.log;\n{paths}include {to.directory}/samedeal.conf;\n}}\n"
    )
    return ("-c", str(whole), "-p", str(to.directory), "-g", "daemon off;", "-e", "stderr")


def _haproxy(text: str, to: Setting) -> Sequence[str]:
    both = to.directory / "both.pem"
    both.write_text(to.certificate.read_text() + to.key.read_text())
    text = replaced(
        text,
        {
            "log /dev/log local0": "log stdout format raw local0",
            "bind :::443 v4v6": f"bind 127.0.0.1:{to.ports[0]}",
            "bind :::7777 v4v6": f"bind 127.0.0.1:{to.ports[1]}",
            "/etc/haproxy/cards.example.org.pem": str(both),
            **_addresses(to),
            "port 7901": f"port {to.nodes[0].health}",
            "port 7902": f"port {to.nodes[1].health}",
        },
    )
    file = to.directory / "haproxy.cfg"
    file.write_text(text)
    return ("-W", "-db", "-f", str(file))


def _caddy(text: str, to: Setting) -> Sequence[str]:
    main, http, other, *_ = to.ports
    options = f"{{\n\tadmin off\n\thttps_port {main}\n\thttp_port {http}\n\tskip_install_trust\n}}\n"
    nodes = " ".join(f"{node.host}:{node.port}" for node in to.nodes)
    text = replaced(
        text,
        {
            "{$SITE:cards.example.org}": HOST,
            f"{HOST}:7777 {{\n": f"{HOST}:{other} {{\n\ttls {to.certificate} {to.key}\n",
            "{$NODES:127.0.0.1:7801 127.0.0.1:7802}": nodes,
        },
    )
    file = to.directory / "Caddyfile"
    file.write_text(options + text)
    return ("run", "--adapter", "caddyfile", "--config", str(file))


def _addresses(to: Setting) -> Mapping[str, str]:
    return {f"127.0.0.1:780{number}": f"{node.host}:{node.port}" for number, node in enumerate(to.nodes, start=1)}


KINDS: Final = (
    Kind("nginx", "nginx", "nginx-light", "nginx.conf", _nginx),
    Kind("HAProxy", "haproxy", "haproxy", "haproxy.cfg", _haproxy),
    Kind("Caddy", "caddy", "caddy", "Caddyfile", _caddy),
)


@asynccontextmanager
async def running(kind: Kind, to: Setting) -> AsyncIterator[str]:
    """Run a proxy and yield its address. Its output is in ``proxy.log``. Raise RuntimeError with the output if it fails."""
    program = kind.found
    if program is None:
        raise RuntimeError(f"{kind.name} is not installed")
    arguments = kind.fit((DEPLOY / "proxy" / kind.file).read_text(), to)
    log = to.directory / "proxy.log"
    with log.open("wb") as said:
        process = await asyncio.create_subprocess_exec(
            program,
            *arguments,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            env={**os.environ, "HOME": str(to.directory), "XDG_DATA_HOME": str(to.directory)},
            preexec_fn=die_with_parent,
            start_new_session=True,
        )
    try:
        try:
            async with asyncio.timeout(_START):
                _, writer = await until(lambda: asyncio.open_connection("127.0.0.1", to.ports[0]))
        except TimeoutError:
            raise RuntimeError(f"the proxy did not start: {await asyncio.to_thread(log.read_text)}") from None
        writer.close()
        yield f"wss://{HOST}:{to.ports[0]}"
    finally:
        if process.returncode is None:
            process.terminate()
        try:
            async with asyncio.timeout(5):
                await process.wait()
        except TimeoutError:
            await kill_and_wait(process)
