"""All worlds of a seed, and what was found in them."""

from __future__ import annotations

import random
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Final, NamedTuple
from unittest.mock import patch

from samedeal.verdict_rows import ROWS
from samedeal_link.evidence import verdict
from samedeal_link.evidence.evidence import Evidence
from samedeal_link.evidence.verdict import RaceReading
from tests.lies.changes import Change, changed, changes
from tests.lies.check import Outcome, disagreements, judged, reveal_problems, untruths
from tests.lies.coherent import CLOCK, CLOCK_OF_WINDOW, HONEST, LIES, UNSEEN
from tests.lies.comparisons import World, Worlds
from tests.lies.page import Page, difference, page_files
from tests.lies.seams import SEAMS
from tests.lies.troubles import TROUBLES, hold_troubled, troubled
from tests.lies.worlds import PLANS, Client, Plan, Server, hold

MOST_HOLES: Final = 400
BATCH: Final = 300
"""Number of worlds that the page judges at once."""

MOST_RETRIES: Final = 60
"""Number of worlds that are tried without a row that no world needed so far."""

MOST_ALIKE: Final = 6
"""Number of worlds of one kind among these."""

Chosen = Callable[[], bool]
Held = Callable[[], Outcome]


class Needed(NamedTuple):
    """The worlds that become fair without a row: their number, and one of them with what is untrue in it."""

    times: int
    example: str


@dataclass
class Findings:
    """What was found: the numbers of worlds by kind and by verdict, holes, and the worlds that only one row turns."""

    worlds: Counter[str] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)
    holes: list[str] = field(default_factory=list)
    needed: dict[str, Needed] = field(default_factory=dict)
    seen: Counter[str] = field(default_factory=Counter)
    judged: list[World] = field(default_factory=list)

    def add(self, other: Findings) -> None:
        self.worlds.update(other.worlds)
        self.verdicts.update(other.verdicts)
        self.seen.update(other.seen)
        self.holes += other.holes
        self.judged += other.judged
        for row, (times, example) in other.needed.items():
            self.need(row, example, times)

    def need(self, row: str, example: str, times: int = 1) -> None:
        before = self.needed.get(row, Needed(0, example))
        self.needed[row] = before._replace(times=before.times + times)

    def hole(self, world: str, what: str) -> None:
        if len(self.holes) < MOST_HOLES:
            self.holes.append(f"{world}: {what}")

    def report(self) -> str:
        lines = self.holes[:40]
        kinds = Counter(": ".join(hole.split(": ")[-2:]) for hole in self.holes)
        lines += [f"{times:6} {what}" for what, times in kinds.most_common(40)] if len(self.holes) > 40 else []
        lines.append("worlds that are fair without the row, worlds in which the row was found, row, example")
        for row in ROWS:
            times, example = self.needed.get(row, Needed(0, "-"))
            lines.append(f"{times:7} {self.seen[row]:7} {row:24} {example}")
        lines.append(f"worlds: {dict(self.worlds)}, verdicts: {dict(self.verdicts)}, holes: {len(self.holes)}")
        return "\n".join(lines)


@contextmanager
def removed(row: str) -> Iterator[None]:
    """Take a row out of what clients find."""
    finding, rows = Evidence.finding, verdict._rows

    def found(known: Evidence, name: str, detail: str = "") -> Evidence:
        return known if name == row else finding(known, name, detail)

    def found_later(known: Evidence, reading: RaceReading) -> Iterator[tuple[str, str]]:
        return (each for each in rows(known, reading) if each[0] != row)

    with patch.object(Evidence, "finding", found), patch.object(verdict, "_rows", found_later):
        yield


def outcome(server: Server, client: Client) -> Outcome:
    reading = server.read_for(client)
    return Outcome(client.seen, reading, judged(client.seen, reading))


def away(result: Outcome) -> set[str]:
    """The row of a player who was away when the deal of a race with a window was drawn."""
    record, evidence = result.reading.record, result.seen.evidence
    shares = record.proof.shares if record is not None and record.proof is not None else ()
    is_away = evidence.window > 0 and all(share.seat != evidence.seat for share in shares)
    return {"without_you"} if is_away else set()


