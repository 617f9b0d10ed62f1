"""The verdict on a race as lines of text, and a record held against the evidence of this machine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from samedeal.record import Record
from samedeal.verdict_rows import VerdictKind, row_sentence
from samedeal_client.text.appearance import Look
from samedeal_client.text.draw_wording import LOSSES, words_text
from samedeal_client.text.spans import Row, Span, counted, wrap
from samedeal_link.evidence.evidence import Evidence
from samedeal_link.evidence.verdict import RaceReading, Verdict, verdict
from samedeal_link.model.model import Model

VERDICT_STYLES: Final[Mapping[VerdictKind, str]] = {
    "fair": "good",
    "checked": "good",
    "unsure": "notice",
    "wrong": "bad",
}
"""The style of the sentences about the verdict."""

EXIT_CODES: Final[Mapping[VerdictKind, int]] = {"fair": 0, "checked": 0, "unsure": 3, "wrong": 1}
"""The exit code of a program that ends with the race."""


def exit_code(found: Verdict | None) -> int:
    """Return the exit code of a program that ends with a race, whose verdict is None if the race has no results."""
    return EXIT_CODES[found.kind] if found is not None else 0


def verdict_lines(model: Model) -> list[str]:
    """Return the verdict on the finished race, or how far the check has come. There are no lines before the end."""
    found, room = model.verdict, model.room
    if room is None or not room.standings or model.evidence is None:
        return []
    if found is None:
        return [model.checking or "Checking the race."]
    words = f"Result words: {found.words}" if found.words else ""
    return [line for line in (found.sentence, found.clock, words) if line]


def verdict_page(model: Model, look: Look, width: int) -> tuple[Row, ...]:
    """Return everything that was found about the race, in ``width`` columns."""
    evidence, found = model.evidence, model.verdict
    if evidence is None or found is None:
        return tuple((Span(line, "label"),) for line in verdict_lines(model))
    rows: list[Row] = [(Span(line, VERDICT_STYLES[found.kind]),) for line in wrap(found.sentence, width)]
    for row, detail in found.rows.items():
        style = VERDICT_STYLES[evidence.verdict_of(row)]
        rows += ((Span(line, style),) for line in wrap(row_sentence(row, detail), width))
    moves, boards, counts = len(evidence.acks), len(evidence.dealt), sum(map(len, evidence.counts.values()))
    kept = f"{counted(moves, 'move')} of yours, {counted(boards, 'board')} and {counted(counts, 'count')} of others"
    seen = [
        f"Compared with the record: {kept}.",
        *(f"Draw {lost.draw}: {lost.name} {LOSSES[lost.reason]} and lost the seat." for lost in evidence.lost),
        found.clock or "The clock: nothing is strange.",
        words_text(evidence.words),
        f"Result words: {found.words}" if found.words else "",
    ]
    for text in filter(None, seen):
        rows += [(), *((Span(look.displayable(line)),) for line in wrap(text, width))]
    return tuple(rows)


def compared(record: Record, known: Iterable[Evidence]) -> list[tuple[Evidence, Verdict]]:
    """Return the evidence of a record's race, each with the verdict that follows from the record alone.

    A record of one player among several was written on this machine. The verdict has no rows about what only a server can
    be asked for.
    """
    return [
        (evidence, _verdict_on(record, evidence)) for evidence in known if record.is_whole and _is_of(record, evidence)
    ]


def _is_of(record: Record, evidence: Evidence) -> bool:
    """Return whether evidence is of a record's race, whose start the player saw.

    Races on the same public deal have the same commitment.
    """
    is_same = evidence.start == record.start or (
        evidence.commitment == record.commitment and not record.terms.deal.public
    )
    is_own = evidence.role == "player" and evidence.begun is not None and not evidence.is_out
    return is_own and evidence.room == record.terms.room and is_same


def _verdict_on(record: Record, evidence: Evidence) -> Verdict:
    found = verdict(evidence, RaceReading(record))
    rows = {row: detail for row, detail in found.rows.items() if row not in ("no_record", "not_repeated")}
    kinds = {evidence.verdict_of(row) for row in rows}
    return replace(found, kind="wrong" if "wrong" in kinds else "unsure" if rows else "checked", rows=rows)
