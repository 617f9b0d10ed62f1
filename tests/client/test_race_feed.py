from __future__ import annotations

import pytest

from samedeal.protocol.messages import Seat
from samedeal_client.state.race_feed import (
    MAX_NEWS,
    PLACE_CHANGE_SHOWN,
    QUIET_TIME,
    News,
    NewsKind,
    RaceFeed,
    RacerStatus,
)
from samedeal_client.text.appearance import Look
from samedeal_client.views.race_news import news_text, rings

SEATS = {
    player: Seat(player=player, name=name, seat=1)
    for player, name in (("m", "mira"), ("a", "ada"), ("j", "june"), ("b", "bo"))
}


def status(text: str) -> list[RacerStatus]:
    """A ranking written as ``ada 5, mira 3 stuck``, by the first letters of the names, with ties on equal counts."""
    racers: list[RacerStatus] = []
    for place, line in enumerate(text.split(", "), 1):
        name, cards, *more = line.split()
        shared = bool(racers) and racers[-1].cards == int(cards) and "tied" in more
        racers.append(
            RacerStatus(
                player=name[0],
                place=racers[-1].place if shared else place,
                cards=int(cards),
                total=52,
                finish_time=352_000 if int(cards) == 52 else None,
                resigned="resigned" in more,
                stuck="stuck" in more,
                connected="away" not in more,
            )
        )
    return racers


def told(*rankings: str, me: str = "m", step: int = QUIET_TIME) -> list[str]:
    """The news after a look at each ranking, ``step`` milliseconds apart."""
    feed = RaceFeed(me)
    for number, ranking in enumerate(rankings, 1):
        feed = feed.after(status(ranking), number * step + 1_000_000)
    return [news_text(news, SEATS, me, Look()) for news in feed.news]


@pytest.mark.parametrize(
    ("before", "after", "news"),
    [
        ("mira 3, ada 2", "mira 3, ada 2", []),
        ("mira 3, ada 2", "ada 4, mira 3", ["ada took the lead"]),
        ("ada 3, mira 2", "mira 4, ada 3", ["You took the lead"]),
        ("ada 9, june 3, mira 2", "ada 9, mira 4, june 3", ["You passed june"]),
        ("ada 9, mira 3, june 2, bo 1", "ada 9, bo 5, june 4, mira 3", ["june passed you"]),
        ("ada 9, mira 3, june 2", "ada 9, june 4, mira 3", ["june passed you"]),
        ("ada 9, mira 3, june 2", "june 12, ada 9, mira 3", ["june took the lead"]),
        ("ada 9, mira 3", "ada 52, mira 3", ["ada finished in 5:52, 1st"]),
        ("mira 9, ada 8", "ada 52, mira 9", ["ada finished in 5:52, 1st"]),
        ("ada 52, mira 9", "ada 52, mira 52", ["You finished in 5:52, 2nd"]),
        ("mira 9, ada 5", "mira 9, ada 5 resigned", ["ada resigned at 5"]),
        ("mira 9, ada 5", "mira 9, ada 5 stuck", ["ada is stuck at 5"]),
        ("mira 9, ada 5", "mira 9 stuck, ada 5", ["You are stuck at 9"]),
        ("ada 46, mira 5", "ada 47, mira 5", ["ada has 5 cards to go"]),
        ("mira 46, ada 5", "mira 47, ada 5", []),
        ("mira 9, ada 5", "mira 9, ada 5 away", ["ada lost the connection"]),
        ("mira 9, ada 5 away", "mira 9, ada 5", ["ada is back"]),
        ("mira 9 away, ada 5", "mira 9, ada 5", []),
        ("mira 9, ada 5 resigned", "mira 9, ada 5 resigned away", []),
        ("mira 0, ada 0 tied", "ada 1, mira 0", ["ada took the lead"]),
        ("mira 3, ada 3 tied", "mira 3, ada 3 tied", []),
    ],
)
def test_news_of_a_change(before: str, after: str, news: list[str]) -> None:
    assert told(before, after) == news


@pytest.mark.parametrize(
    ("kind", "player", "other", "rung"),
    [
        ("finished", "a", "", True),
        ("finished", "m", "", False),
        ("lead", "a", "", True),
        ("lead", "m", "", False),
        ("overtaken", "m", "a", True),
        ("passed", "m", "a", False),
        ("away", "a", "", False),
    ],
)
def test_bell_rings_if_others_finish_lead_or_overtake(kind: NewsKind, player: str, other: str, rung: bool) -> None:
    assert rings([News(1_000, kind, player, other=other)], "m") == rung


def test_first_ranking_is_no_news() -> None:
    assert told("ada 52, mira 9 stuck, june 3 resigned") == []


def test_spectator_gets_news_of_all_players() -> None:
    assert told("ada 3, june 2, mira 1", "june 4, ada 3, mira 1 stuck", me="") == [
        "mira is stuck at 1",
        "june took the lead",
    ]


def test_quick_changes_of_the_lead_are_told_once() -> None:
    changes = ["mira 3, ada 2", "ada 4, mira 3", "mira 5, ada 4", "ada 6, mira 5", "mira 7, ada 6"]
    assert told(*changes, step=QUIET_TIME // 4) == ["ada took the lead"]
    assert told(*changes, *["mira 7, ada 6"] * 4, step=QUIET_TIME // 4) == ["ada took the lead", "You took the lead"]


def test_news_is_bounded() -> None:
    looks = ["mira 3, ada 2", "mira 3, ada 2 away"] * MAX_NEWS
    assert len(told(*looks)) == MAX_NEWS


def test_change_of_place_is_shown_for_a_moment() -> None:
    feed = RaceFeed("m").after(status("ada 3, mira 2"), 1_000).after(status("mira 4, ada 3"), 2_000)
    assert [change.up for player in "ma" if (change := feed.place_change(player, 2_000))] == [True, False]
    assert feed.place_change("m", 2_000 + PLACE_CHANGE_SHOWN) is None


def test_places_before_the_second_scorer_do_not_change() -> None:
    feed = RaceFeed("m").after(status("mira 0, ada 0 tied"), 1_000).after(status("ada 1, mira 0"), 2_000)
    assert feed.place_change("m", 2_000) is None
