"""What an operator is shown of a server, pure: rows, and the screen of ``samedeal admin top``."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Final

from samedeal.names import columns_of, printable
from samedeal.protocol.admin import BanLine, RoomShown, Survey
from samedeal_client.text.look import Look
from samedeal_client.text.spans import Row, Span, cut, fit, fit_row
from samedeal_client.text.words import title_of
from samedeal_client.views.panel import clock_text, sparkline

SILENT_AFTER: Final = 5_000
"""Milliseconds after which a node that has not been heard of is marked."""

_UNITS: Final = ((86_400, "d"), (3_600, "h"), (60, "m"))
_WIDEST_NODE: Final = 40


def age(ms: int) -> str:
    """A time that has passed, in its largest unit: ``3d``, ``5h``, ``12m``, ``7s``."""
    seconds = max(ms, 0) // 1000
    return next((f"{seconds // unit}{name}" for unit, name in _UNITS if seconds >= unit), f"{seconds}s")


def size(number: int) -> str:
    """A number of bytes: ``812 B``, ``14.2 kB``, ``3.1 MB``."""
    value, unit = float(number), "B"
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if value < 1000 or unit == "TB":
            break
        value /= 1000
    return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"


def moment(time: int) -> str:
    """A time as ``2026-11-21 19:03 UTC``."""
    return f"{datetime.datetime.fromtimestamp(time / 1000, datetime.UTC):%Y-%m-%d %H:%M} UTC"


# ---------------------------------------------------------------- all nodes


def survey_rows(survey: Survey, look: Look, width: int) -> list[Row]:
    """How all nodes fare: the sums, the rooms, Redis, and a line for each node."""
    return [*_sums(survey), (), *_nodes(survey, look, width)]


def _sums(survey: Survey) -> list[Row]:
    nodes, phases, redis = survey.nodes, survey.phases, survey.redis
    rooms = phases.open + phases.countdown + phases.racing + phases.finished
    counts = (
        ("nodes", len(nodes)),
        ("connections", sum(line.connections for line in nodes)),
        ("players", sum(line.players for line in nodes)),
        ("watching", sum(line.watching for line in nodes)),
        ("moves/s", f"{sum(line.moves for line in nodes):.1f}"),
    )
    states = f"{phases.open} open, {phases.countdown} in countdown, {phases.racing} racing, {phases.finished} finished"
    answers = f"answers in {redis.answer:.1f} ms, {size(redis.memory)}, {redis.clients} clients"
    return [
        tuple(span for name, count in counts for span in (Span(f"{name} ", "label"), Span(f"{count}   ", "count"))),
        (Span("rooms ", "label"), Span(f"{rooms}", "count"), Span(f": {states}")),
        (
            Span("Redis ", "label"),
            Span(printable(redis.version, 20), "count"),
            Span(f": {answers}, {redis.commands} commands/s"),
        ),
    ]


def _nodes(survey: Survey, look: Look, width: int) -> list[Row]:
    columns = ("up", "conns", "players", "watch", "rooms", "moves/s", "ack ms", "cpu", "memory")
    widths = (4, 6, 7, 5, 5, 7, 9, 4, 8)
    longest = max((columns_of(line.node) for line in survey.nodes), default=0)
    name = max(8, min(longest, _WIDEST_NODE, width - sum(widths) - len(widths)))
    head = " ".join((fit("node", name), *(title.rjust(each) for title, each in zip(columns, widths, strict=True))))
    rows: list[Row] = [(Span(head.rstrip(), "label"),)]
    for line in survey.nodes:
        silent = survey.time - line.heard
        acks = f"{line.typical:g}/{line.slow:g}" if line.moves else look.glyphs.dash
        cells = (
            age(survey.time - line.started),
            str(line.connections),
            str(line.players),
            str(line.watching),
            str(line.rooms),
            f"{line.moves:.1f}",
            acks,
            f"{100 * line.load:.0f}%",
            size(line.memory),
        )
        told = " ".join(cell.rjust(each) for cell, each in zip(cells, widths, strict=True))
        style = "bad" if silent > SILENT_AFTER else "notice" if line.draining else ""
        rows.append((Span(_end(look.says(printable(line.node)), name, look), style or "name"), Span(f" {told}", style)))
        if silent > SILENT_AFTER:
            rows.append((Span(f"  not heard of for {age(silent)}", "bad"),))
        elif line.draining:
            rows.append((Span("  drains", "notice"),))
    return rows


def _end(text: str, width: int, look: Look) -> str:
    """A name in so many columns: of one that is too long the end, which tells nodes of one machine apart."""
    if columns_of(text) <= width:
        return fit(text, width)
    while columns_of(text) > width - 1:
        text = text[1:]
    return fit(look.glyphs.ellipsis + text, width)


def top_rows(survey: Survey, moves: Sequence[float], place: str, look: Look, width: int, height: int) -> list[Row]:
    """The screen of ``top``: as many rows as there are lines. ``moves`` are those a second at each look so far."""
    clock = f"{datetime.datetime.fromtimestamp(survey.time / 1000, datetime.UTC):%H:%M:%S} UTC"
    title = cut(f"samedeal {look.glyphs.dot} {printable(place)}", max(width - len(clock) - 1, 0), look.glyphs.ellipsis)
    rows: list[Row] = [(Span(fit(title, max(width - len(clock), 0)), "title"), Span(clock, "label"))]
    rows += _sums(survey)
    room = max(width - len("moves/s  "), 8)
    busiest = max(1, round(max(moves, default=0)))
    spark = sparkline([round(each) for each in moves[-room:]], look, busiest)
    rows += [(Span("moves/s  ", "label"), Span(spark, "spark")), (), *_nodes(survey, look, width)]
    if len(rows) > height - 1:
        hidden = len(rows) - (height - 2)
        rows = [*rows[: height - 2], (Span(f"and {hidden} more lines: make the window higher", "label"),)]
    rows += [()] * (height - 1 - len(rows))
    rows.append((Span("q", "key"), Span(" quits", "label")))
    return [fit_row(row, width) for row in rows[:height]]


# ---------------------------------------------------------------- a room, and bans


def room_rows(shown: RoomShown, now: int, look: Look) -> list[Row]:
    """A room: what it is, and a line for each player."""
    state = shown.state
    private = ", with a passphrase" if state.private else ""
    rows: list[Row] = [
        (
            Span("room ", "label"),
            Span(printable(state.room), "title"),
            Span(f": {title_of(state.game)}, {printable(state.deal)}, {state.phase}{private}"),
        )
    ]
    if state.starts and state.phase in ("countdown", "racing"):
        left = clock_text(state.ends - max(now, state.starts))
        rows.append((Span("left ", "label"), Span(left)))
    rows += [(Span("watching ", "label"), Span(str(state.watching))), ()]
    where = {each.player: each for each in shown.whereabouts}
    tallies = {tally.player: tally for tally in state.tallies}
    rows.append((Span("seat name                 player         up moves undos  from", "label"),))
    for seat in state.players:
        tally, at = tallies.get(seat.player), where.get(seat.player)
        counts = f"{tally.up:>5} {tally.moves:>5} {tally.undos:>5}" if tally else " " * 17
        origin = f"{printable(at.address)} by {printable(at.node)}" if at else "?"
        marks = [mark for mark, has in (("host", seat.player == state.host), ("out", seat.out)) if has]
        if tally is not None and not tally.connected:
            marks.append("away")
        if tally is not None and tally.home:
            marks.append("home")
        told = (
            f"{seat.seat:>4} {fit(look.says(printable(seat.name)), 20)} {printable(seat.player):<12} {counts}  {origin}"
        )
        rows.append((Span(told), Span(f"  {', '.join(marks)}" if marks else "", "notice")))
    return rows


def ban_rows(bans: Sequence[BanLine]) -> list[Row]:
    """The bans, a line each."""
    rows: list[Row] = [(Span(f"{'who':<39} {'until':<20}  reason", "label"),)]
    rows += [
        (
            Span(
                f"{printable(ban.who):<39} {moment(ban.until) if ban.until else 'for good':<20}  {printable(ban.reason)}"
            ),
        )
        for ban in bans
    ]
    return rows
