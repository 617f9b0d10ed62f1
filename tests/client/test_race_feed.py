from __future__ import annotations

from samedeal.protocol.messages import Seat
from samedeal_client.panels.race_feed import (
    MAX_NEWS,
    QUIET_TIME,
    News,
    RaceFeed,
    RankedPlayer,
)
from samedeal_client.panels.race_news import news_text, rings
from samedeal_client.text.appearance import Look
from tests.golden.golden_files import assert_answers

SEATS = {
    player: Seat(player=player, name=name, seat=1)
    for player, name in (("m", "mira"), ("a", "ada"), ("j", "june"), ("b", "bo"))
}


def status(text: str) -> list[RankedPlayer]:
    """A ranking written as ``ada 5, mira 3 stuck``, by the first letters of the names, with ties on equal counts."""
    racers: list[RankedPlayer] = []
    for place, line in enumerate(text.split(", "), 1):
        name, cards, *more = line.split()
        shared = bool(racers) and racers[-1].foundation_cards == int(cards) and "tied" in more
        racers.append(
            RankedPlayer(
                player=name[0],
                place=racers[-1].place if shared else place,
                name=name,
                foundation_cards=int(cards),
                total=52,
                time=352_000 if int(cards) == 52 else 0,
                resigned="resigned" in more,
                stuck="stuck" in more,
                connected="away" not in more,
            )
        )
    return racers


def told(*rankings: str, me: str = "m", step: int = QUIET_TIME) -> tuple[News, ...]:
    """The news after a look at each ranking, ``step`` milliseconds apart."""
    feed = RaceFeed(me)
    for number, ranking in enumerate(rankings, 1):
        feed = feed.after(status(ranking), number * step + 1_000_000)
    return feed.news


def test_wording_of_news() -> None:
    def told_between(heading: str, question: str) -> str:
        me = "" if heading == "For a spectator" else "m"
        news = told(*question.split("; then "), me=me)
        bell = " (with the bell)" * rings(news, me)
        return ", ".join(news_text(each, SEATS, me, Look()) for each in news) + bell or "(nothing)"

    assert_answers("news", told_between)


def test_quick_changes_of_the_lead_are_told_once() -> None:
    changes = ["mira 8, ada 7", "ada 9, mira 8", "mira 10, ada 9", "ada 11, mira 10", "mira 12, ada 11"]
    (lead,) = told(*changes, step=QUIET_TIME // 4)
    assert (lead.kind, lead.player) == ("lead", "a")
    leads = told(*changes, *["mira 12, ada 11"] * 4, step=QUIET_TIME // 4)
    assert [(event.kind, event.player) for event in leads] == [("lead", "a"), ("lead", "m")]


def test_news_is_bounded() -> None:
    looks = ["mira 8, ada 7", "mira 8, ada 7 away"] * MAX_NEWS
    assert len(told(*looks)) == MAX_NEWS
