"""The opening of rooms, for a first race, a rematch or a repeated deal."""

from __future__ import annotations

import hmac
import secrets
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from samedeal.deal import SEED_BYTES, Deal
from samedeal.errors import RequestRefused
from samedeal.games import game_named
from samedeal.joint_deal import public_mix
from samedeal.options import Options
from samedeal.protocol_codes import RefusalCode
from samedeal.race.commands import LinkRematchCommand
from samedeal.race.openings import first_race, rematch, repetition, successor_options
from samedeal.race.transitions import apply
from samedeal.race.values import DealSecret, Race
from samedeal.sentences import refused
from samedeal.utc_text import utc_text
from samedeal_server.races.earlier import EarlierRace
from samedeal_server.rooms.passphrases import Passphrases
from samedeal_server.store.store import RoomSecret
from samedeal_server.telemetry.logger import get_logger
from samedeal_server.telemetry.logs import ThrottledLog

if TYPE_CHECKING:
    from samedeal_server.rooms.registry import RoomRegistry

MAX_START_DELAY: Final = 7 * 86_400_000
"""Maximum time, in milliseconds, from the opening of a room to its scheduled start."""

LEAST_WINS: Final = 0.02
"""The share of random deals of a game that the solver must win, so that a room may search for a winnable one."""

_CODE_ALPHABET: Final = "abcdefghjkmnpqrstuvwxyz23456789"
_CODE_LENGTH: Final = 6
_MAX_CODE_LENGTH: Final = 24
_ATTEMPTS: Final = 5
"""Maximum number of codes that are tried for a room."""


