"""The results of the checks of ``samedeal doctor``, and the rows in which they are printed."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

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


def ok(name: str, result: str) -> Finding:
    """Return the finding of a check that passed."""
    return Finding(name, Severity.OK, result)


def warn(name: str, result: str, advice: str) -> Finding:
    """Return the finding of a check that found something that works, but not well."""
    return Finding(name, Severity.WARN, result, advice)


def fail(name: str, result: str, advice: str) -> Finding:
    """Return the finding of a check that found something that does not work."""
    return Finding(name, Severity.FAIL, result, advice)


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
