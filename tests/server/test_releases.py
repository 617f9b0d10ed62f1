"""What earlier releases have stored: a backup is restored and its races go on, and what clients keep is read.

The clock of the restored server is that of the backup, so that its races are not over. ``tests/tools/release_data.py``
writes the data of a release, which are never written again.
"""

from __future__ import annotations

import json
import re
import shutil
from argparse import Namespace
from ast import literal_eval
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgpack  # type: ignore[import-untyped]  # it ships no types
import pytest
from msgspec.structs import replace

import samedeal
from samedeal.board_history import Undo
from samedeal.deal_proof import LostShare, RevealedShare
from samedeal.options import Options
from samedeal.protocol.admin import BanLine, Status
from samedeal.protocol.codec import decode_to_client, decode_to_server, pack
from samedeal.protocol.messages import (
    Begin,
    Begun,
    Done,
    EarlierPlayer,
    Join,
    RecordLine,
    Refused,
    Resign,
    Standing,
    Start,
    TableLine,
)
from samedeal.race.progress import MoveCommitted
from samedeal.race.values import DrawProgress, FoundDeal, KickedPlayers, Race, RaceBefore, Racer, RaceResult
from samedeal.record import Record
from samedeal.solver.solve import SOLVER
from samedeal_client.cli import main as samedeal_main
from samedeal_client.saved_settings import load_settings
from samedeal_link.connection.saved_sessions import FileSessions
from samedeal_link.evidence.evidence_files import all_evidence
from samedeal_link.records.history_file import HistoryFile
from samedeal_server.config.config import Config
from samedeal_server.config.load import load_config
from samedeal_server.embedded_redis.server import EmbeddedRedis
from samedeal_server.errors import StartupError
from samedeal_server.operators import backup
from samedeal_server.process.restore import restore
from samedeal_server.races.earlier import EarlierRace, PlayerPast
from samedeal_server.races.public_facts import RaceNews, room_line
from samedeal_server.store import schema, store
from samedeal_server.store.events import (
    SPECTATORS_PREFIX,
    OperatorMessage,
    PresenceChanged,
    RaceChanged,
    RacePatched,
    encode_event,
)
from samedeal_server.store.race_patches import RacePatch
from samedeal_server.store.scripts import Script
from tests.golden.golden_files import HERE, golden_text
from tests.server.client import Client
from tests.server.live_nodes import Node, NodeMaker
from tests.server.operator_client import TOKEN, Operator
from tests.server.races import kept
from tests.server.windows import drawn
from tests.shared.protocol.samples import Entry

RELEASES = sorted((HERE / "releases").iterdir())


@pytest.fixture(params=RELEASES, ids=lambda path: path.name)
def release(request: pytest.FixtureRequest) -> Path:
    """The data of a release."""
    path: Path = request.param
    return path


@pytest.fixture
async def restored(
    release: Path, node: NodeMaker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Node]:
    """A node on the restored backup, whose clock goes on from the time of the backup."""
    config = Config(data=tmp_path / "data", durability="everysec")
    head = next(backup.read(release / "store.backup"))
    assert isinstance(head, backup.Head)
    try:
        await restore(release / "store.backup", config, replace=False)
    except StartupError as error:
        if error.code != "redis_too_old":
            raise
        pytest.skip(str(error))
    async with EmbeddedRedis(config.data, "everysec") as url:
        set_back(monkeypatch, head.made)
        yield await node(redis=url, token=TOKEN)


def set_back(monkeypatch: pytest.MonkeyPatch, to: int) -> None:
    """Set the clock of a Redis back: to the time ``to``, in milliseconds since 1970, the first time that it is asked."""
    since: list[int] = []
    original = store._milliseconds
    sources = dict(Script.sources)

    def milliseconds(time: tuple[int, int]) -> int:
        if not since:
            since.append(original(time) - to)
            line = b"time[1] * 1000 + math.floor(time[2] / 1000)"
            for name, source in sources.items():
                assert line in source
                monkeypatch.setitem(Script.sources, name, source.replace(line, line + b" - %d" % since[0]))
        return original(time) - since[0]

    monkeypatch.setattr(store, "_milliseconds", milliseconds)


def is_served(numbers: dict[str, Any], room: dict[str, Any]) -> bool:
    """Whether this release must serve a room: it has the same rules, and for a deal that is searched the same solver."""
    same_rules = numbers["engine"] == samedeal.ENGINE and numbers["schema"] in schema.READABLE_VERSIONS
    return same_rules and (not room["searched"] or numbers["solver"] == SOLVER)


