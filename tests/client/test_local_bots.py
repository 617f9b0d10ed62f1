"""The bots that a player adds to rooms, without processes."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

import pytest

from samedeal_client.local.local_bots import LocalBots
from samedeal_client.local.local_processes import BotPlan
from samedeal_link.connection.address import parse_address


async def test_bots_move_to_another_room(monkeypatch: pytest.MonkeyPatch) -> None:
    seats: set[tuple[str, BotPlan]] = set()

    @contextlib.asynccontextmanager
    async def seated(_: object, room: str, plan: BotPlan, *__: object) -> AsyncIterator[None]:
        seats.add((room, plan))
        yield
        seats.remove((room, plan))

    monkeypatch.setattr("samedeal_client.local.local_bots.local_bot", seated)
    bots = LocalBots(parse_address("localhost"))
    for room, level in (("friday", "greedy"), ("friday", "careful"), ("lunch", "random")):
        await bots.add(room, level, "", taken=(), warn=pytest.fail)  # type: ignore[arg-type]  # one of its words
    before = {room: {plan for at, plan in seats if at == room} for room in ("friday", "lunch")}
    await bots.move("friday", "monday", "", pytest.fail)
    assert seats == {("monday", plan) for plan in before["friday"]} | {("lunch", plan) for plan in before["lunch"]}
    assert set(bots.names_in("monday")) == {plan.name for plan in before["friday"]}
