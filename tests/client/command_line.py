"""The command ``samedeal`` in a process of its own."""

from __future__ import annotations

import subprocess
import sys


def run_samedeal(*arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    """Run the command to its end, with what is typed as its input."""
    command = [sys.executable, "-m", "samedeal_client", *arguments]
    return subprocess.run(command, input=typed, capture_output=True, text=True, timeout=60, check=False)
