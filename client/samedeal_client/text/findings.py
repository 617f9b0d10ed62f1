"""What a check of ``samedeal doctor`` finds, and how that is printed."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple

from samedeal_client.text.look import Look
from samedeal_client.text.spans import Row, Span, wrap

_NAME = 10
_INDENT = 6 + _NAME


class Verdict(Enum):
    """How a check went; the value is what is printed."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


class Finding(NamedTuple):
    """A check's name, how it went, what was found, and what to do where it did not go well."""

    name: str
    verdict: Verdict
    said: str
    advice: str = ""


def ok(name: str, said: str) -> Finding:
    """It is well."""
    return Finding(name, Verdict.OK, said)


def warn(name: str, said: str, advice: str) -> Finding:
    """It works, but could be better."""
    return Finding(name, Verdict.WARN, said, advice)


def fail(name: str, said: str, advice: str) -> Finding:
    """It does not work."""
    return Finding(name, Verdict.FAIL, said, advice)


_STYLES = {Verdict.OK: "good", Verdict.WARN: "notice", Verdict.FAIL: "bad"}


def finding_rows(finding: Finding, look: Look, width: int) -> tuple[Row, ...]:
    """A finding in rows of at most ``width`` columns, advice under it."""
    rows: list[Row] = []
    room = max(width - _INDENT, 20)
    for line in wrap(look.says(finding.said), room):
        head = f"{finding.verdict.value:<6}{finding.name:<{_NAME}}" if not rows else " " * _INDENT
        style = _STYLES[finding.verdict] if not rows else ""
        rows.append((Span(head[:6], style), Span(head[6:], "name"), Span(line)))
    arrow = "->" if look.ascii else "→"
    for number, line in enumerate(wrap(look.says(finding.advice), room - 3)):
        rows.append((Span(" " * _INDENT), Span(f"{'' if number else arrow:<3}", "label"), Span(line)))
    return tuple(rows)


def worst(findings: Iterable[Finding]) -> Verdict:
    """The worst verdict."""
    verdicts = [finding.verdict for finding in findings]
    return max(verdicts, key=list(Verdict).index, default=Verdict.OK)
