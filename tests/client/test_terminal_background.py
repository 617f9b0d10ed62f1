from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest

from samedeal_client.terminal_io.terminal_background import BACKGROUND_QUERY, dark_of_answer, dark_of_environment


@pytest.mark.parametrize(
    ("answer", "dark"),
    [
        (b"\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\\x1b[?62;c", True),
        (b"\x1b]11;rgb:ffff/ffff/ffff\x07\x1b[?1;2c", False),
        (b"\x1b]11;rgb:fd/f6/e3\x1b\\\x1b[?1;2c", False),
        (b"\x1b]11;rgba:0000/2b2b/3636/ffff\x1b\\", True),
        (b"\x1b[?1;2c", None),
        (b"", None),
    ],
)
def test_dark_of_answer(answer: bytes, dark: bool | None) -> None:
    assert dark_of_answer(answer) is dark


@pytest.mark.parametrize(
    ("value", "dark"), [("15;0", True), ("0;15", False), ("0;default;15", False), ("x", None), ("", None)]
)
def test_dark_of_environment(value: str, dark: bool | None) -> None:
    assert dark_of_environment({"COLORFGBG": value}) is dark


ASK = """
from samedeal_client.terminal_io import terminal_background, terminal_query
terminal_query.query_terminal.__defaults__ = (60.0,)  # a busy machine answers late
print(terminal_background.has_dark_background())
"""


@pytest.mark.parametrize(
    ("answer", "said"), [(b"\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[?1;2c", "False"), (b"\x1b[?1;2c", "True")]
)
def test_the_terminal_is_queried(answer: bytes, said: str) -> None:
    ours, theirs = pty.openpty()
    environment = {key: value for key, value in os.environ.items() if key != "COLORFGBG"} | {"TERM": "xterm"}
    with subprocess.Popen(
        [sys.executable, "-c", ASK], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    ) as process:
        os.close(theirs)
        heard = b""
        while BACKGROUND_QUERY not in heard:
            heard += os.read(ours, 1024)
        os.write(ours, answer)
        heard = b""
        while b"\n" not in heard:
            heard += os.read(ours, 1024)
        assert process.wait(60) == 0
    os.close(ours)
    assert heard.decode().strip().endswith(said)
