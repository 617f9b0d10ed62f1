"""Which comparisons of ``verdict`` are needed: each is taken out in turn, and then some world must be judged wrongly.

The verdicts are computed again from what clients knew and read in worlds that were held once.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from functools import partial
from inspect import getsource
from types import CodeType
from typing import Any, Final, NamedTuple

from msgspec import Struct
from msgspec.structs import astuple

from samedeal.verdict_rows import ROWS
from samedeal_link.evidence import verdict as module
from samedeal_link.evidence.evidence import Evidence
from samedeal_link.evidence.verdict import IDLE, RaceReading, Verdict
from tests.lies.check import Outcome, untruths

_WORDING: Final = ("Verdict", "_sentence", "_and", "clock_sentence", "_seconds")
"""Classes and functions that find no rows."""

_OF_READINGS: Final = ("RaceReading", "_record_faults", "_search_faults")
"""What finds rows in the record alone. A reading remembers them."""

_GUARDED: Final = {
    "second": "what was read only once has a row of its own",
    "'leave' in evidence.own": "all that players learn who left before the race is a better sentence",
    "evidence.is_kicked or 'leave' in evidence.own": "the same of those who were kicked",
    "row in _UNREADABLE": "what else a record says that cannot be checked only changes the sentence",
    "not record.is_whole": "other rows tell of players who are not in a record, but this one says it better",
    "record.proof.check_kind(record.deal)": "the same of the limits of another release, whose record says no more",
    "yield ('not_checkable', str(error))": "the same",
    "shown != [(each.seat, each.name, each.bot) for each in record.players] 0": "the results have the seats too",
    "yield ('unfinished', 'the race never began')": "without a start, no results are those of the record",
    "yield ('other_players', '')": "a racer who is not in the record is among the other players already",
    "(each.seat, each.name) == (evidence.seat, evidence.name)": "the same",
    "recorded != (ack.time, ack.action) 1": "another action leads to another board",
    **{f"drawing.seats != seats {number}": "a list, compared as a whole" for number in range(4)},
    **{
        f"shown.reached in ((), _reached(starts[seat], plays[seat], made, shown.revision)) {number}": "the same"
        for number in range(52)
    },
}
"""Comparisons that no world needs, and why they stay. A number is a part of a tuple."""

_GOOD: Final = ("fair", "checked")

Judge = Callable[["World"], Verdict]


class World(NamedTuple):
    """What a client knew and read, whether the server was honest, and whether something on the screen was not so."""

    evidence: Evidence
    reading: RaceReading
    verdict: Verdict
    is_honest: bool
    is_untrue: bool

    def shows(self, other: Verdict) -> bool:
        """Whether another verdict is wrong here: a lie is called fair or excused, or an honest server is accused."""
        own = self.verdict
        if self.is_honest and own.kind != other.kind and (own.kind in _GOOD or other.kind == "wrong"):
            return True
        if {own.kind, other.kind} == {*_GOOD}:
            return True
        is_milder = own.kind not in _GOOD and (other.kind in _GOOD or (own.kind, other.kind) == ("wrong", "unsure"))
        return self.is_untrue and is_milder

    def shows_other_text(self, other: Verdict) -> bool:
        own = self.verdict
        return own.rows == other.rows and (own.kind, own.sentence) != (other.kind, other.sentence)


class Worlds:
    """Worlds that can show whether a comparison is needed: one of those that are alike."""

    def __init__(self) -> None:
        self.all: list[World] = []
        self._known: set[Any] = set()
        self._readings: dict[int, tuple[RaceReading, RaceReading]] = {}

    def add(self, place: str, kind: str, outcome: Outcome, *, is_honest: bool) -> None:
        """Add a world. Those that the evidence alone decides only show that nothing is raised."""
        found, evidence = outcome.verdict, outcome.seen.evidence
        is_open = is_honest or not evidence.found
        alike = (is_honest, kind, place, _ending(outcome), *found.rows) if is_open else (*evidence.found,)
        if alike in self._known or (found.kind in _GOOD and not is_honest):
            return
        self._known.add(alike)
        is_untrue = is_open and bool(untruths(outcome.seen, outcome.reading))
        reading = self._readings.setdefault(id(outcome.reading), (outcome.reading, replace(outcome.reading)))[1]
        self.all.append(World(evidence, reading, found, is_honest, is_untrue))


def _ending(outcome: Outcome) -> tuple[object, ...]:
    """Why a race may have ended as it did."""
    evidence, record = outcome.seen.evidence, outcome.reading.record
    was_long = record is not None and record.end - record.start >= IDLE
    seen = evidence.absent, evidence.stuck, evidence.resigned, evidence.own, evidence.is_kicked
    unconfirmed = len(evidence.sent_actions) > len(evidence.acks)
    return *seen, was_long, bool(evidence.denied), unconfirmed, frozenset(evidence.mistimed)


class Mutant(NamedTuple):
    """A verdict with a comparison less. ``what`` says which, and ``function`` where."""

    what: str
    function: str
    code: CodeType
    names: dict[str, Any]

    def judge(self) -> Judge:
        names = {"__name__": "samedeal_link.evidence.verdict", **self.names}
        exec(self.code, names)
        readings: dict[int, Any] = {}

        def judged(world: World) -> Verdict:
            reading: Any = world.reading
            if self.function in _OF_READINGS:
                values = {each.name: getattr(reading, each.name) for each in fields(RaceReading)}
                if id(reading) not in readings:
                    readings[id(reading)] = names["RaceReading"](**values)
                reading = readings[id(reading)]
            found: Verdict = names["verdict"](world.evidence, reading)
            return found

        return judged


def unneeded(worlds: list[World]) -> Iterator[str]:
    """The comparisons without which each world is judged as well as with them."""
    shortest = sorted(worlds, key=lambda world: len(world.verdict.rows))
    rows = _rows_of(ast.parse(getsource(module)))
    for mutant in mutants(shortest):
        judge, own = mutant.judge(), rows.get(mutant.function)
        near = [
            world
            for world in shortest
            if own is None or world.is_honest or not world.is_untrue or own.issuperset(world.verdict.rows)
        ]
        if not any(_is_noticed(mutant, judge, world) for world in near):
            yield mutant.what


def _rows_of(tree: ast.Module) -> dict[str, set[str]]:
    """The rows that each function alone can find. Those that find none themselves have those of the functions they serve."""
    nodes = {top.name: [*ast.walk(top)] for top in tree.body if isinstance(top, ast.FunctionDef)}
    rows = {
        name: {node.value for node in inner if isinstance(node, ast.Constant) and node.value in ROWS}
        for name, inner in nodes.items()
    }
    for name in nodes:
        callers = [other for other, inner in nodes.items() if any(getattr(node, "id", "") == name for node in inner)]
        rows[name] = rows[name] or set().union(*(rows[each] for each in callers))
    return {name: found for name, found in rows.items() if name not in ("verdict", "_rows", "_seats") and found}


def _is_noticed(mutant: Mutant, judge: Judge, world: World) -> bool:
    try:
        found = judge(world)
    except Exception:
        return True
    return world.shows(found) or (mutant.function == "verdict" and world.shows_other_text(found))


# Mutants


def mutants(worlds: list[World]) -> Iterator[Mutant]:
    """Every verdict with a comparison less."""
    source = getsource(module)
    tree = ast.parse(source)
    parts = _compared(tree, worlds)
    for top in tree.body:
        if not isinstance(top, ast.FunctionDef | ast.ClassDef) or top.name in _WORDING:
            continue
        for node in _deciding(top):
            for other, names in _variants(node, parts):
                text = " ".join(ast.unparse(other).split())
                what = f"{top.name}: {' '.join(ast.unparse(node).split())} -> {text} {names.get('_part', '')}"
                yield Mutant(what.rstrip(), top.name, _with(tree, node, other), names)


def _deciding(top: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function, without the details of rows."""
    for node in ast.iter_child_nodes(top):
        if not isinstance(node, ast.Yield):
            yield node
            yield from _deciding(node)


