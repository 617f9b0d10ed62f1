"""Reads the settings of a node from its command line, environment and file."""

from __future__ import annotations

import argparse
import os
import tomllib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from samedeal_server.config.config import OTHER_VARIABLES, Config
from samedeal_server.config.setting_sources import InvalidSetting, Reading, read, table

_LOG_SETTINGS: Final = ("log-style", "announce")


def load_config(flags: argparse.Namespace) -> Reading[Config]:
    """Read all settings. ``flags`` holds the parsed flags. One of them, ``flags.config``, is the path of the file.

    Raise InvalidSetting if the file is unreadable, a name is unknown, or a value is not valid.
    """
    path = flags.config or os.environ.get("SAMEDEAL_CONFIG")
    file = None
    if path:
        try:
            file = (path, Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            raise InvalidSetting(
                f"Cannot read the configuration file {path}: {reason}. Check it, or pass a different one with --config."
            ) from None
    return read(Config, vars(flags), os.environ, file, OTHER_VARIABLES)


def load_log_settings(arguments: Sequence[str]) -> Config:
    """Read only the settings that decide the format of the log. All other settings have their defaults.

    The sources are the command line ``arguments``, the environment and the file. Ignore all errors, so that a node can
    log an invalid setting in the right format.
    """
    rows = [row for row in table(Config) if row.name in _LOG_SETTINGS]
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, argument_default="")
    for flag in ("--config", *(row.flag for row in rows)):
        parser.add_argument(flag, nargs="?", const="yes", dest=flag)
    flags = vars(parser.parse_known_args(arguments)[0])
    file: dict[str, Any] = {}
    with suppress(OSError, ValueError):
        file = tomllib.loads(Path(flags["--config"] or os.environ.get("SAMEDEAL_CONFIG", "")).read_text("utf-8"))
    values = {}
    for row in rows:
        with suppress(ValueError):
            text = flags[row.flag] or os.environ.get(row.variable) or str(file.get(row.key, row.default))
            values[row.path[0]] = row.parse(text)
    return Config(**values)
