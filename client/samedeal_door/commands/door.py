"""``samedeal door``: let people play over ssh."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from samedeal.command_line_help import add_rows
from samedeal_link.connection.address import parse_address
from samedeal_link.errors import Failure
from samedeal_link.machine.paths import data_home

if TYPE_CHECKING:
    from asyncssh import SSHKey

    from samedeal_door.door import Network


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add an argument for each limit of the door to a parser."""
    from samedeal_door.limits import DoorLimits

    limits = parser.add_argument_group("limits of each process (maximum values)")
    for limit in fields(DoorLimits):
        row = {"type": "1 to 10000000", "default": limit.default, "help": limit.metadata["meaning"]}
        add_rows(limits, {f"--limit-{limit.name.replace('_', '-')}": row})


def host_key_of(directory: Path) -> SSHKey:
    """Return the host key in a directory, which is made if there is none. Raise Failure if asyncssh is missing."""
    try:
        from samedeal_door.door import load_host_key
    except ModuleNotFoundError as error:
        if error.name != "asyncssh":
            raise
        raise Failure("The door needs asyncssh. Install it with: pip install 'samedeal[ssh]'") from None
    return load_host_key(directory)


def run(given: argparse.Namespace) -> int:
    """Run the door until a signal, and return the exit code."""
    from samedeal_door.limits import DoorLimits

    directory = Path(given.data) if given.data else data_home() / "door"
    os.environ.setdefault("HOME", str(directory))  # asyncssh asks for it, and a user of systemd may have none
    if given.url == "forget":
        from samedeal_door.identities import Identities, read_fingerprint

        identities = Identities(directory)
        known = identities.forget(identities.identity(read_fingerprint(" ".join(given.key))))
        print("The key is forgotten." if known else "This key is not known here.")
        return 0
    host_key = host_key_of(directory)
    from samedeal_door.door import Door, dns_record, listen, prepare, serve_door, serve_workers

    if given.url == "key":
        print(host_key.get_fingerprint(), dns_record("HOST", host_key), sep="\n")
        return 0
    server = parse_address(given.url).typed
    public = parse_address(given.public_url).typed if given.public_url else ""
    proxies = _networks(given.proxy_protocol)
    limits = DoorLimits(**{limit.name: getattr(given, f"limit_{limit.name}") for limit in fields(DoorLimits)})
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.WARNING, stream=sys.stderr)
    logging.getLogger("asyncssh").setLevel(logging.CRITICAL)
    try:
        listeners = listen(given.host, given.port)
    except OSError as error:
        raise Failure(
            f"Cannot listen on {given.host}, port {given.port}: {error.strerror}. Choose another --port."
        ) from None
    port = listeners[0].getsockname()[1]
    print(f"Door to {server}: ssh -p {port} HOST", flush=True)
    print(f"Host key {host_key.get_fingerprint()}", f"DNS record {dns_record('HOST', host_key)}", sep="\n", flush=True)
    prepare()
    print("Ready", flush=True)

    def serve_worker(number: int, lifeline: int | None = None) -> None:
        health = (given.health_host, given.health_port + number) if given.health_port else None
        serve_door(
            Door(server, directory, limits, given.start_command, proxies, public),
            listeners,
            health,
            sys.stdin.fileno() if given.with_server else lifeline,
        )

    if given.workers > 1:
        serve_workers(given.workers, serve_worker)
    else:
        serve_worker(0)
    return 0


def _networks(text: str) -> list[Network]:
    from ipaddress import ip_network

    try:
        return [ip_network(word.strip(), strict=False) for word in text.split(",") if word.strip()]
    except ValueError as error:
        raise Failure(f"--proxy-protocol {text} is not valid: {error}. Give addresses or networks.", 2) from None
