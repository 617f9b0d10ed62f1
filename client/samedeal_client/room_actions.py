"""Actions of a player that take several steps: enter a room, find a match, add bots, race again.

The full-screen client, the line client and the commands share these actions. The actions show nothing to the player.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Final
from urllib.parse import quote

from msgspec.structs import replace

from samedeal.deal import Deal
from samedeal.errors import RequestRefused
from samedeal.games import game_named
from samedeal.options import MAX_PLAYERS, Options
from samedeal.protocol.messages import RoomLine, RoomState
from samedeal.protocol_codes import RefusalCode
from samedeal.series import place_of
from samedeal.tides import next_tides
from samedeal_client.local.local_bots import LocalBots
from samedeal_client.menus.new_room_fields import DEFAULT_DEAL
from samedeal_link.session.client_session import ClientSession
from samedeal_link.solving.bot_levels import Level

_TRY_NEXT_ROOM: Final = {
    *(RefusalCode.ROOM_FULL, RefusalCode.RACE_STARTED, RefusalCode.ROOM_CLOSED),
    *(RefusalCode.NO_ROOM, RefusalCode.BAD_PASSPHRASE, RefusalCode.NAME_TAKEN),
}
"""Refusals after which ``join_match`` tries the next room, since the list of rooms may be out of date."""

_MOST_TRIES: Final = 3
"""Maximum number of rooms that ``race_now`` tries."""

_BOTS: Final = 3


async def join_or_watch(client: ClientSession, room: str, line: RoomLine | None) -> None:
    """Join a room. If its race has started without the player, watch the race instead, if spectators are admitted.

    ``line`` is the row of the room in the list from which the player chose it. Raise RequestRefused if the player can
    neither join nor watch.
    """
    try:
        await client.join(room, line=line)
    except RequestRefused as refused:
        if refused.code != RefusalCode.RACE_STARTED or line is None or not line.spectators:
            raise
        await client.watch(room, line=line)


async def join_match(client: ClientSession, rooms: Iterable[str], options: Options) -> None:
    """Join the first of ``rooms`` that admits the player.

    If none does, open a room with ``options`` and join the new room.

    A room is skipped if it is full, private or closed, if its race has started, or if another player there has the same
    name. Raise RequestRefused if the server refuses for any other reason.
    """
    for room in rooms:
        try:
            return await client.join(room)
        except RequestRefused as refused:
            if refused.code not in _TRY_NEXT_ROOM:
                raise
    return await client.join(await client.rooms.create(options))


async def race_now(client: ClientSession, game: str, tide: int = 0) -> None:
    """Join the public room whose race starts soonest, in ``game`` unless it is empty, or a room of a tide.

    If the room fills meanwhile, join the next one. Raise RequestRefused if the server refuses for another reason.
    """
    for tries_left in reversed(range(_MOST_TRIES)):
        room = await client.rooms.race_now(game, tide)
        try:
            return await client.join(room)
        except RequestRefused as refused:
            if refused.code not in _TRY_NEXT_ROOM - {RefusalCode.NAME_TAKEN} or not tries_left:
                raise
    return None


async def race_person(client: ClientSession, line: RoomLine) -> None:
    """Leave a race against bots, which counts as nothing, for a race with somebody who waits in the room of ``line``.

    Raise RequestRefused if the server refuses.
    """
    await client.leave()
    await race_now(client, line.game)


async def race_with_bots(client: ClientSession, game: str) -> None:
    """Open a room for a race against the bots of the server's house, and join it. The race starts when they are there.

    Raise RequestRefused if the server has no bots, or if they are busy.
    """
    limit = game_named(game).file.limit
    options = Options(games=(game,), deal=DEFAULT_DEAL, players=1 + _BOTS, limit=limit, start="full", countdown=2)
    await client.join(await client.rooms.create(options, house=_BOTS))


async def enter_next_tide(client: ClientSession, game: str = "") -> None:
    """Join a room of the next tide, in ``game`` unless it is empty.

    Raise RequestRefused if the server has none, or if it refuses, for example because it is not open yet.
    """
    tides = next_tides(client.link.tides, client.now())
    start, found = next(((start, each) for start, each in tides if game in ("", each)), (0, ""))
    if not start:
        raise RequestRefused(RefusalCode.NO_TIDE, "This server has no such races. Race now instead.")
    await race_now(client, found, start)


async def add_bot(client: ClientSession, bots: LocalBots, level: Level, warn: Callable[[str], None]) -> None:
    """Send a bot into the client's room.

    ``warn`` is called with a sentence if the bot can't enter the room, and when the bot leaves the room. Raise OSError
    if no process can be started.
    """
    room = client.model.room
    if room is not None:
        taken = {seat.name for seat in room.players}
        await bots.add(room.room, level, client.rooms.passphrase, taken=taken, warn=warn)


async def start_without(client: ClientSession, bots: LocalBots, names: Iterable[str]) -> None:
    """Start the race without the bots in ``names``, which have no seat yet, and end these bots.

    Raise RequestRefused if the server refuses to start the race.
    """
    await client.rooms.start()
    for name in names:
        await bots.remove(name)


async def leave_with_bots(client: ClientSession, bots: LocalBots) -> None:
    """Leave the room and end the player's bots. Raise RequestRefused if the server refuses."""
    await bots.remove_all()
    await client.leave()


