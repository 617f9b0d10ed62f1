"""Spares the apps of all tests of the client some work, and gives tests of links a server."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.client.scripted_server import ScriptedServer
from tests.textual_internals import spare_work

spare_work()


@pytest.fixture
async def server() -> AsyncIterator[ScriptedServer]:
    scripted = ScriptedServer()
    async with scripted.listening():
        yield scripted
