"""The releases of which a world has nodes: that of this source tree, and another one, loaded beside it."""

from __future__ import annotations

import hashlib
import sys
from functools import cache, lru_cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType
from typing import Any, Final

_FOLDERS: Final = {"samedeal": "shared", "samedeal_server": "server"}
"""The packages of a node, and where they are in a source tree."""

OTHER_VERSION: Final = "0.0.9"
"""What the other release calls itself, so that two copies of one tree differ too."""


class Release:
    """The packages of a source tree. ``modules`` has all of their modules, and ``solve`` remembers its answers.

    ``scripts`` has the names of the scripts of Redis by their hashes.
    """

    def __init__(self, modules: dict[str, ModuleType]) -> None:
        self.modules = modules
        self.solve = lru_cache(maxsize=None)(self.shared("solver.solve").solve)
        lua = Path(self.server("store.scripts").__file__).parent / "lua"
        prelude = (lua / "prelude.lua").read_bytes()
        self.scripts = {script_hash(prelude + file.read_bytes()): file.stem for file in lua.iterdir()}

    def shared(self, name: str) -> Any:
        """Return a module of ``samedeal``."""
        return self.modules[f"samedeal.{name}"]

    def server(self, name: str) -> Any:
        """Return a module of ``samedeal_server``."""
        return self.modules[f"samedeal_server.{name}"]


def script_hash(source: bytes) -> bytes:
    """Return the hash by which Redis knows a script."""
    return hashlib.sha1(source, usedforsecurity=False).hexdigest().encode()


def _loaded() -> dict[str, ModuleType]:
    return {name: module for name, module in sys.modules.items() if name.partition(".")[0] in _FOLDERS}


def _load_all(root: Path) -> Release:
    """Load all modules of a source tree, since none may be looked for while another release runs."""
    for package, folder in _FOLDERS.items():
        for module in walk_packages([str(root / folder / package)], f"{package}."):
            if not module.name.endswith("__main__"):
                import_module(module.name)
    return Release(_loaded())


@cache
def this_release() -> Release:
    """Return the release of this source tree."""
    return _load_all(Path(__file__).parents[2])


@cache
def other_release(root: Path) -> Release:
    """Load the release of another source tree, or this one again. It names another version."""
    own = this_release().modules
    path = sys.path[:]
    sys.path[:0] = [str(root / folder) for folder in _FOLDERS.values()]
    for name in own:
        del sys.modules[name]
    try:
        release = _load_all(root)
    finally:
        sys.path[:] = path
        for name in _loaded():
            del sys.modules[name]
        sys.modules.update(own)
    vars(release.modules["samedeal"])["__version__"] = OTHER_VERSION
    return release
