"""Settings, commands and metrics as the program has them, and the pages and files that mention them."""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from samedeal_client.cli import COMMANDS
from samedeal_client.cli import parser as client_parser
from samedeal_door.metrics import DoorMetrics
from samedeal_server.cli import parser as server_parser
from samedeal_server.config.config import OTHER_VARIABLES, Config
from samedeal_server.config.setting_sources import table
from samedeal_server.process.restore import parser as restore_parser
from samedeal_server.telemetry.metrics import Metrics

ROOT: Final = Path(__file__).parents[2]
DEPLOY: Final = ROOT / "deploy"
GUIDE: Final = DEPLOY / "README.md"

SETTINGS: Final = {f"--{row.name}": row for row in table(Config)}
VARIABLES: Final = {row.variable for row in table(Config)} | OTHER_VARIABLES


def flags_of(parser: argparse.ArgumentParser) -> set[str]:
    """Return the flags of a command line, including those of its subcommands."""
    found: set[str] = set()
    for action in parser._actions:
        found |= {option for option in action.option_strings if option.startswith("--")}
        if isinstance(action, argparse._SubParsersAction):
            for sub in action.choices.values():
                found |= flags_of(sub)
    return found


SERVER_FLAGS: Final = flags_of(server_parser())
FLAGS: Final = SERVER_FLAGS.union(
    flags_of(restore_parser()), *(flags_of(client_parser(command)) for command in COMMANDS)
)


@dataclass(frozen=True)
class Metric:
    """A series of Prometheus: its name and its labels, except the labels that a scrape adds."""

    name: str
    labels: frozenset[str]


def metrics() -> dict[str, Metric]:
    """Return all series of a node and of a door, by name."""
    found: dict[str, Metric] = {}
    registries = (Metrics().registry, DoorMetrics().registry)
    for collector, names in (pair for registry in registries for pair in registry._collector_to_names.items()):
        labels = frozenset(getattr(collector, "_labelnames", ()))
        found |= {name: Metric(name, labels) for name in names}
    return found


def texts() -> list[Path]:
    """Return every page, and every text in ``deploy/``."""
    files = [
        path
        for path in DEPLOY.rglob("*")
        if path.is_file() and not re.fullmatch(r"requirements.*\.txt|.*\.png", path.name)
    ]
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "shared").glob("*.md")), *sorted(files)]


def pages() -> list[Path]:
    """Return the Markdown pages among the texts."""
    return [path for path in texts() if path.suffix == ".md"]


def name(path: Path) -> str:
    """Return the path of a file for test ids."""
    return str(path.relative_to(ROOT))


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page: those in the text, and those that code hosts generate for headings."""
    text = without_blocks(page.read_text())
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return set(re.findall(r'<a id="([^"]+)">', text)) | {
        re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings
    }


def without_blocks(text: str) -> str:
    """Return a page without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def shell_lines(page: Path) -> list[str]:
    """Return the commands in the blocks of a page that have no language or ``sh``. Continued lines are joined."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    lines = [
        line for language, block in blocks if language in ("", "sh") for line in block.replace("\\\n", " ").splitlines()
    ]
    return [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
