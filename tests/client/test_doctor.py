"""What ``samedeal doctor`` says of a terminal and a machine; the terminal is a real one, with this test at its other end."""

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

from samedeal_client import doctor
from samedeal_client.doctor import Described
from samedeal_client.text.findings import Finding, Verdict, fail, finding_rows, ok, warn, worst
from samedeal_client.text.look import UNICODE, Look
from samedeal_client.text.spans import row_text, row_width

DEADLINE = 20.0
XTERM = {"TERM": "xterm-256color"}
RICH, POOR, NOTHING = Described(256, mouse=True), Described(8, mouse=False), Described(0, mouse=False)


def verdict(finding: Finding) -> str:
    """How a check went; what did not go well has advice."""
    assert bool(finding.advice) == (finding.verdict is not Verdict.OK)
    return finding.verdict.value


# ---------------------------------------------------------------- the terminal


@pytest.mark.parametrize(
    ("columns", "lines", "wanted", "words"),
    [
        (80, 24, "ok", "80 columns, 24 rows"),
        (200, 60, "ok", "200 columns"),
        (70, 20, "warn", "too small for Phoenix"),
        (20, 5, "fail", "too small for any game"),
    ],
)
def test_sizes(columns: int, lines: int, wanted: str, words: str) -> None:
    finding = doctor.size(columns, lines)
    assert (verdict(finding), words in finding.said) == (wanted, True)


@pytest.mark.parametrize(
    ("environment", "known", "wanted", "words"),
    [
        ({}, RICH, "fail", "TERM is not set"),
        ({"TERM": "dumb"}, RICH, "fail", "TERM is dumb"),
        (XTERM, RICH, "ok", "256"),
        (XTERM | {"COLORTERM": "truecolor"}, POOR, "ok", "16 million"),
        (XTERM | {"NO_COLOR": "1"}, RICH, "ok", "NO_COLOR"),
        (XTERM | {"NO_COLOR": ""}, RICH, "ok", "256"),
        ({"TERM": "screen"}, POOR, "warn", "8"),
        ({"TERM": "vt100"}, NOTHING, "warn", "none"),
    ],
)
def test_colours(environment: dict[str, str], known: Described, wanted: str, words: str) -> None:
    finding = doctor.colours(environment, known)
    assert (verdict(finding), words in finding.said) == (wanted, True)


@pytest.mark.parametrize(
    ("term", "better"), [("screen", "screen-256color"), ("tmux", "tmux-256color"), ("linux", "xterm-256color")]
)
def test_the_advice_names_a_richer_terminal(term: str, better: str) -> None:
    assert better in doctor.colours({"TERM": term}, POOR).advice


@pytest.mark.parametrize(
    ("term", "known"), [("xterm-256color", RICH), ("vt100", NOTHING), ("no-such-terminal-anywhere", NOTHING)]
)
def test_descriptions_of_terminals(term: str, known: Described) -> None:
    code = f"from samedeal_client.doctor import described; print(described({term!r}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == repr(known)


@pytest.mark.parametrize(
    ("name", "wanted"), [("utf-8", "ok"), ("UTF8", "ok"), ("ascii", "warn"), ("latin-1", "warn"), (None, "warn")]
)
def test_encodings(name: str | None, wanted: str) -> None:
    assert verdict(doctor.encoding(name)) == wanted


def places(*columns: int) -> bytes:
    """A terminal's answers to where its cursor is, and the last one."""
    return b"".join(b"\x1b[1;%dR" % column for column in columns) + b"\x1b[?62;c"


COUNT = doctor.GLYPH_QUESTION.count(b"\x1b[6n")


def test_glyphs_of_one_column_are_well() -> None:
    assert verdict(doctor.glyphs(places(*[2] * COUNT))) == "ok"


def test_wide_glyphs_are_named() -> None:
    finding = doctor.glyphs(places(3, *[2] * (COUNT - 1)))
    assert verdict(finding) == "warn"
    assert f"{UNICODE.suits[0]} takes 2" in finding.said


def test_many_wide_glyphs_are_counted() -> None:
    assert f"and {COUNT - 6} more" in doctor.glyphs(places(*[3] * COUNT)).said


@pytest.mark.parametrize("answer", [b"", b"\x1b[?62;c", places(2, 2)])
def test_a_terminal_that_doesnt_answer_is_no_proof(answer: bytes) -> None:
    finding = doctor.glyphs(answer)
    assert (verdict(finding), "--ascii" in finding.advice) == ("warn", True)


@pytest.mark.parametrize(
    ("answer", "known", "wanted"),
    [
        (b"\x1b[?1006;2$y\x1b[?62;c", POOR, "ok"),
        (b"\x1b[?1006;1$y", POOR, "ok"),
        (b"\x1b[?1006;0$y", RICH, "warn"),
        (b"\x1b[?62;c", RICH, "ok"),
        (b"", POOR, "warn"),
    ],
)
def test_the_mouse(answer: bytes, known: Described, wanted: str) -> None:
    assert verdict(doctor.mouse(answer, known)) == wanted


