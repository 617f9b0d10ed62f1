"""Settings as a table: a field of a dataclass is a flag, an environment variable, a key of the file, and their help.

A flag goes before a variable, a variable before the file, the file before the default. What is unknown or no good is refused
with words, wherever it stands.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import re
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Final, Generic, Literal, TypeVar, get_args, get_origin, get_type_hints

PREFIX: Final = "SAMEDEAL_"

_LOOK: Final = "--help lists all settings"
_YES: Final = ("yes", "true", "on", "1")
_NO: Final = ("no", "false", "off", "0")
_NONE: Final = "off"

Kind = TypeVar("Kind")


class BadSetting(Exception):
    """A setting can't be used; ``str()`` of it says which, where it stands and what it takes."""


def setting(
    default: Any,
    words: str,
    *,
    metavar: str = "",
    least: float | None = None,
    most: float | None = None,
    hides: str = "",
) -> Any:
    """A field that is a setting: ``words`` are its help, ``hides`` a regular expression of what must not be shown of it."""
    row = {"words": words, "metavar": metavar, "least": least, "most": most, "hides": hides}
    return dataclasses.field(default=default, metadata=row)


def section(kind: type, prefix: str, words: str) -> Any:
    """A field that holds settings of its own: a table of the file, and a prefix of the flags and variables."""
    return dataclasses.field(default_factory=kind, metadata={"prefix": prefix, "words": words})


@dataclass(frozen=True, slots=True)
class Setting:
    """A row of the table. ``path`` is where it stands in the dataclass, and in the file with dashes.

    Where it is ``optional`` its value may be None, written ``off``.
    """

    name: str
    path: tuple[str, ...]
    kind: Any
    optional: bool
    default: Any
    words: str
    metavar: str
    least: float | None
    most: float | None
    hides: str

    @property
    def flag(self) -> str:
        """How it is written on the command line."""
        return f"--{self.name}"

    @property
    def variable(self) -> str:
        """How it is written in the environment."""
        return PREFIX + self.name.replace("-", "_").upper()

    @property
    def key(self) -> str:
        """How it is written in the file, below its section."""
        return self.path[-1].replace("_", "-")

    @property
    def takes(self) -> str:
        """What its value is, in words."""
        return f"{self._takes}, or {_NONE}" if self.optional else self._takes

    @property
    def _takes(self) -> str:
        if get_origin(self.kind) is Literal:
            return f"one of {', '.join(get_args(self.kind))}"
        if self.kind is bool:
            return "yes or no"
        if get_origin(self.kind) is tuple:
            return "words with commas between them"
        if self.kind in (int, float):
            noun = "a whole number" if self.kind is int else "a number"
            if self.most is not None:
                return f"{noun} from {self.least or 0:g} to {self.most:.12g}"
            return noun if self.least is None else f"{noun}, {self.least:g} at the least"
        return "a path" if self.kind is Path else "a text"

    def parse(self, text: str) -> Any:
        """The value that a text stands for. Raises ValueError."""
        if self.optional and text.lower() == _NONE:
            return None
        if get_origin(self.kind) is Literal:
            value: Any = text
            good = text in get_args(self.kind)
        elif self.kind is bool:
            value = text.lower() in _YES
            good = value or text.lower() in _NO
        elif get_origin(self.kind) is tuple:
            value = tuple(word for word in (word.strip() for word in text.split(",")) if word)
            good = True
        elif self.kind in (int, float):
            value = self.kind(text) if text.isascii() and "_" not in text else math.nan
            good = math.isfinite(value) and (self.least is None or value >= self.least)
            good = good and (self.most is None or value <= self.most)
        elif self.kind is Path:
            value = _path(text)
            good = bool(text) and not any(unicodedata.category(char) in ("Cc", "Cs") for char in text)
        else:
            value, good = text, text.isprintable()
        if not good:
            raise ValueError(text)
        return value

    def show(self, value: Any) -> str:
        """A value as it may be written in the file, without what is secret."""
        if value is None:
            return json.dumps(_NONE)
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, (int, float)):
            return str(value)
        if isinstance(value, tuple):
            return json.dumps(list(value), ensure_ascii=False)
        text = str(value)
        if self.hides:
            text = re.sub(self.hides, "***", text)
        return json.dumps(text, ensure_ascii=False)