def _is_guard(node: ast.AST) -> bool:
    """Whether a condition only asks whether there is a value."""
    text = ast.unparse(node)
    return text.endswith(("is None", "is not None")) or text in _GUARDED


def _with(tree: ast.Module, node: ast.AST, other: ast.AST) -> CodeType:
    class Swap(ast.NodeTransformer):
        def visit(self, each: ast.AST) -> ast.AST:
            return swaps.get(each) or self.generic_visit(each)

    swaps = {node: ast.copy_location(other, node)}
    Swap().visit(tree)
    code: CodeType = compile(ast.fix_missing_locations(tree), "mutant", "exec")
    swaps = {other: node}
    Swap().visit(tree)
    return code


def _variants(node: ast.AST, parts: dict[ast.AST, set[int]]) -> Iterator[tuple[ast.AST, dict[str, Any]]]:
    """What can stand in place of a node, with the names that it needs."""
    match node:
        case ast.Expr(value=ast.Call() | ast.Yield() | ast.YieldFrom()) if not _is_guard(node):
            yield ast.Pass(), {}
        case ast.Compare() if not _is_guard(node):
            for constant in (False, True):
                yield ast.Constant(value=constant), {}
            if len(node.ops) > 1:
                yield ast.Compare(node.left, node.ops[:-1], node.comparators[:-1]), {}
                yield ast.Compare(node.comparators[0], node.ops[1:], node.comparators[1:]), {}
            for part in sorted(parts[node]):
                if f"{ast.unparse(node)} {part}" in _GUARDED:
                    continue
                yield _calling(node, "_dropped"), {"_dropped": partial(_dropped, part), "_part": part}
        case ast.BoolOp():
            for at, value in enumerate(node.values):
                values = node.values[:at] + node.values[at + 1 :]
                if not _is_guard(value):
                    yield values[0] if len(values) == 1 else ast.BoolOp(node.op, values), {}
        case ast.If(test=test) if not isinstance(test, ast.Compare) and not _is_guard(test):
            for constant in (False, True):
                yield ast.If(ast.Constant(value=constant), node.body, node.orelse), {}
        case ast.comprehension(ifs=[_, *_]):
            yield ast.comprehension(node.target, node.iter, [], node.is_async), {}
        case _:
            return