# ---------------------------------------------------------------- the machine


def test_what_can_be_kept(tmp_path: Path) -> None:
    assert verdict(doctor.files({"records": tmp_path / "not" / "there" / "yet"})) == "ok"
    (tmp_path / "file").write_text("")
    finding = doctor.files({"sessions": tmp_path, "records": tmp_path / "file" / "under"})
    assert verdict(finding) == "warn"
    assert "records can't be kept" in finding.said


def test_the_screen_is_there_with_textual() -> None:
    assert verdict(doctor.screens()) == "ok"


def test_hosting_where_there_is_a_redis() -> None:
    finding = doctor.hosting()
    assert (verdict(finding), finding.said.startswith(("Redis", "Valkey"))) == ("ok", True)


def python_that(tmp_path: Path, code: str) -> str:
    """A Python in which the server is another one."""
    package = tmp_path / "samedeal_server"
    package.mkdir()
    for module in ("__init__", "errors"):
        (package / f"{module}.py").write_text("class StartupError(Exception):\n    pass\n")
    (package / "redis_binary.py").write_text(code)
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={tmp_path} exec {sys.executable} -S "$@"\n')
    python.chmod(0o755)
    return str(python)


def test_hosting_without_the_server(tmp_path: Path) -> None:
    python = python_that(tmp_path, "import no_such_module")
    finding = doctor.hosting(python)
    assert (verdict(finding), "no_such_module is not installed" in finding.said) == ("warn", True)
    assert "pip install" in finding.advice


def test_hosting_without_a_redis(tmp_path: Path) -> None:
    code = "from samedeal_server.errors import StartupError\n"
    code += "def find_redis_binary(): raise StartupError('There is no redis-server: install one')\n"
    finding = doctor.hosting(python_that(tmp_path, code))
    assert finding == warn("hosting", "There is no redis-server", "install one")


# ---------------------------------------------------------------- findings


def test_the_worst_counts() -> None:
    well, so_so, bad = ok("a", "b"), warn("a", "b", "c"), fail("a", "b", "c")
    assert worst([]) is Verdict.OK
    assert worst([well, so_so, well]) is Verdict.WARN
    assert worst([so_so, bad, well]) is Verdict.FAIL


@pytest.mark.parametrize("width", [40, 80, 100])
def test_findings_fit_the_width_and_advice_is_under_them(width: int) -> None:
    rows = finding_rows(warn("size", "word " * 30, "advice " * 20), Look(), width)
    lines = [row_text(row) for row in rows]
    assert all(row_width(row) <= width for row in rows)
    assert lines[0].startswith("warn  size")
    assert any("→  advice" in line for line in lines[1:])
    assert all(line.startswith(" " * 16) for line in lines[1:])


def test_findings_in_ascii() -> None:
    rows = finding_rows(warn("size", "♠", "♥"), Look(ascii=True), 80)
    assert all(row_text(row).isascii() for row in rows)


# ---------------------------------------------------------------- the command on a terminal


def in_terminal(answers: bytes | None, *arguments: str, environment: dict[str, str] | None = None) -> tuple[int, str]:
    """Run the doctor on a terminal that answers each last question with ``answers`` before it; nothing where None."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (30, 100))
    variables = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8", **XTERM, **(environment or {})}
    command = [sys.executable, "-m", "samedeal_client", "doctor", *arguments]
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


def test_on_a_terminal_that_answers_all_is_well() -> None:
    code, text = in_terminal(places(*[2] * COUNT).removesuffix(b"\x1b[?62;c") + b"\x1b[?1006;2$y")
    assert code == 0
    for line in (
        "size      100 columns, 30 rows",
        "colours   256",
        "letters   UTF-8",
        "glyphs    suits",
        "mouse     reported",
    ):
        assert f"ok    {line}" in text


def test_a_terminal_with_wide_glyphs_is_told_on() -> None:
    code, text = in_terminal(places(*[3] * COUNT).removesuffix(b"\x1b[?62;c"))
    assert code == 0
    assert "warn  glyphs    not one column each" in text


def test_a_terminal_that_says_nothing_is_not_waited_for_long() -> None:
    began = time.monotonic()
    code, text = in_terminal(None)
    assert code == 0
    assert "doesn't tell where its cursor is" in text
    assert time.monotonic() - began < DEADLINE


def test_a_dumb_terminal_fails_and_is_asked_nothing() -> None:
    code, text = in_terminal(None, environment={"TERM": "dumb"})
    assert code == 1
    assert "fail  colours   TERM is dumb" in text


def test_without_a_terminal_that_is_said() -> None:
    command = [sys.executable, "-m", "samedeal_client", "doctor", "--ascii"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0
    assert "warn  terminal" in done.stdout
    assert done.stdout.isascii()
    assert not done.stderr
