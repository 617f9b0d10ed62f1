"""A link keeps the evidence of its player's race in files: before a share leaves, and for the next program.

The links are real, and so are the files. The server does what the tests say.
"""

from __future__ import annotations

import resource
from pathlib import Path

import pytest
from msgspec.structs import replace

from samedeal.joint_deal import share_commitment
from samedeal.options import Options
from samedeal.protocol.messages import (
    Acked,
    CommitShare,
    Created,
    Leave,
    Notice,
    Refused,
    RevealShare,
    RoomState,
    Seat,
    Tally,
    Watch,
    Watching,
)
from samedeal.terms import RoomTerms
from samedeal_link.connection.client_error_codes import ClientCode
from samedeal_link.connection.link_events import SeatLost
from samedeal_link.evidence.evidence import Evidence
from samedeal_link.evidence.evidence_files import EvidenceFiles, read_evidence
from samedeal_link.evidence.facts import AskedToEnter, Fact, Known, Out, Own, Sat, Sealed, Share, Wanted, parse_fact
from samedeal_link.evidence.observation import received
from samedeal_link.evidence.verdict import verdict
from samedeal_link.evidence.witness import Witness
from samedeal_link.machine.terminal import terminal
from samedeal_link.session.room_client import RoomClient
from tests.client.referee import Referee
from tests.client.scripted_server import Peer, ScriptedServer, connect
from tests.client.server_messages import SERVER, drawing, room_state
from tests.lies.worlds import Plan, Server, options, script


def promise(share: bytes, commitment: bytes = SERVER) -> bytes:
    """The hash by which ana commits to a share."""
    return share_commitment(RoomTerms.parse(drawing().terms).digest, commitment, 1, "ana", 1, share)


def paths_in(root: Path) -> list[Path]:
    return sorted(root.glob("*/*/*.jsonl"))


def facts_in(path: Path) -> list[Fact]:
    return [parse_fact(line) for line in path.read_bytes().splitlines()]


def share_in(path: Path) -> bytes:
    (share,) = (fact.share for fact in facts_in(path) if isinstance(fact, Share))
    return share


async def commits(peer: Peer, commitment: bytes = SERVER) -> bytes:
    """Let the client see the draw. Return the hash to which it commits."""
    await peer.send(drawing(commitment))
    return (await peer.receive(CommitShare)).commitment


async def test_share_and_draw_are_in_a_private_file_before_they_leave(server: ScriptedServer, tmp_path: Path) -> None:
    root = tmp_path / "evidence"
    async with connect(server, evidence_root=root) as (recorded, peer):
        await recorded.join(peer)
        assert not paths_in(root)
        promised = await commits(peer)
        (path,) = paths_in(root)
        share = share_in(path)
        assert promise(share) == promised
        assert not [fact for fact in facts_in(path) if isinstance(fact, Sealed)]
        sealed = drawing(ana=promised, bob=b"\1" * 32)
        await peer.send(sealed)
        assert (await peer.receive(RevealShare)).share == share
        (draw,) = (fact for fact in facts_in(path) if isinstance(fact, Sealed))
        assert draw.seats == tuple((seat.seat, seat.name, seat.share_commitment) for seat in sealed.players)
        modes = [each.stat().st_mode & 0o777 for each in (path, path.parent, root)]
        assert modes == [0o600, 0o700, 0o700]


async def test_restarted_program_keeps_the_share_of_its_race(server: ScriptedServer, tmp_path: Path) -> None:
    """Another race with the same code has a file of its own."""
    promised = []
    for generation, commitment in ((1, SERVER), (2, SERVER), (1, bytes(32))):
        async with connect(server, evidence_root=tmp_path) as (recorded, peer):
            await recorded.join(peer, generation=generation)
            promised.append(await commits(peer, commitment))
            assert recorded.link.evidence is not None
            assert not recorded.link.evidence.found
    first, second = paths_in(tmp_path)
    assert promised == [promise(share_in(first))] * 2 + [promise(share_in(second), bytes(32))]
    assert share_in(first) != share_in(second)
    assert read_evidence(first).generation == 2


async def test_second_program_uses_the_share_of_the_first_and_writes_nothing(
    server: ScriptedServer, tmp_path: Path
) -> None:
    async with connect(server, evidence_root=tmp_path) as (first, peer):
        await first.join(peer)
        promised = await commits(peer)
        before = [path.read_bytes() for path in paths_in(tmp_path)]
        async with connect(server, evidence_root=tmp_path) as (second, other):
            await second.join(other, generation=2)
            assert await commits(other) == promised
            assert second.link.evidence is not None
            assert "other_window" in second.link.evidence.found
        assert [path.read_bytes() for path in paths_in(tmp_path)] == before


