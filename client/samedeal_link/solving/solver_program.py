"""The program of a solver's process. It calls functions for the process that has started it.

It reads calls from its input, and writes each result after its length. All are pickled, since both processes are ours.
"""

from __future__ import annotations

import os
import pickle
import sys
from typing import Final

LENGTH_BYTES: Final = 4
"""Number of bytes for the length of a result."""

_NICENESS: Final = 5
"""What is drawn and typed comes first on a busy machine."""


def main() -> None:
    """Make calls until the input ends."""
    os.nice(_NICENESS)
    while True:
        try:
            function, *arguments = pickle.load(sys.stdin.buffer)  # noqa: S301 (our own)
        except EOFError:
            return
        result = pickle.dumps(function(*arguments))
        sys.stdout.buffer.write(len(result).to_bytes(LENGTH_BYTES, "big") + result)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
