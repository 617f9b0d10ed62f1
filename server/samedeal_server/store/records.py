"""Records of finished races, which outlive their rooms."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from msgspec.structs import replace

from samedeal.errors import SamedealError
from samedeal.names import removed_name
from samedeal.protocol.codec import LARGEST_FRAME, pack, unpack
from samedeal.protocol.messages import RecordLine
from samedeal.record import Record
from samedeal_server.store import keys
from samedeal_server.store.command_executor import StorePart
from samedeal_server.store.redis_client import command
from samedeal_server.store.schema import readable, reading, stored

PART_BYTES: Final = LARGEST_FRAME - 1024
"""The length of a part of a record, in bytes. A message with one part fits into a WebSocket frame."""

_DAY: Final = 86_400

_MOST_READ: Final = 10_000
"""Maximum number of records that a search for those of a player reads."""


@dataclass(frozen=True)
class RecordAccess:
    """The permission to read a record.

    If ``is_public`` is true, everybody may read the record. Otherwise only ``players`` and those who know the
    passphrase may read the record. ``salt`` and ``hash`` belong to the passphrase. If ``hash`` is empty, there is no
    passphrase.
    """

    is_public: bool
    players: tuple[str, ...]
    salt: bytes
    hash: bytes


class RecordStore(StorePart):
    """The records of finished races in Redis."""

    async def has(self, race: str, ended: int) -> bool:
        """Return whether the record of a race that ended at ``ended``, in milliseconds since 1970, is stored or was deleted.

        A record in which the race ended at another time does not count.
        """
        found, removed = await self._executor.execute(
            command("HGET", keys.record(race), "ended"), command("HEXISTS", keys.REMOVED, race)
        )
        return bool(removed or found == str(ended).encode())

    async def keep(self, line: RecordLine, text: bytes, access: RecordAccess, days: int, most: int) -> bool:
        """Store a record for ``days`` days. If there are now more than ``most`` records, delete the oldest ones.

        Several nodes may store the same record. Each node replaces the previous copy. Return whether there was none.
        """
        parts = await asyncio.to_thread(compressed_parts, text)
        key, lifetime = keys.record(line.race), days * _DAY
        fields: dict[str, str | bytes | int] = {
            "line": pack(line),
            "ended": line.ended,
            "public": int(access.is_public),
            "players": " ".join(access.players),
            "salt": access.salt,
            "hash": access.hash,
            "parts": len(parts),
            **_numbered(parts),
        }
        added, *_, old = await self._executor.execute(
            command("HSET", key, *chain.from_iterable(fields.items())),
            command("EXPIRE", key, lifetime),
            command("SET", keys.last_record(line.room), line.race, "EX", lifetime),
            command("ZADD", keys.RECORDS, line.ended, line.race),
            command("ZREMRANGEBYSCORE", keys.RECORDS, "-inf", line.ended - 1000 * lifetime),
            command("ZRANGE", keys.RECORDS, 0, -most - 1),
            durable=True,
        )
        if old:
            await self._executor.execute(
                *(command("DEL", keys.record(race.decode())) for race in old), command("ZREM", keys.RECORDS, *old)
            )
        return bool(added)

    async def before(self, race: str, limit: int, player: str = "", among: int = _MOST_READ) -> tuple[RecordLine, ...]:
        """Return the summaries of public records, newest first: at most ``limit`` of the ``among`` records before a race.

        If ``race`` is empty, they are the newest ones. If ``player`` is not, it is the id of a player, who had a seat in
        each of these races.
        """
        first, lines = 0, dict[str, RecordLine]()
        if race:
            (rank,) = await self._executor.execute(command("ZREVRANK", keys.RECORDS, race))
            if rank is None:
                return ()
            first = int(rank) + 1
        for at in range(first, first + among, limit):
            (races,) = await self._executor.execute(command("ZREVRANGE", keys.RECORDS, at, at + limit - 1))
            found = await self._executor.execute(
                *(command("HMGET", keys.record(race.decode()), "public", "players", "line") for race in races)
            )
            read = [
                line
                for public, players, line in found
                if public == b"1" and player in ("", *(players or b"").decode().split())
            ]
            lines |= {line.race: line for line in readable(read, RecordLine)}
            if len(lines) >= limit or len(races) < limit:
                break
        return tuple(lines.values())[:limit]

    async def players(self) -> list[tuple[str, list[str]]]:
        """Return the ids of all records, each with those of its players in the order of their seats."""
        (races,) = await self._executor.execute(command("ZRANGE", keys.RECORDS, 0, -1))
        found = await self._executor.execute(
            *(command("HGET", keys.record(race.decode()), "players") for race in races)
        )
        return [(race.decode(), each.decode().split()) for race, each in zip(races, found, strict=True) if each]

    async def removed(self, players: Sequence[str]) -> set[str]:
        """Return those of the players whose names are removed."""
        (times,) = await self._executor.execute(command("HMGET", keys.REMOVED, *players))
        return {player for player, time in zip(players, times, strict=True) if time}

    async def all_removed(self) -> set[str]:
        """Return all players whose names are removed, and the ids of all races whose records were deleted."""
        (removed,) = await self._executor.execute(command("HKEYS", keys.REMOVED))
        return {each.decode() for each in removed}

    async def remove_names(self, race: str) -> bool:
        """Remove the names that are to be removed from a record. Return whether the record had any.

        A record that this release cannot read is deleted.
        """
        ((players, packed),) = await self._executor.execute(command("HMGET", keys.record(race), "players", "line"))
        ids = players.decode().split() if players else []
        if not ids or not (gone := await self.removed(ids)):
            return False
        try:
            with reading():
                line = unpack(stored(packed), RecordLine)
            before = await asyncio.to_thread(Record.read, await self.text(race))
        except SamedealError:
            return await self.delete(race)
        named = [each for each, player in zip(before.players, ids, strict=True) if player in gone]
        left = [each.seat for each in named if not each.first_head]
        if not left:
            return False
        text = str(before.without_names(left)).encode()
        winner = next((removed_name(each.seat) for each in named if each.name == line.winner), line.winner)
        parts = await asyncio.to_thread(compressed_parts, text)
        fields = {"line": pack(replace(line, winner=winner, size=len(text))), "parts": len(parts), **_numbered(parts)}
        await self._executor.execute(command("HSET", keys.record(race), *chain.from_iterable(fields.items())))
        return True

    async def delete(self, race: str) -> bool:
        """Delete a record, and the deal that could be dealt again. Return whether there was one.

        ``REMOVED`` remembers the race, so that no node makes the record once more, even after a restore.
        """
        ((packed, ended),) = await self._executor.execute(command("HMGET", keys.record(race), "line", "ended"))
        if packed is None:
            return False
        await self._executor.execute(
            command("HSETNX", keys.REMOVED, race, ended),
            command("DEL", keys.record(race)),
            command("ZREM", keys.RECORDS, race),
            *(command("HDEL", keys.earlier(line.game), race) for line in readable([packed], RecordLine)),
            durable=True,
        )
        return True

    async def newest_of(self, room: str) -> str:
        """Return the id of a room's newest recorded race, or an empty string if no race of the room is recorded."""
        (race,) = await self._executor.execute(command("GET", keys.last_record(room)))
        with reading():
            return "" if race is None else str(race.decode())

    async def access(self, race: str) -> RecordAccess | None:
        """Return who may read a record, or None if the record does not exist."""
        ((is_public, players, salt, passphrase_hash),) = await self._executor.execute(
            command("HMGET", keys.record(race), "public", "players", "salt", "hash")
        )
        if is_public is None:
            return None
        with reading():
            return RecordAccess(is_public == b"1", tuple(stored(players).decode().split(" ")), salt, passphrase_hash)

    async def part(self, race: str, number: int) -> tuple[int, bytes] | None:
        """Return how many parts a record has, and the decompressed part with the number ``number``.

        Return None if the record or the part does not exist.
        """
        ((parts, part),) = await self._executor.execute(command("HMGET", keys.record(race), "parts", f"part:{number}"))
        with reading():
            return None if part is None or number >= int(stored(parts)) else (int(parts), _decompressed(part))

    async def text(self, race: str) -> bytes:
        """Return a whole record. Return no bytes if it does not exist."""
        text, number, parts = b"", 0, 1
        while number < parts and (found := await self.part(race, number)) is not None:
            parts, number = found[0], number + 1
            text += found[1]
        return text


def _numbered(parts: Sequence[bytes]) -> dict[str, str | bytes | int]:
    return {f"part:{number}": part for number, part in enumerate(parts)}


def _decompressed(part: bytes) -> bytes:
    """Return a part of a record. Raise ValueError if it was compressed in another way."""
    try:
        return zlib.decompress(part)
    except zlib.error as error:
        raise ValueError from error


def compressed_parts(text: bytes) -> list[bytes]:
    """Split a text into parts and compress each part separately."""
    return [zlib.compress(text[start : start + PART_BYTES]) for start in range(0, len(text), PART_BYTES)]
