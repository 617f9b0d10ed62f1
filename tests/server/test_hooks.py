"""Hooks: a program at the other end of a real connection is told each event once, whatever happens to it or to nodes."""

from __future__ import annotations

import asyncio
import hmac
import json
import ssl
from ast import literal_eval
from base64 import b64encode
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from samedeal.protocol.messages import Done, Report, RoomLine, Standing, Start
from samedeal_server.config.config import Config
from samedeal_server.config.hook_addresses import HookAddress
from samedeal_server.config.setting_sources import InvalidValue
from samedeal_server.hooks import hook_sender
from samedeal_server.hooks.hook_messages import message, sentence
from samedeal_server.hooks.hook_sender import HookSender
from samedeal_server.loop_timers import Timers
from samedeal_server.races.public_facts import RaceNews
from samedeal_server.store import keys
from samedeal_server.store.news import NewsId
from tests.golden.golden_files import assert_answers
from tests.server.captured_log import Log
from tests.server.certificates import Keys
from tests.server.client import DEADLINE
from tests.server.live_nodes import Node, NodeMaker, RedisClient
from tests.server.local_server import local_server
from tests.server.races import raced, seated
from tests.server.waiting import until

SECRET = "0123456789abcdef"


class Receiver:
    """A program that takes POST requests. It answers with the statuses in ``answers``, and then with 200.

    It closes the connection instead of answering with 0, and never answers with -1. It asks for a wait of 7 seconds.
    """

    def __init__(self) -> None:
        self.port = 0
        self.answers: list[int] = []
        self.requests: list[tuple[dict[str, str], bytes]] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().strip().split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)} | {"": first}
        self.requests.append((headers, await reader.readexactly(int(headers["content-length"]))))
        status = self.answers.pop(0) if self.answers else 200
        if status < 0:
            await reader.read()
        elif status:
            writer.write(f"HTTP/1.1 {status} Whatever\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n".encode())
        writer.close()

    async def received(self, count: int) -> None:
        await until(lambda: len(self.requests) >= count)

    def events(self) -> list[tuple[str, str]]:
        told = [json.loads(body) for _, body in self.requests]
        return [(each["event"], each["room"]["room"]) for each in told]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/s3cret?key=1"


@pytest.fixture
async def receiver(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Receiver]:
    monkeypatch.setattr(hook_sender, "WAITS", (0, 0))
    monkeypatch.setattr(hook_sender, "INTERVAL", 0.05)
    receiving = Receiver()
    async with local_server(receiving.serve) as receiving.port:
        yield receiving


async def until_ready(redis: RedisClient, hooks: int = 1) -> None:
    """Wait until the nodes have asked for news for so many hooks. A hook is not told of what happened before."""
    async with asyncio.timeout(DEADLINE):
        while not await redis.exists(keys.NEWS) or len(await redis.xinfo_groups(keys.NEWS)) < hooks:
            pass


async def hooked(node: NodeMaker, redis: RedisClient, receiver: Receiver) -> Node:
    """Start a node that tells the receiver."""
    one = await node(hook=(receiver.url,))
    await until_ready(redis)
    return one


async def test_hook_is_told_once_over_all_nodes(node: NodeMaker, redis: RedisClient, receiver: Receiver) -> None:
    settings = {"hook": (receiver.url,), "hook_secret": SECRET, "public_url": "https://cards.example.org"}
    one, two = await node(**settings), await node(**settings)
    await until_ready(redis)
    ana, bo = await one.player("@everyone"), await two.player("bo")
    for room, passphrase in (("secret", "x"), ("friday", "")):
        await ana.create(room, passphrase)
        await raced(room, ana, bo, passphrase=passphrase)
    await receiver.received(2)
    await bo.create("monday")
    await receiver.received(3)
    assert receiver.events() == [("opened", "friday"), ("finished", "friday"), ("opened", "monday")]
    headers, body = receiver.requests[1]
    assert headers[""] == "POST /s3cret?key=1 HTTP/1.1"
    assert headers["host"] == f"127.0.0.1:{receiver.port}"
    assert headers["x-samedeal-signature"] == "sha256=" + hmac.digest(SECRET.encode(), body, "sha256").hex()
    told = json.loads(body)
    assert told["text"] == told["content"]
    assert told["allowed_mentions"] == {"parse": []}
    assert told["text"].endswith(". https://cards.example.org/friday")
    assert told["link"] == "https://cards.example.org/friday"
    assert {line["name"] for line in told["standings"]} == {"@everyone", "bo"}
    assert len({headers["x-samedeal-delivery"] for headers, _ in receiver.requests}) == 3


