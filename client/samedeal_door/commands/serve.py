"""``samedeal serve``: run a server."""

from __future__ import annotations

import argparse
import os
import secrets
import subprocess
import sys
from collections.abc import Sequence

from samedeal_client.commands.arguments import integer_in
from samedeal_door.commands.door import host_key_of
from samedeal_link.connection.address import DEFAULT_PORT
from samedeal_link.errors import Failure
from samedeal_link.machine.paths import data_home, write_new

_SSH_PORT = "also let people play over ssh, on this port (needs the extra [ssh])"
_HOUSE = "bots that keep lone players company, 0 to 3 (default: 3)"


def serve(arguments: Sequence[str]) -> int:
    """Replace this process by the server. If its door or its house cannot start, return an exit code."""
    if arguments and not arguments[0].startswith("-"):  # another command of the server, such as restore
        return _replace_by_server(arguments)
    if "--help" in arguments or "-h" in arguments:
        print(f"--ssh-port PORT  {_SSH_PORT}; see samedeal door --help\n--house BOTS      {_HOUSE}\n")
        return _replace_by_server(arguments)
    try:
        return _replace_by_server(_with_companions(arguments))
    except Failure as error:
        print(f"samedeal: {error}", file=sys.stderr)
        return error.code


def _replace_by_server(arguments: Sequence[str]) -> int:
    sys.stdout.flush()
    return os.execv(sys.executable, [sys.executable, "-m", "samedeal_server", "serve", *arguments])  # noqa: S606 (our own program)


def _with_companions(arguments: Sequence[str]) -> list[str]:
    """Start a door and a house, if they are wanted. Return the arguments of the server.

    Each of them holds one end of a pipe and the server the other, so that they stop when the server has ended.
    """
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--ssh-port", type=integer_in(1, 65535))
    parser.add_argument("--house", type=integer_in(0, 3))
    known, others = _parse(parser, arguments)
    server = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    server.add_argument("--port", type=int, default=DEFAULT_PORT)
    server.add_argument("--host", default="localhost")
    for option in ("--tls-cert", "--public-url", "--trusted-proxies", "--house-key-file"):
        server.add_argument(option)
    given, _ = _parse(server, others)
    is_reachable = given.port and not given.tls_cert
    address = f"ws://127.0.0.1:{given.port}"
    if known.ssh_port or known.house:
        if not is_reachable:
            raise Failure(
                "--ssh-port and --house need a fixed --port without TLS. Otherwise run 'samedeal door' and "
                "'samedeal house' beside the server.",
                2,
            )
        others += ["--port", str(given.port)]
    if known.ssh_port:
        others += [] if given.trusted_proxies else ["--trusted-proxies", "127.0.0.1"]
        host_key = host_key_of(data_home() / "door").get_fingerprint()
        others += ["--door", f":{known.ssh_port} {host_key}"]
        public = ["--public-url", given.public_url] if given.public_url else []
        _start("door", address, "--port", str(known.ssh_port), "--with-server", *public)
    is_wanted = known.house is None and is_reachable and not given.house_key_file and _is_plain(others, given.host)
    if is_wanted or known.house:
        key = data_home() / "house.key"
        try:
            write_new(key, secrets.token_urlsafe(32))
        except OSError as error:
            if known.house:
                raise Failure(f"Cannot write the key of the house to {key}: {error.strerror}.") from None
            print(
                f"samedeal: no bots keep people company, as {key} can't be written: {error.strerror}", file=sys.stderr
            )
            return others
        others += ["--house-key-file", str(key)]
        _start("house", address, "--key-file", str(key), "--bots", str(known.house or 3), "--exit-with-stdin")
    return others


def _is_plain(arguments: Sequence[str], host: str) -> bool:
    """Return whether a server with these arguments surely listens on the default port, or the given one, of this machine."""
    elsewhere = any(
        f"SAMEDEAL_{name}" in os.environ for name in ("CONFIG", "HOST", "PORT", "TLS_CERT", "HOUSE_KEY_FILE")
    )
    others = any(word.partition("=")[0] in ("--config", "--print-config", "--version") for word in arguments)
    return not (elsewhere or others) and host in ("all", "localhost", "127.0.0.1", "0.0.0.0")  # noqa: S104 (it is compared)


def _parse(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    try:
        return parser.parse_known_args(arguments)
    except argparse.ArgumentError as error:
        raise Failure(f"{error}.", 2) from None


def _start(*command: str) -> None:
    """Start a command that ends when the server has ended."""
    ours, theirs = os.pipe()
    os.set_inheritable(theirs, True)  # noqa: FBT003 (positional only)
    subprocess.Popen([sys.executable, "-m", "samedeal_client", *command], stdin=ours)  # noqa: S603 (our own program)
    os.close(ours)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Accept any arguments. The server parses them."""
    parser.add_argument("--ssh-port", metavar="PORT", help=_SSH_PORT)
    parser.add_argument("--house", metavar="BOTS", help=_HOUSE)
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="see samedeal serve --help")


def run(given: argparse.Namespace) -> int:
    """Replace this process by the server. If its door or its house cannot start, return an exit code."""
    return serve(given.arguments)
