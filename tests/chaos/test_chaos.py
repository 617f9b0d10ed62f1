"""A short round of chaos; ``make chaos`` plays long ones."""

from __future__ import annotations

from typing import get_args

from samedeal.games import GAMES
from tests.chaos.plan import FAULT_KINDS, PROCESS_FAULTS, Habit, make_plan
from tests.chaos.rounds import play_round, winning_records

DEALS = {game: str(record.deal) for game, record in winning_records().items()}


async def test_promises_hold_while_everything_fails() -> None:
    plan = make_plan(149, 1, DEALS, small=True, kinds=PROCESS_FAULTS)
    outcome = await play_round(plan)
    assert not outcome.violations, f"{plan}\n" + "\n".join(outcome.violations)
    assert outcome.acked > 50, outcome
    assert outcome.outages, outcome


def test_plans_have_every_kind_of_fault_and_room() -> None:
    plans = [make_plan(3, number, DEALS) for number in range(200)]
    assert {fault.kind for plan in plans for fault in plan.faults} == set(FAULT_KINDS)
    rooms = [room for plan in plans for room in plan.rooms]
    assert {room.options.series for room in rooms} == {1, 2}
    assert {bool(room.passphrase) for room in rooms} == {room.reused for room in rooms} == {True, False}
    assert {room.options.games for room in rooms} == {(game,) for game in GAMES}
    assert {"winnable", "daily", "random"} < {room.options.deal for room in rooms}
    assert {habit for room in rooms for habit in room.habits} == set(get_args(Habit))
    assert all(room.options.deal == "winnable" for room in rooms if room.habits)
    assert all(len(room.habits) <= room.options.players - max(1, room.links) for room in rooms if room.habits)
