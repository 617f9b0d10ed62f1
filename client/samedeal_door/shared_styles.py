"""Style sheets that the apps of all sessions share.

Textual parses the style sheets of all widgets for each app, twice if the theme is not its own. That takes most of the time
in which a session begins (150 ms with Textual 8.2), and a megabyte of memory.
"""

from __future__ import annotations

from typing import Any, Final

from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet

_MOST: Final = 2000


def share_styles() -> None:
    """Let all apps of this process share parsed style sheets. Nothing changes them once they are parsed."""
    parse = Stylesheet._parse_rules  # noqa: SLF001 (there is no public way)
    parsed: dict[tuple[object, ...], list[RuleSet]] = {}

    def parse_once(sheet: Stylesheet, css: str, *arguments: Any, **options: Any) -> list[RuleSet]:
        variables = tuple(sheet._variables.items())  # noqa: SLF001 (the colours of the theme)
        key = (css, *arguments, *options.values(), variables)
        if key not in parsed:
            if len(parsed) >= _MOST:
                parsed.clear()
            parsed[key] = parse(sheet, css, *arguments, **options)
        return parsed[key]

    setattr(Stylesheet, "_parse_rules", parse_once)  # noqa: B010 (mypy refuses the assignment to a method)
