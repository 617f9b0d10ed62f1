"""Records: the format, and that every change is found and named."""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Iterable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samedeal.action_chain import first_head, next_head
from samedeal.board_history import UNDO
from samedeal.deal import DIFFICULTIES, SEED_BYTES, Deal, commitment
from samedeal.deal_proof import DealProof, RevealedShare
from samedeal.errors import BadRecord
from samedeal.names import clean_name
from samedeal.record import LARGEST_RECORD, Record, RecordedPlayer
from samedeal.solver.solve import SOLVER
from samedeal.terms import RoomTerms
from samedeal.utc_text import LAST
from tests.golden.golden_files import HERE, assert_answers, assert_golden, questions, values_on
from tests.shared.drawn_deals import proof_of
from tests.shared.javascript import CHECKER, needs_node, verdicts, verdicts_on
from tests.shared.joint_deals import DAILY, promised, public_deal, race_terms
from tests.shared.move_strategies import transfers
from tests.shared.protocol.strategies import room_terms
from tests.shared.raised import error_of
from tests.shared.recorded import START, recorded, terms_of

ANA = ((1_204, "3 0"), (2_871, "undo"), (9_020, "3 0"))
BEN = ((950, "3 0"),)
RACE = recorded("willow", "#4821", ("Ana", ANA), ("*ben", BEN), ("Zoë", ()))
TEXT = str(RACE)
LINES = TEXT.split("\n")
JOINT = (HERE / "race_records" / "joint.txt").read_text()


def changed(was: str, now: str) -> BadRecord:
    """The error for the record with a text replaced once."""
    assert was in TEXT
    error = error_of(lambda text: Record.parse(text).check(), TEXT.replace(was, now, 1))
    assert isinstance(error, BadRecord)
    return error


names = st.sampled_from(["ana", "Ana B.", "名前", "é"]).map(clean_name)
hashes = st.binary(min_size=SEED_BYTES, max_size=SEED_BYTES)
timed = st.tuples(st.integers(0, 999_999_999), st.one_of(transfers.map(str), st.sampled_from(["draw", "deal", "undo"])))
players = st.builds(
    RecordedPlayer,
    st.just(1),
    names,
    st.integers(0, 16),
    st.integers(0, 104),
    st.lists(timed, max_size=8).map(tuple),
    st.integers(0, 999_999_999),
    st.booleans(),
    st.booleans(),
)
times = st.integers(0, LAST)


@given(
    room_terms("random", "#0", "#999999999", "daily 2026-11-21"),
    hashes,
    times,
    times,
    hashes,
    st.lists(players, min_size=1, max_size=4),
)
def test_every_record_round_trips_as_text(
    terms: RoomTerms, promise: bytes, start: int, end: int, seed: bytes, players: list[RecordedPlayer]
) -> None:
    seated = tuple(replace(player, seat=seat, name=f"{player.name} {seat}") for seat, player in enumerate(players, 1))
    record = Record(terms, promise, start, end, seed, len(seated), seated)
    text = str(record)
    assert Record.read(text.encode()) == record
    assert text.endswith(f"\ndigest: {record.digest.hex()}\n")


def test_record_of_a_race_is_checked() -> None:
    assert Record.parse(TEXT) == RACE
    RACE.check()
    assert [player.place for player in RACE.players] == [2, 1, 3]
    play = RACE.replay()
    assert (play.revision, play.moves, play.undos) == (3, 2, 1)


@pytest.mark.parametrize("text", [TEXT, JOINT], ids=["numbered", "joint"])
@given(st.data())
def test_any_changed_byte_is_found_and_named(text: str, data: st.DataObject) -> None:
    changed_byte_is_named(text.encode(), data)


def test_change_after_the_proof_is_named() -> None:
    """Without its prefix, the last line of a proof is no part of it."""
    lines = JOINT.splitlines(keepends=True)
    last = max(number for number, line in enumerate(lines, 1) if line.startswith("proof: "))
    damaged = "".join([*lines[: last - 1], "P" + lines[last - 1][1:], *lines[last:]])
    error = error_of(Record.read, damaged.encode())
    assert isinstance(error, BadRecord)
    assert error.first <= last <= error.last