@dataclass(frozen=True)
class Reading(Generic[Kind]):
    """Settings as they were read, and where each that is no default was found, by its name."""

    values: Kind
    sources: Mapping[str, str]


def table(kind: type, path: tuple[str, ...] = (), prefix: str = "") -> tuple[Setting, ...]:
    """The settings of a dataclass, those of its sections included."""
    kinds = get_type_hints(kind)
    rows: list[Setting] = []
    for field in dataclasses.fields(kind):
        here = (*path, field.name)
        if "prefix" in field.metadata:
            rows += table(kinds[field.name], here, f"{field.metadata['prefix']}-")
        elif "metavar" in field.metadata:
            name = prefix + field.name.replace("_", "-")
            kind, optional = _kind(kinds[field.name])
            rows.append(Setting(name, here, kind, optional, field.default, **field.metadata))
    return tuple(rows)


def add_flags(parser: argparse.ArgumentParser, kind: type) -> None:
    """Have a command line take the settings of a dataclass; what is given stays text, for ``read``."""
    groups: dict[tuple[str, ...], argparse._ArgumentGroup] = {
        (field.name,): parser.add_argument_group(field.metadata["words"])
        for field in dataclasses.fields(kind)
        if "prefix" in field.metadata
    }
    for row in table(kind):
        default = row.show(row.default).strip('"')
        words = f"{row.words} (default: {default or 'none'}; {row.variable})".replace("%", "%%")
        options: dict[str, Any] = {"metavar": row.metavar or None, "help": words, "default": argparse.SUPPRESS}
        if get_origin(row.kind) is Literal:
            options["metavar"] = "|".join(get_args(row.kind))
        if row.kind is bool:
            options |= {"nargs": "?", "const": "yes", "metavar": "yes|no"}
        (groups.get(row.path[:-1]) or parser).add_argument(row.flag, dest=row.name, **options)


def read(
    kind: type[Kind],
    flags: Mapping[str, str],
    environment: Mapping[str, str],
    file: tuple[str, str] | None = None,
    others: Iterable[str] = (),
) -> Reading[Kind]:
    """Read settings from flags (by setting name), an environment and the name and text of a file.

    ``others`` are variables with our prefix that are none of these settings. Raises BadSetting.
    """
    rows = table(kind)
    found: dict[Setting, tuple[str, str]] = {}
    if file is not None:
        found |= _in_file(rows, *file)
    found |= _in_environment(rows, environment, others)
    for row in rows:
        if row.name in flags:
            found[row] = (flags[row.name], row.flag)
    values = {}
    for row, (text, source) in found.items():
        try:
            values[row.path] = row.parse(text)
        except ValueError:
            shown = "what is given" if row.hides else repr(text)
            raise BadSetting(f"{source}: {shown} will not do: it takes {row.takes}") from None
    try:
        return Reading(_build(kind, values, ()), {row.name: source for row, (_, source) in found.items()})
    except ValueError as error:
        raise BadSetting(str(error)) from None


def describe(reading: Reading[Any]) -> str:
    """All settings as a file that can be read again, each with its source; but what is secret is not in it."""
    lines: list[str] = []
    within: tuple[str, ...] = ()
    for row in table(type(reading.values)):
        if row.path[:-1] != within:
            within = row.path[:-1]
            lines += ["", f"[{'.'.join(within)}]"]
        value: Any = reading.values
        for name in row.path:
            value = getattr(value, name)
        lines.append(f"{row.key} = {row.show(value)}  # {reading.sources.get(row.name, 'default')}")
    return "\n".join(lines) + "\n"


