"""The results of the checks of ``samedeal doctor``, and the rows in which they are printed."""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple

from msgspec import Struct

from samedeal.data_files import read_data
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import Row, Span, wrap

_NAME = 10
_INDENT = 6 + _NAME


class Severity(Enum):
    """The severity of a finding. The value is the word that is printed."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


class Finding(NamedTuple):
    """The result of one check. ``advice`` tells the user what to do about a problem."""

    name: str
    severity: Severity
    result: str
    advice: str = ""


class _Row(Struct, frozen=True, forbid_unknown_fields=True):
    """A row of ``doctor.toml``."""

    check: str
    result: str
    severity: Severity = Severity.OK
    advice: str = ""


FINDINGS: Final = read_data("samedeal_operate", "doctor.toml", dict[str, _Row])


def found(name: str, /, **words: object) -> Finding:
    """Return the finding of the row with this name, and with ``words`` in its texts."""
    row = FINDINGS[name]
    return Finding(row.check, row.severity, row.result.format(**words), row.advice.format(**words))


_STYLES = {Severity.OK: "good", Severity.WARN: "notice", Severity.FAIL: "bad"}


def finding_rows(finding: Finding, look: Look, width: int) -> tuple[Row, ...]:
    """Return a finding in rows of at most ``width`` columns, with its advice below."""
    rows: list[Row] = []
    text_width = max(width - _INDENT, 20)
    for line in wrap(look.displayable(finding.result), text_width):
        head = f"{finding.severity.value:<6}{finding.name:<{_NAME}}" if not rows else " " * _INDENT
        style = _STYLES[finding.severity] if not rows else ""
        rows.append((Span(head[:6], style), Span(head[6:], "name"), Span(line)))
    arrow = "->" if look.ascii else "→"
    for number, line in enumerate(wrap(look.displayable(finding.advice), text_width - 3)):
        rows.append((Span(" " * _INDENT), Span(f"{'' if number else arrow:<3}", "label"), Span(line)))
    return tuple(rows)