def changed_byte_is_named(text: bytes, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text) - 1))
    other = data.draw(st.integers(0, 255).filter(lambda byte: byte != text[at]))
    line = text[:at].count(b"\n") + 1
    error = error_of(Record.read, text[:at] + bytes([other]) + text[at + 1 :])
    assert isinstance(error, BadRecord)
    # If a line break comes or goes, the lines after it have other numbers.
    slack = 1 if b"\n" in (text[at : at + 1], bytes([other])) else 0
    assert error.first - slack <= line <= error.last + slack


@given(st.integers(0, len(TEXT.encode()) - 1))
def test_truncated_record_is_found(length: int) -> None:
    assert isinstance(error_of(Record.read, TEXT.encode()[:length]), BadRecord)


CHANGES = [tuple(map(literal_eval, question.split(" to "))) for question in questions("records")]


def test_changed_records_are_refused_as_the_page_says() -> None:
    assert_answers("records", lambda _, question: str(changed(*map(literal_eval, question.split(" to ")))))
    for lost in (TEXT, f"{LINES[-2]}\n"):
        assert changed(lost, "").first >= 1


def cheat(seat: int, **changes: object) -> Record:
    """The race with a player changed by somebody who computes all hashes anew."""
    players = [replace(player, **changes) if player.seat == seat else player for player in RACE.players]  # type: ignore[arg-type]  # fields of a player
    return replace(RACE, players=tuple(players))


def bound(record: Record, deal: str, undo: str = "off") -> Record:
    """A record of another deal and with another undo rule, to which the server has committed itself."""
    terms = terms_of(record.game.name, deal, limit=7200, undo=undo)
    return replace(record, terms=terms, commitment=commitment(terms.digest, record.seed))


def rebound(proof: DealProof, terms: RoomTerms) -> DealProof:
    """The proof of a server that has committed itself to other terms. Its players were shown the same."""
    promise = commitment(terms.digest, proof.secret)
    racers = [(share.seat, share.name, share.share) for share in proof.shares]
    shares = promised(terms.digest, promise, proof.draw, *racers)
    return replace(proof, digest=terms.digest, commitment=promise, shares=shares)


def test_file_that_is_too_long_is_not_read() -> None:
    assert isinstance(error_of(Record.read, bytes(LARGEST_RECORD + 1)), BadRecord)


def joint(name: str, deal: str = "winnable") -> Record:
    """The record of a race on a joint or daily deal, in which everybody plays the winning line."""
    proof = DealProof.parse((HERE / "deal_proofs" / f"{name}.txt").read_text(encoding="utf-8"))
    terms = race_terms(proof.terms.game.name, deal)
    players = []
    for number, share in enumerate(proof.shares or [RevealedShare(1, "Ana", b"", b"")]):
        step = 700 + 20 * number
        actions = tuple((step * at, str(move)) for at, move in enumerate(proof.line, 1))
        cards = proof.terms.game.cards
        players.append(
            RecordedPlayer(share.seat, share.name, number + 1, cards, actions, actions[-1][0], bot=number == 1)
        )
    end = START + max(player.time for player in players)
    return Record(terms, proof.commitment, START, end, b"", len(players), tuple(players), proof)


def test_golden_race_records() -> None:
    """Records of whole races, which check.mjs reads too."""
    assert_golden("race_records/numbered.txt", TEXT)
    assert_golden("race_records/joint.txt", str(joint("phoenix")))
    assert_golden("race_records/daily.txt", str(joint("daily", DAILY)))
    assert_golden("race_records/medium.txt", str(joint("medium", "winnable medium")))
    for name in ("numbered", "joint", "daily", "medium"):
        record = Record.parse((HERE / "race_records" / f"{name}.txt").read_text(encoding="utf-8"))
        record.check()


def test_record_of_a_joint_deal_is_checked_deeply() -> None:
    joint("willow").check_deeply()


def with_proof(**changes: object) -> Record:
    """The record of a joint deal with changes to its proof."""
    record = joint("willow")
    assert record.proof is not None
    return replace(record, proof=replace(record.proof, **changes))  # type: ignore[arg-type]  # fields of a proof


