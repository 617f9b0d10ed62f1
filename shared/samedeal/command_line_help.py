"""The arguments of a program's command line from data files, and its help, wrapped to the width of the terminal."""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

_TWO_COLUMNS: Final = re.compile(r"( +\S+(?: \S+)* {2,})\S")
"""The beginning of an indented line with two columns, such as an example and its effect."""


ArgumentRows = dict[str, dict[str, Any]]
"""Arguments in a data file, by their names: the options that argparse takes, with a name for the type, or with bounds."""

_BOUNDS: Final = re.compile(r"(\d+) to (\d+)")


def add_rows(
    parser: argparse._ActionsContainer,
    rows: ArgumentRows,
    types: Mapping[str, Callable[[str], Any]] = MappingProxyType({}),
) -> None:
    """Add the arguments of a data file to a parser. ``types`` has the functions that their types stand for.

    An argument with bounds, such as ``1 to 15``, is a whole number, and its help ends with its default. An option
    without help is not listed.
    """
    for name, row in rows.items():
        options = {"help": argparse.SUPPRESS, **row} if name.startswith("-") else {"metavar": name.upper(), **row}
        if bounds := _BOUNDS.fullmatch(row.get("type", "")):
            default = " (default: %(default)s)" if "default" in row else ""
            options |= {"type": _integer_in(*map(int, bounds.groups())), "help": row["help"] + default}
            options.setdefault("metavar", "N")
        elif "type" in row:
            options["type"] = types[row["type"]]
        parser.add_argument(name, **options)


def _integer_in(low: int, high: int) -> Callable[[str], int]:
    """Return an argument type for whole numbers from ``low`` to ``high``."""

    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and low <= int(text) <= high):
            raise argparse.ArgumentTypeError(f"{text!r} is not a number from {low} to {high}.")
        return int(text)

    return read


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """A formatter that also wraps descriptions and lists of examples."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return textwrap.indent(wrapped(text, width - len(indent)), indent)


def wrapped(text: str, width: int) -> str:
    """Wrap a text to ``width`` characters. Successive lines without an indent are joined into a paragraph.

    An indented line may have two parts with two or more spaces between them, such as an example and its effect. If such
    a line is too long, only the second part is wrapped. If the first part takes more than half of the width, the second
    part starts on a new line.
    """
    lines: list[str] = []
    for line in text.splitlines():
        if line and lines and lines[-1] and " " not in (line[0], lines[-1][0]):
            lines[-1] += f" {line}"
        else:
            lines.append(line)
    return "\n".join(row for line in lines for row in (_rows(line, width) if len(line) > width else [line]))


def _rows(line: str, width: int) -> list[str]:
    columns = _TWO_COLUMNS.match(line)
    margin = len(line) - len(line.lstrip())
    indent = " " * (margin and margin + 4)
    if columns is None:
        return textwrap.wrap(line, width, subsequent_indent=indent, break_on_hyphens=False)
    first, rest = columns[1], line[columns.end(1) :]
    if 2 * len(first) <= width:
        return textwrap.wrap(line, width, subsequent_indent=" " * len(first), break_on_hyphens=False)
    return [first.rstrip(), *textwrap.wrap(rest, width, initial_indent=indent, subsequent_indent=indent)]
