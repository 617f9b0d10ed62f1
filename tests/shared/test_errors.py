from __future__ import annotations

import re

from samedeal import errors
from samedeal.errors import PlayError, Refused, SamedealError

DRAWN = re.findall(r"[├└]── (\w+) +([a-z_]+)(?:  |$)", errors.__doc__ or "", re.MULTILINE)


def test_the_tree_is_drawn_as_it_is() -> None:
    codes = dict(DRAWN)
    leaves = {error.__name__: error.code for error in every(SamedealError) if not ours(error)}
    assert codes | {"Refused": "error"} == leaves
    assert [error.__name__ for error in PlayError.__subclasses__()] == re.findall(
        r"│   ...? (\w+)", errors.__doc__ or ""
    )


def every(error: type[SamedealError]) -> list[type[SamedealError]]:
    return [error, *(leaf for child in ours(error) for leaf in every(child))]


def ours(error: type[SamedealError]) -> list[type[SamedealError]]:
    """The kinds of an error that the core has; the server's own are no part of the tree that is drawn there."""
    return [child for child in error.__subclasses__() if child.__module__ == errors.__name__]


def test_codes_are_unlike() -> None:
    codes = [error.code for error in every(SamedealError) if not ours(error) and error is not Refused]
    assert len(codes) == len(set(codes))


def test_a_refusal_has_its_own_code() -> None:
    refused = Refused("room_full", "The room is full", 2.5)
    assert (refused.code, str(refused), refused.retry_after) == ("room_full", "The room is full", 2.5)
    assert Refused("gone", "It is gone").retry_after is None