class RoomCreator:
    """Opens rooms for first races, rematches and repeated deals."""

    def __init__(self, rooms: RoomRegistry) -> None:
        self.passphrases = Passphrases(rooms.store, rooms.clock)
        self._rooms = rooms
        self._store = rooms.store
        self._throttled_log = ThrottledLog(get_logger())

    def origin(self, network: str) -> str:
        """Return a keyed hash of a network. All nodes compute the same hash. Races contain it, and not the address."""
        return hmac.digest(self._store.receipt_key, network.encode(), "sha256").hex()[:16]

    async def create(
        self,
        options: Options,
        code: str,
        passphrase: str,
        network: str,
        tide: int = 0,
        house: int = 0,
        window: int = 0,
        opens: tuple[int, ...] = (),
    ) -> str:
        """Open a room and return its code. If ``code`` is empty, choose a random code.

        ``tide``, ``house``, ``window`` and ``opens`` are as in ``Race``.

        Raise SamedealError if there are too many rooms, an argument is invalid, or the code is taken.
        """
        await self._check_room_limit()
        now = await self._store.now()
        if window:
            await self._check_windows(self.origin(network), now)
        if code and await self.series_race(code):
            raise refused("room_exists", room=code)
        earliest = now + 1000 * options.countdown
        if options.start == "at" and not earliest < options.start_at <= now + MAX_START_DELAY:
            raise refused("bad_start_time")
        deal = Deal.parse(options.deal).on(utc_text(now)[:10])
        for game in map(game_named, options.games if deal.has_proof else ()):
            if game.file.wins < LEAST_WINS:
                raise refused("hardly_winnable", game=game.title)
        secret = RoomSecret(
            DealSecret(new_seed(deal)), *await self.passphrases.lock(passphrase, network, self._rooms.limits)
        )
        for _ in range(_ATTEMPTS):
            room = code or room_code(secrets.token_bytes(_CODE_LENGTH))
            if self._rooms.words.forbids(room):
                if code:
                    raise refused("forbidden_room")
                continue
            origin = "" if tide else self.origin(network)
            given = room, options, deal, secret.deal.seed, now
            race = first_race(*given, private=bool(secret.hash), tide=tide, house=house, window=window, opens=opens)
            if await self._open(replace(race, origin=origin), secret):
                return room
            if code:
                raise refused("room_exists", room=code)
        raise refused("no_free_code")

    def shared_code(self, purpose: str) -> str:
        """Return the code of a room that all nodes open for a purpose. It is keyed: nobody can open that room before."""
        return room_code(hmac.digest(self._store.receipt_key, purpose.encode(), "sha256"))

    async def create_shared(self, options: Options, code: str, network: str, tide: int = 0, house: int = 0) -> None:
        """Open a room with a shared code, unless another node has just opened it. Raise SamedealError as ``create``."""
        try:
            await self.create(options, code, "", network, tide, house)
        except RequestRefused as error:
            if error.code != RefusalCode.ROOM_EXISTS:
                raise

    async def rematch(self, room: str, player: str = "", network: str = "") -> str:
        """Return the code of the rematch's room. If that room does not exist yet, open it for a player who asks for it.

        The new room counts as one of the player's ``network``, but that of the next race of a standing series counts as
        one of who opened the series. Raise RequestRefused if the race in ``room`` is not over, if ``room`` is gone, or if
        there are too many rooms or windows.
        """
        snapshot = await self._rooms.load(room)
        race = snapshot.race
        apply(race, LinkRematchCommand("-"), snapshot.now)  # refuses a rematch before the race is over
        if not race.next:
            await self._check_room_limit()
            origin = race.origin if race.goes_on else self.origin(network)
            if race.window and not race.goes_on:
                await self._check_windows(origin, snapshot.now)
            successor = await self._open_successor(race, snapshot.now, origin)
            race = await self._rooms.command(room, LinkRematchCommand(successor, player), "")
        return race.next

    async def series_race(self, series: str) -> Race | None:
        """Return the race of a standing series that is open or opens next, or its last one. ``series`` is its code."""
        room, race = await self._store.index.series_room(series), None
        while room:
            (race,) = await self._store.load_races([room])
            room = race.next if race and race.opens else ""
        return race

    async def repeat(self, race: Race, found: EarlierRace) -> str:
        """Open a room in which the deal of an earlier race is dealt again to the only player of ``race``.

        Return its code, which is the same on all nodes. Return an empty code if there can be no such room: the server has
        too many, or another one has the code.

        Raise RequestRefused if the room of ``race`` is gone.
        """
        if await self._store.index.count() >= self._rooms.limits.rooms:
            return ""
        deal = Deal.parse(found.deal)
        secret = await self._secret(race.room, deal)
        room = self.shared_code(f"again {race.room} {race.created}")
        opened = repetition(race, room, deal, found.players, secret.deal.seed, await self._store.now())
        if await self._open(opened, secret):
            return room
        (existing,) = await self._store.load_races([room])
        is_same = existing is not None and existing.earlier and existing.before == opened.before
        return room if is_same else ""

    async def check_passphrase(self, race: Race, passphrase: str, network: str) -> None:
        """Raise RequestRefused if ``passphrase`` is not the passphrase of the room, or if it cannot be checked now."""
        secret = await self._store.load_secret(race.room)
        if secret is None:
            raise refused("no_room", room=race.room)
        await self.passphrases.check(race.room, secret, passphrase, network, self._rooms.limits)

    async def _check_room_limit(self) -> None:
        limit = self._rooms.limits.rooms
        if await self._store.index.count() >= limit:
            self._throttled_log.warning("server_full", "limit-rooms", limit=limit)
            raise refused("server_full")

    async def _check_windows(self, origin: str, now: int) -> None:
        """Raise RequestRefused if there are too many races with a window, from this origin or in all."""
        limits, origins = self._rooms.limits, await self._store.index.windows(now)
        if len(origins) >= limits.windows:
            self._throttled_log.warning("server_full", "limit-windows", limit=limits.windows)
            raise refused("windows_full")
        if origins.count(origin) >= limits.windows_per_address:
            raise refused("too_many_windows", limit=limits.windows_per_address)

    async def _open_successor(self, race: Race, now: int, origin: str) -> str:
        """Open a room for the rematch, which counts as one of an origin, and return its code.

        If another request has just opened this room, return the code without opening another one.
        """
        secret = await self._secret(race.room, Deal.parse(successor_options(race).deal))
        room = _successor_code(race)
        for _ in range(_ATTEMPTS):
            successor = replace(rematch(race, room, secret.deal.seed, now), origin=origin)
            if await self._open(successor, secret):
                return room
            (existing,) = await self._store.load_races([room])
            if existing is not None and existing.before.room == race.room:
                # In a standing series, the end of the race may have been lost and come again, after its successor.
                is_next = bool(successor.opens) and existing.opens == successor.opens
                if is_next or existing.created >= race.changed_at:
                    return room
            room = room_code(secrets.token_bytes(_CODE_LENGTH))
        raise refused("no_free_code")

    async def _secret(self, parent: str, deal: Deal) -> RoomSecret:
        """Return the secret of a new room with ``deal`` and the passphrase of the room ``parent``."""
        secret = await self._store.load_secret(parent)
        if secret is None:
            raise refused("no_room", room=parent)
        return RoomSecret(DealSecret(new_seed(deal)), secret.salt, secret.hash)

    async def _open(self, race: Race, secret: RoomSecret) -> bool:
        opened = await self._store.create_room(race, secret)
        if opened:
            self._rooms.record(race, ("opened",))
            if race.house:
                await self._store.house.add(race)
        return opened


def new_seed(deal: Deal) -> bytes:
    """Return the ``seed`` for DealSecret. The seed is random unless the deal is public."""
    if deal.kind in ("daily", "again"):
        return public_mix(str(deal))
    return deal.public_seed() if deal.public else secrets.token_bytes(SEED_BYTES)


def room_code(random: bytes) -> str:
    """Return the room code that follows from at least 6 random bytes."""
    return "".join(_CODE_ALPHABET[byte % len(_CODE_ALPHABET)] for byte in random[:_CODE_LENGTH])


def _successor_code(race: Race) -> str:
    """Return the code for the rematch's room. After ``friday`` comes ``friday-2``."""
    base = race.room
    if race.round:
        base = base.removesuffix(f"-{race.round + 1}")
    suffix = f"-{race.round + 2}"
    return base[: _MAX_CODE_LENGTH - len(suffix)].rstrip("-") + suffix
