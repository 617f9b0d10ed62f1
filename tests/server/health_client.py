"""A client for the health listener of a node."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from http.client import HTTPResponse
from io import BytesIO
from typing import Any, cast
from urllib.parse import urlsplit

from tests.server.client import DEADLINE


@dataclass
class HealthClient:
    """A client of the health listener at a URL."""

    url: str

    async def send(self, request: bytes) -> bytes:
        """Send bytes and return what the listener answers before it closes the connection."""
        parts = urlsplit(self.url)
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        async with asyncio.timeout(DEADLINE):
            writer.write(request)
            try:
                return await reader.read()
            except ConnectionError:
                return b""
            finally:
                writer.close()

    async def get(self, path: str, method: str = "GET", version: str = "1.1") -> tuple[int, str]:
        """Return the status and the text of an answer."""
        answer = await self.send(f"{method} {path} HTTP/{version}\r\nHost: node\r\n\r\n".encode())
        response = HTTPResponse(cast("Any", ReceivedSocket(answer)), method=method)
        response.begin()
        text = response.read().decode()
        assert response.headers["Cache-Control"] == "no-store"
        return response.status, text


class ReceivedSocket:
    """Received bytes, as a socket that HTTPResponse can read."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def makefile(self, _mode: str) -> BytesIO:
        return BytesIO(self.data)