async def test_races_of_a_release_go_on(release: Path, restored: Node) -> None:
    numbers = json.loads((release / "release.json").read_text())
    sessions = FileSessions(release / "sessions.json")
    refused = set()
    for room, given in numbers["rooms"].items():
        clients: list[Client] = []
        for name in given["players"]:
            if not (session := sessions.session("ws://localhost:7777", name)):
                continue
            client = await restored.player(name, session)
            client.undo = Undo(given["undo"])
            answer = await client.ask(Join, room=room)
            if isinstance(answer, Refused):
                assert (answer.code, is_served(numbers, given)) == ("other_version", False), room
                refused.add(room)
                break
            clients.append(client)
        else:
            if given.get("window") and given["phase"] != "finished":
                await finish_window(room, clients)
            elif given["phase"] == "racing":
                await finish_race(room, clients)
            elif given["phase"] == "finished":
                (await kept(clients[0], room)).check()
            elif given["phase"] == "countdown":
                await clients[0].phase("racing")
        for client in clients:
            await client.close()
    operator = await Operator.login(restored.url)
    assert (await operator.ask(Status)).phases.other_version == len(refused)
    assert restored.metric("faults_total") == 0


async def finish_race(room: str, clients: list[Client]) -> None:
    """Play on, end the race, and check its record."""
    for client in clients:
        play = await client.dealt()
        await client.acts(min(1, len(play.board.legal_moves())))
        if client.play.moves and not client.play.board.won:
            await client.ask(Resign)
    await clients[0].phase("finished")
    record = await kept(clients[0], room)
    record.check()
    assert len(record.players) == len(clients)


async def finish_window(room: str, clients: list[Client]) -> None:
    """Draw the deal if nobody has yet, let all begin who have not, and end the race. A standing series opens later."""
    state = await clients[0].state()
    if state.opens:
        assert (state.phase, state.doors_close_at) == ("open", state.opens[0])
        return
    if state.phase == "countdown":  # nobody answered in the draw, so the host opens the doors again
        await clients[0].expect(Done, Start)
    if state.phase != "racing":
        await drawn(*clients)
    for client in clients:
        await client.expect(Begun, Begin)
        await client.dealt()
        assert client.shown is not None
        if not any(seat.resigned for seat in client.shown.players if seat.player == client.player):
            await client.acts(1)
            await client.expect(Done, Resign)
    record = await kept(clients[0], room)
    record.check()
    assert all(player.actions for player in record.players)


def test_records_of_a_release_are_checked(release: Path) -> None:
    records = sorted((release / "records").iterdir())
    assert records
    for path in records:
        Record.read(path.read_bytes()).check()


def test_files_of_a_client_are_read(
    release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(release / "home", tmp_path / "home")
    for name, folder in (("STATE", ".local/state"), ("CONFIG", ".config"), ("DATA", ".local/share")):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / "home" / folder))
    assert load_settings().server
    history = HistoryFile().read()
    assert ([race.room for race in history.races], history.damaged, history.newer) == (["friday"], 0, 0)
    assert FileSessions().session(f"ws://{load_settings().server}", "cleo")
    assert [evidence.room for evidence in all_evidence()] == ["friday"]
    assert samedeal_main(["verify", str(release / "records" / "friday.txt")]) == 0
    assert "friday" in capsys.readouterr().out


def test_messages_of_a_release_are_read(release: Path) -> None:
    for name in ("frames.txt", "admin-frames.txt"):
        for text in (release / name).read_text().strip().split("\n\n"):
            Entry(text).decode(bytes.fromhex(text.splitlines()[2]))


def test_transcripts_of_a_release_are_read(release: Path) -> None:
    decoders = {">": decode_to_server, "<": decode_to_client}
    transcripts = list((release / "transcripts").iterdir())
    assert transcripts
    for path in transcripts:
        for direction, digits in re.findall(r"^([<>]) [^\n]*\n((?:[0-9a-f]+\n)+)", path.read_text(), re.MULTILINE):
            decoders[direction](bytes.fromhex(digits.replace("\n", "")))


