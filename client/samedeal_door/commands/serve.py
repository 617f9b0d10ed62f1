"""``samedeal serve``: run a server."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence

from samedeal.command_line_help import add_rows
from samedeal_door.commands.door import host_key_of
from samedeal_link.connection.address import DEFAULT_PORT
from samedeal_link.errors import Failure
from samedeal_link.machine.paths import data_home

_SSH_PORT = "also let people play over ssh, on this port (needs the extra [ssh])"


def serve(arguments: Sequence[str]) -> int:
    """Replace this process by the server. If its door cannot start, return an exit code."""
    if arguments and not arguments[0].startswith("-"):  # another command of the server, such as restore
        return _replace_by_server(arguments)
    if "--help" in arguments or "-h" in arguments:
        print(f"--ssh-port PORT  {_SSH_PORT}; see samedeal door --help\n")
        return _replace_by_server(arguments)
    try:
        return _replace_by_server(_with_door(arguments))
    except Failure as error:
        print(f"samedeal: {error}", file=sys.stderr)
        return error.code


def _replace_by_server(arguments: Sequence[str]) -> int:
    sys.stdout.flush()
    return os.execv(sys.executable, [sys.executable, "-m", "samedeal_server", "serve", *arguments])  # noqa: S606 (our own program)


def _with_door(arguments: Sequence[str]) -> list[str]:
    """Start a door if it is wanted. Return the arguments of the server.

    The door holds one end of a pipe and the server the other, so that it stops when the server has ended.
    """
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    add_rows(parser, {"--ssh-port": {"type": "1 to 65535", "help": _SSH_PORT}})
    known, others = _parse(parser, arguments)
    if known.ssh_port is None:
        return others
    server = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    server.add_argument("--port", type=int, default=DEFAULT_PORT)
    for option in ("--tls-cert", "--public-url", "--trusted-proxies"):
        server.add_argument(option)
    given, _ = _parse(server, others)
    if given.tls_cert or not given.port:
        raise Failure("--ssh-port needs a fixed --port without TLS. Run 'samedeal door' next to the server instead.", 2)
    host_key = host_key_of(data_home() / "door").get_fingerprint()
    others += ["--port", str(given.port), "--door", f":{known.ssh_port} {host_key}"]
    others += [] if given.trusted_proxies else ["--trusted-proxies", "127.0.0.1"]
    public = ["--public-url", given.public_url] if given.public_url else []
    ours, theirs = os.pipe()
    os.set_inheritable(theirs, True)  # noqa: FBT003 (positional only)
    door = ["door", f"ws://127.0.0.1:{given.port}", "--port", str(known.ssh_port), "--with-server", *public]
    subprocess.Popen([sys.executable, "-m", "samedeal_client", *door], stdin=ours)  # noqa: S603 (our own program)
    os.close(ours)
    return others


def _parse(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    try:
        return parser.parse_known_args(arguments)
    except argparse.ArgumentError as error:
        raise Failure(f"{str(error).rstrip('.')}.", 2) from None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Accept any arguments. The server parses them."""
    parser.add_argument("--ssh-port", metavar="PORT", help=_SSH_PORT)
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="see samedeal serve --help")


def run(given: argparse.Namespace) -> int:
    """Replace this process by the server. If its door cannot start, return an exit code."""
    return serve(given.arguments)
