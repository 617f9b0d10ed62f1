"""A node whose rooms have as many seats as that of a tide, no matter how many a client asks for.

One address may take all of them.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from samedeal.options import MAX_SEATS, Options
from samedeal.race import seats
from samedeal_server.cli import main
from samedeal_server.rooms.room_creation import RoomCreator

_create = RoomCreator.create


async def _create_wide(creator: RoomCreator, options: Options, *arguments: Any) -> str:
    return await _create(creator, replace(options, players=MAX_SEATS), *arguments)


if __name__ == "__main__":
    seats.SEATS_OF_ADDRESS = MAX_SEATS  # type: ignore[attr-defined]
    RoomCreator.create = _create_wide  # type: ignore[method-assign,assignment]
    raise SystemExit(main())
