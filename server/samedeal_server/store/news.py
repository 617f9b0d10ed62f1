"""The news of public races, and the reports of players, each as one stream of Redis that all nodes write and read.

Whoever is told each piece of news once, whatever the number of nodes, is a group of consumers of this stream. A node
that takes a piece of news for a group and dies leaves it to another node.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Generic, NamedTuple, TypeVar

from samedeal.protocol.admin import ReportLine
from samedeal.protocol.codec import pack
from samedeal_server.races.public_facts import RaceNews
from samedeal_server.store import keys
from samedeal_server.store.command_executor import Executor, StorePart
from samedeal_server.store.redis_client import command
from samedeal_server.store.schema import readable
from samedeal_server.store.scripts import Script

LENGTH: Final = 1_000
"""Approximate number of pieces of news, and of reports, that Redis keeps."""

NEWS_DAYS: Final = 1
REPORT_DAYS: Final = 30
"""Days for which Redis keeps news and reports, which have names."""

MOST_REPORTS: Final = 5
"""Maximum number of reports from an origin in ``REPORT_WINDOW`` seconds."""

REPORT_WINDOW: Final = 3600

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


_Told = TypeVar("_Told", RaceNews, ReportLine)


class TellingStore(StorePart, Generic[_Told]):
    """A stream of what groups of consumers are told. What is older than ``days`` is dropped with the next entry.

    Adding the same again changes nothing, as no two entries are equal.
    """

    def __init__(self, executor: Executor, key: str, kind: type[_Told], days: int) -> None:
        super().__init__(executor)
        self._key, self._lifetime = key, 86_400_000 * days
        self._kind: type[_Told] = kind

    async def add(self, news: _Told) -> None:
        """Append news to the stream."""
        await self._executor.execute(
            _ADD([self._key], pack(news), LENGTH),
            command("XTRIM", self._key, "MINID", max(0, news.time - self._lifetime)),
        )

    async def remove(self, ids: Sequence[NewsId]) -> None:
        """Remove what has these ids."""
        if ids:
            await self._executor.execute(command("XDEL", self._key, *map(str, ids)))

    async def newest(self) -> NewsId:
        """Return the id of the newest news."""
        (found,) = await self._executor.execute(command("XREVRANGE", self._key, "+", "-", "COUNT", 1))
        return _id(found[0][0]) if found else NewsId(0, 0)

    async def after(self, last: NewsId) -> list[tuple[NewsId, _Told]]:
        """Return all news after the one with the id ``last``."""
        (found,) = await self._executor.execute(command("XRANGE", self._key, f"({last}", "+"))
        return [(_id(id_), news) for id_, fields in found for news in readable([fields.get(b"news")], self._kind)]

    async def take(self, group: str, abandoned: int) -> tuple[NewsId, _Told] | None:
        """Return the next news for a group that no node has taken, or None if there is none.

        News that a node has taken more than ``abandoned`` milliseconds ago, and not reported as ``done``, is returned
        again. The first call for a group begins with the news after this call.
        """
        while found := (await self._executor.execute(_TAKE([self._key], group, abandoned)))[0]:
            taken, packed = _id(found[0]), found[1]
            for news in readable([packed], self._kind):
                return taken, news
            await self.done(group, taken)
        return None

    async def done(self, group: str, news: NewsId) -> None:
        """Record that a group needs the news with this id no more."""
        await self._executor.execute(command("XACK", self._key, group, str(news)))


class ReportStore(TellingStore[ReportLine]):
    """The reports of players."""

    def __init__(self, executor: Executor) -> None:
        super().__init__(executor, keys.REPORTS, ReportLine, REPORT_DAYS)

    async def add_from(self, origin: str, report: ReportLine) -> bool:
        """Append a report. Return False if there were too many from this origin."""
        counter = keys.reported(origin)
        _, number = await self._executor.execute(
            command("SET", counter, 0, "EX", REPORT_WINDOW, "NX"), command("INCR", counter)
        )
        if number > MOST_REPORTS:
            return False
        await self.add(report)
        return True


class NewsStore(TellingStore[RaceNews]):
    """The news of public races."""

    def __init__(self, executor: Executor) -> None:
        super().__init__(executor, keys.NEWS, RaceNews, NEWS_DAYS)

    async def add_once(self, news: RaceNews) -> None:
        """Append the news that a race has finished, unless a node has done so before."""
        told = keys.told(news.race, news.time)
        (is_first,) = await self._executor.execute(command("SET", told, "", "NX", "EX", TOLD_LIFETIME))
        if is_first:
            await self.add(news)


def _id(text: bytes) -> NewsId:
    return NewsId(*map(int, text.split(b"-")))