async def test_room_that_was_opened_anew_is_left(server: ScriptedServer, tmp_path: Path) -> None:
    async with connect(server, evidence_root=tmp_path) as (recorded, peer):
        await recorded.join(peer)
        await commits(peer)
        await peer.abort()
        peer = await server.welcome()
        await peer.seat(generation=1)
        await peer.send(drawing(bytes(32)))
        await peer.receive(Leave)
        assert (await recorded.until_is(SeatLost)).code == ClientCode.OTHER_RACE
    (path,) = paths_in(tmp_path)
    assert not read_evidence(path).contradiction


async def test_answer_that_nobody_asked_for_is_shown_to_nobody(server: ScriptedServer) -> None:
    async with connect(server) as (recorded, peer):
        await recorded.join(peer)
        await peer.send(
            drawing(),
            Watching(to=99, room="k7", delay=0),
            Acked(to=98, time=0, hash=b"", receipt=b""),
            Refused(to=-1, code="malformed", message="No."),
            replace(drawing(), room="k8"),
            Notice(code="said", message="The end"),
        )
        await recorded.until(lambda event: isinstance(event, Notice) and event.code == "said")
        assert not [kind for kind in (Watching, Acked, SeatLost) if recorded.of(kind)]
        assert [state.room for state in recorded.of(RoomState)] == ["k7"]
        assert recorded.link.evidence is not None
        assert recorded.link.evidence.role == "player"


FACTS: list[Fact] = [AskedToEnter("player", "k7"), Known("p1", "ana"), Share(1, bytes(32))]


def test_damaged_file_is_read_up_to_the_damage(tmp_path: Path) -> None:
    file = EvidenceFiles(tmp_path, "test").create("player")
    file.append(FACTS)
    file.close()
    (path,) = paths_in(tmp_path)
    path.write_bytes(path.read_bytes() + b'["share",2,')
    evidence = read_evidence(path)
    assert (evidence.room, evidence.shares) == ("k7", {1: bytes(32)})
    assert "unfinished" in evidence.found


@pytest.mark.parametrize(
    ("player", "more", "expected"), [("p1", [], True), ("p2", [], False), ("p1", [Own("leave")], False)]
)
def test_only_a_player_who_kept_the_seat_goes_on(tmp_path: Path, player: str, more: list[Fact], expected: bool) -> None:
    files = EvidenceFiles(tmp_path, "test")
    file = files.create("player")
    file.append([*FACTS, *more])
    file.close()
    kept = files.reopen("player", "k7", player)
    assert (kept is not None) is expected
    if kept is not None:
        kept[0].close()
    assert EvidenceFiles(tmp_path, "another server").reopen("player", "k7", player) is None
    assert files.reopen("player", "k8", player) is None
    assert files.reopen("spectator", "k7", player) is None


def test_only_the_newest_files_are_kept(tmp_path: Path) -> None:
    files = EvidenceFiles(tmp_path, "test")
    for _ in range(53):
        files.create("player").close()
    assert [path.stem for path in paths_in(tmp_path)] == [f"{number:08}" for number in range(4, 54)]


def test_race_goes_on_without_a_directory_for_its_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a directory")
    EvidenceFiles(None, "test").create("player").append(FACTS)
    files = EvidenceFiles(tmp_path / "file", "test")
    files.create("player").append([*FACTS, Own("resign"), Own("declarestuck")])
    assert_goes_on(files)


def test_file_with_a_gap_is_not_kept(tmp_path: Path) -> None:
    files = EvidenceFiles(tmp_path, "test")
    file = files.create("player")
    file.append(FACTS)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (paths_in(tmp_path)[0].stat().st_size, before[1]))
    try:
        file.append([Own("resign")])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    file.append([Own("declarestuck")])
    file.close()
    assert not paths_in(tmp_path)
    assert_goes_on(files)
    terminal().unsaved.kept.clear()
    assert files.reopen("player", "k7", "p1") is None


def assert_goes_on(files: EvidenceFiles) -> None:
    """The program knows all facts of a race whose file can't be written, and more are added to them."""
    kept = files.reopen("player", "k7", "p1")
    assert kept is not None
    kept[0].append([Own("leave")])
    assert {*kept[1].own, "leave"} == {"resign", "declarestuck", "leave"}
    assert files.reopen("player", "k7", "p1") is None
    assert len(terminal().unsaved.take_sentences()) == 1


async def test_spectator_who_comes_back_knows_what_was_shown(server: ScriptedServer, tmp_path: Path) -> None:
    known = None
    for moves in (3, 4):
        async with connect(server, evidence_root=tmp_path) as (recorded, peer):
            recorded.link.send(Watch(id=recorded.link.new_id(), room="k7"))
            watch = await peer.receive(Watch)
            await peer.send(Watching(to=watch.id, room="k7", delay=0))
            seat, tally = Seat(player="p1", name="ana", seat=1), Tally(player="p1", moves=moves, acted_at=moves)
            await peer.send(room_state("k7", Options(deal="winnable"), (seat,), phase="racing", tallies=(tally,)))
            await recorded.until_is(RoomState)
            known = recorded.link.evidence
    assert known is not None
    assert [each.moves for each in known.counts[1]] == [3, 4]