def with_player_without_share(record: Record) -> Record:
    """A record with one more player, who has no share in its joint deal, as if the server had left the share out.

    Everything else about the player is right.
    """
    last = record.players[-1]
    more = replace(last, seat=last.seat + 1, name="zed")
    return replace(record, players=(*record.players, more), entrants=record.entrants + 1)


def mislabelled() -> list[Record]:
    """Records whose proof is that of another deal than the one in their terms."""
    records = [joint("phoenix"), joint("daily", DAILY), joint("medium", "winnable medium")]
    deals = ["winnable", DAILY, "daily 2026-11-22", "winnable easy", "winnable medium", "winnable hard", "random"]
    found = []
    for record in records:
        assert record.proof is not None
        for deal in deals:
            if deal != str(record.deal):
                terms = race_terms(record.game.name, deal)
                proof = rebound(record.proof, terms)
                found.append(replace(record, terms=terms, commitment=proof.commitment, proof=proof))
    return found


def test_proof_of_another_deal_is_refused() -> None:
    for record in mislabelled():
        assert isinstance(error_of(record.check), BadRecord)


def test_page_has_a_record_and_its_chain() -> None:
    """RECORDS.md shows a whole record, and every head of one player."""
    page = (CHECKER.parent / "RECORDS.md").read_text(encoding="utf-8")
    assert f"```\n{TEXT}```" in page
    heads = re.findall(r"^\| ([0-9]+) \| `([0-9a-f]{64})` \|$", page, re.MULTILINE)
    assert heads == [(str(number), head.hex()) for number, head in enumerate(RACE.heads(RACE.players[0]))]
    first = first_head(RACE.terms.digest, START, 1, "Ana", bot=False)
    assert next_head(first, 1, 1_204, "3 0").hex() == heads[1][1]


def other_solver(difficulty: str) -> Record:
    """A record of a deal, perhaps with a difficulty, that another version of the solver has found."""
    record = joint("medium", f"winnable {difficulty}".strip())
    assert record.proof is not None
    terms = race_terms(record.game.name, f"winnable {difficulty}")
    search = record.proof.terms._replace(solver=SOLVER + 1)
    proof = rebound(replace(record.proof, terms=search), terms)
    return replace(record, terms=terms, commitment=proof.commitment, proof=proof)


def test_search_limits_of_another_solver_are_not_checked() -> None:
    for difficulty in ("", *DIFFICULTIES):
        record = other_solver(difficulty)
        record.check()
        assert record.proof is not None
        assert record.proof.is_of_other_solver
        assert isinstance(error_of(record.check_deeply), BadRecord)


def other_description() -> Record:
    """A record of a game that another release describes otherwise, with other limits for a difficulty."""
    record = joint("medium", "winnable medium")
    assert record.proof is not None
    terms = replace(record.terms, description=bytes(32))
    search = record.proof.terms._replace(least=5, budget=99_999)
    proof = rebound(replace(record.proof, terms=search), terms)
    return replace(record, terms=terms, commitment=proof.commitment, proof=proof)


def test_search_of_a_game_that_is_described_otherwise_is_not_checked() -> None:
    other = other_description()
    Record.parse(str(other)).check()
    error = error_of(other.check_deeply)
    assert isinstance(error, BadRecord)
    assert error.first == error.last == 6


def sealed(text: str) -> str:
    """The text of a record with all hashes computed anew, so that only its meaning can be wrong."""
    lines: list[str] = []
    terms = head = b""
    seed = b"".join(map(bytes.fromhex, re.findall("^seed: ([0-9a-f]{64})$", text, re.MULTILINE)))
    revision = 0
    for line in text.removesuffix("\n").split("\n"):
        tag = line.partition(": ")[0]
        if tag == "terms":
            terms = hashed("samedeal terms 2\n", *(f"{term}\n" for term in lines[1:]))
        elif tag == "commitment" and seed:
            line = f"commitment: {hashed('samedeal commitment 3', chr(10), terms, seed).hex()}"
        elif tag == "chain":
            who = lines[max(at for at, each in enumerate(lines) if each.startswith("player: ")) :]
            start = next((each for each in lines if each.startswith("start: ")), "")
            head = hashed("samedeal chain 2\n", terms, *(f"{each}\n" for each in (start, *who)))
            revision = 0
        elif action := re.fullmatch(r"(-?[0-9.]+) [0-9a-f]{6} (.+)", line):
            revision += 1
            head = next_head(head, revision, int(action[1].replace(".", "")), action[2])
            line = f"{action[1]} {head.hex()[:6]} {action[2]}"
        fresh = {"terms": terms.hex(), "chain": head.hex(), "head": head.hex()}
        if tag == "digest":
            fresh[tag] = sha256("".join(f"{each}\n" for each in lines).encode()).hexdigest()
        lines.append(f"{tag}: {fresh[tag]}" if tag in fresh else line)
    return "".join(f"{line}\n" for line in lines)


