"""A reader of the QR codes that a terminal shows."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

from tests.programs import skip_without

SCALE: Final = 6
"""Number of pixels for each module, in both directions."""


def scanned(text: str, directory: Path) -> str:
    """What a camera reads if each line of a text shows two rows of modules, dark on a bright background."""
    skip_without("zbarimg")
    lines = text.splitlines()
    width = max(map(len, lines))
    modules = ["".join("01"[char in dark] for char in line.ljust(width)) for line in lines for dark in ("▀█", "▄█")]
    pixels = ["".join(module * SCALE for module in row) for row in modules for _ in range(SCALE)]
    picture = directory / "code.pbm"
    picture.write_text(f"P1 {len(pixels[0])} {len(pixels)}\n" + "\n".join(pixels))
    read = subprocess.run(["zbarimg", "--quiet", "--raw", str(picture)], capture_output=True, text=True, check=False)
    return read.stdout.strip()