class Watcher:
    """What looks at worlds, and tries those again without a row in which several rows were found."""

    def __init__(self, findings: Findings, page: Page | None) -> None:
        self.findings, self.page = findings, page
        self.pending: list[tuple[str, Outcome]] = []
        self.worlds = Worlds()
        self.retries: dict[str, list[tuple[str, str, Held]]] = defaultdict(list)

    def keep(self, server: Server) -> None:
        """Let the page remember the races of a server, as which other worlds begin."""
        self.compare()
        if self.page is not None:
            self.page.clear()
            for client in server.clients.values():
                self.page.keep(client.seen)

    def compare(self) -> None:
        """Compare the verdicts with those of the page."""
        worlds, self.pending = self.pending, []
        if self.page is None or not worlds:
            return
        told = self.page.judge([(result.seen, result.reading) for _, result in worlds])
        for (world, result), page in zip(worlds, told, strict=True):
            if what := difference(result.verdict, result.seen, result.reading, page):
                self.findings.hole(world, what)

    def look(
        self,
        world: str,
        kind: str,
        held: Held,
        others: Sequence[Outcome] = (),
        result: Outcome | None = None,
    ) -> Outcome | None:
        """Check a race, which is held unless its result is given. ``kind`` is that of the lie."""
        findings = self.findings
        try:
            result = result or held()
            found = result.verdict
            is_good = found.kind in ("fair", "checked")
            wrong = untruths(result.seen, result.reading) if is_good or len(found.rows) == 1 else []
        except Exception:
            findings.hole(world, f"raised {traceback.format_exc(limit=-3)}")
            return None
        self.pending.append((world, result))
        if len(self.pending) >= BATCH:
            self.compare()
        plan = world.split(maxsplit=1)[0].partition("@")[0]
        self.worlds.add(plan, kind, result, is_honest=kind in TROUBLES or kind in ("honest", *HONEST))
        findings.verdicts[found.kind] += 1
        findings.seen.update(list(found.rows))
        if is_good and wrong:
            findings.hole(world, wrong[0])
        decisive = set(found.rows) - {"out_of_draw"} if found.kind == "wrong" else set(found.rows)
        if len(decisive) == 1 and (wrong or "out_of_draw" in found.rows):
            findings.need(next(iter(decisive)), f"{world}: {(*wrong, 'seat lost')[0]}")
        for row in found.rows if len(found.rows) > 1 or kind in TROUBLES else ():
            retries = self.retries[row]
            if len(retries) < MOST_RETRIES and sum(kind == other for other, _, _ in retries) < MOST_ALIKE:
                retries.append((kind, world, held))
        for other in others if is_good else ():
            for what in disagreements(result, other):
                findings.hole(world, what)
        for what in reveal_problems(result.seen):
            findings.hole(world, what)
        return result

    def look_at(
        self, place: str, kind: str, hold_it: Callable[[], Server], *, compares: bool = True
    ) -> list[tuple[str, Server, Outcome]]:
        """Hold a race, check it for each of its clients, and return them with what they found."""
        try:
            server = hold_it()
            results = {client.name: outcome(server, client) for client in server.clients.values()}
        except Exception:
            self.findings.hole(f"{place}: {kind}", f"raised {traceback.format_exc(limit=-3)}")
            return []
        for who, result in results.items():
            others = [each for other, each in results.items() if other != who and compares]

            def held(who: str = who) -> Outcome:
                again = hold_it()
                return outcome(again, again.clients[who])

            self.look(f"{place} {who}: {kind}", kind, held, others, result)
        return [(who, server, result) for who, result in results.items()]

    def retry(self) -> None:
        """Try worlds again without a row if no world needed it."""
        for row, worlds in self.retries.items():
            if row in self.findings.needed:
                continue
            for kind, world, held in worlds:
                with removed(row):
                    try:
                        result = held()
                    except Exception:
                        continue  # without the row, the client may be confused
                is_good = result.verdict.kind in ("fair", "checked")
                if result.verdict.kind == "wrong" and kind in TROUBLES:
                    self.findings.need(row, f"{world}: would be called not fair")
                elif is_good and (wrong := untruths(result.seen, result.reading)):
                    self.findings.need(row, f"{world}: {wrong[0]}")


def _try_changes(watcher: Watcher, server: Server, world: str, kind: str, chosen: Chosen) -> None:
    watcher.keep(server)
    outcomes = {client.name: outcome(server, client) for client in server.clients.values()}
    for client in server.clients.values():
        reading = outcomes[client.name].reading
        others = [each for name, each in outcomes.items() if name != client.name]
        for change in changes(client):
            if not chosen():
                continue
            watcher.findings.worlds[kind] += 1

            def held(client: Client = client, change: Change = change, reading: RaceReading = reading) -> Outcome:
                seen = changed(client, change)
                return Outcome(seen, reading, judged(seen, reading))

            watcher.look(f"{world} {client.name}@{change.at}: {change.kind}", change.kind, held, others)


def _honest(watcher: Watcher, plan: Plan, seed: str, chosen: Chosen) -> None:
    server = hold(plan, seed)
    for client in server.clients.values():
        watcher.findings.worlds["honest"] += 1
        result = watcher.look(f"{plan.name} {client.name}", "honest", partial(outcome, server, client))
        if result is not None and not set(result.verdict.rows) <= {"out_of_draw", "unheard", *away(result)}:
            watcher.findings.hole(f"{plan.name} {client.name}", f"honest: {dict(result.verdict.rows)}")