def hashed(*parts: str | bytes) -> bytes:
    return sha256(b"".join(part.encode() if isinstance(part, str) else part for part in parts)).digest()


def edited(was: str, now: str, text: str = TEXT) -> str:
    """A record in which each occurrence of a text is replaced, with new hashes."""
    assert was in text
    return sealed(text.replace(was, now))


def crowd(count: int, first: int = 1) -> str:
    """The record of a race whose players did nothing, in adjacent seats."""
    record = recorded("willow", "#4821", *((f"p{number}", ()) for number in range(count)))
    players = tuple(replace(player, seat=seat) for seat, player in enumerate(record.players, first))
    return str(replace(record, players=players))


def alone(**changes: int | bool) -> str:
    """The record that Ana's client writes of the race of three."""
    return str(replace(RACE, players=(replace(RACE.players[0], **changes),)))  # type: ignore[arg-type]  # fields of a player


def won(**changes: object) -> str:
    """The record of a player who wins in a race with undo."""
    record = Record.parse((HERE / "records" / "willow.txt").read_text())
    (player,) = record.players
    record = bound(record, str(record.deal), undo="free")
    return str(replace(record, end=record.end + 1000, players=(replace(player, **changes),)))  # type: ignore[arg-type]  # fields of a player


def won_twice() -> str:
    record = Record.parse(won())
    (player,) = record.players
    time, move = player.actions[-1]
    return won(actions=(*player.actions, (time + 1, UNDO), (time + 2, move)), time=time + 2)


def seated_at(seat: int) -> str:
    """The record of a race on a joint deal, whose last player has another seat."""
    terms = race_terms("ace-of-hearts")
    proof = proof_of((1, "ana", bytes(32)), (seat, "cid", bytes(32)), terms=terms)
    actions = tuple((100 * at, str(move)) for at, move in enumerate(proof.line, 1))
    player = RecordedPlayer(1, "ana", 1, 52, actions, actions[-1][0])
    return str(Record(terms, proof.commitment, START, START + actions[-1][0], b"", 2, (player,), proof))


def in_window(began: int) -> str:
    """The record of a race with a window on a joint deal, whose first player began so long after the start.

    The second player has no share, and never began.
    """
    terms = replace(race_terms("ace-of-hearts"), window=3600)
    proof = proof_of((1, "ana", bytes(32)), terms=terms)
    actions = tuple((100 * at, str(move)) for at, move in enumerate(proof.line, 1))
    end = START + actions[-1][0] + 5000
    player = RecordedPlayer(1, "ana", 1, 52, actions, actions[-1][0], began_at=began and START + began)
    away = RecordedPlayer(2, "ben", 2, 0, ())
    return str(Record(terms, proof.commitment, START, end, b"", 2, (player, away), proof))


def without_cards(place: int) -> str:
    """The record of a race with a window in which a player began and moved nothing, and another one never began."""
    terms = replace(race_terms("ace-of-hearts"), window=3600)
    proof = proof_of((1, "ana", bytes(32)), terms=terms)
    players = RecordedPlayer(1, "ana", 1, 0, (), began_at=START + 5), RecordedPlayer(2, "ben", place, 0, ())
    return str(Record(terms, proof.commitment, START, START + 5000, b"", 2, players, proof))