async def test_reports_are_told_to_another_hook(node: NodeMaker, redis: RedisClient, receiver: Receiver) -> None:
    """Whoever reads the news learns nothing of them."""
    one = await node(report_hook=(receiver.url,), public_url="https://cards.example.org")
    await until(lambda: redis.exists(keys.REPORTS))
    ana, bob = await seated(one, names=("ana", "b@d"), room="friday")
    await ana.expect(Done, Report, player=bob.player)
    await receiver.received(1)
    told = json.loads(receiver.requests[0][1])
    assert (told["player"], told["name"], told["reporter"]) == (bob.player, "b@d", ana.player)
    assert told["text"] == f"A player has reported the name b\uff20d ({bob.player}) in room friday. {told['link']}"
    assert [news.event for _, news in await one.store.news.after(NewsId(0, 0))] == ["opened"]


async def test_ntfy_is_told_in_text(node: NodeMaker, redis: RedisClient, receiver: Receiver) -> None:
    """A token is the password, as ntfy takes it. Without a secret there is no signature."""
    hook = f"ntfy+http://:tk_1@127.0.0.1:{receiver.port}/cards"
    one = await node(hook=(hook,), public_url="https://cards.example.org")
    await until_ready(redis)
    await (await one.player()).create("friday", games=("klondike",))
    await receiver.received(1)
    headers, body = receiver.requests[0]
    assert body.decode() == "A race in Klondike waits for players: room friday."
    assert headers["click"] == "https://cards.example.org/friday"
    assert headers["authorization"] == f"Basic {b64encode(b':tk_1').decode()}"
    assert "x-samedeal-signature" not in headers


@pytest.mark.parametrize(
    ("answers", "attempts", "outcome"),
    [
        ([500, 429], 3, "told"),
        ([0, 503], 3, "told"),
        ([-1], 2, "told"),
        ([404], 1, "dropped"),
        ([302], 1, "dropped"),
        ([500, 500, 500], 3, "dropped"),
    ],
)
async def test_failed_request_is_sent_again_or_dropped(
    node: NodeMaker,
    redis: RedisClient,
    receiver: Receiver,
    monkeypatch: pytest.MonkeyPatch,
    log: Log,
    answers: list[int],
    attempts: int,
    outcome: str,
) -> None:
    """The line about dropped news does not tell the address, and the next news is told."""
    log.set_up()
    monkeypatch.setattr(hook_sender, "TIMEOUT", 0.2 if -1 in answers else DEADLINE)
    receiver.answers = answers.copy()
    one = await hooked(node, redis, receiver)
    await (await one.player()).create("friday")
    await receiver.received(1)
    monkeypatch.setattr(hook_sender, "TIMEOUT", DEADLINE)  # only the first answer may be late
    await one.becomes("hooks_total", 1, outcome=outcome)
    assert receiver.requests == [receiver.requests[0]] * attempts
    if outcome == "told":
        assert one.metric("hooks_total", outcome="failed") == len(answers)
    else:
        logged = await log.until("hook_failed", host="127.0.0.1", news="opened", room="friday", level="warning")
        assert "status" in logged["error"]
        await (await one.player("bo")).create("monday")
        await one.becomes("hooks_total", 1, outcome="told")
        assert "s3cret" not in log.read()


async def test_hook_can_ask_for_a_longer_wait(
    node: NodeMaker, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []

    class NotedTimers(Timers):
        async def sleep(self, delay: float) -> None:
            waits.append(delay)

    monkeypatch.setattr(hook_sender, "WAITS", (1, 9, 3))
    receiver.answers = [429, 503, 503]
    one = await node()
    address = HookAddress.parse(receiver.url)
    sender = HookSender(one.store, one.store.news, one.gateway.metrics, address, "", "", NotedTimers())
    await sender.tell_waiting()
    await (await one.player()).create("friday")
    async with asyncio.timeout(DEADLINE):
        while not receiver.requests:
            await sender.tell_waiting()
    assert waits == [0, 3, 9, 3]  # the last wait is the longest that a hook can ask for


@pytest.mark.parametrize("is_trusted", [True, False])
async def test_certificate_of_a_hook_is_checked(
    node: NodeMaker,
    redis: RedisClient,
    receiver: Receiver,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    log: Log,
    is_trusted: bool,
) -> None:
    log.set_up()
    keys_of_receiver = Keys(tmp_path)
    if is_trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(keys_of_receiver.root))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(keys_of_receiver.cert, keys_of_receiver.key)
    async with local_server(receiver.serve, context) as port:
        one = await node(hook=(f"https://127.0.0.1:{port}/s3cret",))
        await until_ready(redis)
        await (await one.player()).create("friday")
        await one.becomes("hooks_total", 1, outcome="told" if is_trusted else "dropped")
    assert len(receiver.requests) == is_trusted
    if not is_trusted:
        assert "certificate" in (await log.until("hook_failed"))["error"].lower()