def test_spectator_who_comes_back_to_a_room_that_was_opened_anew_accuses_nobody() -> None:
    """Rooms close after their races, and their codes are used again."""
    witness = Witness(EvidenceFiles(None, "test"), lambda: bytes(32))
    witness.asks("spectator", "k7", Wanted(), "p9", "sue")
    for number, commitment in enumerate((bytes(32), bytes(32), SERVER)):
        witness.sends(Watch(id=number, room="k7"), number)
        witness.receives(Watching(to=number, room="k7", delay=15), number)
        witness.receives(drawing(commitment), number)
        assert witness.evidence.commitment == commitment
    assert not witness.evidence.found
    witness.receives(Watching(to=9, room="k7", delay=0), 4)  # which answers nothing
    witness.receives(drawing(bytes(32)), 5)
    assert witness.evidence.contradiction


async def test_what_a_player_wanted_is_forgotten_in_the_room() -> None:
    """A later room with its code may be one of others."""
    rooms = RoomClient(Referee())
    rooms._given(Created(to=1, room="friday"), Wanted(options=Options(limit=900), round=0, private=False))
    for limit in (900, 600):
        await rooms._asked("player", "friday", None)
        asked = rooms.link.witness._next
        assert asked is not None
        assert (asked.wanted.options is None) == (limit == 600)
        rooms._entered("friday", "")


def test_public_deal_that_is_raced_again_in_a_room_with_the_same_code_is_another_race(tmp_path: Path) -> None:
    """Terms and commitment are the same on both days."""
    words = script("ana:join bob:join ana:start race bob:move ana:move*3 bob:resign ana:stuck")
    for day in range(2):
        held = Server(Plan("number", words, options("#77")), "1")
        held.now += 86_400_000 * day
        held.run()
        ana = held.clients["ana"]
        witness = Witness(EvidenceFiles(tmp_path, "test"), lambda: bytes(32))
        witness.asks("player", "friday", Wanted(), ana.player, ana.name)
        for event in ana.events:
            if event.kind == "sent":
                witness.sends(event.message, event.now)
            else:
                witness.receives(event.message, event.now)
        witness.close()
        assert verdict(witness.evidence, held.read_for(ana)).kind == "checked"


@pytest.mark.parametrize("hosted", [True, False])
def test_house_may_come_without_other_bots_only_if_there_is_no_host(hosted: bool) -> None:
    """The server opens such races, so a mark as the house excuses no bot elsewhere."""
    options = Options(bots=False, hosted=hosted, start="full")
    clover = Seat(player="p2", name="Clover", seat=2, bot=True, house=True)
    state = room_state("k7", options, (Seat(player="p1", name="ana", seat=1), clover), phase="countdown")
    asked = Evidence.asked(AskedToEnter("player", "k7"), "p1", "ana").plus(Sat(1, 1))
    assert ("contradicting_terms" in received(asked, state, 0).found) is hosted


@pytest.mark.parametrize(
    ("story", "is_accused"),
    [
        ("open:ana open:Kind countdown:Kind racing:Kind", False),
        ("open:ana open:Kind open:ana countdown:ana", False),
        ("open:ana countdown:Kind racing:Kind", False),  # the operator renamed the player meanwhile
        ("racing:Kind", False),
        ("countdown:ana countdown:Kind", True),
        ("countdown:ana restarts countdown:Kind", True),
        ("countdown:ana racing:Kind", True),
        ("racing:Kind racing:ana", True),
        ("countdown:ana open:Kind countdown:Kind", False),  # all had left a race whose deal nobody draws
        ("countdown:ana open:Kind restarts countdown:ana", False),
        ("countdown:ana shares open:Kind", True),
        ("countdown:ana shares returns open:Kind countdown:Kind", False),  # with a new seat
        ("countdown:ana shares returns open:Kind countdown:ana", True),
    ],
)
def test_own_name_may_change_until_the_countdown(story: str, *, is_accused: bool) -> None:
    known = Evidence.asked(AskedToEnter("player", "k7"), "p1", "ana").plus(Sat(1, 1))
    file: list[Fact] = []
    for word in story.split():
        phase, _, name = word.partition(":")
        match phase:
            case "restarts":
                known = Evidence.of(file)
            case "shares":
                known = known.plus(Share(1, bytes(32)))
            case "returns":
                known = known.plus(Out()).plus(Sat(1, 2))
            case _:
                seat = Seat(player="p1", name=name, seat=1)
                known = received(known, room_state("k7", Options(), (seat,), phase=phase), 0)
        file += known.new
        known = known.written()
    assert ("other_identity" in known.found) is is_accused
    assert is_accused or known.name == story.rpartition(":")[2]