def _build(kind: type[Kind], values: Mapping[tuple[str, ...], Any], path: tuple[str, ...]) -> Kind:
    kinds = get_type_hints(kind)
    given: dict[str, Any] = {}
    for field in dataclasses.fields(kind):  # type: ignore[arg-type]  # mypy can't bind a type variable to dataclasses
        here = (*path, field.name)
        if "prefix" in field.metadata:
            given[field.name] = _build(kinds[field.name], values, here)
        elif here in values:
            given[field.name] = values[here]
    return kind(**given)


def _in_environment(
    rows: Iterable[Setting], environment: Mapping[str, str], others: Iterable[str]
) -> dict[Setting, tuple[str, str]]:
    known = {row.variable: row for row in rows}
    found = {}
    for variable in sorted(environment):
        if variable in known:
            found[known[variable]] = (environment[variable], variable)
        elif variable.startswith(PREFIX) and variable not in others:
            near = _near(variable.removeprefix(PREFIX), [each.removeprefix(PREFIX) for each in known])
            hint = f"Is it {PREFIX}{near} that you mean?" if near else _LOOK
            if "_SERVICE_" in variable or "://" in environment[variable]:
                hint = "Kubernetes sets such variables for a service of that name; enableServiceLinks: false ends it"
            raise BadSetting(f"{variable} is no setting. {hint}")
    return found


def _in_file(rows: Iterable[Setting], name: str, text: str) -> dict[Setting, tuple[str, str]]:
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadSetting(f"{name} is no TOML: {error}") from None
    known = {tuple(part.replace("_", "-") for part in row.path): row for row in rows}
    sections = {path[:-1] for path in known} - {()}
    found = {}
    for path, value in _leaves(content, sections):
        written = ".".join(path)
        if path in sections:
            raise BadSetting(f"{name}: {written} is a table of settings: write [{written}]")
        if path not in known:
            near = _near(written, [".".join(each) for each in (*sections, *known)])
            raise BadSetting(f"{name}: {written} is no setting. {f'Is it {near} that you mean?' if near else _LOOK}")
        row = known[path]
        found[row] = (_text(row, value, f"{name}: {written}"), f"{name}: {written}")
    return found


def _leaves(
    content: Mapping[str, Any], sections: Iterable[tuple[str, ...]], path: tuple[str, ...] = ()
) -> Iterable[tuple[tuple[str, ...], Any]]:
    for key, value in content.items():
        here = (*path, key)
        if isinstance(value, dict) and here in sections:
            yield from _leaves(value, sections, here)
        else:
            yield here, value


def _kind(kind: Any) -> tuple[Any, bool]:
    """What a field holds when it holds anything, and whether it may hold None."""
    if get_origin(kind) is not UnionType:
        return kind, False
    (held,) = (each for each in get_args(kind) if each is not NoneType)
    return held, True


def _text(row: Setting, value: Any, where: str) -> str:
    if row.optional and (value is False or value == _NONE):
        return _NONE
    numeric = isinstance(value, (int, float)) and not isinstance(value, bool)
    good = {bool: isinstance(value, bool), int: numeric and isinstance(value, int), float: numeric}
    if get_origin(row.kind) is tuple:
        if isinstance(value, list) and all(isinstance(word, str) and "," not in word for word in value):
            return ",".join(value)
    elif good.get(row.kind, isinstance(value, str)):
        return str(value)
    kind = "a list of texts in quotes" if get_origin(row.kind) is tuple else row.takes
    if row.kind is bool:
        kind = "true or false"
    raise BadSetting(f"{where}: that will not do: it takes {kind}{', in quotes' if row.kind in (str, Path) else ''}")


def _path(text: str) -> Path:
    try:
        return Path(text).expanduser()
    except RuntimeError:  # the home of nobody
        raise ValueError(text) from None


def _near(name: str, known: Iterable[str]) -> str:
    return next(iter(get_close_matches(name, known, 1, 0.5)), "")
