"""How a finished race looks: the standings, cards up over time, whether the deal was as promised, and what comes next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from samedeal.deal import Deal
from samedeal_client.rooms.model import Model
from samedeal_client.rooms.proof import proof
from samedeal_client.rooms.series import Series
from samedeal_client.text.look import Look
from samedeal_client.text.spans import Span, wrap
from samedeal_client.views.page import KeyWord, Link, Page, View
from samedeal_client.views.panel import standings_lines
from samedeal_client.views.plot import Curve, cards_plot

Sentence = tuple[str, str, str]
"""A sentence, its style, and what a click on it does."""

_MOST_NAMED: Final = 4
_LEAST_PLOT: Final = 7
_MOST_PLOT: Final = 16


@dataclass(frozen=True)
class Aftermath:
    """What is known beside the model.

    ``saved`` says where the record is, or why there is none; ``there`` how many players the room of the rematch has, None
    while that is not known; ``climb`` are one's own cards up over time by the record, as ``series.climb`` has them.
    """

    saved: str = ""
    there: int | None = None
    climb: tuple[tuple[int, int], ...] = ()


def results_keys(model: Model) -> tuple[KeyWord, ...]:
    """The keys that do something now, and on which deals."""
    room = model.room
    if room is None:
        return ()
    deal = Deal.parse(room.deal)
    if model.seat is None:
        rematch = "watch the rematch"
    elif room.next:
        rematch = "join the rematch"
    else:
        rematch = f"rematch: #{deal.number + 1}" if deal.kind == "number" else "rematch: random deal"
    again = (KeyWord("a", f"{deal} again"),) if deal.public else ()
    return (
        KeyWord("m", rematch),
        KeyWord("n", "new room: random"),
        *again,
        KeyWord("r", "rules"),
        KeyWord("f1", "help"),
        KeyWord("escape", "lobby"),
    )


def race_length(model: Model) -> int:
    """How long the race went on, in milliseconds: to the last thing that is known to have happened in it."""
    room = model.room
    if room is None:
        return 0
    times = [line.time for line in room.standings]
    times += [tally.active - room.starts for tally in model.tallies.values()]
    times += [point.at - room.starts for series in model.series.values() for point in series.points[-1:]]
    return max(0, *times) if times else 0


def results_view(model: Model, after: Aftermath, look: Look, width: int, height: int, scroll: int = 0) -> View:
    """The results; empty outside a finished race."""
    page = Page(look, width)
    page.rule()
    room = model.room
    if room is None:
        return page.view(height)
    page.rows(standings_lines(room.standings, model.game.cards, look, width, model.me))
    drawn, left_out = curves(model, after, look)
    words = [*_left_out(drawn, left_out), *_words(model, after, look)]
    below = 1 + sum(len(_folded(text, width - 2)) for text, _, _ in words)
    plot = max(_LEAST_PLOT, min(height - page.height - below - 1, _MOST_PLOT))
    plot -= (plot - _LEAST_PLOT) % 4  # so that there are rows for a quarter, a half and three quarters
    page.blank()
    if drawn:
        page.rows(cards_plot(drawn, _scale(model), race_length(model), width, plot, look))
        page.blank()
    for text, style, does in words:
        for line in _folded(text, width - 2):
            page.add(Span(" "), Link(line, style, does) if does else Span(line, style))
    return page.view(height, scroll)


def _scale(model: Model) -> int:
    """The cards up at the top of the plot: all of them, or where nobody came far a rounder number over the best."""
    most = max((line.up for line in model.room.standings), default=0) if model.room else 0
    return min(model.game.cards, max(8, -(-most // 4) * 4))


def curves(model: Model, after: Aftermath, look: Look) -> tuple[list[Curve], list[str]]:
    """Cards up over time, one's own first, then those of the others from the first place on.

    Who is known for less than half of the race has no curve, but is named in the second list.
    """
    room = model.room
    if room is None:
        return [], []
    length = race_length(model)
    drawn, left_out = [], []
    for line in sorted(room.standings, key=lambda line: line.player != model.me):
        if line.player == model.me and after.climb:
            curve = Curve(look.says(line.name), after.climb)
        else:
            series = model.series.get(line.player, Series())
            curve = Curve(look.says(line.name), series.cards_up(room.starts), series.missed_since(room.starts))
        known = 2 * curve.known(length) >= length and (curve.points or not line.up)
        if known:
            drawn.append(curve)
        else:
            left_out.append(curve.name)
    return drawn, left_out


def _left_out(drawn: Sequence[Curve], left_out: Sequence[str]) -> list[Sentence]:
    """What the plot doesn't show, and why."""
    if not drawn:
        return [("How the cards went up over time is not known here: you came to this room after it.", "label", "")]
    if left_out:
        names = ", ".join(left_out[:_MOST_NAMED]) + (" and others" if len(left_out) > _MOST_NAMED else "")
        return [(f"Not drawn, as how they got on while you were away is not known here: {names}.", "label", "")]
    if any(curve.missed for curve in drawn):
        return [("Where a line is missing you were away: how it went there is not known here.", "label", "")]
    return []


def _words(model: Model, after: Aftermath, look: Look) -> list[Sentence]:
    """The sentences below."""
    room = model.room
    if room is None:
        return []
    words: list[Sentence] = []
    checked = proof(model)
    if checked is not None:
        words.append((f"{checked.sentence}.", "good" if checked.holds else "bad", ""))
    if after.saved:
        words.append((look.says(after.saved), "label", ""))
    if room.next:
        there = "" if after.there is None else f" with {after.there} player{'s' if after.there != 1 else ''} so far"
        words.append((f"The rematch is in room {room.next}{there}: m goes there.", "notice", "rematch"))
    return words


def _folded(text: str, width: int) -> list[str]:
    """A text in lines; words that are wider than one, as paths can be, go on in the next."""
    pieces = [word[at : at + width] for word in text.split() for at in range(0, len(word), width)]
    return wrap(" ".join(pieces), width)
