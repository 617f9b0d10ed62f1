"""The news of a race, found by comparing the present ranking with the previous one. Pure: the time is an argument.

The news uses only what every player of a race may know: places, counts, finishes, resignations, connections, and which
players are stuck.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

NewsKind = Literal["finished", "resigned", "stuck", "lead", "overtaken", "passed", "close", "away", "back"]

MAX_NEWS: Final = 20
"""Maximum number of news items that a feed keeps."""

QUIET_TIME: Final = 4_000
"""Minimum time, in milliseconds, between two news items about the lead.

The same minimum applies between two news items about the place of this client's player.
"""

EARLY_CARDS: Final = 5
"""Number of cards on the foundations that somebody must have reached before the news tells of the lead and of places.

Before that, the order of the players says little about who plays well.
"""

CLOSE_TO_FINISH: Final = 5
"""Number of cards left to place at which a rival counts as close to the finish."""


class RankedPlayer(NamedTuple):
    """A player in the ranking of a race.

    ``activity`` has the number of moves in each of several time slots, oldest first. ``time`` is as in ``Standing``.
    ``player`` is the public id. ``you`` marks the player of this client, and ``bot`` marks a bot.
    """

    place: int
    name: str
    foundation_cards: int
    total: int
    activity: tuple[int, ...] = ()
    you: bool = False
    connected: bool = True
    resigned: bool = False
    time: int = 0
    player: str = ""
    bot: bool = False
    stuck: bool = False

    @property
    def racing(self) -> bool:
        """Whether the player has neither finished nor resigned."""
        return not self.time and not self.resigned


class News(NamedTuple):
    """An event about ``player`` in a race, at a server ``time`` in milliseconds.

    ``cards`` is the number of the player's cards on the foundations. For the kind ``close`` it is the number of cards
    left. For the kind ``overtaken``, ``other`` has passed the player. For the kind ``passed``, the player has passed
    ``other``.
    """

    time: int
    kind: NewsKind
    player: str
    cards: int = 0
    finish_time: int = 0
    place: int = 0
    other: str = ""


@dataclass(frozen=True)
class RaceFeed:
    """The news of one race, oldest first, for the player ``me``. The id ``me`` is empty for a spectator.

    According to the news so far, ``leader`` is the leader, and ``ahead`` has the players ahead of ``me``.
    ``lead_news_at`` is the time of the latest news about the lead, and ``place_news_at`` that of the latest news about
    the place of ``me``.
    """

    me: str = ""
    news: tuple[News, ...] = ()
    racers: Mapping[str, RankedPlayer] = field(default_factory=dict)
    leader: str = ""
    ahead: frozenset[str] = frozenset()
    lead_news_at: int = 0
    place_news_at: int = 0

    def after(self, ranking: Iterable[RankedPlayer], now: int) -> RaceFeed:
        """Return the feed after a new ranking at the server time ``now``, with the resulting news.

        The first ranking makes no news.
        """
        racers = {racer.player: racer._replace(activity=()) for racer in ranking}
        if racers == self.racers and (_leader(racers), _ahead(racers, self.me)) == (self.leader, self.ahead):
            return self  # otherwise a change may not have been told yet
        known = replace(self, racers=MappingProxyType(racers))
        if not self.racers:
            return replace(known, leader=_leader(racers), ahead=_ahead(racers, self.me))
        news = [
            event
            for player, racer in racers.items()
            if (before := self.racers.get(player)) is not None
            for event in _news_about(before, racer, now, about_me=player == self.me)
        ]
        return _with_own_place(_with_lead(_with_news(known, *news), now), now)


def _with_news(feed: RaceFeed, *news: News) -> RaceFeed:
    return replace(feed, news=(*feed.news, *news)[-MAX_NEWS:])


def _with_lead(feed: RaceFeed, now: int) -> RaceFeed:
    """Return the feed, with news if the race has a new leader."""
    leader = _leader(feed.racers)
    if leader in ("", feed.leader) or now - feed.lead_news_at < QUIET_TIME:
        return feed
    updated = replace(feed, leader=leader, lead_news_at=now)
    if feed.me in (leader, feed.leader):
        # The news tells this player's place too.
        updated = replace(updated, ahead=_ahead(feed.racers, feed.me), place_news_at=now)
    racer = feed.racers[leader]
    return _with_news(updated, News(now, "lead", leader, racer.foundation_cards)) if racer.racing else updated


def _with_own_place(feed: RaceFeed, now: int) -> RaceFeed:
    """Return the feed, with news if the player ``me`` has passed a rival, or a rival has passed ``me``."""
    own, ahead = feed.racers.get(feed.me), _ahead(feed.racers, feed.me)
    if own is None or ahead == feed.ahead or now - feed.place_news_at < QUIET_TIME:
        return feed
    updated = replace(feed, ahead=ahead, place_news_at=now)
    if not own.racing or not _under_way(feed.racers):
        return updated
    changed = ahead - feed.ahead or feed.ahead - ahead
    others = [feed.racers[player] for player in changed if player in feed.racers and player != feed.leader]
    # A finish or a resignation has a news item of its own.
    racing = (racer for racer in others if racer.racing)
    nearest = min(racing, key=lambda racer: (abs(racer.place - own.place), racer.player), default=None)
    if nearest is None:
        return updated
    kind: NewsKind = "overtaken" if nearest.player in ahead else "passed"
    return _with_news(updated, News(now, kind, feed.me, own.foundation_cards, place=own.place, other=nearest.player))


def _ahead(racers: Mapping[str, RankedPlayer], me: str) -> frozenset[str]:
    own = racers.get(me)
    return frozenset(racer.player for racer in racers.values() if own is not None and racer.place < own.place)


def _under_way(racers: Mapping[str, RankedPlayer]) -> bool:
    """Return whether places mean something: several players have cards on the foundations, and one has some more."""
    counts = [racer.foundation_cards for racer in racers.values() if racer.foundation_cards]
    return len(counts) > 1 and max(counts) >= EARLY_CARDS


def _leader(racers: Mapping[str, RankedPlayer]) -> str:
    """Return the player who is alone in the first place, or an empty text as long as that says little."""
    first = [racer for racer in racers.values() if racer.place == 1]
    return first[0].player if len(first) == 1 and first[0].foundation_cards >= EARLY_CARDS else ""


def _news_about(before: RankedPlayer, after: RankedPlayer, now: int, *, about_me: bool) -> list[News]:
    """Return the news about one player that does not depend on the other players."""
    news = []
    left, left_before = after.total - after.foundation_cards, before.total - before.foundation_cards
    if after.time and not before.time:
        return [News(now, "finished", after.player, after.foundation_cards, after.time, after.place)]
    if after.resigned and not before.resigned:
        return [News(now, "resigned", after.player, after.foundation_cards)]
    if after.stuck and not before.stuck:
        news.append(News(now, "stuck", after.player, after.foundation_cards))
    if left <= CLOSE_TO_FINISH < left_before and not about_me:
        news.append(News(now, "close", after.player, left))
    if after.connected != before.connected and after.racing and not about_me:
        news.append(News(now, "back" if after.connected else "away", after.player))
    return news
