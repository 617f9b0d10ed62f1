"""``samedeal serve``: run a server."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence

from samedeal_client.commands.arguments import integer_in
from samedeal_door.commands.door import host_key_of
from samedeal_link.connection.address import DEFAULT_PORT
from samedeal_link.errors import Failure
from samedeal_link.machine.paths import data_home

_SSH_PORT = "also let people play over ssh, on this port (needs the extra [ssh])"


def serve(arguments: Sequence[str]) -> int:
    """Replace this process by the server. If its door cannot start, return an exit code."""
    if "--help" in arguments or "-h" in arguments:
        print(f"--ssh-port PORT  {_SSH_PORT}; see samedeal door --help\n")
    try:
        arguments = _with_door(arguments)
    except Failure as error:
        print(f"samedeal: {error}", file=sys.stderr)
        return error.code
    sys.stdout.flush()
    return os.execv(sys.executable, [sys.executable, "-m", "samedeal_server", "serve", *arguments])  # noqa: S606 (our own program)


def _with_door(arguments: Sequence[str]) -> Sequence[str]:
    """Start a door if ``--ssh-port`` is given. Return the arguments of the server.

    The door holds one end of a pipe and the server the other, so that the door stops when the server has ended.
    """
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--ssh-port", type=integer_in(1, 65535))
    parser.add_argument("--port", type=int, default=DEFAULT_PORT)
    parser.add_argument("--tls-cert")
    parser.add_argument("--public-url")
    parser.add_argument("--trusted-proxies")
    try:
        known, _ = parser.parse_known_args(arguments)
    except argparse.ArgumentError as error:
        raise Failure(f"{error}.", 2) from None
    if not known.ssh_port:
        return arguments
    if known.tls_cert or not known.port:
        raise Failure(
            "--ssh-port needs a fixed --port without TLS. Otherwise run 'samedeal door' beside the server.", 2
        )
    others = [*arguments]
    at = next(number for number, word in enumerate(others) if word.partition("=")[0] == "--ssh-port")
    del others[at : at + (1 if "=" in others[at] else 2)]
    host_key = host_key_of(data_home() / "door").get_fingerprint()
    others += ["--port", str(known.port), "--door", f":{known.ssh_port} {host_key}"]
    others += [] if known.trusted_proxies else ["--trusted-proxies", "127.0.0.1"]
    ours, theirs = os.pipe()
    os.set_inheritable(theirs, True)  # noqa: FBT003 (positional only)
    door = ["door", f"ws://127.0.0.1:{known.port}", "--port", str(known.ssh_port), "--with-server"]
    door += ["--public-url", known.public_url] if known.public_url else []
    subprocess.Popen([sys.executable, "-m", "samedeal_client", *door], stdin=ours)  # noqa: S603 (our own program)
    return others


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Accept any arguments. The server parses them."""
    parser.add_argument("--ssh-port", metavar="PORT", help=_SSH_PORT)
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="see samedeal serve --help")


def run(given: argparse.Namespace) -> int:
    """Replace this process by the server. If its door cannot start, return an exit code."""
    return serve(given.arguments)
