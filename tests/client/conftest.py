"""Shares what the apps of all tests of the client parse."""

from __future__ import annotations

from tests.textual_internals import share_parsed_css

share_parsed_css()
