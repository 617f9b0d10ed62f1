"""A key in the footer of a screen, with its description."""

from __future__ import annotations

from typing import NamedTuple


class FooterKey(NamedTuple):
    """A key in the footer with its description.

    ``key`` is a name from ``bindings.NAMED_KEYS``. ``label`` is shown instead of the key's usual name, unless it is
    empty. ``longer`` is a longer description, which is shown if the longer descriptions of all keys fit.
    """

    key: str
    description: str
    label: str = ""
    longer: str = ""
