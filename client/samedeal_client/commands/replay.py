"""``samedeal replay``: show a recorded race again."""

from __future__ import annotations

import argparse
import asyncio
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from samedeal_client.commands.arguments import offer_file
from samedeal_link.errors import Failure
from samedeal_link.machine.terminal import terminal

if TYPE_CHECKING:
    from samedeal.record import Record
    from samedeal_client.full_screen.screens.replay import PracticeRequest
    from samedeal_client.terminal_io.line_io import Printer
    from samedeal_client.text.appearance import Look
    from samedeal_link.records.replay import RecordedRace


async def run(given: argparse.Namespace) -> int:
    """Show the replay and return the exit code."""
    from samedeal.errors import DealNotCheckable
    from samedeal_client.panels.replay import replay_lines
    from samedeal_client.terminal_io.kept_screen import KeptScreen
    from samedeal_client.terminal_io.line_io import Printer, terminal_look
    from samedeal_link.records.replay import RecordedRace, Replay

    offer_file(given.games)
    record = await _record(given)
    with suppress(DealNotCheckable):  # a race without some name can be shown, though nobody can check it
        record.check()
    only = _player(record, given.player)
    race = RecordedRace(record)
    look = terminal_look(ascii_only=given.ascii)
    if given.review:
        await _review(race, only, Printer(terminal().output, colour=False))
        return 0
    if given.plain or not terminal().is_interactive:
        Printer(terminal().output, colour=False).print_lines(replay_lines(race, look, only))
        return 0
    from dataclasses import replace

    from samedeal_client.full_screen.run_app import prepare_textual, with_background

    prepare_textual()
    from samedeal_client.full_screen.replay_app import ReplayApp

    look = with_background(replace(look, four_colour=given.four_color, motion=not given.no_motion))
    replay = Replay(chosen=(only or 0,), everyone=only is None and len(race.tracks) > 1)
    try:
        while (request := await ReplayApp(race, replay, look, given.back_to).run_async()) is not None:
            replay = request.replay
            if code := await _practise(race, request, look):
                return code
        return 0
    finally:
        if not given.back_to:
            KeptScreen.leave()


async def _practise(race: RecordedRace, request: PracticeRequest, look: Look) -> int:
    """Let the player practise from a moment of the race, or from its deal. Return the exit code.

    The ghosts are the players whose boards the replay was showing.
    """
    from samedeal_client.full_screen.app import SamedealApp
    from samedeal_client.full_screen.run_app import show
    from samedeal_client.run_client import key_bindings
    from samedeal_link.records.ghost_link import ROOM, GhostLink
    from samedeal_link.records.replay import START
    from samedeal_link.session.client_session import ClientSession

    replay = request.replay
    track = race.shown_tracks[replay.chosen[0]]
    moment = START if request.from_deal else replay.moment
    play = track.plays[track.revision_at(moment)]
    ghosts = [race.shown_tracks[number] for number in replay.shown(race)]
    link = GhostLink("you", race.record, play, moment, ghosts)
    serving = asyncio.create_task(link.run())
    client = ClientSession(link)
    try:
        await client.join(ROOM)
        return await show(SamedealApp(client, look, key_bindings(), "the replay", lasting=False))
    finally:
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)


async def _review(race: RecordedRace, only: int | None, printer: Printer) -> None:
    from samedeal_link.solving.solver_process import review

    for track in race.tracks if only is None else race.tracks[only : only + 1]:
        name = track.player.name
        if track.plays[-1].board.won:
            printer.print_lines([f"{name} won."])
            continue
        actions = [action for _, action in track.player.actions]
        found = await review(track.plays, actions, lambda _: None)
        printer.print_lines([f"{name}: {found.sentence(actions)}"])
        if found.line:
            printer.print_lines([f"  It could have been won like this: {', '.join(map(str, found.line))}"])


async def _record(given: argparse.Namespace) -> Record:
    from samedeal.errors import MalformedText
    from samedeal.record import Record
    from samedeal_client.commands.records import read_from_server

    if not given.race and (record := _record_in(Path(given.source))) is not None:
        return record
    try:
        return Record.read(await read_from_server(given.source, given.race, given.passphrase))
    except MalformedText:
        if given.race:
            raise
        raise Failure(f"There is no file {given.source!r}. Name a file, or a server and a race.", 2) from None


def _record_in(path: Path) -> Record | None:
    """Return the record in a file, or None if there is no such file. Raise Failure if the file has no record."""
    from samedeal.errors import BadRecord
    from samedeal.record import Record

    try:
        return Record.read(path.read_bytes()) if path.exists() else None
    except BadRecord as error:
        raise Failure(f"{path} can't be replayed. {error}") from None


def _player(record: Record, name: str) -> int | None:
    if not name:
        return None
    names = [player.name for player in record.players]
    if name not in names:
        raise Failure(f"No player is called {name!r} in this race. The players are {', '.join(names)}.", 2)
    return names.index(name)
