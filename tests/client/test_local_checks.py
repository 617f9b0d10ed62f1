"""``samedeal doctor`` on a real terminal, with this test at the other end, and on this machine."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from samedeal_operate import local_checks
from samedeal_operate.doctor_results import Finding, Severity
from tests.client.command_line import run_samedeal
from tests.golden.golden_files import assert_answers

DEADLINE = 60.0
XTERM = {"TERM": "xterm-256color"}
RICH, POOR, NOTHING = 256, 8, 0


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


PATIENT_DOCTOR = """
from samedeal_client import cli
from samedeal_client.terminal_io import terminal_query
terminal_query.query_terminal.__defaults__ = (60.0,)
raise SystemExit(cli.main(["doctor"]))
"""
"""Runs the doctor, which waits for the answers of a terminal on a busy machine."""


def in_terminal(answers: bytes | None, environment: dict[str, str] | None = None) -> tuple[int, str]:
    """Run the doctor on a terminal.

    After each last query of a series, the terminal sends ``answers`` and the answer to that query.
    If ``answers`` is None, it sends nothing.
    """
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (30, 100))
    variables = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8", **XTERM, **(environment or {})}
    doctor = ["-m", "samedeal_client", "doctor"] if answers is None else ["-c", PATIENT_DOCTOR]
    command = [sys.executable, *doctor]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=variables) as process:
        os.close(theirs)
        said = b""
        asked = 0
        end = time.monotonic() + DEADLINE
        while time.monotonic() < end:
            if not select.select([ours], [], [], 0.1)[0]:
                continue
            try:
                said += os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if answers is not None and said.count(b"\x1b[c") > asked:
                asked += 1
                os.write(ours, answers + b"\x1b[?62;c")
        code = process.wait(timeout=DEADLINE)
    os.close(ours)
    return code, re.sub(r"\x1b\[[0-9;?$]*[a-zA-Z]", "", said.decode()).replace("\r", "")


def verdicts(text: str) -> dict[str, str]:
    """Return the severity of each finding, by name."""
    return {name: severity for severity, name in re.findall(r"(ok|warn|fail)  +(\w+) {2,}\S", text)}


def test_doctor_passes_on_a_good_terminal() -> None:
    code, text = in_terminal(places(*[2] * COUNT).removesuffix(b"\x1b[?62;c"))
    assert code == 0
    found = verdicts(text)
    assert {name: found[name] for name in ("size", "colours", "letters", "glyphs")} == dict.fromkeys(
        ("size", "colours", "letters", "glyphs"), "ok"
    )


def test_a_dumb_terminal_fails_without_queries() -> None:
    code, text = in_terminal(None, environment={"TERM": "dumb"})
    assert code == 1
    assert verdicts(text)["colours"] == "fail"


def test_doctor_without_a_terminal() -> None:
    done = run_samedeal("doctor", "--ascii")
    assert done.returncode == 0
    assert verdicts(done.stdout)["terminal"] == "warn"
    assert done.stdout.isascii()
    assert not done.stderr
