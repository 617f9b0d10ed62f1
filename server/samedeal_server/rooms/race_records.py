"""The records of finished races: storing them, listing them, and reading them in parts."""

from __future__ import annotations

import asyncio
from functools import partial

from samedeal.names import clean_room
from samedeal.protocol.messages import ReadRecord, RecordLine, RecordPart
from samedeal.race.values import DealSecret, Race
from samedeal.record import LARGEST_RECORD
from samedeal.sentences import refused
from samedeal_server.config.limits import Limits
from samedeal_server.races.earlier import PlayerPast, deal_to_repeat, earlier_race, paces
from samedeal_server.races.race_record import build_record, is_race_id, race_id
from samedeal_server.rooms.duties import Duties
from samedeal_server.rooms.passphrases import Passphrases
from samedeal_server.store.records import RecordAccess
from samedeal_server.store.store import RoomSecret, Store
from samedeal_server.telemetry.metrics import Metrics


async def keep_record(duties: Duties, store: Store, limits: Limits, metrics: Metrics, race: Race) -> bool:
    """Build and store the record of a finished race, unless it is already stored or Redis has other moves.

    Return False if another node does so. Raise StoreUnavailable if Redis fails. A node calls this function after each
    tick of a finished race. If the node dies before the record is stored, the next tick makes another node store it.
    """
    if not limits.records or await store.records.has(race_id(race), race.result.finished_at):
        return True
    return await duties.do(race.room, partial(_keep_record, store, limits, metrics, race))


async def _keep_record(store: Store, limits: Limits, metrics: Metrics, race: Race) -> None:
    """Store everything that is kept of a race, the record last. Each write changes nothing if it is repeated."""
    identity = race_id(race)
    if await store.records.has(identity, race.result.finished_at):
        return
    secret = await store.load_secret(race.room)
    if secret is None:
        return  # the room is gone
    logs = {
        racer.player: [entry async for part in store.log_parts(race.room, racer.player) for entry in part]
        for racer in race.racers
    }
    if any(len(logs[line.player]) != line.moves + line.undos for line in race.result.standings):
        return  # Redis has lost the end of the race meanwhile, and perhaps moves; a later tick ends the race again
    players = tuple(racer.player for racer in sorted(race.racers, key=lambda racer: racer.seat))
    gone = await store.records.removed(players)
    unnamed = [racer.seat for racer in race.racers if racer.player in gone]
    text = await asyncio.to_thread(lambda: str(build_record(race, logs).without_names(unnamed)).encode())
    if len(text) > LARGEST_RECORD:
        metrics.records["too_large"].inc()
        return
    is_public = not race.private and race.options.spectators
    access = RecordAccess(is_public, players, secret.salt, secret.hash)
    line = _line(race, len(text))
    deal = deal_to_repeat(race, secret.deal)
    pasts = {player: await store.earlier.past(player) for player in players}
    known = f"{deal} {race.game.name}" if deal.startswith("daily") else deal  # each game has a deal of the day
    had = [player for player, past in pasts.items() if known in past.deals and identity not in past.races]
    if (earlier := earlier_race(race, secret.deal, logs, had)) and not gone:
        await store.earlier.keep(race.game.name, identity, earlier)
    for player, pace in ((player, pace) for player, pace in paces(race).items() if player not in gone):
        with_race = partial(PlayerPast.with_race, race=identity, pace=pace, deal=known, has_moved=bool(logs[player]))
        await store.earlier.change_past(player, with_race)
    if await store.records.keep(line, text, access, limits.record_days, limits.records):
        metrics.records["kept"].inc()
    await store.records.remove_names(identity)  # of those who were forgotten meanwhile


def _line(race: Race, size: int) -> RecordLine:
    first = race.shown_standings[0]
    return RecordLine(
        race=race_id(race),
        room=race.room,
        game=race.game.name,
        deal=race.deal,
        started=race.starts,
        ended=race.result.finished_at,
        players=len(race.racers),
        size=size,
        winner=first.name,
        bot=first.bot,
        time=first.time,
        tide=race.tide,
    )


async def read_record(
    store: Store, passphrases: Passphrases, limits: Limits, message: ReadRecord, player: str, network: str
) -> RecordPart:
    """Return a part of a record.

    Raise RequestRefused if the part does not exist, or if the player may not read the record. A player who had a seat in
    the race may always read its record. Other players need the passphrase if the room is private. They may not read the
    record at all if the room is public and forbids watching.
    """
    records = store.records
    race = message.race.strip(" ").lower()
    if not is_race_id(race):
        race = await records.newest_of(clean_room(race))
    access = await records.access(race) if race else None
    if access is None:
        raise refused("no_record")
    if not access.is_public and player not in access.players:
        if not access.hash:
            raise refused("no_spectators")
        secret = RoomSecret(DealSecret(b""), access.salt, access.hash)
        room = race.partition(".")[0]
        await passphrases.check(room, secret, message.passphrase, network, limits)
    found = await records.part(race, message.part)
    if found is None:
        raise refused("no_record")
    parts, text = found
    return RecordPart(to=message.id, race=race, part=message.part, parts=parts, text=text)
