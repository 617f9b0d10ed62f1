"""The news of public races, as one stream of Redis that all nodes write and read.

Whoever is told each piece of news once, whatever the number of nodes, is a group of consumers of this stream. A node
that takes a piece of news for a group and dies leaves it to another node.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from samedeal.protocol.codec import pack, unpack
from samedeal_server.races.public_facts import RaceNews
from samedeal_server.store import keys
from samedeal_server.store.command_executor import StorePart
from samedeal_server.store.redis_client import command
from samedeal_server.store.scripts import Script

LENGTH: Final = 1_000
"""Approximate number of pieces of news that Redis keeps."""

TOLD_LIFETIME: Final = 2 * 3600
"""Time, in seconds, for which Redis knows that the end of a race was told. The room is closed by then."""

_ADD: Final = Script("add_news")
_TAKE: Final = Script("take_news")

_ID: Final = re.compile(r"([0-9]{1,16})-([0-9]{1,16})")


class NewsId(NamedTuple):
    """The place of a piece of news in the stream. Later news have larger ids."""

    time: int
    number: int

    def __str__(self) -> str:
        return f"{self.time}-{self.number}"


def parse_news_id(text: str) -> NewsId | None:
    """Return the id that a text stands for, or None if the text is no id."""
    match = _ID.fullmatch(text)
    return match and NewsId(int(match[1]), int(match[2]))


NumberedNews = tuple[NewsId, RaceNews]


class NewsStore(StorePart):
    """The stream of news."""

    async def add(self, news: RaceNews) -> None:
        """Append news to the stream. Repeating it changes nothing."""
        await self._executor.execute(_ADD([keys.NEWS], pack(news), LENGTH))

    async def add_once(self, news: RaceNews) -> None:
        """Append the news that a race has finished, unless a node has done so before."""
        told = keys.told(news.race, news.time)
        (is_first,) = await self._executor.execute(command("SET", told, "", "NX", "EX", TOLD_LIFETIME))
        if is_first:
            await self.add(news)

    async def newest(self) -> NewsId:
        """Return the id of the newest news."""
        (found,) = await self._executor.execute(command("XREVRANGE", keys.NEWS, "+", "-", "COUNT", 1))
        return _decode(found[0][0], found[0][1][b"news"])[0] if found else NewsId(0, 0)

    async def after(self, last: NewsId) -> list[NumberedNews]:
        """Return all news after the one with the id ``last``."""
        (found,) = await self._executor.execute(command("XRANGE", keys.NEWS, f"({last}", "+"))
        return [_decode(id_, fields[b"news"]) for id_, fields in found]

    async def take(self, group: str, abandoned: int) -> NumberedNews | None:
        """Return the next news for a group that no node has taken, or None if there is none.

        News that a node has taken more than ``abandoned`` milliseconds ago, and not reported as ``done``, is returned
        again. The first call for a group begins with the news after this call.
        """
        (found,) = await self._executor.execute(_TAKE([keys.NEWS], group, abandoned))
        return _decode(*found) if found else None

    async def done(self, group: str, news: NewsId) -> None:
        """Record that a group needs the news with this id no more."""
        await self._executor.execute(command("XACK", keys.NEWS, group, str(news)))


def _decode(id_: bytes, news: bytes) -> NumberedNews:
    return NewsId(*map(int, id_.split(b"-"))), unpack(news, RaceNews)
