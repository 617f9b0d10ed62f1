"""The output of ``samedeal admin``."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from textwrap import wrap
from typing import Final

from samedeal.protocol.admin import BanLine, Phases, ReportLine, RoomShown, Survey
from samedeal.terminal_text import columns_of, printable
from samedeal_client.text.appearance import Look
from samedeal_client.text.option_wording import title_of
from samedeal_client.text.spans import Row, Span, counted, fit, table_lines
from samedeal_client.text.time_text import clock_text

SILENT_AFTER: Final = 5_000
"""Time, in milliseconds, without a heartbeat after which a node is shown as silent."""

_UNITS: Final = ((86_400, "d"), (3_600, "h"), (60, "m"))
_WIDEST_NODE: Final = 40
_MAX_PROBLEM: Final = 1000
"""Maximum width, in columns, of the text about a problem of Redis."""


def age_text(ms: int) -> str:
    """Return a duration in its largest unit: ``3d``, ``5h``, ``12m``, ``7s``."""
    seconds = max(ms, 0) // 1000
    return next((f"{seconds // unit}{name}" for unit, name in _UNITS if seconds >= unit), f"{seconds}s")


def size_text(number: int) -> str:
    """Return a number of bytes: ``812 B``, ``14.2 kB``, ``3.1 MB``."""
    value, unit = float(number), "B"
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if value < 1000 or unit == "TB":
            break
        value /= 1000
    return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"


def time_text(time: int) -> str:
    """Return a time, given in milliseconds since 1970, as ``2026-11-21 19:03 UTC``."""
    return f"{datetime.datetime.fromtimestamp(time / 1000, datetime.UTC):%Y-%m-%d %H:%M} UTC"


def survey_rows(survey: Survey, look: Look, width: int) -> list[Row]:
    """Return the state of the server as rows: totals, rooms, Redis, and a row for each node."""
    return [*_totals(survey, width), (), *_nodes(survey, look, width)]


def _totals(survey: Survey, width: int) -> list[Row]:
    nodes, phases, redis = survey.nodes, survey.phases, survey.redis
    rooms = phases.open + phases.countdown + phases.racing + phases.finished
    counts = (
        ("nodes", len(nodes)),
        ("connections", sum(line.connections for line in nodes)),
        ("players", sum(line.players for line in nodes)),
        ("watching", sum(line.spectator_count for line in nodes)),
        ("moves/s", f"{sum(line.moves for line in nodes):.1f}"),
    )
    states = f"{phases.open} open, {phases.countdown} in countdown, {phases.racing} racing, {phases.finished} finished"
    answers = f"answers in {redis.latency:.1f} ms, {size_text(redis.memory)}, {redis.clients} clients"
    return [
        tuple(span for name, count in counts for span in (Span(f"{name} ", "label"), Span(f"{count}   ", "count"))),
        (Span("rooms ", "label"), Span(f"{rooms}", "count"), Span(f": {states}")),
        *_windows(phases),
        *_other_versions(phases.other_version, {line.version for line in nodes}, width),
        (
            Span("Redis ", "label"),
            Span(printable(redis.version, 20), "count"),
            Span(f": {answers}, {redis.commands} commands/s"),
        ),
        *((Span(line, "bad"),) for line in wrap(printable(redis.problem, _MAX_PROBLEM), width)),
    ]


def _windows(phases: Phases) -> list[Row]:
    """Return for what to wait before a release with another engine, which could not go on with these races."""
    if not phases.windows:
        return []
    closes = f": the last one closes {time_text(phases.last_closes)}"
    return [(Span("windows ", "label"), Span(f"{phases.windows}", "count"), Span(closes))]


def _other_versions(rooms: int, versions: set[str], width: int) -> list[Row]:
    """Return what still runs after an upgrade: rooms of another version, and nodes of several."""
    sentences = []
    if rooms:
        sentences.append(
            f"{counted(rooms, 'room')} of another version cannot be served by the node that answers. Their players need "
            "a node of that version."
        )
    if len(versions) > 1:
        sentences.append(f"The nodes run {printable(', '.join(sorted(versions)), 200)}.")
    return [(Span(line, "notice"),) for sentence in sentences for line in wrap(sentence, width)]


def _nodes(survey: Survey, look: Look, width: int) -> list[Row]:
    columns = ("age", "conns", "players", "watch", "rooms", "moves/s", "ack p50/p99", "cpu", "memory")
    widths = (4, 6, 7, 5, 5, 7, 11, 4, 8)
    longest = max((columns_of(line.node) for line in survey.nodes), default=0)
    name = max(8, min(longest, _WIDEST_NODE, width - sum(widths) - len(widths)))
    head = " ".join((fit("node", name), *(title.rjust(each) for title, each in zip(columns, widths, strict=True))))
    rows: list[Row] = [(Span(head.rstrip(), "label"),)]
    for line in survey.nodes:
        silent = survey.time - line.last_seen
        acks = f"{line.median:g}/{line.p99:g} ms" if line.moves else look.glyphs.dash
        cells = (
            age_text(survey.time - line.started),
            str(line.connections),
            str(line.players),
            str(line.spectator_count),
            str(line.rooms),
            f"{line.moves:.1f}",
            acks,
            f"{100 * line.load:.0f}%",
            size_text(line.memory),
        )
        figures = " ".join(cell.rjust(each) for cell, each in zip(cells, widths, strict=True))
        style = "bad" if silent > SILENT_AFTER else "notice" if line.draining else ""
        rows.append(
            (
                Span(_shorten_start(look.displayable(printable(line.node)), name, look), style or "name"),
                Span(f" {figures}", style),
            )
        )
        if silent > SILENT_AFTER:
            rows.append((Span(f"  no heartbeat for {age_text(silent)}", "bad"),))
        elif line.draining:
            rows.append((Span("  draining", "notice"),))
    return rows


def _shorten_start(text: str, width: int, look: Look) -> str:
    """Return a name in ``width`` columns. A long name keeps its end, which distinguishes the nodes of one machine."""
    if columns_of(text) <= width:
        return fit(text, width)
    while columns_of(text) > width - 1:
        text = text[1:]
    return fit(look.glyphs.ellipsis + text, width)


def room_rows(shown: RoomShown, now: int, look: Look) -> list[Row]:
    """Return a room as rows, with a row for each player."""
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
        rows.append((Span("time left ", "label"), Span(left)))
    rows += [(Span("watching ", "label"), Span(str(state.spectator_count))), ()]
    whereabouts = {entry.player: entry for entry in shown.whereabouts}
    tallies = {tally.player: tally for tally in state.tallies}
    rows.append((Span("seat name                 player       foundations moves undos  address", "label"),))
    for seat in state.players:
        tally, location = tallies.get(seat.player), whereabouts.get(seat.player)
        counts = f"{tally.foundation_cards:>11} {tally.moves:>5} {tally.undos:>5}" if tally else " " * 23
        origin = f"{printable(location.address)} on {printable(location.node)}" if location else "?"
        marks = [mark for mark, has in (("host", seat.player == state.host), ("resigned", seat.resigned)) if has]
        if tally is not None and not tally.connected:
            marks.append("away")
        if tally is not None and tally.finished_at:
            marks.append("finished")
        if seat.bot:
            marks.append("bot")
        if seat.shown:
            marks.append(f"shown as {printable(seat.shown)}")
        name = fit(look.displayable(printable(seat.name)), 20)
        told = f"{seat.seat:>4} {name} {printable(seat.player):<20} {counts}  {origin}"
        rows.append((Span(told), Span(f"  {', '.join(marks)}" if marks else "", "notice")))
    return rows


def report_rows(reports: Sequence[ReportLine], look: Look) -> list[Row]:
    """Return the reports, one row for each."""
    lines = []
    for each in reports:
        name = look.displayable(printable(each.name)) if each.player else "(the room)"
        lines.append(
            (time_text(each.time), printable(each.room), name, printable(each.player), printable(each.reporter))
        )
    return _table(("time", "room", "name", "player", "reporter"), lines)


def ban_rows(bans: Sequence[BanLine]) -> list[Row]:
    """Return the bans, one row for each."""
    lines = [
        (printable(ban.target), time_text(ban.until) if ban.until else "unbanned", printable(ban.reason))
        for ban in bans
    ]
    return _table(("target", "until", "reason"), lines)


def _table(headings: Sequence[str], lines: Sequence[Sequence[str]]) -> list[Row]:
    return [(Span(line, "" if at else "label"),) for at, line in enumerate(table_lines(headings, lines))]
