"""Programs that tests need besides Python and Redis. Tests are skipped without them, and the end of a run names them."""

from __future__ import annotations

import re
import shutil
from collections import Counter
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

_ELSEWHERE: Final = {
    "openapi-python-client": "pipx install openapi-python-client",
    "openapi-typescript": "npm install --global openapi-typescript",
}
"""The commands that install programs of which Debian and Ubuntu have no package."""

_REASON: Final = "not installed: "


def missing(*programs: str) -> str:
    """The reason to skip a test that needs programs, for those of them that are not on the PATH. Empty if all are."""
    return lacking([program for program in programs if shutil.which(program) is None])


def lacking(programs: Iterable[str]) -> str:
    """The reason to skip a test without programs. Empty if there are none."""
    names = ", ".join(programs)
    return f"{_REASON}{names}" if names else ""


def needs(*programs: str) -> pytest.MarkDecorator:
    """The mark of tests that are skipped without programs."""
    reason = missing(*programs)
    return pytest.mark.skipif(bool(reason), reason=reason)


def skip_without(*programs: str) -> None:
    """Skip the test if a program is not on the PATH."""
    if reason := missing(*programs):
        pytest.skip(reason)


def missed(reasons: Iterable[str]) -> list[str]:
    """Say for which tests programs are missing, and how to install them. ``reasons`` are those of all skipped tests."""
    found = [reason.removeprefix("Skipped: ") for reason in reasons]
    tests = Counter(reason.removeprefix(_REASON) for reason in found if reason.startswith(_REASON))
    if not tests:
        return []
    names = sorted({name for names in tests for name in re.split(", ", names)})
    packages = sorted({_PACKAGES.get(name, name) for name in names if name not in _ELSEWHERE})
    lines = [f"{count} test{'s' * (count > 1)} skipped without {names}" for names, count in sorted(tests.items())]
    packaged = [f"On Debian and Ubuntu: apt install {' '.join(packages)}"] if packages else []
    return [*lines, *packaged, *(_ELSEWHERE[name] for name in names if name in _ELSEWHERE)]
