"""PROTOCOL.md says what the code does: each message, field, bound, code and number on the page is compared with it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, get_args

import msgspec
import pytest
from msgspec import inspect

from samedeal import errors
from samedeal.board import Board
from samedeal.cards import DOWN, HIDDEN, Card
from samedeal.deal import Deal, shuffled
from samedeal.games import GAMES
from samedeal.moves import _TRANSFER, DEAL, DRAW
from samedeal.options import Options, WantedOptions
from samedeal.protocol import codec, messages
from samedeal.protocol.messages import Close, RoomLine, Seat, Standing, Tally, ToClient, ToServer
from samedeal_server import actions, app, door, gateway, hub, race, rooms
from samedeal_server.limits import WINDOW, Limits
from samedeal_server.store import redis as store

ROOT: Final = Path(__file__).parent.parent.parent
PAGE: Final = (ROOT / "shared" / "PROTOCOL.md").read_text()
FLAT: Final = " ".join(PAGE.split())

REQUESTS: Final = get_args(ToServer)
TOLD: Final = get_args(ToClient)
MAPS: Final = (RoomLine, Seat, Tally, Standing)


def section(heading: str, page: str = PAGE) -> str:
    """What stands under a heading, up to the next one that is as high."""
    level = heading.split(" ", maxsplit=1)[0]
    after = page.partition(f"\n{heading}\n")[2]
    assert after, f"the page has no {heading!r}"
    return re.split(rf"\n#{{2,{len(level)}}} ", after)[0]


def cells(text: str) -> list[list[str]]:
    """The rows of the first table in a text, its head left out."""
    lines = re.search(r"(?:^\|.*\n?)+", text, re.MULTILINE)
    assert lines, text[:200]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[0].splitlines()[2:]]


# ---------------------------------------------------------------- messages


def spelled(kind: Any) -> str:
    """How the page writes a type."""
    match kind:
        case inspect.IntType(ge=least, le=most) if most is not None:
            return f"integer, {least} to {most}"
        case inspect.IntType(ge=least):
            return "integer" if least is None else f"integer, {least} or more"
        case inspect.StrType(max_length=most):
            return "text" if most is None else f"text, up to {most} characters"
        case inspect.BytesType():
            return "bytes"
        case inspect.BoolType():
            return "true or false"
        case inspect.FloatType():
            return "number"
        case inspect.LiteralType(values=values):
            return " ".join(sorted(f"`{value}`" for value in values))
        case inspect.VarTupleType(item_type=item, min_length=least, max_length=most):
            return f"list of {spelled(item)}" if most is None else f"list of {least} to {most} of {spelled(item)}"
        case inspect.StructType(cls=named):
            return f"map `{'Options' if named is WantedOptions else named.__name__}`"
    raise AssertionError(kind)


def default(value: Any) -> str:
    """How the page writes what a field is that is left out."""
    if value is msgspec.NODEFAULT:
        return ""
    if value in ("", b"", ()):
        return "empty"
    if isinstance(value, tuple):
        return "`[" + ", ".join(f'"{each}"' for each in value) + "]`"
    return f"`{str(value).lower()}`"


def fields(kind: type[msgspec.Struct], *, with_defaults: bool) -> list[list[str]]:
    info = inspect.type_info(kind)
    assert isinstance(info, inspect.StructType)
    return [
        [f"`{each.name}`", spelled(each.type), *([default(each.default)] if with_defaults else [])]
        for each in info.fields
    ]


def told(text: str, *, with_defaults: bool) -> list[list[str]]:
    rows = [row[: 3 if with_defaults else 2] for row in cells(text)]
    for row in rows:
        if re.fullmatch(r"(`[a-z-]+` ?)+", row[1]):
            row[1] = " ".join(sorted(row[1].split()))
    assert all(row[-1] for row in cells(text)), "each field has its meaning"
    return rows


@pytest.mark.parametrize("kind", REQUESTS, ids=lambda kind: kind.__name__)
def test_every_request_is_on_the_page_with_its_fields(kind: type[msgspec.Struct]) -> None:
    text = section(f"### {kind.__name__}")
    assert text.strip().startswith(f"`{kind.__struct_config__.tag}` ")
    assert re.search(r"Answer: `(\w+)`", text)
    assert told(text, with_defaults=True) == fields(kind, with_defaults=True)


@pytest.mark.parametrize("kind", TOLD, ids=lambda kind: kind.__name__)
def test_every_message_to_a_client_is_on_the_page_with_its_fields(kind: type[msgspec.Struct]) -> None:
    text = section(f"### {kind.__name__}")
    assert text.strip().startswith(f"`{kind.__struct_config__.tag}` ")
    assert told(text, with_defaults=False) == fields(kind, with_defaults=False)


@pytest.mark.parametrize("kind", MAPS, ids=lambda kind: kind.__name__)
def test_every_map_in_a_message_is_on_the_page_with_its_fields(kind: type[msgspec.Struct]) -> None:
    text = PAGE.partition(f"A map `{kind.__name__}`")[2]
    assert told(text, with_defaults=False) == fields(kind, with_defaults=False)


def test_the_options_are_on_the_page_with_their_bounds_and_defaults() -> None:
    assert told(section("### Options"), with_defaults=True) == fields(Options, with_defaults=True)


def test_the_page_has_no_message_that_there_is_not() -> None:
    headings = re.findall(r"^### (\w+)$", PAGE, re.MULTILINE)
    assert sorted(headings) == sorted([kind.__name__ for kind in (*REQUESTS, *TOLD)] + ["Options"])
    assert messages.SUBPROTOCOL in section("## Transport")


# ---------------------------------------------------------------- codes


def calls(*names: str) -> Iterator[ast.Call]:
    """The places in the server where something is called by one of these names."""
    for file in (ROOT / "server" / "samedeal_server").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
                yield node


def texts(*nodes: ast.expr) -> set[str]:
    """The texts that are written out among expressions."""
    return {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def code_of(call: ast.Call) -> set[str]:
    return texts(*(word.value for word in call.keywords if word.arg == "code"))


def sent_codes() -> set[str]:
    """Every code that a refusal of the server can have: those written in it, and those of the core's errors."""
    kinds: list[type[errors.SamedealError]] = [errors.MalformedText, errors.UnknownGame, errors.BadOptions]
    kinds += [errors.MalformedFrame, errors.IllegalMove, errors.StaleRevision, errors.CannotUndo]
    codes = {actions.UNAVAILABLE.code, *(code for code, _ in actions._REFUSALS.values())}
    codes |= {kind.code for kind in kinds}
    for call in calls("Refused", "_refuse"):
        codes |= texts(*call.args[:1])
    for call in calls("RefusedMessage"):
        codes |= code_of(call)
    return codes


