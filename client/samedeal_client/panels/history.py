"""Past races in words: a table of races, a summary of each game, and the line to share."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, tzinfo
from typing import Final

from samedeal.terminal_text import columns_of, printable
from samedeal_client.text.appearance import Look
from samedeal_client.text.option_wording import deal_title, title_of
from samedeal_client.text.spans import Row, Span, counted, cut, table_lines
from samedeal_client.text.time_text import local_time, ordinal, short_clock_text
from samedeal_link.records.past_races import History, PastRace, daily_streak, summaries

HEADINGS: Final = ("Date", "Game", "Deal type", "Place", "Result", "Against")
SHORT_HEADINGS: Final = ("Day", "Game", "Place", "Result")
_PADDING: Final = 2
"""Number of blank columns around the text of a table's cell."""
SUMMARY_HEADINGS: Final = ("Game", "Races", "1st place", "Solved", "Best time")


def place_text(race: PastRace) -> str:
    """Return the place in a race, as in ``2nd of 4``.

    Return an empty text if the place is unknown, the player raced alone, or the player resigned without a foundation
    card.
    """
    if race.resigned and not race.foundation_cards:
        return ""
    return f"{ordinal(race.place)} of {race.players}" if race.place and race.players > 1 else ""


def outcome_text(race: PastRace) -> str:
    """Return the result of a race without the place: the time, or the number of cards on the foundations."""
    return short_outcome(race, " cards,").rstrip(",")


def short_outcome(race: PastRace, noun: str = "") -> str:
    """Return the result of a race in as few words as possible, for a table. ``noun`` follows a number of cards."""
    if race.time:
        return short_clock_text(race.time)
    end = "resigned" if race.resigned else "" if race.place else "cut off" if race.cut_off else "left early"
    return f"{_cards_text(race)}{noun} {end}".rstrip()


def _cards_text(race: PastRace) -> str:
    return f"{race.foundation_cards}/{race.cards}" if race.cards else str(race.foundation_cards)


def cut_off_text(history: History) -> str:
    """Return a sentence about the latest race if it ended because the client was stopped, or else an empty string."""
    race = next(iter(history.latest), None)
    if race is None or not race.cut_off:
        return ""
    return f"Your last race ended when its window was closed: {title_of(race.game)}, {_cards_text(race)} cards."


def result_line(race: PastRace) -> str:
    """Return the line to share. It says how the race went, and nothing about the cards."""
    deal = deal_title(race.deal)
    result = ", ".join(filter(None, (place_text(race), outcome_text(race))))
    return f"Samedeal {printable(deal)} {title_of(printable(race.game))}: {result}"


def opponents_text(race: PastRace, look: Look) -> str:
    """Return the names of the other people in a race, and the number of bots."""
    names = [look.displayable(printable(other.name)) for other in race.opponents if not other.bot]
    bots = sum(other.bot for other in race.opponents)
    return ", ".join([*names, *([counted(bots, "bot")] if bots else [])])


def race_cells(race: PastRace, look: Look, zone: tzinfo | None = None) -> tuple[str, ...]:
    """Return a race as a row of a table, in the order of ``HEADINGS``.

    ``zone`` is the time zone, by default the local one.
    """
    cells = (f"{local_time(race.starts, zone):%Y-%m-%d}", title_of(race.game), race.deal.partition(" ")[0])
    return (
        *(look.displayable(printable(cell)) for cell in cells),
        place_text(race),
        short_outcome(race),
        opponents_text(race, look),
    )


def fitted_cells(races: Sequence[PastRace], look: Look, width: int) -> list[tuple[str, ...]]:
    """Return races as rows of a table, in the order of ``HEADINGS``.

    The names of the opponents are cut so that the table is at most ``width`` columns wide.
    """
    rows = [race_cells(race, look) for race in races]
    taken = sum(max(columns_of(line[at]) for line in (HEADINGS, *rows)) + _PADDING for at in range(len(HEADINGS) - 1))
    free = max(width - taken - _PADDING, 0)
    return [(*row[:-1], cut(row[-1], free, look.glyphs.ellipsis)) for row in rows]


def short_cells(race: PastRace, look: Look, zone: tzinfo | None = None) -> tuple[str, ...]:
    """Return a race as a row of a narrow table, in the order of ``SHORT_HEADINGS``."""
    _, game, _, place, outcome, _ = race_cells(race, look, zone)
    return f"{local_time(race.starts, zone):%d %b}", game, place, outcome


def summary_cells(history: History, look: Look) -> list[tuple[str, ...]]:
    """Return the summary of each game as rows of a table, in the order of ``SUMMARY_HEADINGS``."""
    return [
        (
            look.displayable(printable(title_of(game))),
            str(summary.races),
            str(summary.wins),
            str(summary.finished),
            short_clock_text(summary.best) if summary.best else look.glyphs.dash,
        )
        for game, summary in summaries(history.races).items()
    ]


def streak_text(history: History, today: date) -> str:
    """Return the daily streak in words, or an empty string if the player has never raced a daily deal."""
    streak = daily_streak(history.races, today)
    if not streak.longest:
        return ""
    return f"Daily deal: {counted(streak.current, 'day')} in a row (longest: {counted(streak.longest, 'day')})"


def unreadable_text(history: History, file: str) -> str:
    """Return sentences about the lines of the history file that are not shown, or an empty text if all are shown."""
    sentences = []
    if history.newer:
        verb = "race was" if history.newer == 1 else "races were"
        them = "it" if history.newer == 1 else "them"
        sentences.append(f"{history.newer} {verb} saved by a newer version of Samedeal. Update Samedeal to see {them}.")
    if history.damaged:
        sentences.append(
            f"{counted(history.damaged, 'line')} of {file} can't be read. The rest is shown, and nothing was deleted."
        )
    return " ".join(sentences)


def history_rows(
    history: History, look: Look, width: int, streak: str, limit: int, zone: tzinfo | None = None
) -> list[Row]:
    """Return the history in rows of at most ``width`` columns, with at most ``limit`` races.

    ``streak`` is the daily streak in words.
    """
    if not history.races:
        return [(Span("No races yet. Type samedeal play for a race against bots."),)]
    rows = _table(SUMMARY_HEADINGS, summary_cells(history, look), look, width)
    if streak:
        rows += [(), (Span(streak),)]
    shown = history.latest[:limit]
    rows += [(), *_table(HEADINGS, [race_cells(race, look, zone) for race in shown], look, width)]
    if len(history.races) > len(shown):
        left_out = f"{len(history.races) - len(shown)} earlier races are not shown."
        rows.append((Span(f"{left_out} To list all, add --limit {len(history.races)}.", "label"),))
    return [
        *rows,
        (),
        (Span("To share your latest result:", "label"),),
        (Span(look.displayable(result_line(shown[0]))),),
    ]


def _table(headings: tuple[str, ...], lines: list[tuple[str, ...]], look: Look, width: int) -> list[Row]:
    shown = (cut(line, width, look.glyphs.ellipsis) for line in table_lines(headings, lines))
    return [(Span(line, "" if at else "title"),) for at, line in enumerate(shown)]