async def enter_rematch(client: ClientSession, bots: LocalBots | None = None) -> None:
    """Enter the room of the rematch, as a spectator if the player has no seat in the present race.

    In a standing series, that is the race that is open or opens next, since those before it may have been missed. ``bots``
    are the player's bots, which go to the rematch too. Raise RequestRefused if the server refuses.
    """
    spectator = client.model.seat is None
    passphrase = client.rooms.passphrase
    before = client.model.room
    room = place_of(before) if before and before.opens[1:] else await client.rooms.rematch()
    if before is not None and bots is not None:
        bots.move_to_rematch(before.room, room)
    await (client.watch(room, passphrase) if spectator else client.join(room, passphrase))


async def open_similar_room(
    client: ClientSession, bring_bots: Callable[[str, str], Awaitable[None]], deal: str = DEFAULT_DEAL
) -> None:
    """Open a room with the options of the client's room, but with ``deal``. Join the new room with the player's bots.

    ``bring_bots`` is called with the codes of the old room and the new room. Raise RequestRefused if the server
    refuses.
    """
    room = client.model.room
    if room is not None:
        passphrase = client.rooms.passphrase if room.private else ""
        code = await client.rooms.create(similar_options(room, deal), passphrase=passphrase)
        await bring_bots(room.room, code)
        await client.join(code, passphrase)


def similar_options(room: RoomState, deal: str = DEFAULT_DEAL) -> Options:
    """Return a room's options for another race with ``deal``, whose host the player is.

    If the games alternate, the other race has the same game as the room's present race.
    """
    options = room.options
    position = options.games.index(room.game) if room.game in options.games else 0
    games = (*options.games[position:], *options.games[:position])
    start = options.start if options.hosted and options.start != "at" else "host"
    players = MAX_PLAYERS if Deal.parse(room.deal).kind == "again" else min(options.players, MAX_PLAYERS)
    return replace(options, games=games, deal=deal, players=players, start=start, start_at=0, hosted=True)


async def moving_link(client: ClientSession) -> str:
    """Return a link to the player's seat for the browser of another device, which is good once and for ten minutes.

    The secret part is behind the ``#``, so that no server and no log gets it.
    """
    room, seat = client.model.this_room.room, client.model.seat
    code = await client.rooms.move_session()
    name = quote(seat.name if seat else client.link.name, safe="")
    return f"{client.shared_address.page(room)}#move={name}/{code}"
