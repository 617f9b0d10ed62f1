"""Settings from flags, environment variables and a TOML file, declared as the fields of a dataclass.

A flag overrides a variable, a variable overrides the file, and the file overrides the default. Unknown names and invalid
values are errors in all three.
"""

# pydantic-settings would replace most of this module, but its errors name neither the flag nor the variable, and repeat
# secrets. It ignores misspelt variables, does not report the source of a value, and takes 0.4 s to import (version 2.16).

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
from operator import attrgetter
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Final, Generic, Literal, TypeVar, get_args, get_origin, get_type_hints

from msgspec import Struct

from samedeal.data_files import read_data

PREFIX: Final = "SAMEDEAL_"

_YES: Final = ("yes", "true", "on", "1")
_NO: Final = ("no", "false", "off", "0")
_NONE: Final = "off"
_METAVARS: Final = {bool: "yes|no", int: "N", float: "N"}

_Settings = TypeVar("_Settings")


class InvalidSetting(Exception):
    """Error of an invalid setting. The message says which setting is invalid, where it was set and what it accepts."""


class InvalidValue(ValueError):
    """Error of a value that has the right type but is not allowed. ``name`` is the name of the setting.

    The dataclass of the settings raises this error in ``__post_init__``.
    """

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(reason)
        self.name = name


def section(kind: type, prefix: str, title: str) -> Any:
    """Return a dataclass field for a section of settings. ``kind`` is the dataclass of these settings.

    In the file the section is a table. ``prefix`` is a part of the names of its flags and variables, such as ``limit``
    in ``--limit-rate``. ``title`` is the heading of the section in the help.
    """
    return dataclasses.field(default_factory=kind, metadata={"prefix": prefix, "title": title})


class SettingDetails(Struct, frozen=True, forbid_unknown_fields=True):
    """What ``settings.toml`` says of a setting.

    ``redact`` is a regular expression for the parts of a value to hide, and ``pattern`` one for its texts. ``otherwise``
    says what is wrong with another text.
    """

    help: str
    metavar: str = ""
    minimum: float | None = None
    maximum: float | None = None
    redact: str = ""
    pattern: str = ""
    otherwise: str = ""


DETAILS: Final = read_data("samedeal_server.config", "settings.toml", dict[str, SettingDetails])
"""The details of each setting, by its name. A field that has none is not a setting."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting, as declared by a field of a dataclass.

    Its flag is ``name`` after two dashes. ``path`` holds the names of the fields that lead to the setting. In the file
    each name is written with dashes instead of underscores. The value of an ``optional`` setting may be None, which is
    written ``off``.
    """

    name: str
    path: tuple[str, ...]
    kind: Any
    optional: bool
    default: Any
    details: SettingDetails

    @property
    def variable(self) -> str:
        """The environment variable of the setting, such as ``SAMEDEAL_LIMIT_RATE``."""
        return PREFIX + self.name.replace("-", "_").upper()

    @property
    def field(self) -> str:
        """The names of the fields that lead to the setting, such as ``limits.rate``."""
        return ".".join(self.path)

    def value_in(self, settings: Any) -> Any:
        """Return the value that the setting has in the dataclass of all settings."""
        return attrgetter(self.field)(settings)

    @property
    def accepts(self) -> str:
        """The values that the setting accepts, as text for messages."""
        return f"{self._accepts}, or {_NONE}" if self.optional else self._accepts

    @property
    def _accepts(self) -> str:
        if get_origin(self.kind) is Literal:
            return f"one of {', '.join(get_args(self.kind))}"
        if self.kind is bool:
            return "yes or no"
        if get_origin(self.kind) is tuple:
            return "words separated by commas"
        if self.kind in (int, float):
            noun = "a whole number" if self.kind is int else "a number"
            low, high = self.details.minimum, self.details.maximum
            if high is not None:
                return f"{noun} from {low or 0:g} to {high:.12g}"
            return noun if low is None else f"{noun} of at least {low:g}"
        return "a path" if self.kind is Path else "text without control characters"

    def parse(self, text: str) -> Any:
        """Return the value that a text stands for. Raise ValueError if the setting does not accept the text."""
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
            low, high = self.details.minimum, self.details.maximum
            good = math.isfinite(value) and (low is None or value >= low) and (high is None or value <= high)
        elif self.kind is Path:
            value = _path(text)
            good = bool(text) and not any(unicodedata.category(char) in ("Cc", "Cs") for char in text)
        else:
            value, good = text, text.isprintable()
        if not good:
            raise ValueError(text)
        return value

    def show(self, value: Any) -> str:
        """Return a value as it is written in the file, with secrets hidden."""
        if value is None:
            return json.dumps(_NONE)
        if isinstance(value, (int, float)):
            return json.dumps(value)
        texts = [str(each) for each in (value if isinstance(value, tuple) else (value,))]
        if self.details.redact:
            texts = [re.sub(self.details.redact, "***", text) for text in texts]
        return json.dumps(texts if isinstance(value, tuple) else texts[0], ensure_ascii=False)


