"""Programs that tests need besides Python and Redis. Tests that are skipped without them say how to install them."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from typing import Final

import pytest

_PACKAGES: Final = {
    "MiniBrowser": "webkit2gtk-driver",
    "WebKitWebDriver": "webkit2gtk-driver",
    "Xvfb": "xvfb",
    "chromedriver": "chromium-driver",
    "chromium": "chromium",
    "firefox": "firefox-esr",
    "mawk": "mawk",
    "node": "nodejs",
    "promtool": "prometheus",
    "ssh": "openssh-client",
    "ssh-keygen": "openssh-client",
    "tmux": "tmux",
    "zbarimg": "zbar-tools",
}
"""The packages of Debian and Ubuntu that have the programs."""


def missing(*programs: str) -> str:
    """The reason to skip a test that needs programs, for those of them that are not on the PATH. Empty if all are."""
    return lacking([program for program in programs if shutil.which(program) is None])


def lacking(programs: Iterable[str]) -> str:
    """The reason to skip a test without programs, with how to install them. Empty if there are none."""
    ways = {program: f"apt install {_PACKAGES.get(program, program)}" for program in programs}
    return f"not installed: {', '.join(ways)} ({'; '.join(dict.fromkeys(ways.values()))})" if ways else ""


def needs(*programs: str) -> pytest.MarkDecorator:
    """The mark of tests that are skipped without programs."""
    reason = missing(*programs)
    return pytest.mark.skipif(bool(reason), reason=reason)


def skip_without(*programs: str) -> None:
    """Skip the test if a program is not on the PATH."""
    if reason := missing(*programs):
        pytest.skip(reason)