def test_every_code_of_a_refusal_is_on_the_page_and_no_other() -> None:
    codes = [row[0].strip("`") for row in cells(section("## Refusals"))]
    assert len(codes) == len(set(codes))
    assert set(codes) == sent_codes()
    assert all(all(row) for row in cells(section("## Refusals")))


def test_every_notice_is_on_the_page() -> None:
    sent = set().union(*map(code_of, calls("Notice")))
    assert sent == set(re.findall(r"`([a-z]+)`:", section("### Notice")))


def test_every_close_code_is_on_the_page_with_whether_to_come_back() -> None:
    rows = {code: row for row in cells(section("## Close codes")) for code in map(int, row[0].split(", "))}
    ours = {value for name, value in vars(Close).items() if isinstance(value, int) and name.isupper()}
    assert set(rows) == ours | {1000, 1001, 1009, 1011}
    assert {code for code, row in rows.items() if row[2] == "no"} == Close.STAY_AWAY


# ---------------------------------------------------------------- numbers


def test_the_numbers_on_the_page_are_those_of_the_code() -> None:
    limits = Limits()
    for text in (
        f"| `Hello` | within {limits.hello_timeout:g} seconds |",
        f"| a frame | {codec.LARGEST_FRAME} bytes |",
        f"frames of at most {codec.LARGEST_FRAME} bytes",
        f"| frames that can't be read | {limits.bad_frames} a minute |",
        f"| a handshake | within {limits.handshake_timeout:g} seconds, and {door.LARGEST_REQUEST} bytes |",
        f"from one address | {limits.handshakes}, and {limits.connections_per_address} |",
        f"| WebSocket pings, pongs and parts of messages | {limits.control_frames} a minute |",
        f"| requests of a connection | {limits.rate:g} a second and {limits.burst} at once |",
        f"read more slowly; after {limits.slow_for:g} seconds of that `rate_limited` |",
        f"| requests from an address | {limits.address_rate:g} a second and {limits.address_burst} at once |",
        f"| refusals as `rate_limited` | {limits.refusals} a minute |",
        f"from an address | {limits.sessions}, and {limits.sessions_per_address}, in {WINDOW // 60} minutes |",
        f"To an address a new connection counts {gateway.COST_OF_COMING}, and a room",
        f"a room with `start_at` {gateway.COST_OF_A_DATE} rooms.",
        f"counts 1 more for each {gateway._REPLAYED_FOR_A_MOVE} actions in them",
        f"| rooms opened from an address | {limits.rooms_per_address} in {WINDOW // 60} minutes |",
        f"| messages waiting for a client | {limits.backlog} |",
        f"| boards waiting for a spectator | {limits.late_backlog} |",
        f"| {limits.connections}, and {limits.connections_per_address} |",
        f"| rooms | {limits.rooms} |",
        f"| spectators of a room through one node | {limits.spectators_per_room} |",
        f"| actions of a player in a race | {limits.actions_per_race} |",
        f"at most {1 / hub.PROGRESS_EVERY:g} times a second",
        f"nothing for {race.ABSENT_AFTER // 1000} seconds counts as not connected",
        f"whoever is gone for {race.ABSENT_AFTER // 1000} seconds has given up the seat",
        f"the newest {rooms._LISTED}, newest first",
        f"by {store.SESSION_LIFETIME // 86_400} days after its last `Hello`",
        f"was not used for {store.SESSION_LIFETIME // 86_400} days, or {store.GUEST_LIFETIME // 60} minutes",
        f"or by {store.GUEST_LIFETIME // 60} minutes while it has not been in any room yet",
        f"| {limits.guesses_per_address}, and {limits.guesses_per_room}, in {WINDOW // 60} minutes |",
        f"| passphrases that wait to be looked at | {limits.guesses_waiting} |",
    ):
        assert text in FLAT, text
    assert race.KEPT == 3_600_000  # "an hour"
    assert store.CLOSED_LIFETIME == 60  # "within a minute"
    assert "ping every 20 seconds" in FLAT
    source = Path(app.__file__).read_text()
    assert "ping_interval=20," in source
    assert "ping_timeout=20," in source