def _calling(node: ast.Compare, function: str, *more: ast.expr) -> ast.Compare:
    """A comparison that compares what a function returns for its sides."""
    sides: list[ast.expr] = [
        ast.Call(ast.Name(function, ast.Load()), [side, *more], []) for side in (node.left, *node.comparators)
    ]
    return ast.Compare(sides[0], node.ops, sides[1:])


def _compared(tree: ast.Module, worlds: list[World]) -> dict[ast.AST, set[int]]:
    """Which parts of tuples each comparison compares in worlds."""
    found: dict[ast.AST, set[int]] = defaultdict(set)
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Compare)]
    noted = ast.parse(ast.unparse(tree))
    again = [node for node in ast.walk(noted) if isinstance(node, ast.Compare)]
    for number, node in enumerate(again):
        if isinstance(node.ops[0], ast.Eq | ast.NotEq | ast.In | ast.NotIn):
            other = _calling(node, "_noted", ast.Constant(value=number))
            node.left, node.comparators = other.left, other.comparators

    def note(value: Any, number: int) -> Any:
        found[nodes[number]] |= _parts(value)
        return value

    code = compile(ast.fix_missing_locations(noted), "noted", "exec")
    judge = Mutant("", _OF_READINGS[0], code, {"_noted": note}).judge()
    for world in worlds:
        judge(world)
    return found


_INNER: Final = 10


def _parts(value: Any) -> set[int]:
    if isinstance(value, Struct):
        inner = [each for each in astuple(value) if isinstance(each, tuple)]
        return {*range(len(astuple(value))), *(_INNER + part for each in inner for part in _parts(each))}
    if isinstance(value, dict):
        return set().union(*map(_parts, value.values()))
    if _is_many(value):
        return set().union(*map(_parts, value))
    return set(range(len(value))) if isinstance(value, tuple) else set()


def _is_many(value: Any) -> bool:
    is_several = isinstance(value, list | set | frozenset | tuple) and not hasattr(value, "_fields")
    return is_several and all(isinstance(each, tuple | Struct) for each in value)


def _dropped(part: int, value: Any) -> Any:
    """A value without one part of its tuples."""
    if isinstance(value, Struct):
        values = astuple(value)
        if part < _INNER:
            return values[:part] + values[part + 1 :]
        return tuple(_dropped(part - _INNER, each) if isinstance(each, tuple) else each for each in values)
    if isinstance(value, dict):
        return {key: _dropped(part, each) for key, each in value.items()}
    if _is_many(value):
        return type(value)(_dropped(part, each) for each in value)
    return (*value[:part], *value[part + 1 :]) if isinstance(value, tuple) else value
