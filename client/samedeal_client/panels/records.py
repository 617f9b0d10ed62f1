"""Records as lines of text: a list of records, and the result of checking a record."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from samedeal.deal_proof import DealProof
from samedeal.protocol.messages import RecordLine
from samedeal.record import Record
from samedeal.series import record_standings
from samedeal.utc_text import utc_text
from samedeal.verdict_rows import row_sentence
from samedeal_client.panels.final_standings import standing_lines
from samedeal_client.text.appearance import Look
from samedeal_client.text.draw_wording import LOSSES
from samedeal_client.text.option_wording import deal_title, public_deal_title, title_of
from samedeal_client.text.player_names import player_name
from samedeal_client.text.spans import counted, table_lines
from samedeal_client.text.time_text import short_clock_text
from samedeal_link.evidence.evidence import Evidence
from samedeal_link.evidence.verdict import Verdict
from samedeal_link.model.model import placed


def record_list_lines(records: Iterable[RecordLine], look: Look) -> list[str]:
    """Return a heading, and then one line for each record of a server."""
    lines = []
    for line in records:
        time = short_clock_text(line.time) if line.time else "-"
        winner = player_name(line.winner, look, bot=line.bot)
        cells = (line.race, title_of(line.game), line.deal, str(line.players), winner, time)
        lines.append([look.displayable(cell) for cell in cells])
    return table_lines(("race", "game", "deal", "players", "winner", "time"), lines)


def record_heading(record: Record) -> str:
    """Return a line with the game, the deal, the room and the time of a recorded race."""
    terms = record.terms
    when = utc_text(record.start)[:16].replace("T", " ")
    deal = f"deal {terms.deal}" if public_deal_title(str(terms.deal)) else deal_title(str(terms.deal))
    return f"{record.game.title}, {deal}, room {terms.room}, {when} UTC"


def _deal_lines(proof: DealProof, *, saw_draw: bool, deep: bool) -> list[str]:
    """Return lines that say how the deal of a record was found, and whether somebody could have chosen it.

    ``saw_draw`` says whether a program on this machine took part in the draw and saw all of it, and ``deep`` whether the
    search was repeated.
    """
    if proof.public:
        if proof.public.startswith("again "):
            return ["The deal is that of an earlier race, which the server chose."]
        return ["The deal follows from its name, so nobody chose it if it was that of the day."]
    lines = [f"The deal was drawn by the server and {counted(len(proof.shares), 'player')} together."]
    lines += [f"Draw {lost.draw}: {lost.name} {LOSSES[lost.reason]} and lost the seat." for lost in proof.lost]
    if not saw_draw:
        return [*lines, "Whether somebody chose it, only the evidence of one of its players can tell."]
    seen = "your own program took part in the draw, and saw all promises before it revealed its number."
    return [*lines, f"Nobody chose it: {seen}" if deep else f"Nobody chose it if --deep finds no fault: {seen}"]


def verified_lines(record: Record, known: Sequence[tuple[Evidence, Verdict]], *, deep: bool) -> list[str]:
    """Return lines about a record that was checked without errors, and about its comparison with the player's own evidence.

    ``known`` is that evidence, with the verdict that follows from it and the record.
    ``deep`` is true if the check included the earlier candidates for the deal.
    """
    standings = placed(record_standings(record), record.terms.window)
    lines = [record_heading(record), *standing_lines(standings, record.game.cards, Look()), ""]
    whole = "every move and the standings" if record.is_whole else "every move of the one player in it"
    lines.append(f"The record passed the check: the deal, {whole} follow from each other.")
    if record.proof is not None:
        saw_draw = any(evidence.draws and not found.rows for evidence, found in known)
        lines += _deal_lines(record.proof, saw_draw=saw_draw, deep=deep)
        earlier = (
            "No earlier candidate deal should have been dealt." if deep else "Check earlier candidates with --deep."
        )
        lines.append(earlier)
        if record.deal.difficulty and record.proof.is_of_other_solver:
            lines.append(
                f"Not checked: whether the deal is {record.deal.difficulty}. "
                f"That needs a Samedeal with version {record.proof.terms.solver} of the solver."
            )
    if not known:
        lines.append("There is no evidence of this race on this machine to compare it with.")
    for evidence, found in known:
        agrees = f"It agrees with your own evidence: all {len(evidence.acks)} moves of {evidence.name}."
        lines += [row_sentence(row, detail) for row, detail in found.rows.items()] or [agrees]
    return lines
