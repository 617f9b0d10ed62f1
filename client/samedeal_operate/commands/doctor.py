"""``samedeal doctor``: check the terminal, the machine and the connection to a server."""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import sys
from collections.abc import Iterator

from samedeal_link.machine.terminal import terminal
from samedeal_operate import local_checks
from samedeal_operate.doctor_results import Finding, Severity, finding_rows, found


def run(given: argparse.Namespace) -> int:
    """Run all checks and return the exit code."""
    from samedeal_client.terminal_io.line_io import Printer, terminal_look
    from samedeal_link.connection.address import ServerAddress, parse_address
    from samedeal_operate.connection_check import diagnose

    address = ServerAddress(parse_address(given.url).url) if given.url else None
    look = terminal_look(ascii_only=given.ascii)
    printer = Printer(sys.stdout, colour=look.colour)
    width = min(shutil.get_terminal_size().columns, 100)
    findings: list[Finding] = []

    def report(finding: Finding) -> None:
        findings.append(finding)
        printer.print_rows(finding_rows(finding, look, width))

    async def check_server() -> None:
        if address is not None:
            async for finding in diagnose(address):
                report(finding)

    for finding in _local_checks():
        report(finding)
    asyncio.run(check_server())
    return int(any(finding.severity is Severity.FAIL for finding in findings))


def _local_checks() -> Iterator[Finding]:
    from samedeal.versions import versions
    from samedeal_client.terminal_io.terminal_query import query_terminal
    from samedeal_link.machine.paths import data_home, state_home

    yield found("version", versions=versions())
    if terminal().is_interactive:
        columns, lines = os.get_terminal_size()
        yield local_checks.check_size(columns, lines)
        known = local_checks.terminal_colours(os.environ.get("TERM", ""))
        yield local_checks.check_colours(os.environ, known)
        yield local_checks.check_encoding(sys.stdout.encoding)
        yield local_checks.check_glyphs(query_terminal(local_checks.GLYPH_QUERY))
    else:
        yield found("no_terminal")
        yield local_checks.check_encoding(sys.stdout.encoding)
    yield local_checks.check_files({"sessions": state_home(), "records": data_home()})
    yield local_checks.check_hosting()
