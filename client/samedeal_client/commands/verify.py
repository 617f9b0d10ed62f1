"""``samedeal verify``: check the record of a race, offline."""

from __future__ import annotations

import argparse
from pathlib import Path

from samedeal.terminal_text import printable
from samedeal_client.commands.arguments import offer_file
from samedeal_link.errors import Failure


def run(given: argparse.Namespace) -> int:
    """Check a record and return the exit code."""
    from samedeal.errors import BadRecord
    from samedeal.record import Record
    from samedeal_client.panels.records import verified_lines
    from samedeal_client.panels.verdict import compared, exit_code
    from samedeal_link.evidence.evidence_files import all_evidence

    offer_file(given.games)
    try:
        record = Record.read(Path(given.file).read_bytes())
        if given.deep:
            record.check_deeply()
        else:
            record.check()
    except BadRecord as error:
        raise Failure(f"{given.file} failed the check. {error}") from None
    found = compared(record, all_evidence())
    for line in verified_lines(record, found, deep=given.deep):
        print(printable(line, 400))
    return max((exit_code(each) for _, each in found), key=(0, 3, 1).index, default=0)