@dataclass(frozen=True)
class Reading(Generic[_Settings]):
    """The settings that were read.

    ``sources`` says for each setting's name where it was set. Defaults have no entry.
    """

    values: _Settings
    sources: Mapping[str, str]


def table(kind: type, path: tuple[str, ...] = (), prefix: str = "") -> tuple[Setting, ...]:
    """Return all settings of a dataclass, including the settings of its sections.

    ``path`` and ``prefix`` are given only when the function calls itself for a section.
    """
    kinds = get_type_hints(kind)
    rows: list[Setting] = []
    for field in dataclasses.fields(kind):
        here = (*path, field.name)
        if "prefix" in field.metadata:
            rows += table(kinds[field.name], here, f"{field.metadata['prefix']}-")
        elif (name := prefix + field.name.replace("_", "-")) in DETAILS:
            kind, optional = _kind(kinds[field.name])
            rows.append(Setting(name, here, kind, optional, field.default, DETAILS[name]))
    return tuple(rows)


def check_patterns(settings: Any) -> None:
    """Raise InvalidValue if a text does not match the pattern of its setting. An empty text is that of no value."""
    for row in table(type(settings)):
        value, details = row.value_in(settings), row.details
        for text in value if isinstance(value, tuple) else (value,):
            if text and details.pattern and not re.fullmatch(details.pattern, text):
                raise InvalidValue(row.name, f"{text!r} {details.otherwise}")


def add_flags(parser: argparse.ArgumentParser, kind: type) -> None:
    """Add the flags of all settings of a dataclass to a parser. Their values stay texts, which ``read`` parses."""
    groups: dict[tuple[str, ...], argparse._ArgumentGroup] = {
        (field.name,): parser.add_argument_group(field.metadata["title"])
        for field in dataclasses.fields(kind)
        if "prefix" in field.metadata
    }
    for row in table(kind):
        default = row.show(row.default).strip('[]"')
        help_text = f"{row.details.help} (default: {default or 'none'}; {row.variable})".replace("%", "%%")
        metavar = "|".join(get_args(row.kind)) if get_origin(row.kind) is Literal else _METAVARS.get(row.kind)
        options: dict[str, Any] = {
            "metavar": row.details.metavar or metavar,
            "help": help_text,
            "default": argparse.SUPPRESS,
        }
        if get_origin(row.kind) is tuple:
            options["action"] = "append"
        if row.kind is bool:
            options |= {"nargs": "?", "const": "yes"}
        (groups.get(row.path[:-1]) or parser).add_argument(f"--{row.name}", dest=row.name, **options)


