"""What ``samedeal doctor`` finds out about a terminal and this machine."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from samedeal_operate import local_checks
from samedeal_operate.doctor_results import Finding, Severity
from tests.client.command_line import run_samedeal
from tests.golden.golden_files import assert_answers


def verdict(finding: Finding) -> str:
    """Return the severity of a finding. Every finding other than OK has advice."""
    assert bool(finding.advice) == (finding.severity is not Severity.OK)
    return finding.severity.value


COUNT = local_checks.GLYPH_QUERY.count(b"\x1b[6n")


def places(*columns: int) -> bytes:
    """A terminal's answers to queries for the column of its cursor, and its answer to the last query."""
    return b"".join(b"\x1b[1;%dR" % column for column in columns) + b"\x1b[?62;c"


def found(_: str, question: str) -> str:
    """What is found of a window, of a terminal that is known to have so many colours, of the widths of glyphs, or of an
    encoding. The last one of several widths is that of all other glyphs.
    """
    kind, _, rest = question.partition(" ")
    match kind:
        case "size":
            finding = local_checks.check_size(*map(int, rest.split()))
        case "colours":
            known, _, variables = rest.partition(":")
            environment = dict(each.split("=") for each in variables.replace(",", "").split())
            finding = local_checks.check_colours(environment, int(known))
        case "glyphs":
            columns = [1 + int(width) for width in rest.split()]
            finding = local_checks.check_glyphs(places(*columns, *columns[-1:] * (COUNT - len(columns))))
        case _:
            finding = local_checks.check_encoding(None if rest == "None" else rest)
    return f"{verdict(finding)}: {finding.result}{f' ({finding.advice})' * bool(finding.advice)}"


def test_findings_are_those_of_the_page() -> None:
    assert_answers("doctor", found)


def test_check_files(tmp_path: Path) -> None:
    assert verdict(local_checks.check_files({"records": tmp_path / "not" / "there" / "yet"})) == "ok"
    (tmp_path / "file").write_text("")
    finding = local_checks.check_files({"sessions": tmp_path, "records": tmp_path / "file" / "under"})
    assert verdict(finding) == "warn"
    assert ("records" in finding.result, "sessions" in finding.result) == (True, False)


def test_hosting_with_redis() -> None:
    finding = local_checks.check_hosting()
    assert (verdict(finding), finding.result.startswith(("Redis", "Valkey"))) == ("ok", True)


def test_hosting_without_redis(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAMEDEAL_REDIS_SERVER", "/nowhere/redis-server")
    finding = local_checks.check_hosting()
    assert (verdict(finding), "redis-server" in finding.result) == ("warn", True)


def test_doctor_without_a_terminal() -> None:
    done = run_samedeal("doctor", "--ascii")
    assert done.returncode == 0
    assert re.search("^ *warn +terminal ", done.stdout, re.MULTILINE)
    assert done.stdout.isascii()
    assert not done.stderr
