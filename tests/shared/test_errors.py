from __future__ import annotations

import re

from samedeal import errors
from samedeal.errors import BadRecord, MalformedText, PlayError, RequestRefused, SamedealError

DRAWN = re.findall(r"[├└]── (\w+) +([a-z_]+)(?:  |$)", errors.__doc__ or "", re.MULTILINE)


def test_drawn_tree_matches_the_classes() -> None:
    codes = dict(DRAWN)
    assert codes | {"RequestRefused": "error"} == {error.__name__: error.code for error in CODED}
    nested = [error.__name__ for parent in (MalformedText, BadRecord, PlayError) for error in children(parent)]
    assert nested == re.findall(r"│   ...? (\w+)", errors.__doc__ or "")


def tree_of(error: type[SamedealError]) -> list[type[SamedealError]]:
    """An error class with all its subclasses."""
    return [error, *(leaf for child in children(error) for leaf in tree_of(child))]


def children(error: type[SamedealError]) -> list[type[SamedealError]]:
    """The direct subclasses that the core defines. Subclasses of the server are not part of the drawn tree."""
    return [child for child in error.__subclasses__() if child.__module__ == errors.__name__]


CODED = [error for error in tree_of(SamedealError) if error not in (SamedealError, PlayError)]


def test_codes_are_distinct() -> None:
    codes = [error.code for error in CODED if error is not RequestRefused]
    assert len(codes) == len(set(codes))
