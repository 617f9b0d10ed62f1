"""Reads the settings of a node from its command line, environment and file."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path

from samedeal_server.config.config import OTHER_VARIABLES, Config
from samedeal_server.config.setting_sources import InvalidSetting, Reading, read


def load_config(flags: argparse.Namespace, *, house: int = 0) -> Reading[Config]:
    """Read all settings. ``flags`` holds the parsed flags. One of them, ``flags.config``, is the path of the file.

    ``house`` is the number of bots of the house if nothing is set about a house.
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
    found = read(Config, vars(flags), os.environ, file, OTHER_VARIABLES)
    if not {"house", "house-key-file"} & found.sources.keys():
        found = replace(found, values=replace(found.values, house=house))
    return found
