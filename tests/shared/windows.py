"""Races with a window, as tests of the core hold them."""

from __future__ import annotations

from dataclasses import replace as with_fields
from typing import Any

import pytest
from msgspec.structs import replace

from samedeal.deal import Deal
from samedeal.errors import RequestRefused
from samedeal.joint_deal import share_commitment
from samedeal.options import Options
from samedeal.race.commands import CommitShareCommand, FixDealCommand, JoinCommand, RevealShareCommand
from samedeal.race.held_race import HeldRace
from samedeal.race.openings import first_race
from samedeal.race.values import DealSecret, FoundDeal
from tests.shared.joint_deals import some_bytes

SECRET = some_bytes("the secret")
CREATED = 1_000_000
HOUR = 3_600_000
WINDOW = 8 * HOUR
OPTIONS = Options(games=("ace-of-hearts",), deal="winnable", limit=600, players=4)


def opened(**options: Any) -> HeldRace:
    """A race with a window whose doors are open."""
    wanted = replace(OPTIONS, **options)
    race = first_race("friday", wanted, Deal.parse(wanted.deal), SECRET, CREATED, window=WINDOW // 1000)
    return HeldRace(race, DealSecret(SECRET))


def joined(*names: str, held: HeldRace | None = None, now: int = CREATED) -> HeldRace:
    """The race after players have joined. The first one is the host."""
    held = held or opened()
    for name in names:
        held = held.told(JoinCommand(name, name.capitalize(), held.progress_of_all), now)
    return held


def away(held: HeldRace, *names: str) -> HeldRace:
    """The race while some players are not connected."""
    gone = {name: replace(held.progress_of(name), connected=False) for name in names}
    return with_fields(held, progress={**held.progress, **gone})


def with_shares(held: HeldRace, *names: str, now: int) -> HeldRace:
    """The race after players have drawn its deal. Their names decide their shares."""
    race = held.race
    for name in names:
        racer, draw = race.seated(name), race.draw.number
        commitment = share_commitment(
            race.terms.digest, race.commitment, racer.seat, racer.name, draw, some_bytes(name)
        )
        held = held.told(CommitShareCommand(name, draw, commitment), now)
    for name in names:
        held = held.told(RevealShareCommand(name, race.draw.number, some_bytes(name)), now)
    return held


def with_deal(held: HeldRace, now: int) -> HeldRace:
    """The race after the deal of its draw was found."""
    found = FoundDeal(held.race.draw.number, held.race.draw.shares, 0, "draw")
    return with_fields(held, secret=DealSecret(SECRET, found)).told(FixDealCommand(found), now).passed(now)


def refusal(held: HeldRace, *told: Any) -> str:
    with pytest.raises(RequestRefused) as caught:
        held.told(*told)
    return caught.value.code
