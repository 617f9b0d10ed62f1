"""The results of a race."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from samedeal.deal import Deal
from samedeal_client.state.deal_verification import verify_deal
from samedeal_client.state.model import Model
from samedeal_client.state.progress_history import ProgressHistory
from samedeal_client.text.appearance import Look
from samedeal_client.text.player_names import player_name
from samedeal_client.text.spans import Span, wrap
from samedeal_client.views.final_standings import standings_rows
from samedeal_client.views.outcome import headline, personal_best, why_over
from samedeal_client.views.plot import Curve, cards_plot
from samedeal_client.views.screen_body import ClickableText, FooterKey, Page, View

StyledSentence = tuple[str, str, str]
"""A sentence, its style and the action of a click on it."""

_MAX_NAMED: Final = 4
_MIN_PLOT: Final = 7
_MAX_PLOT: Final = 24
_ROOMY: Final = 28
"""Minimum rows of a page with space around the headline."""


@dataclass(frozen=True)
class ResultDetails:
    """Details of the results that are not in the model.

    ``record_text`` says where the record was saved, or why there is none. ``rematch_players`` is the number of players in
    the room of the rematch, None while unknown. ``own_progress`` is this player's progress according to the record.
    ``best`` is the player's best time in this game before this race, in milliseconds, or None if there is none.
    """

    record_text: str = ""
    rematch_players: int | None = None
    own_progress: tuple[tuple[int, int], ...] = ()
    best: int | None = None


def results_keys(model: Model) -> tuple[FooterKey, ...]:
    """The keys in force, with the deals that they lead to."""
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
    same_deal = (FooterKey("a", f"{deal} again"),) if deal.public else ()
    return (
        FooterKey("m", rematch),
        FooterKey("n", "new room: random"),
        *same_deal,
        FooterKey("r", "rules"),
        FooterKey("f1", "help"),
        FooterKey("escape", "lobby"),
    )


def race_length(model: Model) -> int:
    """The length of the race in milliseconds. A server that does not tell it is assumed to end with the last event."""
    room = model.room
    if room is None:
        return 0
    if room.finished_at:
        return max(room.finished_at - room.starts, 0)
    times = [line.time for line in room.standings]
    times += [tally.last_action_at - room.starts for tally in model.tallies.values()]
    times += [point.time - room.starts for series in model.history.values() for point in series.points[-1:]]
    return max(0, *times) if times else 0


def results_view(model: Model, details: ResultDetails, look: Look, width: int, height: int, scroll: int = 0) -> View:
    """The results. Empty outside a finished race."""
    page = Page(look, width)
    room = model.room
    if room is None:
        return page.view(height)
    _add_headline(page, model, details, roomy=height >= _ROOMY)
    page.add_rows(standings_rows(room.standings, model.game.cards, look, width, model.me))
    drawn, left_out = progress_curves(model, details, look)
    sentences = [*_missing_curves_sentences(drawn, left_out), *_closing_sentences(model, details, look)]
    below = 1 + sum(len(_wrap_breaking_words(text, width - 2)) for text, _, _ in sentences)
    plot = max(_MIN_PLOT, min(height - page.height - below - 1, _MAX_PLOT))
    plot -= (plot - _MIN_PLOT) % 4  # so that a quarter, a half and three quarters get a row
    page.add_blank()
    if drawn:
        page.add_rows(cards_plot(drawn, _plot_maximum(model), race_length(model), width, plot, look))
        page.add_blank()
    for text, style, does in sentences:
        for line in _wrap_breaking_words(text, width - 2):
            page.add_row(Span(" "), ClickableText(line, style, does) if does else Span(line, style))
    return page.view(height, scroll)


def _add_headline(page: Page, model: Model, details: ResultDetails, *, roomy: bool) -> None:
    """Add the player's result and the time against the player's best."""
    room = model.room
    if room is None:
        return
    own = next((line for line in room.standings if line.player == model.me), None)
    won = own is not None and own.place == 1 and len(room.standings) > 1
    star = page.look.glyphs.star
    sentences = [(headline(room.standings, model.me, model.game.cards, page.look), "good title" if won else "title")]
    if why := why_over(room):
        sentences.append((why, "notice"))
    if own is not None and own.time:
        sentences.append((personal_best(own.time, details.best, model.game.title), "label"))
    if roomy:
        page.add_blank()
    for text, style in sentences:
        for line in wrap(text, page.width - 4):
            signed = style == "good title"
            page.add_row(Span(f" {star if signed else ' '} ", style), Span(line, style))
    if roomy:
        page.add_rule()


def _plot_maximum(model: Model) -> int:
    """The number of cards at the top of the plot: all cards, or a round number above the best result if that is low."""
    best = max((line.foundation_cards for line in model.room.standings), default=0) if model.room else 0
    return min(model.game.cards, max(8, -(-best // 4) * 4))


def progress_curves(model: Model, details: ResultDetails, look: Look) -> tuple[list[Curve], list[str]]:
    """Cards on the foundations over time: this player's curve first, then the others by place.

    Players who are known for less than half of the race have no curve. The second list names them.
    """
    room = model.room
    if room is None:
        return [], []
    length = race_length(model)
    drawn, left_out = [], []
    for line in sorted(room.standings, key=lambda line: line.player != model.me):
        if line.player == model.me and details.own_progress:
            curve = Curve(line.name, details.own_progress, bot=line.bot)
        else:
            series = model.history.get(line.player, ProgressHistory())
            curve = Curve(
                line.name, series.foundation_cards(room.starts), series.missed_since(room.starts), bot=line.bot
            )
        known = 2 * curve.known(length) >= length and (curve.points or not line.foundation_cards)
        if known:
            drawn.append(curve)
        else:
            left_out.append(player_name(curve.name, look, bot=curve.bot))
    return drawn, left_out


def _missing_curves_sentences(drawn: Sequence[Curve], left_out: Sequence[str]) -> list[StyledSentence]:
    """Which curves are missing or incomplete, and why."""
    if not drawn:
        return [("There is no plot, because you entered this room after the race.", "label", "")]
    if left_out:
        names = ", ".join(left_out[:_MAX_NAMED]) + (" and others" if len(left_out) > _MAX_NAMED else "")
        return [(f"No curve, because you were away for most of the race: {names}.", "label", "")]
    if any(curve.missed for curve in drawn):
        return [("Curves have gaps where you were away.", "label", "")]
    return []


def _closing_sentences(model: Model, details: ResultDetails, look: Look) -> list[StyledSentence]:
    """The deal check, the place of the record and the rematch."""
    room = model.room
    if room is None:
        return []
    sentences: list[StyledSentence] = []
    checked = verify_deal(model)
    if checked is not None:
        sentences.append((checked.sentence, "good" if checked.holds else "bad", ""))
    if details.record_text:
        sentences.append((look.displayable(details.record_text), "label", ""))
    if room.next:
        players = (
            ""
            if details.rematch_players is None
            else f" with {details.rematch_players} player{'s' if details.rematch_players != 1 else ''} so far"
        )
        sentences.append((f"The rematch is in room {room.next}{players}. Press m to join it.", "notice", "rematch"))
    return sentences


def _wrap_breaking_words(text: str, width: int) -> list[str]:
    """A wrapped text. Words wider than a line, such as long paths, are broken."""
    pieces = [word[start : start + width] for word in text.split() for start in range(0, len(word), width)]
    return wrap(" ".join(pieces), width)
