"""PROTOCOL.md and ADMIN.md as tests read them: sections, tables, and types as the pages write them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import inspect

from samedeal.options import WantedOptions
from tests.golden.golden_files import assert_answers

ROOT: Final = Path(__file__).parent.parent.parent


PAGE: Final = (ROOT / "shared" / "PROTOCOL.md").read_text()

NUMBERS: Final = [[f"`{name}`", "integer, 0 to 9007199254740991"] for name in ("id", "to")]
"""The fields of all requests and answers, which the pages describe once."""


def section(heading: str, page: str = PAGE) -> str:
    """The text under a heading, up to the next heading of the same level."""
    level = heading.split(" ", maxsplit=1)[0]
    after = page.partition(f"\n{heading}\n")[2]
    assert after, f"the page has no {heading!r}"
    return re.split(rf"\n#{{2,{len(level)}}} ", after)[0]


def cells(text: str) -> list[list[str]]:
    """The rows of the first table in a text, without its head."""
    lines = re.search(r"(?:^\|.*\n?)+", text, re.MULTILINE)
    assert lines, text[:200]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[0].splitlines()[2:]]


def type_text(kind: Any) -> str:
    """A type as the page writes it."""
    match kind:
        case inspect.IntType(ge=least, le=most) if most is not None:
            return f"integer, {least} to {most}"
        case inspect.IntType(ge=least):
            return "integer" if least is None else f"integer, {least} or more"
        case inspect.StrType(max_length=most):
            return "text" if most is None else f"text, up to {most} characters"
        case inspect.BytesType():
            return "bytes"
        case inspect.BoolType():
            return "true or false"
        case inspect.FloatType():
            return "number"
        case inspect.LiteralType(values=values):
            return " ".join(sorted(f"`{value}`" for value in values))
        case inspect.VarTupleType(item_type=item, min_length=least, max_length=most):
            return f"list of {type_text(item)}" if most is None else f"list of {least} to {most} of {type_text(item)}"
        case inspect.StructType(cls=named):
            return f"map `{'Options' if named is WantedOptions else named.__name__}`"
        case _:
            raise AssertionError(kind)


def default(value: Any) -> str:
    """A default value as the page writes it."""
    if value is msgspec.NODEFAULT:
        return ""
    if value in ("", b"", ()):
        return "empty"
    if isinstance(value, tuple):
        return "`[" + ", ".join(f'"{each}"' for each in value) + "]`"
    return f"`{str(value).lower()}`"


def fields(kind: type[msgspec.Struct], *, with_defaults: bool) -> list[list[str]]:
    info = inspect.type_info(kind)
    assert isinstance(info, inspect.StructType)
    return [
        [f"`{each.name}`", type_text(each.type), *([default(each.default)] if with_defaults else [])]
        for each in info.fields
    ]


def documented_fields(text: str, *, with_defaults: bool) -> list[list[str]]:
    rows = [row[: 3 if with_defaults else 2] for row in cells(text)]
    for row in rows:
        if re.fullmatch(r"(`[a-z-]+` ?)+", row[1]):
            row[1] = " ".join(sorted(row[1].split()))
    assert all(row[-1] for row in cells(text)), "each field has its meaning"
    return rows


def check_message(
    kind: type[msgspec.Struct], *, with_defaults: bool, is_request: bool = False, page: str = PAGE
) -> None:
    """Check that a page describes a message with its fields, and says what answers a request."""
    text = section(f"### {kind.__name__}", page)
    assert text.strip().startswith(f"`{kind.__struct_config__.tag}` ")
    assert not is_request or re.search(r"Answer: `(\w+)`", text)
    wanted = [each for each in fields(kind, with_defaults=with_defaults) if each[:2] not in NUMBERS]
    documented = documented_fields(text, with_defaults=with_defaults) if "| field |" in text else []
    assert documented == wanted


def check_map(kind: type[msgspec.Struct], page: str = PAGE) -> None:
    """Check that a page describes a map with its fields."""
    text = page.partition(f"A map `{kind.__name__}`")[2]
    assert documented_fields(text, with_defaults=False) == fields(kind, with_defaults=False)


def check_numbers(golden: str, known: Mapping[str, Any], page: str) -> None:
    """Check that a page has the texts of a golden file, in whose braces are expressions of the ``known`` names."""
    flat = " ".join(page.split())

    def told(_: str, text: str) -> str:
        found = str(eval(f"f{text!r}", dict(known)))
        return found if found in flat else f"{found}, which is not on the page"

    assert_answers(golden, told)


def check_page(
    requests: Iterable[type[msgspec.Struct]],
    answers: Mapping[type[msgspec.Struct], bool],
    maps: Iterable[type[msgspec.Struct]],
    codes: Iterable[str],
    subprotocol: str,
    page: str = PAGE,
    also: Iterable[str] = (),
) -> None:
    """Check that a page describes exactly these messages and maps, explains these codes, and names the protocol.

    ``answers`` says of each message whether its defaults are described, and ``also`` names what is described like one.
    """
    for kind in requests:
        check_message(kind, with_defaults=True, is_request=True, page=page)
    for kind, with_defaults in answers.items():
        check_message(kind, with_defaults=with_defaults, page=page)
    for kind in maps:
        check_map(kind, page)
    described = [*(kind.__name__ for kind in (*requests, *answers)), *also]
    assert sorted(re.findall(r"^### (\w+)$", page, re.MULTILINE)) == sorted(described)
    rows = cells(section("## Refusals", page))
    assert sorted(row[0].strip("`") for row in rows) == sorted(codes)
    assert all(all(row) for row in rows)
    assert subprotocol in section("## Transport", page)
