"""``samedeal doctor``: what works here, and what to do about what doesn't."""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import sys
from collections.abc import Iterator

from samedeal_client.running import is_terminal
from samedeal_client.text.findings import Finding, Verdict, finding_rows, ok, worst

DESCRIPTION = """\
Look at this terminal, at this machine and, where URL is given, at the way to a server, and say of each whether it
is ok, with what to do where it isn't."""

EXAMPLES = """\
examples:
  samedeal doctor                 the terminal and the machine
  samedeal doctor example.org     and the way to a server: its name, its port, TLS, the protocol, the ping

exit codes: 0 nothing fails, 1 something does, 2 bad usage"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("url", metavar="URL", nargs="?", default="", help="a server, as for samedeal join")
    parser.add_argument("--ascii", action="store_true", help="print ASCII only")


def run(given: argparse.Namespace) -> int:
    """Look at everything: the exit code."""
    from samedeal_client.net.address import Address, parse_address
    from samedeal_client.net.way import way
    from samedeal_client.text.lines import Printer, terminal_look

    address = Address(parse_address(given.url).url) if given.url else None
    look = terminal_look(ascii_only=given.ascii)
    printer = Printer(sys.stdout, colour=look.colour)
    width = min(shutil.get_terminal_size().columns, 100)
    findings: list[Finding] = []

    def tell(finding: Finding) -> None:
        findings.append(finding)
        printer.show(finding_rows(finding, look, width))

    async def go() -> None:
        if address is not None:
            async for finding in way(address):
                tell(finding)

    for finding in _machine():
        tell(finding)
    asyncio.run(go())
    return int(worst(findings) is Verdict.FAIL)


def _machine() -> Iterator[Finding]:
    from samedeal.protocol.versions import versions
    from samedeal_client import doctor
    from samedeal_client.places import data_home, state_home
    from samedeal_client.text.terminal import ask

    yield ok("version", versions())
    yield doctor.screens()
    if is_terminal():
        columns, lines = os.get_terminal_size()
        yield doctor.size(columns, lines)
        known = doctor.described(os.environ.get("TERM", ""))
        yield doctor.colours(os.environ, known)
        yield doctor.encoding(sys.stdout.encoding)
        yield doctor.glyphs(ask(doctor.GLYPH_QUESTION))
        yield doctor.mouse(ask(doctor.MOUSE_QUESTION), known)
    else:
        yield doctor.no_terminal()
        yield doctor.encoding(sys.stdout.encoding)
    yield doctor.files({"sessions": state_home(), "records": data_home()})
    yield doctor.hosting()