def read(
    kind: type[_Settings],
    flags: Mapping[str, str | list[str]],
    environment: Mapping[str, str],
    file: tuple[str, str] | None = None,
    others: Iterable[str] = (),
) -> Reading[_Settings]:
    """Read settings from flags, from environment variables, and from a file given by its name and content.

    ``flags`` maps the names of settings to texts, or to several texts for a list. Raise InvalidSetting if a value is
    not valid, if the file names an unknown setting, or if a variable that begins with ``SAMEDEAL_`` is not a setting.
    Ignore the variables in ``others``.
    """
    rows = table(kind)
    found: dict[Setting, tuple[str, str]] = {}
    if file is not None:
        found |= _in_file(rows, *file)
    found |= _in_environment(rows, environment, others)
    for row in rows:
        if row.name in flags:
            given = flags[row.name]
            found[row] = (given if isinstance(given, str) else ",".join(given), f"--{row.name}")
    values = {}
    for row, (text, source) in found.items():
        try:
            values[row.path] = row.parse(text)
        except ValueError:
            shown = "this value" if row.details.redact else repr(text)
            raise InvalidSetting(f"{source}: {shown} is not valid. It accepts {row.accepts}.") from None
    try:
        return Reading(_build(kind, values), {row.name: source for row, (_, source) in found.items()})
    except InvalidValue as error:
        (source,) = (source for row, (_, source) in found.items() if row.name == error.name)
        raise InvalidSetting(f"{source}: {error}") from None


def describe(reading: Reading[Any]) -> str:
    """Return all settings as the content of a file, with their sources and without secrets."""
    lines: list[str] = []
    within: tuple[str, ...] = ()
    for row in table(type(reading.values)):
        if row.path[:-1] != within:
            within = row.path[:-1]
            lines += ["", f"[{'.'.join(within)}]"]
        shown = row.show(row.value_in(reading.values))
        lines.append(f"{row.path[-1].replace('_', '-')} = {shown}  # {reading.sources.get(row.name, 'default')}")
    return "\n".join(lines) + "\n"


def _build(kind: type[_Settings], values: Mapping[tuple[str, ...], Any]) -> _Settings:
    """Return the settings with these values, by their paths, and with defaults for all others."""
    given = {path[0]: value for path, value in values.items() if len(path) == 1}
    for section in {path[0] for path in values} - given.keys():
        inner = {path[1]: value for path, value in values.items() if path[0] == section}
        given[section] = get_type_hints(kind)[section](**inner)
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
            hint = suggestion(variable.removeprefix(PREFIX), [name.removeprefix(PREFIX) for name in known], PREFIX)
            if "_SERVICE_" in variable or "://" in environment[variable]:
                hint = (
                    "Kubernetes sets it for a service whose name begins with samedeal. "
                    "Set enableServiceLinks: false to prevent that."
                )
            raise InvalidSetting(f"{variable} is not a setting. {hint}")
    return found


def _in_file(rows: Iterable[Setting], name: str, text: str) -> dict[Setting, tuple[str, str]]:
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidSetting(f"{name} is not valid TOML: {error}. Correct it.") from None
    known = {row.field.replace("_", "-"): row for row in rows}
    sections = {written.rpartition(".")[0] for written in known} - {""}
    given: dict[str, Any] = {}
    for key, value in content.items():
        is_section = key in sections and isinstance(value, dict)
        given |= {f"{key}.{inner}": each for inner, each in value.items()} if is_section else {key: value}
    found = {}
    for written, value in given.items():
        if written in sections:
            raise InvalidSetting(f"{name}: {written} is a table, not a setting. Write [{written}].")
        if written not in known:
            raise InvalidSetting(f"{name}: {written} is not a setting. {suggestion(written, [*sections, *known])}")
        row = known[written]
        found[row] = (_text(value), f"{name}: {written}")
    return found


def _kind(kind: Any) -> tuple[Any, bool]:
    """Return the type of a field without None, and whether the field allows None."""
    if get_origin(kind) is not UnionType:
        return kind, False
    (inner,) = (each for each in get_args(kind) if each is not NoneType)
    return inner, True


def _text(value: Any) -> str:
    """Return a value of a configuration file as a flag or a variable would have it."""
    if isinstance(value, bool):
        return "on" if value else _NONE
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _path(text: str) -> Path:
    try:
        return Path(text).expanduser()
    except RuntimeError:  # the home directory of an unknown user
        raise ValueError(text) from None


def suggestion(name: str, known: Iterable[str], prefix: str = "") -> str:
    """Return a sentence with the name in ``known`` that is most similar to ``name``, or with the way to all names."""
    similar = get_close_matches(name, known, 1, 0.5)
    return f"Did you mean {prefix}{similar[0]}?" if similar else "See --help for all settings."
