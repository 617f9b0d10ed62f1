"""The list of rooms for players."""

from __future__ import annotations

from samedeal.protocol.messages import RoomLine
from samedeal_server.rooms.cached_list import MAX_LISTED
from samedeal_server.store.store import Store


async def list_public_rooms(store: Store) -> tuple[RoomLine, ...]:
    """Return those of the ``MAX_LISTED`` newest rooms that are ``open`` or admit spectators, newest first.

    Private rooms are included. Raise StoreUnavailable if Redis fails.
    """
    return tuple(line for line in await list_rooms(store) if line.phase == "open" or line.spectators)


async def list_rooms(store: Store, limit: int = MAX_LISTED) -> tuple[RoomLine, ...]:
    """Return those of the ``limit`` newest rooms that are not closed, newest first.

    Raise StoreUnavailable if Redis fails.
    """
    races = await store.load_races(await store.index.newest(limit))
    return tuple(
        RoomLine(
            room=race.room,
            game=race.game.name,
            deal=race.deal,
            phase=race.phase,
            players=len(race.racers),
            seats=race.options.players,
            private=race.private,
            spectators=race.options.spectators,
            starts=race.starts,
            delay=race.options.delay,
            bots=race.options.bots,
        )
        for race in races
        if race is not None and race.phase != "closed"
    )
