"""The read API: its answers agree with its document, and nobody learns from it what only some may see."""

from __future__ import annotations

import json
import re
from typing import Any

from msgspec.structs import replace

from samedeal.forbidden_words import ForbiddenWords
from samedeal.games import GAMES
from samedeal.protocol.messages import Created, EarlierPlayer, Rematch
from samedeal.record import Record
from samedeal.solver.solve import solve
from samedeal_server.api.openapi import document
from samedeal_server.api.read_api import PREFIX, ROUTES
from samedeal_server.config.limits import Limits
from samedeal_server.races.earlier import EarlierRace
from samedeal_server.races.race_record import race_id
from samedeal_server.store.news import NewsId
from tests.golden.golden_files import assert_answered
from tests.server.live_nodes import Node, NodeMaker
from tests.server.plain_http import Answer, ask
from tests.server.races import finish, race, raced
from tests.server.waiting import until
from tests.shared.race_values import new_race

DOCUMENT: dict[str, Any] = json.loads(document(PREFIX, ROUTES))


async def get(one: Node, path: str, method: str = "GET", **headers: str) -> Answer:
    return await ask(one.url, f"{PREFIX}{path}", method, **headers)


async def read(one: Node, path: str, **headers: str) -> Any:
    """The JSON of an answer, which agrees with the document."""
    answer = await get(one, path, **headers)
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json"), answer.body
    value = json.loads(answer.body)
    check(value, described(path))
    return value


def described(path: str) -> dict[str, Any]:
    """The schema of the answer at a path."""
    content = operation(path)["responses"]["200"]["content"]
    schema: dict[str, Any] = content["application/json"]["schema"]
    return schema


def operation(path: str) -> dict[str, Any]:
    """What the document says about a path."""
    names = [(re.sub(r"\{\w+\}", "[^/]+", route.path.replace(".", r"\.")), route.path) for route in ROUTES]
    found = next(name for pattern, name in names if re.fullmatch(pattern, path.partition("?")[0]))
    asked: dict[str, Any] = DOCUMENT["paths"][f"{PREFIX}{found}"]["get"]
    return asked


KINDS: dict[str, Any] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
}
"""The types of Python for those of a schema."""


