"""The first race of PROTOCOL.md, in Python: open a room, race in it alone, and print the result."""

import asyncio
import sys
from collections.abc import Callable
from typing import Any

import msgpack  # type: ignore[import-untyped]  # it ships no types
import websockets
from websockets.typing import Subprotocol


async def race(url: str) -> None:
    """Race in a new room until there is a result."""
    async with websockets.connect(url, subprotocols=[Subprotocol("samedeal.v1")]) as socket:

        async def until(is_wanted: Callable[[Any], object]) -> Any:
            while not is_wanted(message := msgpack.unpackb(await socket.recv())):
                pass
            return message

        async def ask(number: int, kind: str, **fields: object) -> Any:
            await socket.send(msgpack.packb({"type": kind, "id": number, **fields}))
            return await until(lambda message: message.get("to") == number)

        await ask(1, "hello", name="Newcomer", bot=True)
        created = await ask(2, "create", options={"games": ["klondike"], "deal": "#4821"})
        await ask(3, "join", room=created["room"])
        await ask(4, "start")
        revision = (await until(lambda message: message["type"] == "boardstate"))["revision"]
        for number, action in enumerate(["draw", "1 0", "2 0", "3 0", "4 0", "5 0", "6 0", "7 0", "w 0"] * 8, 5):
            if (await ask(number, "act", revision=revision, action=action))["type"] == "acked":
                revision += 1
        await ask(number + 1, "resign")
        finished = await until(lambda message: message.get("standings"))
        print(finished["standings"])


asyncio.run(race(sys.argv[1] if len(sys.argv) > 1 else "ws://localhost:7777"))
