"""Races as values, for tests of their rules and of the store."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace

from samedeal.deal import commitment
from samedeal.errors import RequestRefused
from samedeal.options import Options
from samedeal.race.commands import (
    AwayCommand,
    CloseCommand,
    DeclareStuckCommand,
    JoinCommand,
    KickCommand,
    LeaveCommand,
    LinkRematchCommand,
    RaceCommand,
    ReadyCommand,
    RenameCommand,
    ResignCommand,
    StartCommand,
    TickCommand,
)
from samedeal.race.progress import ProgressByPlayer
from samedeal.race.transitions import apply
from samedeal.race.values import DealSecret, Race
from samedeal.terms import description_hash
from tests.golden.golden_files import assert_golden, golden_text

SEED = bytes(range(32))


def new_race(room: str = "friday", *, created: int = 1_000, **fields: Any) -> Race:
    """A race that has just been opened, with some other fields."""
    race = changed(
        Race(room, Options(), 0, "random", b"", private=False, created=created, changed_at=created), **fields
    )
    race = replace(race, description=race.description or description_hash(race.game))
    return race if race.commitment else replace(race, commitment=commitment(race.terms.digest, SEED))


def changed(race: Race, **fields: Any) -> Race:
    """A race with other fields, also those of its draw and of its result."""
    for name, value in (("draw", race.draw), ("result", race.result)):
        inner = {field: fields.pop(field) for field in value.__struct_fields__ if field in fields}
        fields = {name: replace(value, **inner), **fields}
    return replace(race, **fields)


def command_in(text: str, progress: ProgressByPlayer, secret: DealSecret) -> RaceCommand:
    """The command that a text such as ``ana leaves`` stands for."""
    who, what = text.split()
    commands: dict[str, RaceCommand] = {
        "joins": JoinCommand(who, who.capitalize(), progress),
        "joins_as_bot": JoinCommand(who, who.capitalize(), progress, bot=True),
        "leaves": LeaveCommand(who),
        "readies": ReadyCommand(who, True),
        "unreadies": ReadyCommand(who, False),
        "goes_away": AwayCommand(who, True),
        "is_back": AwayCommand(who, False),
        "starts": StartCommand(who),
        "resigns": ResignCommand(who),
        "is_stuck": DeclareStuckCommand(who, {}),
        "follows": LinkRematchCommand(who),
        "kicked": KickCommand(who),
        "kicked_by_ana": KickCommand(who, by="ana"),
        "kicked_by_bob": KickCommand(who, by="bob"),
        "renamed": RenameCommand(who, "Other"),
        "closes": CloseCommand(),
        "passes": TickCommand(progress, secret),
    }
    return commands[what]


def outcome_of(race: Race, command: RaceCommand, now: int) -> str:
    """The outcome of a command as text: the phase with the changes, or the code of the refusal."""
    before = replace(race)
    try:
        changed, events = apply(race, command, now)
    except RequestRefused as refused:
        return refused.code
    finally:
        assert race == before
    assert (changed is race) == (not events)
    assert not events or changed.changed_at == now
    return f"{changed.phase}: {' '.join(events) or 'nothing'}"


def assert_table(name: str, races: Mapping[str, tuple[Race, int]], command: Callable[[str, Race], RaceCommand]) -> None:
    """Compare a golden table with what its commands do to races in some states, each at a time.

    A cell has the changes, after a new phase if there is one, or the code of the refusal.
    """
    texts = [line.split()[0] for line in golden_text(f"tables/{name}.txt", str).splitlines()[1:]]
    rows = [["command", *races]]
    for text in texts:
        outcomes = (
            (race, outcome_of(race, command(text.replace("-", " "), race), now)) for race, now in races.values()
        )
        found = [outcome.removeprefix(f"{race.phase}: ") for race, outcome in outcomes]
        rows.append([text, *(outcome.replace(": ", ":").replace(" ", ",") for outcome in found)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (" ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)
    assert_golden(f"tables/{name}.txt", "".join(f"{line}\n" for line in lines))
