"""What the program really has: settings, commands, metrics; and the texts that speak of it."""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from samedeal_client.cli import COMMANDS
from samedeal_client.cli import parser as client_parser
from samedeal_server.cli import parser as server_parser
from samedeal_server.config import OTHER_VARIABLES, Config
from samedeal_server.counting import Counts
from samedeal_server.metrics import Metrics
from samedeal_server.restore import parser as restore_parser
from samedeal_server.settings import table

ROOT: Final = Path(__file__).parents[2]
DEPLOY: Final = ROOT / "deploy"
GUIDE: Final = DEPLOY / "README.md"

SETTINGS: Final = {row.flag: row for row in table(Config)}
VARIABLES: Final = {row.variable for row in table(Config)} | OTHER_VARIABLES


def flags_of(parser: argparse.ArgumentParser) -> set[str]:
    """The flags of a command line, those of its subcommands too."""
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
    """A series as Prometheus sees it: its name, and its labels but for those that a scrape adds."""

    name: str
    labels: frozenset[str]


def metrics() -> dict[str, Metric]:
    """All series of a node, by name."""
    found: dict[str, Metric] = {}
    for collector, names in Metrics().registry._collector_to_names.items():
        labels = frozenset(collector.labels if isinstance(collector, Counts) else getattr(collector, "_labelnames", ()))
        found |= {name: Metric(name, labels) for name in names}
    return found


def texts() -> list[Path]:
    """Every page and every file of an operator's."""
    files = [path for path in DEPLOY.rglob("*") if path.is_file() and path.name != "requirements.txt"]
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "shared").glob("*.md")), *sorted(files)]


def pages() -> list[Path]:
    """The pages among them."""
    return [path for path in texts() if path.suffix == ".md"]


def name(path: Path) -> str:
    """How a test calls a file."""
    return str(path.relative_to(ROOT))


def anchors(page: Path) -> set[str]:
    """What a link can point at in a page: its headings, as code hosts write them."""
    headings = re.findall(r"^#+ (.+)$", without_blocks(page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def without_blocks(text: str) -> str:
    """A page without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def shell_lines(page: Path) -> list[str]:
    """The command lines in the shell blocks of a page: those without a language or with ``sh``, continued lines joined."""
    blocks = re.findall(r"^```(?:sh)?\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    return [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