def _changes(watcher: Watcher, plan: Plan, seed: str, chosen: Chosen) -> None:
    if plan.name in ("settled", "drawn apart"):
        return  # they differ from "won" only in the end, and from "apart" only in the draw
    _try_changes(watcher, hold(plan, seed), plan.name, "changes", chosen)


def _coherent(watcher: Watcher, plan: Plan, seed: str, chosen: Chosen) -> None:
    watcher.keep(hold(plan, seed))
    for name, liar in LIES.items():
        if not chosen():
            continue
        watcher.findings.worlds["coherent"] += 1
        clock = CLOCK_OF_WINDOW if plan.window else CLOCK
        compares, (teller, actor) = name not in UNSEEN, clock.get(name, ("", ""))
        for who, server, result in watcher.look_at(plan.name, name, partial(hold, plan, seed, liar), compares=compares):
            late = who == teller and server.logs[f"p-{actor}"]
            if late and result.verdict.kind in ("fair", "checked") and not result.verdict.clock:
                watcher.findings.hole(f"{plan.name} {who}: {name}", "not a word about the clock")


def _seams(watcher: Watcher, plan: Plan, seed: str, chosen: Chosen) -> None:
    """Hold the races that some lies need. They are not those of the other worlds."""
    for name, seam in SEAMS.items() if plan.name == "joint" else ():
        watcher.findings.worlds["seams"] += 1
        watcher.look_at(seam.plan.name, name, partial(hold, seam.plan, seed, seam.liar), compares=False)


def _pairs(watcher: Watcher, plan: Plan, seed: str, chosen: Chosen) -> None:
    """Hold the shorter races with a coherent lie and a change of one message, of which one in two hundred is tried."""
    chance = random.Random(f"{seed} pairs {plan.name}")
    if plan.name in ("won", "settled", "resumed", "restarted", "apart", "drawn apart"):
        return
    for name, liar in LIES.items():
        if chosen():
            server = hold(plan, seed, liar)
            _try_changes(watcher, server, f"{plan.name} {name}", "pairs", lambda: chance.random() < 0.005)


def _troubles(watcher: Watcher, plan: Plan, seed: str, chosen: Chosen) -> None:
    watcher.keep(hold(plan, seed))
    for name, at, who, trouble in troubled(plan):
        if not chosen():
            continue
        watcher.findings.worlds["troubles"] += 1
        place = f"{plan.name}@{at} {who}, seen by"
        for other, server, result in watcher.look_at(place, name, partial(hold_troubled, plan, seed, at, who, trouble)):
            allowed = trouble.rows | {"out_of_draw", "unheard", *away(result)}
            if server.clients[other].player not in {line.player for line in server.race.result.standings}:
                allowed |= {"unfinished", "no_first_board", "missed_draw", "no_record"}
            found = result.verdict
            if found.kind == "wrong" or not set(found.rows) <= allowed:
                watcher.findings.hole(f"{place} {other}: {name}", f"trouble {found.kind}, {' '.join(found.rows)}")


KINDS: Final[Mapping[str, Callable[[Watcher, Plan, str, Chosen], None]]] = {
    "honest": _honest,
    "troubles": _troubles,
    "coherent": _coherent,
    "seams": _seams,
    "changes": _changes,
    "pairs": _pairs,
}


_page: Page | None = None
"""The page's functions, in each process that tries worlds."""


def _start(folder: str) -> None:
    global _page  # noqa: PLW0603  # a process of the pool has no other place for it
    _page = Page(folder) if folder else None


def _job(job: tuple[str, str, str, int]) -> Findings:
    kind, name, seed, sample = job
    watcher = Watcher(Findings(), _page)
    chance = random.Random(f"{seed} {kind} {name}")
    sample = max(1, sample // 20) if kind in ("honest", "coherent", "seams") else sample
    KINDS[kind](watcher, PLANS[name], seed, lambda: sample == 1 or chance.random() * sample < 1)
    watcher.compare()
    watcher.retry()
    watcher.findings.judged = watcher.worlds.all
    return watcher.findings


def enumerate_lies(
    seed: str, sample: int = 1, jobs: int = 1, plans: Sequence[str] = (), kinds: Sequence[str] = ()
) -> Findings:
    """Try the worlds of a seed, or each ``sample``-th of them."""
    work = [(kind, name, seed, sample) for kind in kinds or KINDS for name in plans or PLANS]
    findings = Findings()
    with page_files() as folder:
        if jobs > 1:
            with ProcessPoolExecutor(jobs, initializer=_start, initargs=(folder,)) as pool:
                for each in pool.map(_job, work):
                    findings.add(each)
            return findings
        _start(folder)
        for job in work:
            findings.add(_job(job))
        if _page is not None:
            _page.close()
    return findings