async def test_hook_that_never_answers_delays_nobody(node: NodeMaker, redis: RedisClient, receiver: Receiver) -> None:
    """Neither players nor another hook wait for it, and its node stops at once."""
    receiver.answers = [-1]
    hanging, other = receiver.url, f"{receiver.url}2"
    one = await node(hook=(hanging,))
    await until_ready(redis)
    ana = await one.player()
    await ana.create("friday", games=("athena",))  # random moves never run out there
    await receiver.received(1)
    two = await node(hook=(other,))
    await until_ready(redis, 2)
    await ana.join("friday")
    await ana.expect(Done, Start)
    await ana.dealt()
    await ana.acts(3)
    await ana.create("monday")
    await receiver.received(2)
    assert [headers[""].split()[1][-1] for headers, _ in receiver.requests] == ["1", "2"]
    await two.becomes("hooks_total", 1, outcome="told")


async def test_news_of_a_dead_node_is_told_by_another_once(
    node: NodeMaker, redis: RedisClient, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    receiver.answers = [-1]
    one = await node(hook=(receiver.url,), public_url="https://cards.example.org")
    await until_ready(redis)
    ana = await one.player()
    await ana.create("friday")
    await receiver.received(1)
    await one.stop_tasks()
    monkeypatch.setattr(hook_sender, "ABANDONED", 0)
    two = await node(hook=(receiver.url,), public_url="https://cards.example.org")
    await receiver.received(2)
    assert receiver.requests[0] == receiver.requests[1]
    await (await two.player("bo")).create("monday")
    await receiver.received(3)
    assert receiver.events() == [("opened", "friday")] * 2 + [("opened", "monday")]
    (group,) = await redis.xinfo_groups(keys.NEWS)
    assert group["consumers"] == 1  # nobody would remove those of dead nodes


async def test_old_news_is_not_told(
    node: NodeMaker, redis: RedisClient, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = await hooked(node, redis, receiver)
    ana = await one.player()
    monkeypatch.setattr(hook_sender, "STALE", -1_000_000)
    await ana.create("friday")
    await one.becomes("hooks_total", 1, outcome="dropped")
    assert receiver.requests == []


def finished(*players: tuple[str, int]) -> RaceNews:
    room = RoomLine(room="friday", game="willow", deal="random", phase="finished", players=2, seats=8, spectators=True)
    standings = tuple(
        Standing(place=1, player=name, name=name, foundation_cards=9, time=time, moves=0, undos=0)
        for name, time in players
    )
    return RaceNews(event="finished", time=1, room=room, race="friday.20261122-140543", standings=standings)


def test_name_is_no_markup() -> None:
    """A name can neither mention people nor make a link. In the JSON it is whole."""
    for name in ["@everyone", "<!channel>", "[x](http://evil)", "`*_~|", "a.com", "<@U1>", "&amp;"]:
        news = finished((name, 1_000))
        body = json.loads(message(HookAddress.parse("https://a/"), news, "", "")[1])
        text = body["text"].removeprefix("Willow, room friday: ").removesuffix(" won in 0:01.")
        assert not set(text) & set("@<>[]()`*_~|.&:/;")
        assert body["standings"][0]["name"] == name


def test_hooks_are_told_and_found_as_the_page_says() -> None:
    def answer(heading: str, question: str) -> str:
        if heading != "Addresses":
            players = (line.split() for line in question.split(", "))
            return sentence(finished(*((name, int(time)) for name, time in players)))
        url = literal_eval(question)
        try:
            Config(hook=(url,))
        except InvalidValue as error:
            return f"{error.name}: {error}"
        address = HookAddress.parse(url)
        return f"{address.host} {address.port} {address.target}{' with TLS' * address.is_tls}"

    assert_answers("hooks", answer)
