"""Race through each installed proxy while one node is drained and the other killed: ``make proxies``."""

from __future__ import annotations

import asyncio
import gzip
import json
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

import pytest

from samedeal.options import Options, WantedOptions
from samedeal.protocol.messages import Acked, Create, Created, Ping, Pong
from samedeal_server.store.connect import connect as connect_redis
from samedeal_server.store.store import Store
from samedeal_server.telemetry.metrics import Metrics
from tests.chaos.bots import LinkRacer, Racer, Spectator
from tests.chaos.client_journal import Evidence, Journal, now
from tests.chaos.judge import judge
from tests.chaos.player_model import PlayerModel
from tests.chaos.processes import Node, RedisServer
from tests.chaos.rounds import load_evidence, winning_records
from tests.deploy.proxies import KINDS, Backend, Kind, Setting, running
from tests.server.certificates import Keys
from tests.server.client import Client
from tests.server.redis_kinds import free_port
from tests.server.waiting import until

ROOM = "friday"
GAME = "willow"

LONGEST_SILENCE = 27.0
"""Time without data, in seconds, that a proxy must tolerate: a bit more than the ping interval of a node."""

RACERS = 6
PACE = 0.12
"""Mean time, in seconds, between two moves of a player. A race then takes about ten seconds."""


@dataclass
class Site:
    """Two nodes on one Redis behind a proxy."""

    redis: RedisServer
    places: list[Backend]
    directory: Path
    address: str = ""
    nodes: list[Node] = field(default_factory=list)
    started: int = 0

    async def start(self, place: int) -> Node:
        """Start the node of a place, for the first time or again."""
        self.started += 1
        where = self.places[place]
        node = await Node.start(
            self.redis.url,
            self.directory / f"node-{place + 1}-{self.started}.log",
            *("--host", where.host, "--port", str(where.port)),
            *("--health-port", str(where.health), "--trusted-proxies", "127.0.0.1", "--health-host", where.host),
        )
        self.nodes.append(node)
        return node


@pytest.fixture(params=KINDS, ids=lambda kind: kind.name)
def kind(request: pytest.FixtureRequest) -> Kind:
    """An installed proxy."""
    found: Kind = request.param
    if found.found is None:
        pytest.skip(f"{found.name} is not installed (Debian and Ubuntu: apt install {found.package})")
    return found


@pytest.fixture
async def site(kind: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Site]:
    """Two nodes behind the proxy with its shipped configuration, with TLS from a test authority."""
    for name in ("tls", "redis", "proxy"):
        (tmp_path / name).mkdir()
    keys = Keys(tmp_path / "tls")
    monkeypatch.setenv("SSL_CERT_FILE", str(keys.root))
    redis = RedisServer(tmp_path / "redis")
    port, health, *ports = [free_port() for _ in range(6)]
    # Both nodes use the same health port, because Caddy checks the health of all nodes on one port.
    places = [Backend("127.0.0.1", port, health), Backend("127.0.0.2", port, health)]
    made = Site(redis, places, tmp_path)
    try:
        await redis.start()
        for place in range(len(places)):  # in order: ``nodes`` lists them by start
            await made.start(place)
        setting = Setting(keys.cert, keys.key, places, ports, tmp_path / "proxy")
        async with running(kind, setting) as made.address:
            yield made
    finally:
        await asyncio.gather(*(node.kill() for node in made.nodes))
        await redis.kill()


async def connected(address: str, here: str = "127.0.0.1", **options: Any) -> Client:
    """Connect a player from a given local address, who sends no pings."""
    return await Client.hello(address, "mira", ping_interval=None, local_addr=(here, 0), proxy=None, **options)