def check(value: Any, schema: dict[str, Any], where: str = "answer") -> None:
    """Assert that a value agrees with a schema, and has no field that the schema does not name."""
    if "anyOf" in schema:
        (schema,) = (each for each in schema["anyOf"] if isinstance(value, KINDS[each.get("type", "object")]))
    if "$ref" in schema:
        schema = DOCUMENT["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    if "enum" in schema:
        assert value in schema["enum"], where
        return
    assert isinstance(value, KINDS[schema["type"]]), (where, value, schema)
    if isinstance(value, bool):
        assert schema["type"] == "boolean", where
    if isinstance(value, dict) and "properties" in schema:
        assert set(schema["required"]) <= set(value) <= set(schema["properties"]), (where, set(value))
        for name, each in value.items():
            check(each, schema["properties"][name], f"{where}.{name}")
    if isinstance(value, list):
        for at, each in enumerate(value):
            prefix = schema.get("prefixItems", [])
            check(each, prefix[at] if at < len(prefix) else schema["items"], f"{where}[{at}]")


async def test_answers_agree_with_the_document(one: Node, two: Node) -> None:
    ana, bo = await one.player("ana"), await two.player("Zoë")
    room = await ana.create("friday", games=("athena", "steve"), deal="#4821", series=2)
    await raced(room, ana, bo, moves=2)
    await ana.expect(Created, Rematch)
    race_id = await until(lambda: one.store.records.newest_of(room))
    assert [line["race"] for line in (await read(two, "/races"))["races"]] == [race_id]
    assert race_id.startswith("friday.")
    text = await get(two, f"/races/{race_id}")
    assert text.headers["content-type"].startswith("text/plain")
    record = Record.parse(text.body.decode())
    for path, headers in ((f"/races/{race_id}.json", {}), (f"/races/{race_id}", {"Accept": "application/json"})):
        found = await read(one, path, **headers)
        assert found["seed"] == record.seed.hex()
        assert [player["name"] for player in found["players"]] == ["ana", "Zoë"]
        assert [tuple(map(tuple, player["actions"])) for player in found["players"]] == [
            player.actions for player in record.players
        ]
    preferring_text = await get(one, f"/races/{race_id}", Accept="text/plain, application/json;q=0.5")
    assert (
        preferring_text.body == text.body == (await get(one, f"/races/{race_id}.txt", Accept="application/json")).body
    )
    table = await read(one, "/series/friday")
    assert (table["rooms"], table["races"], sum(line["points"] for line in table["table"])) == (["friday"], 2, 1)
    after = await read(one, "/series/friday-2")
    assert (after["rooms"], after["table"]) == (["friday", "friday-2"], table["table"])
    rooms = (await read(one, "/rooms"))["rooms"]
    assert [line["room"] for line in rooms] == ["friday", "friday-2"]
    assert [line["room"] for line in (await read(one, "/rooms?open&game=steve"))["rooms"]] == ["friday-2"]
    assert "willow" in [line["name"] for line in (await read(one, "/games"))["games"]]
    assert json.loads((await get(one, "/openapi.json")).body) == DOCUMENT


async def test_game_is_described_as_in_games_json(one: Node) -> None:
    described_games = json.loads((await ask(one.url, "/games.json")).body)
    assert list(described_games) == list(GAMES)
    for name, description in described_games.items():
        assert await read(one, f"/games/{name}") == description


def test_examples_agree_with_the_document() -> None:
    for methods in DOCUMENT["paths"].values():
        for parameter in methods["get"]["parameters"]:
            if pattern := parameter["schema"].get("pattern"):
                assert re.search(pattern, parameter["example"]), parameter


async def test_older_races_and_those_of_a_player_are_found(one: Node) -> None:
    """A page of the history is empty beyond its end, and a private race is no place to begin."""
    ana, bo = await one.player("ana"), await one.player("bo")
    races = []
    for room, passphrase, players in (("first", "", [ana]), ("secret", "x", [ana]), ("last", "", [ana, bo])):
        await ana.create(room, passphrase, deal="#1")
        await raced(room, *players, moves=2, passphrase=passphrase)
        races.append(await until(lambda: one.store.records.newest_of(room)))  # noqa: B023  # it is called at once
    first, secret, last = races

    async def listed(query: str) -> list[str]:
        return [line["race"] for line in (await read(one, f"/races?{query}"))["races"]]

    assert await listed(f"player={ana.player}") == [last, first]
    assert await listed(f"player={bo.player}") == [last]
    assert await listed(f"before={last}") == [first]
    assert await listed(f"before={last}&player={bo.player}") == []
    assert await listed(f"before={first}") == await listed("player=nobody") == []
    for unknown in (secret, "first.19700101-000000", "%"):
        assert (await get(one, f"/races?before={unknown}")).status == 404
    assert await one.store.records.before("", 1) == (await one.store.records.before("", 100))[:1]


async def test_private_rooms_are_not_seen(one: Node) -> None:
    """Neither is a race whose room admits no spectators. All other answers are as if there were none."""
    ana = await one.player("ana")
    gone = [await get(one, path) for path in ("/series/secret", "/series/closed")]
    for room, passphrase, options in (("secret", "x", {}), ("closed", "", {"spectators": False})):
        await ana.create(room, passphrase, deal="#1", series=2, **options)
        await raced(room, ana, moves=2, passphrase=passphrase)
        kept = await until(lambda: one.store.records.newest_of(room))  # noqa: B023  # it is called at once
        assert (await get(one, f"/races/{kept}")).status == 404
    await ana.create("secret-too", "x")
    assert (await read(one, "/rooms"))["rooms"] == []
    assert (await read(one, "/races"))["races"] == []
    assert gone == [await get(one, path) for path in ("/series/secret", "/series/closed")]
    assert [(each.event, each.room.room) for _, each in await one.store.news.after(NewsId(0, 0))] == [
        ("opened", "closed")
    ]


async def test_front_shows_a_past_deal_of_the_day_and_no_forbidden_name(one: Node, two: Node) -> None:
    """Nobody is shown the deal of today without a seat."""
    ana, otto = await one.player("ana"), await one.player("otto")
    assert (await read(two, "/front"))["board"] is None
    for room, deal in (("first", "daily 2026-01-02"), ("older", "daily 2026-01-01"), ("today", "daily")):
        await ana.create(room, games=("freecell",), deal=deal)
        await raced(room, ana, otto, moves=2)
        await until(lambda: one.store.records.newest_of(room))  # noqa: B023  # it is called at once
    await ana.create("lunch", games=("steve",), deal="#1")
    await ana.join("lunch")
    await otto.join("lunch")
    one.rooms.words = ForbiddenWords("otto")  # not before they have seats
    front = await read(one, "/front")
    board, (room,) = front["board"], front["rooms"]
    assert (board["game"], board["deal"], board["race"][:6]) == ("freecell", "daily 2026-01-02", "first.")
    records = (await read(one, "/races"))["races"]
    assert [(line["room"], line["time"]) for line in records] == [("today", 0), ("older", 0), ("first", 0)]
    assert (board["started"], front["races"]) == (records[2]["started"], [])
    assert sorted(map(len, board["piles"])) == [0] * 8 + [6] * 4 + [7] * 4
    assert sorted(rival["name"] for rival in board["rivals"]) == ["", "ana"]
    assert (room["names"], room["people"], room["line"]["players"]) == (["ana"], 2, 2)


async def test_front_shows_the_newest_race_else_the_closest_finish(one: Node, two: Node) -> None:
    """Of a race that goes on, it tells counts. Of races of the week, the second player of one has not finished."""
    now, day = await one.store.now(), 86_400_000
    for room, days, second in (("friday", 1, 300), ("saturday", 1, 200), ("sunday", 1, 0), ("older", 8, 190)):
        times = {"ana": 90, "otto": second, "cid": 400}
        players = tuple(
            EarlierPlayer(name=name, foundation_cards=52 if time else 3, time=time, reached=(5,) * (52 if time else 3))
            for name, time in times.items()
        )
        start = race_id(replace(new_race(room), starts=now - days * day))
        await one.store.earlier.keep("freecell", start, EarlierRace("again", 1, 1, 9, players, ("p1",)))
    others = await race(one, names=("eve", "fay"), room="first")
    ana, otto = await race(two, names=("ana", "otto"), room="newer", games=("freecell",), deal="#1")
    unseen = await race(one, names=("guy", "hal"), room="unseen", spectators=False)
    for move in solve(otto.play.board, 100_000).line:
        await otto.act(str(move))
        if otto.play.board.foundation_cards == 2:
            break
    for node in (one, two):
        node.rooms.words = ForbiddenWords("ana")
    found = (await read(one, "/front"))["race"]
    assert (found["room"], found["race"][:6], found["game"]) == ("newer", "newer.", "freecell")
    told = [(each["name"], each["cards"], each["reached"], each["time"]) for each in found["rivals"]]
    assert told == [("otto", 2, [], 0), ("", 0, [], 0)]
    for clients in (others, (ana, otto), unseen):
        await finish(*clients)
    found = (await read(two, "/front"))["race"]
    assert (found["room"], found["race"][:9], found["game"]) == ("", "saturday.", "freecell")
    told = [(each["name"], each["cards"], len(each["reached"]), each["time"]) for each in found["rivals"]]
    assert told == [("", 52, 52, 90), ("otto", 52, 52, 200), ("cid", 52, 52, 400)]


async def test_requests_are_refused_in_json(one: Node) -> None:
    async def answered(_: str, request: str) -> str:
        method, path = request.split(" ")
        answer = await get(one, path, method)
        told = json.loads(answer.body)
        check(told, {"$ref": "ErrorAnswer"})
        assert answer.headers["access-control-allow-origin"] == "*"
        return f"{answer.status} {told['code']}: {told['message']}".replace(", ".join(GAMES), "all games")

    await assert_answered("api_refusals", answered)


ODD_NAMES = ("friday", "FRIDAY.json", "..", "%2e", "a" * 64, "a" * 65, "willow.0", "willow.99999999999999", "\x7f", "")
ODD_QUERIES = ("", "?", "?game=&open", "?game=chess", "?day", "?%", f"?{'a=&' * 2000}", "?;#")


async def test_every_request_gets_an_answer_of_the_document(node: NodeMaker) -> None:
    """A request as no program of ours sends it is answered too, with JSON that pages of other sites may read."""
    one = await node(Limits(address_burst=1_000_000))
    paths = [re.sub(r"\{\w+\}", name, route.path) for route in ROUTES for name in ODD_NAMES if route.path != "/events"]
    for path in dict.fromkeys((*paths, "/", "/rooms/")):
        for query in ODD_QUERIES:
            answer = await get(one, path + query, Accept="application/json")
            value = json.loads(answer.body)
            if answer.status == 200 and "openapi" not in path:
                check(value, described(path))
            elif answer.status != 200:
                assert answer.status in (400, 404), (path, query)
                check(value, {"$ref": "ErrorAnswer"})
                if value["code"] != "no_such_path":
                    assert value["code"] in operation(path)["responses"][str(answer.status)]["description"], (
                        path,
                        value,
                    )
            assert answer.headers["access-control-allow-origin"] == "*"
        plain = await get(one, path, Accept="application/json")
        for method, status in (("HEAD", plain.status), ("OPTIONS", 204), ("POST", 405), ("get", 405)):
            asked = await get(one, path, method, Accept="application/json")
            assert (asked.status, asked.body == b"") == (status, status != 405), (path, method)


async def test_answer_is_not_sent_again(one: Node) -> None:
    first = await get(one, "/rooms")
    tag = first.headers["etag"]
    again = await get(one, "/rooms", If_None_Match=tag)
    assert (again.status, again.body) == (304, b"")
    head = await get(one, "/rooms", "HEAD")
    assert (head.status, head.body, head.headers) == (200, b"", first.headers)
    await (await one.player()).create("friday")

    async def is_sent() -> bool:
        return (await get(one, "/rooms", If_None_Match=tag)).status == 200

    await until(is_sent)


async def test_only_the_api_may_be_read_by_other_sites(one: Node) -> None:
    asked = await get(one, "/rooms", "OPTIONS", Origin="https://club.example")
    assert (asked.status, asked.headers["access-control-allow-origin"]) == (204, "*")
    assert "access-control-allow-credentials" not in asked.headers
    assert "access-control-allow-origin" not in (await ask(one.url, "/")).headers


async def test_requests_are_charged_to_their_address(node: NodeMaker) -> None:
    one = await node(Limits(address_rate=1, address_burst=100))
    statuses = [(await get(one, "/games")).status for _ in range(8)]
    assert statuses == [200] * 6 + [429] * 2
    await refused_for_now(one, 429, "rate_limited")


async def refused_for_now(one: Node, status: int, code: str) -> None:
    """Expect that a page of another site can read why it is refused, and when to ask again."""
    answer = await get(one, "/games", Origin="https://club.example")
    told = json.loads(answer.body)
    check(told, {"$ref": "ErrorAnswer"})
    assert (answer.status, told["code"], answer.headers["retry-after"]) == (status, code, "5")
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "Retry-After" in answer.headers["access-control-expose-headers"]


async def test_full_or_stopping_node_says_so_to_other_sites(node: NodeMaker) -> None:
    await refused_for_now(await node(Limits(connections=0)), 503, "unavailable")
    one = await node()
    await one.gateway.drain()
    await refused_for_now(one, 503, "unavailable")


async def test_api_is_off_with_the_page(node: NodeMaker) -> None:
    assert (await get(await node(page=False), "/rooms")).status == 426