def daily(day: str) -> str:
    """The record of a race on the daily deal of a day, which need not exist."""
    name = f"daily {day}"
    known = race_terms("ace-of-hearts", DAILY)
    terms = replace(known, deal=Deal("daily", date=day))
    proof = public_deal("ace-of-hearts", name, terms=terms)
    return str(Record(terms, proof.commitment, START, START, b"", 1, (RecordedPlayer(1, "ana", 1, 0, ()),), proof))


def agreed(texts: Iterable[str | bytes], folder: Path) -> list[bool]:
    """Whether both checkers accept each text. Fail if they disagree on any."""
    data = [text.encode() if isinstance(text, str) else text for text in texts]
    accepted = [refusal(each) == "holds" for each in data]
    found = zip(verdicts_on(data, folder), accepted, data, strict=True)
    assert not [(verdict, each) for verdict, ours, each in found if verdict.startswith("holds: ") != ours]
    return accepted


def refusal(data: bytes) -> str:
    try:
        Record.read(data).check()
    except BadRecord as error:
        return f"wrong: {error}"
    return "holds"


def changed_records() -> dict[str, str]:
    """The records on the page, by their lines."""
    return {line: str(record) for line, record in values_on("checked_records", globals()).items()}


def test_only_possible_records_are_accepted_as_the_page_says() -> None:
    texts = changed_records()
    assert_answers("checked_records", lambda _, question: refusal(texts[question].encode()))


@needs_node
def test_checkers_agree_on_impossible_records(tmp_path: Path) -> None:
    replaced = edited("Ana", "An\ufffd").encode()  # what a lenient reader makes of a byte that is not UTF-8
    damaged = [replaced.replace("\ufffd".encode(), b"\xff"), b"\xef\xbb\xbf" + TEXT.encode(), bytes(LARGEST_RECORD + 1)]
    found = agreed([*changed_records().values(), *damaged], tmp_path)
    assert found[-len(damaged) :] == [False] * len(damaged)


numbers_of_text = re.compile(r"(?<=[ .:-])[0-9]+(?=[ .\nTZ:-])")
others = st.one_of(st.integers(0, 20), st.sampled_from([99, 900, 7201, 999_999_999, 1_000_000_000, 2**32, 10**30]))


@needs_node
@settings(max_examples=6)
@given(st.lists(st.tuples(st.integers(0, 200), others), min_size=25, max_size=25))
def test_checkers_agree_on_changed_numbers(changes: list[tuple[int, int]]) -> None:
    """Any number of a record may change. If all hashes are computed anew, both checkers still agree."""
    texts = []
    for at, value in changes:
        found = [*numbers_of_text.finditer(TEXT)]
        spot = found[at % len(found)]
        number = str(value).zfill(len(spot[0])) if spot[0][0] == "0" else str(value)
        texts.append(sealed(TEXT[: spot.start()] + number + TEXT[spot.end() :]))
    with TemporaryDirectory() as folder:
        agreed(texts, Path(folder))


@needs_node
def test_javascript_agrees_on_records(tmp_path: Path) -> None:
    """The checker accepts all vectors, and rejects changed and cheating records."""
    good = sorted([*(HERE / "race_records").glob("*.txt"), *(HERE / "records").glob("*.txt")])
    bad = [*map(str, mislabelled()), "", TEXT.removesuffix(f"{LINES[-2]}\n")]
    bad += [TEXT.replace(was, now, 1) for was, now in CHANGES]
    assert [verdict.split(": ")[0] for verdict in verdicts_on(bad, tmp_path)] == ["wrong"] * len(bad)
    found = [verdict.split(": ")[0] for verdict in verdicts([*good, tmp_path / "0.txt"], "--deep").values()]
    assert found == ["holds"] * len(good) + ["wrong"]


@needs_node
def test_javascript_says_what_it_does_not_check(tmp_path: Path) -> None:
    texts = [*(str(other_solver(difficulty)) for difficulty in ("", "hard")), str(other_description())]
    told = verdicts_on(texts, tmp_path)
    assert all(verdict.startswith("holds: ") for verdict in told)
    assert all("(not checked: " in verdict for verdict in told)
    assert all(verdict.startswith("wrong: ") for verdict in verdicts_on(texts, tmp_path, "--deep"))