async def requested(site: Site, path: str, headers: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Send a request for a path to the proxy. Return the connection."""
    host = site.address.removeprefix("wss://")
    reader, writer = await asyncio.open_connection(*host.split(":"), ssl=ssl.create_default_context())
    writer.write(f"GET {path} HTTP/1.1\r\nHost: {host}\r\n{headers}\r\n\r\n".encode())
    return reader, writer


def events(node: Node, name: str) -> list[dict[str, object]]:
    lines = map(json.loads, node.log.read_text().splitlines())
    return [line for line in lines if line["event"] == name]


async def test_node_sees_real_client_address(site: Site) -> None:
    claim = {"X-Forwarded-For": "203.0.113.7"}
    await (await connected(site.address, here="127.0.0.9", additional_headers=claim)).close()
    seen = [line["address"] for node in site.nodes for line in events(node, "connected")]
    assert seen == ["127.0.0.9"]


async def test_racers_of_a_room_meet_on_one_node(site: Site) -> None:
    """Other rooms are open meanwhile, because a room is split if its node would have more than its share of racers."""
    async with AsyncExitStack() as stack:

        async def visit(paths: Sequence[str]) -> list[int]:
            """Connect at each path, and return how many connections each node got."""
            before = [len(events(node, "connected")) for node in site.nodes]
            for path in paths:
                stack.push_async_callback((await connected(site.address + path)).close)
            return [len(events(node, "connected")) - count for node, count in zip(site.nodes, before, strict=True)]

        assert all(await visit([f"/r/room-{number}" for number in range(40)]))
        for number in range(3):
            assert sorted(await visit([f"/r/table-{number}"] * 4)) == [0, 4]


@pytest.mark.parametrize(
    ("path", "status"),
    [("/", 200), ("/friday?embed", 200), ("/page.js", 200), ("/qr/friday.svg", 200), ("/none.js", 404)],
)
async def test_page_passes_through(site: Site, path: str, status: int) -> None:
    """The node knows the address that the browser uses, and writes it into the preview of a room."""
    reader, writer = await requested(site, path, "Accept-Encoding: gzip, br\r\nConnection: close")
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    head_bytes, _, body = answer.partition(b"\r\n\r\n")
    head = head_bytes.decode().lower()
    assert head.startswith(f"http/1.1 {status} ")
    assert "content-security-policy: default-src 'none'" in head
    assert ("content-encoding: gzip" in head) is (status == 200)
    if path.startswith("/friday"):
        assert f'"og:image" content="{site.address.replace("wss", "https")}/' in gzip.decompress(body).decode()


async def test_listener_hears_news_through_the_proxy(site: Site) -> None:
    """The stream lasts from one comment of a node to the next, and the proxy holds nothing back."""
    reader, writer = await requested(site, "/api/v1/events", "Accept: text/event-stream")
    async with asyncio.timeout(2 * LONGEST_SILENCE):
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        assert head.startswith("http/1.1 200 ")
        assert "content-type: text/event-stream" in head
        assert "access-control-allow-origin: *" in head
        await reader.readuntil(b"retry: 3000\n\n")
        for _ in range(2):
            await reader.readuntil(b":\n\n")
    mira = await connected(site.address)
    await mira.create(ROOM)
    await mira.close()
    async with asyncio.timeout(5):
        assert json.loads((await reader.readuntil(b"}\n")).partition(b"data: ")[2])["room"]["room"] == ROOM
    writer.transport.abort()


async def test_idle_connection_stays_open(site: Site) -> None:
    mira = await connected(site.address)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(LONGEST_SILENCE):
            await mira.socket.wait_closed()
    await mira.expect(Pong, Ping)
    await mira.close()


async def test_race_survives_a_drain_and_a_kill(site: Site, kind: Kind) -> None:
    way = [action for _, action in winning_records()[GAME].actions]
    options = Options(
        games=(GAME,),
        deal=str(winning_records()[GAME].deal),
        players=RACERS,
        limit=90,
        start="full",
        delay=1,
        countdown=1,
    )
    opener = await connected(site.address)
    created = await opener.expect(Created, Create, options=WantedOptions.of(options), room=ROOM)
    assert created.room == ROOM
    await opener.close()
    journals = [Journal(f"bot-{number}", ROOM) for number in range(RACERS)]
    eye = Journal("eye", ROOM, is_spectator=True)
    clients = [Spectator(site.address, eye, Random("eye")).run()]
    for number, journal in enumerate(journals):
        kind_of_racer = LinkRacer if number % 2 else Racer
        rng = Random(journal.name)
        racer = kind_of_racer(site.address, journal, rng, PlayerModel(rng, options.undo, way), PACE)
        clients.append(racer.run())

    def acked() -> int:
        return sum(1 for journal in journals for _ in journal.got(Acked))

    async with AsyncExitStack() as stack:
        tasks = [asyncio.create_task(client) for client in clients]
        stack.callback(lambda: [task.cancel() for task in tasks])
        one, two = site.nodes
        await until(lambda: acked() > 5 * RACERS)
        assert events(one, "connected"), "the proxy sends everybody to the second node"
        assert events(two, "connected"), "the proxy sends everybody to the first node"
        before = acked()
        assert not await one.drain()
        await until(lambda: acked() > before + 5 * RACERS)
        one = await site.start(0)
        await until(lambda: acked() > before + 10 * RACERS)
        before = acked()
        await two.kill()
        await until(lambda: acked() > before + 5 * RACERS)
        calm = now()
        async with asyncio.timeout(90):
            await asyncio.gather(*tasks)
        assert len(events(one, "connected")) >= RACERS, "the node that came back has not got those of the killed one"
    async with connect_redis(site.redis.url) as redis:
        room = await load_evidence(Store(redis, Metrics()), ROOM)
    assert room is not None
    logs = [f"{node.log.name}: {line}" for node in site.nodes for line in node.log.read_text().splitlines()]
    evidence = Evidence({ROOM: room}, [*journals, eye], node_logs=logs, calm_at=calm)
    assert not judge(evidence)
    assert all(journal.saw_the_end for journal in (*journals, eye))
    assert all(len(log) == len(way) for log in room.logs.values())
    away = sorted(seconds for journal in (*journals, eye) for seconds in journal.outages)
    assert away
    print(
        f"\n{kind.name}: {acked()} moves acked, none lost; {len(away)} times back after {median(away):.2f} s (median), "
        f"{away[-1]:.2f} s (longest)"
    )
