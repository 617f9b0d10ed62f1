"""The results of a race, as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from samedeal_client.panels.earlier import earlier_rows
from samedeal_client.panels.outcome import headline, personal_best, rematch_wish, why_over
from samedeal_client.panels.plot import Curve, top_of_plot
from samedeal_client.panels.series import rematch_name, series_rows
from samedeal_client.panels.tide import tide_title
from samedeal_client.panels.verdict import VERDICT_STYLES, verdict_lines
from samedeal_client.text.appearance import Look
from samedeal_client.text.draw_wording import words_text
from samedeal_client.text.share_text import bar_text, share_text
from samedeal_client.text.spans import Row, Span, wrap
from samedeal_link.model.model import Model


@dataclass(frozen=True)
class ResultDetails:
    """Details of the results that are not in the model.

    ``record_text`` says why the record was not saved, or is empty. ``best`` is the player's best time in this game
    before this race, in milliseconds, or None if there is none. ``curves`` are those of the record.
    """

    record_text: str = ""
    best: int | None = None
    curves: Sequence[Curve] = ()


def rematch_does(model: Model) -> str:
    """Return the effect of the rematch key."""
    name = rematch_name(model.this_room)
    if model.seat is None:
        return f"watch the {name}"
    return f"join the {name}" if model.this_room.next else name


def race_length(model: Model) -> int:
    """Return the length of the race in milliseconds.

    If the server has not sent the time of the end, return the time from the start to the latest action that is known.
    """
    room = model.this_room
    if room.finished_at and not room.window:
        return max(room.finished_at - room.starts, 0)
    times = [line.time for line in room.standings]
    times += [tally.acted_at - model.began_at(player) for player, tally in model.tallies.items()]
    return max(0, *times) if times else 0


def headline_rows(model: Model, details: ResultDetails, look: Look, width: int) -> tuple[Row, ...]:
    """Return the player's result, the reason why the race is over, and the time against the player's best time.

    Return no rows outside a room.
    """
    room = model.this_room
    own = model.standing
    won = own is not None and own.place == 1 and not own.resigned and model.racers > 1
    sentences = [(headline(room.standings, model.me, model.game.cards, look), "good title" if won else "title")]
    if why := why_over(room):
        sentences.append((why, "notice"))
    if own is not None and own.time:
        sentences.append((personal_best(own.time, details.best, model.game.title), "label"))
    return tuple(
        (Span(f"{look.glyphs.star if style == 'good title' else ' '} ", style), Span(line, style))
        for text, style in sentences
        for line in wrap(text, width - 2)
    )


def plot_maximum(model: Model) -> int:
    """Return the number of cards at the top of the plot."""
    best = max((line.foundation_cards for line in model.this_room.standings), default=0)
    return top_of_plot(best, model.game.cards)


def closing_rows(model: Model, details: ResultDetails, look: Look) -> tuple[Row, ...]:
    """Return sentences about the series, the check of the race, the file with the record, and the words of the deal."""
    rows: list[Row] = [*series_rows(model.this_room, model.me, look), ()] if model.this_room.table else []
    if earlier := earlier_rows(model, look):
        rows += [*earlier, ()]
    style = VERDICT_STYLES[model.verdict.kind] if model.verdict else "label"
    rows += ((Span(line, style),) for line in verdict_lines(model))
    if details.record_text:
        rows.append((Span(look.displayable(details.record_text), "label"),))
    if words := words_text(model.deal_words):
        rows.append((Span(words, "label"),))
    return tuple(rows)


def shared_result(model: Model, details: ResultDetails, page: Callable[[str], str] | None) -> str:
    """Return the player's result as a text to send to others, or an empty text if the player has none.

    ``page`` returns the link to a path of the server's page. It is None if the server has no page.
    """
    room = model.this_room
    own = model.standing
    if own is None or not own.place:
        return ""
    cards = model.game.cards
    progress = next((curve.points for curve in details.curves if curve.name == own.name), ())
    bar = bar_text(progress, own.time or race_length(model), cards)
    link = page(f"replay?race={room.room}") if page else ""
    return share_text((room.game, room.deal, cards), own, model.racers, bar, link, tide_title(room.tide))


def rematch_text(model: Model, look: Look) -> str:
    """Return a sentence about the rematch and its key, or an empty text if there is no rematch yet."""
    room = model.this_room
    return f"{rematch_wish(room, model.me, look)} Press m to join it." if room.next else ""