def test_settings_of_a_release_are_accepted(release: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAMEDEAL_CONFIG", str(release / "samedeal.toml"))
    assert load_config(Namespace(config=None)).values.port == Config().port


STANDING = Standing(place=1, player="p1", name="Ana", foundation_cards=52, time=9, moves=8, undos=7, bot=True)
SHARE = RevealedShare(1, "Ana", b"commitment", b"share")
RACER = Racer("p1", "Ana", 1, seated_at=2, bot=True, origin="o", stuck_at=3, commitment=b"c", share=b"s", away=True)
RACE = Race(
    "friday-2",
    Options(games=("willow", "steve"), deal="#4821", series=3, undo="free"),
    round=1,
    deal="#4821",
    commitment=b"commitment",
    private=True,
    created=1_000,
    changed_at=2_000,
    rules=b"rules",
    description=b"description",
    origin="origin",
    tide=3_000,
    home="friday",
    phase="finished",
    racers=(RACER,),
    ready_since=4_000,
    starts=5_000,
    ends=6_000,
    next="friday-3",
    earlier=(EarlierPlayer(name="Bo", foundation_cards=2, time=0, reached=(10, 20)),),
    before=RaceBefore("friday", ("p1",), (TableLine(1, "p1", "Ana", 1, 2.5, 9, bot=True),), ("friday",)),
    kicked=KickedPlayers(("p2",), ("o",)),
    draw=DrawProgress(1, 7, (SHARE,), (LostShare(1, 2, "left", "Bo"),), found=True, is_late=True),
    result=RaceResult(8_000, (STANDING,), b"seed", "proof"),
)
RECORDED = RecordLine(
    race="friday.20261122-140543",
    room="friday",
    game="willow",
    deal="#4821",
    winner="Ana",
    started=5_000,
    ended=8_000,
    players=2,
    size=900,
    time=9,
)
MOVED = MoveCommitted("p1", 3, "3 5", b"\x01", *(2, 3, 0), finished=True, no_moves_left=False)


def test_form_of_stored_values_changes_only_with_the_schema_version() -> None:
    """Optional fields may be added. ``REGENERATE=1`` writes the forms of a new version, and never those of an old one."""
    opened = replace(RACE, racers=(), phase="open")
    values: dict[str, bytes] = {
        "race": pack(RACE),
        "new race": pack(Race("friday", Options(), 0, "random", b"commitment", private=False, created=1, changed_at=2)),
        "deal": pack(FoundDeal(1, (SHARE,), 4, "3 5,3 0")),
        "record": pack(RECORDED),
        "earlier race": pack(EarlierRace("again 07", 1, 100, 9, RACE.earlier, ("p1",))),
        "past": pack(PlayerPast(9, ("again 07",), 3_000, 1, ("friday.1",))),
        "news": pack(
            RaceNews(event="finished", time=8_000, room=room_line(RACE), race="friday.1", standings=(STANDING,))
        ),
        "ban": pack(BanLine(target="203.0.113.0/24", since=1, until=2, reason="flood")),
    }
    events = (
        encode_event(RaceChanged(RACE, ("finished",), "p1")),
        encode_event(RacePatched(RacePatch.between(opened, RACE), (), "")),
        encode_event(MOVED),
        encode_event(PresenceChanged("p1", 5, connected=True)),
        f"{SPECTATORS_PREFIX}2".encode(),
        encode_event(OperatorMessage("Back soon")),
    )
    values |= {f"event {number}": event for number, event in enumerate(events)}
    forms = {name: unpacked(value) for name, value in values.items()}
    text = "".join(f"{name}: {form!r}\n" for name, form in forms.items())
    for line in golden_text(f"stored/schema-{schema.SCHEMA_VERSION}.txt", lambda: text).splitlines():
        name, _, kept = line.partition(": ")
        assert has_form(forms[name], literal_eval(kept)), (
            f"The form of {name!r} has changed. Raise SCHEMA_VERSION (ARCHITECTURE.md, Versions)."
        )


def unpacked(value: bytes) -> object:
    """Return the values of a packed one. Events begin with a word, and some are plain text."""
    kind, _, rest = value.partition(b" ")
    if kind in (b"presence", b"spectators", b"message"):
        return value
    is_event = kind in (b"race", b"patch", b"move")
    return msgpack.unpackb(rest if is_event else value)


def has_form(new: object, old: object) -> bool:
    """Return whether a value has everything of an old one unchanged. Maps may have more fields, which older nodes ignore."""
    if isinstance(old, dict) and isinstance(new, dict):
        return all(name in new and has_form(new[name], value) for name, value in old.items())
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(has_form, new, old))
    return type(old) is type(new) and old == new
