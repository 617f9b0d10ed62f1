"""How a finished race looks: the standings, cards up over time, whether the deal was as promised, and what comes next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from samedeal_client.rooms.model import Model
from samedeal_client.rooms.proof import proof
from samedeal_client.rooms.series import Series
from samedeal_client.text.look import Look
from samedeal_client.text.spans import Span, wrap
from samedeal_client.views.page import KeyWord, Link, Page, View
from samedeal_client.views.panel import standings_lines
from samedeal_client.views.plot import Curve, cards_plot

_LEAST_PLOT: Final = 7
_MOST_PLOT: Final = 16


@dataclass(frozen=True)
class Aftermath:
    """What is known beside the model.

    ``saved`` says where the record is, or why there is none; ``there`` how many players the room of the rematch has, None
    while that is not known.
    """

    saved: str = ""
    there: int | None = None


def results_keys(model: Model) -> tuple[KeyWord, ...]:
    """The keys that do something now."""
    follow = "join the rematch" if model.room is not None and model.room.next else "rematch"
    keys = [KeyWord("m", follow if model.seat is not None else "watch the rematch")]
    return (
        *keys,
        KeyWord("n", "same game, new deal"),
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
    words = _words(model, after, look)
    below = 1 + sum(len(_folded(text, width - 2)) for text, _, _ in words)
    plot = max(_LEAST_PLOT, min(height - page.height - below - 1, _MOST_PLOT))
    plot -= (plot - _LEAST_PLOT) % 4  # so that there are rows for a quarter, a half and three quarters
    page.blank()
    page.rows(cards_plot(curves(model, look), _scale(model), race_length(model), width, plot, look))
    page.blank()
    for text, style, does in words:
        for line in _folded(text, width - 2):
            page.add(Span(" "), Link(line, style, does) if does else Span(line, style))
    return page.view(height, scroll)


def _scale(model: Model) -> int:
    """The cards up at the top of the plot: all of them, or where nobody came far a rounder number over the best."""
    most = max((line.up for line in model.room.standings), default=0) if model.room else 0
    return min(model.game.cards, max(8, -(-most // 4) * 4))


def curves(model: Model, look: Look) -> tuple[Curve, ...]:
    """Cards up over time, one's own first, then those of the others from the first place on."""
    room = model.room
    if room is None:
        return ()
    order = sorted(room.standings, key=lambda line: line.player != model.me)
    return tuple(
        Curve(look.says(line.name), model.series.get(line.player, Series()).cards_up(room.starts)) for line in order
    )


def _words(model: Model, after: Aftermath, look: Look) -> list[tuple[str, str, str]]:
    """The sentences below: each with its style and what a click on it does."""
    room = model.room
    words = []
    checked = proof(model)
    if checked is not None:
        words.append((f"{checked.sentence}.", "good" if checked.holds else "bad", ""))
    if after.saved:
        words.append((look.says(after.saved), "label", ""))
    if room is not None and room.next:
        there = "" if after.there is None else f" with {after.there} player{'s' if after.there != 1 else ''} so far"
        words.append((f"The rematch is in room {room.next}{there}: m goes there.", "notice", "rematch"))
    return words


def _folded(text: str, width: int) -> list[str]:
    """A text in lines; words that are wider than one, as paths can be, go on in the next."""
    pieces = [word[at : at + width] for word in text.split() for at in range(0, len(word), width)]
    return wrap(" ".join(pieces), width)