def test_what_requests_cost_is_on_the_page() -> None:
    text = FLAT.partition("As requests count: ")[2].partition(". ")[0]
    costs = {name: int(part.split()[-1]) for part in text.split("; ") for name in re.findall(r"`(\w+)`", part)}
    assert costs == {kind.__name__: gateway._COSTS.get(kind, 1) for kind in REQUESTS}


# ---------------------------------------------------------------- boards and moves


def test_the_piles_of_each_game_are_on_the_page_in_their_order() -> None:
    rows = cells(section("## Boards"))
    assert rows == [
        [f"`{game.name}`", str(game.decks), " ".join(f"`{key}`" for key in game.keys)] for game in GAMES.values()
    ]


def test_the_bits_of_a_card_are_on_the_page() -> None:
    assert f"`{int(Card.parse('TH')):#x}` is the ten of hearts, face up, and `{Card.parse('TH') | DOWN:#x}`" in FLAT
    assert f"is `{HIDDEN:#x}`, whatever it is" in FLAT
    suits = re.findall(r"`0x([0-3])0` (\w+)", section("## Boards"))
    assert [Card.parse(f"A{suit[0].upper()}").suit for _, suit in suits] == [int(digit) for digit, _ in suits]


def test_the_text_of_a_move_is_on_the_page() -> None:
    pattern = _TRANSFER.pattern.replace("(?:", "(")
    assert f"    {DRAW} | {DEAL} | {pattern}\n" in PAGE


def test_the_hashes_on_the_page_are_those_of_the_boards() -> None:
    block = PAGE.partition("```hashes\n")[2].partition("```")[0]
    hashes = dict(line.split() for line in block.splitlines())
    seed = Deal.parse("#4821").public_seed()
    for name, game in GAMES.items():
        assert hashes[name] == Board.deal(game, shuffled(seed, game.decks)).state_hash().hex()
    assert len(hashes) == len(GAMES)
