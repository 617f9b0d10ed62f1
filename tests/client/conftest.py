"""Spares the apps of all tests of the client some work."""

from __future__ import annotations

from tests.textual_internals import spare_work

spare_work()
