"""The scripts of the page as browsers load them: modules that are needed together are sent as one file, a bundle.

A bundle takes one request, and is the text of its modules one after the other, without comments and indentation. So a
name at the top level of a module must be unique in its bundle, and of import and export only the forms below are known.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from samedeal.data_files import read_data

BUNDLES: Final = read_data("samedeal_server.page", "bundles.toml", dict[str, tuple[str, ...]])
"""The modules of each bundle, whose name is that of the last one."""

PROGRAM: Final = BUNDLES.pop("samedeal.mjs")
"""The modules of the file for programs of others."""

HOMES: Final = {module: bundle for bundle, modules in BUNDLES.items() for module in modules}
"""The bundle of each module."""

_NO_CODE: Final = re.compile(rb'^\s*(?:(?://.*|/\*.*?\*/)\s*)*|[ \t]+// [^"`\n]*$', re.MULTILINE)
"""What ``without_comments`` leaves out. What looks like a comment in a text has a quotation mark after it."""

_IMPORT: Final = re.compile(rb'^import \{(.*)\} from "\./(.*)";?$', re.MULTILINE)
_LOAD: Final = re.compile(rb'\bimport\("\./([a-z0-9_]+\.m?js)"\)')
_UNKNOWN: Final = re.compile(rb"^(?:import\b(?!\()|export (?!(?:async )?function\b|const \w|class\b)).*", re.MULTILINE)


def without_comments(source: bytes) -> bytes:
    """Return a script or style sheet without comments and indentation.

    Comments with a quotation mark stay behind code.
    """
    return _NO_CODE.sub(b"", source)


def bundled(bundle: str, sources: Mapping[str, bytes]) -> bytes:
    """Return a bundle, or the file for programs. ``sources`` are the texts of all modules."""
    modules = BUNDLES.get(bundle, PROGRAM)
    imported: dict[str, set[bytes]] = {}
    parts = []
    for module in modules:
        source = without_comments(sources[module])
        for names, other in _IMPORT.findall(source):
            home = bundle if other.decode() in modules else HOMES[other.decode()]
            if home != bundle:
                imported.setdefault(home, set()).update(name.strip() for name in names.split(b","))
            elif b" as " in names:
                raise ValueError(f"{module} gives another name to one of its own bundle: {names.decode()}")
        source = _IMPORT.sub(b"", source)
        source = _LOAD.sub(lambda found: b'import("./%b")' % HOMES[found[1].decode()].encode(), source)
        if unknown := _UNKNOWN.search(source):
            raise ValueError(f"{module} has an import or export of an unknown form: {unknown[0].decode()}")
        parts.append(source.lstrip())
    heads = (
        b'import {%b} from "./%b"\n' % (b", ".join(sorted(names)), home.encode()) for home, names in imported.items()
    )
    return b"".join((*heads, *parts))
