"""Reading the TOML files that stand beside the modules of a package: sentences, settings, colours and other tables."""

from __future__ import annotations

from importlib import resources
from typing import TypeVar

import msgspec

_Content = TypeVar("_Content")


def read_data(package: str, file: str, kind: type[_Content]) -> _Content:
    """Return the content of a file of a package, checked to be a ``kind``, such as a ``dict`` of structs."""
    return msgspec.toml.decode(resources.files(package).joinpath(file).read_bytes(), type=kind)
