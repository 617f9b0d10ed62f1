"""Frames and requests that break WebSocket and HTTP, which are on the page ``broken_frames``, and what answers them."""

from __future__ import annotations

import asyncio
from typing import Final

from samedeal.protocol.codec import LARGEST_FRAME, encode
from samedeal.protocol.messages import Ping
from samedeal_server.connections.client_socket import LARGEST_REQUEST
from tests.golden.golden_files import values_on
from tests.server import raw_client
from tests.server.raw_client import BINARY, Wire, frame

PAGE: Final = "broken_frames"
AFTER: Final = "after the handshake"
PIECE: Final = frame(BINARY, b"\x81", fin=False)
SENT: Final = values_on(
    PAGE,
    vars(raw_client),
    {"LARGEST_FRAME": LARGEST_FRAME, "LARGEST_REQUEST": LARGEST_REQUEST, "PIECE": PIECE, "LONG": "x" * 9000},
    {"ping": encode(Ping(id=1))},
)
"""What is sent for each line of the page."""


async def answer(url: str, heading: str, line: str) -> str:
    """What a node answers to what is sent for a line: the code of its close, or the status of its response, if any."""
    wire = await (Wire.greeted(url) if heading == AFTER else Wire.open(url))
    sending = asyncio.create_task(wire.send(SENT[line]))
    if heading == AFTER:
        answered = str(await wire.ended())
    else:
        head = await wire.head()
        assert b"permessage-deflate" not in head
        answered = b"".join(head.split()[1:2]).decode()
    await sending
    await wire.close()
    return answered
