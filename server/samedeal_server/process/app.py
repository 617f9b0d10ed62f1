"""The life of a node: build it, serve clients, drain it.

This module connects the parts of a node and has no other logic.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial

from websockets.asyncio.server import serve as websocket_server
from websockets.server import ServerProtocol

from samedeal.protocol.admin import SUBPROTOCOL as ADMIN
from samedeal.protocol.codec import LARGEST_FRAME
from samedeal_server.api.news_listeners import NewsListeners
from samedeal_server.config.config import Config
from samedeal_server.config.hook_addresses import HookAddress
from samedeal_server.config.limits import LiveLimits
from samedeal_server.connections.client_socket import CLOSE_TIMEOUT, ClientSocket
from samedeal_server.connections.handshake_admission import HandshakeAdmission
from samedeal_server.embedded_redis.server import EmbeddedRedis
from samedeal_server.gateway.gateway import Gateway, Serve
from samedeal_server.hooks.hook_sender import HookSender
from samedeal_server.operators.auth import TokenAuthenticator
from samedeal_server.operators.node_agent import NodeAgent
from samedeal_server.operators.operator_gateway import Admin
from samedeal_server.page.address import page_address
from samedeal_server.page.files import PageFiles
from samedeal_server.process import sd_notify
from samedeal_server.process.banner import ListenAddresses, listen_addresses
from samedeal_server.process.fd_limits import fit_to_open_file_limit
from samedeal_server.process.further_games import checked_tides, offer_games
from samedeal_server.process.garbage_collection import search_all_at_intervals, search_new_objects_only
from samedeal_server.process.health import NodeChecks, health_listener
from samedeal_server.process.installation import stopping_for_other_release
from samedeal_server.process.listening import listening, port_of
from samedeal_server.process.open_store import open_store, store_required
from samedeal_server.process.own_house import house_command, keep_house
from samedeal_server.process.reload import reload_on_request
from samedeal_server.process.secret_settings import read_accesses, read_hook_secret, read_house_key
from samedeal_server.process.signals import Signals
from samedeal_server.process.tls import Certificate
from samedeal_server.process.worker_homes import WorkerHomes
from samedeal_server.process.workers import stop_with_parent
from samedeal_server.races.server_bans import Bans
from samedeal_server.rooms.background_tasks import BackgroundTasks
from samedeal_server.rooms.deal_search import DealSearch
from samedeal_server.rooms.duties import Duties
from samedeal_server.rooms.player_connection import PlayerConnection
from samedeal_server.rooms.registry import RoomRegistry
from samedeal_server.rooms.upkeep import Upkeep
from samedeal_server.store.clock import StoreClock
from samedeal_server.store.house_store import AT_HOME, HouseStore
from samedeal_server.tasks import cancel_and_wait, ignore_lost_connections
from samedeal_server.telemetry import logs
from samedeal_server.telemetry.logger import get_logger
from samedeal_server.telemetry.loop_lag import measure_loop_lag
from samedeal_server.telemetry.metrics import Metrics

Announce = Callable[[ListenAddresses, str], None]

_log = get_logger()


def node_name() -> str:
    """Return a unique name for this node: its host name, its process id and random digits."""
    return f"{socket.gethostname()[:20]}-{os.getpid()}-{secrets.token_hex(2)}"


@dataclass(frozen=True)
class Node:
    """A running node. ``tasks`` run in the background, and the node cannot continue if one of them ends.

    ``admit`` replaces the tokens of operators, or raises StartupError.
    """

    config: Config
    rooms: RoomRegistry
    agent: NodeAgent
    gateway: Gateway
    certificate: Certificate | None
    homes: WorkerHomes | None
    admit: Callable[[Config], None]
    addresses: ListenAddresses
    health_url: str
    stop: asyncio.Event
    tasks: list[asyncio.Task[None]]

    def start_task(self, coroutine: Coroutine[object, object, None]) -> None:
        """Run a coroutine in the background. If the coroutine ends, so does the node."""
        self.tasks.append(asyncio.create_task(coroutine))

    def apply(self, config: Config) -> bool:
        """Apply those settings that can change while a node runs, and load the certificate again.

        Return False if the certificate is rejected. Raise StartupError, and change nothing, if a token cannot be used.
        """
        self.admit(config)
        self.rooms.live_limits.current = fit_to_open_file_limit(config.limits)
        logs.set_up(config, self.rooms.node)
        return self.certificate is None or self.certificate.reload()

    async def run_until(self, event: asyncio.Event) -> None:
        """Wait until ``event`` is set or a background task ends. If the task has failed, raise its error."""
        waiter = asyncio.create_task(event.wait())
        try:
            done, _ = await asyncio.wait((*self.tasks, waiter), return_when=asyncio.FIRST_COMPLETED)
        finally:
            await cancel_and_wait([waiter])
        for task in done:
            task.result()


async def run(
    config: Config, name: str, announce: Announce, read: Callable[[], Config] | None = None, *, is_worker: bool = False
) -> None:
    """Run a node until SIGTERM or SIGINT, then drain it. On a second signal, drain it without delay.

    ``announce`` is called once clients can connect. ``read`` reads the settings again after SIGHUP. If ``is_worker`` is
    true, other processes may listen on the same port, and the node also stops when its parent process ends. Raise
    StartupError if the node cannot start, if the Redis that it has started for itself ends, or after draining, if another
    release was installed over this one.
    """
    ignore_lost_connections()
    signals = Signals()
    # The parent of a worker looks at the installation, so that no worker is of another release than the others.
    watch = nullcontext() if is_worker else stopping_for_other_release(signals.stop)
    async with watch, build(config, name, signals.stop, shares_port=is_worker) as node:
        node.start_task(
            reload_on_request(signals.reload, config, read or (lambda: config), node.apply, node.rooms.metrics)
        )
        if is_worker:
            node.start_task(stop_with_parent(signals.stop))
        elif config.house:
            node.start_task(keep_house(house_command(config, node.addresses.local), signals.stop))
        if watchdog_timeout := sd_notify.watchdog_timeout():
            node.start_task(sd_notify.watchdog_loop(watchdog_timeout))
        node.rooms.background.spawn(node.rooms.deals.solvers.probe)
        node.rooms.background.spawn(node.agent.report_other_versions)
        search_new_objects_only()
        node.start_task(search_all_at_intervals())
        addresses = node.addresses
        _log.info("listening", address=addresses.local, public_address=addresses.public, health=node.health_url)
        announce(addresses, node.health_url)
        await node.run_until(node.stop)
        await drain(node, signals.hurry)


async def drain(node: Node, hurry: asyncio.Event) -> None:
    """Drain a node: report that it is not ready, wait for the drain delay, and disconnect all clients.

    The drain delay gives load balancers time to notice. The delay ends early if ``hurry`` is set.
    """
    node.stop.set()
    if node.homes is not None:
        node.homes.give_away()
    sd_notify.notify("STOPPING=1")
    if node.config.drain_delay:
        _log.info("stopping", drain_delay=node.config.drain_delay)
        with suppress(TimeoutError):
            async with asyncio.timeout(node.config.drain_delay):
                await node.run_until(hurry)
    _log.info("draining", connections=len(node.gateway.connections))
    await node.gateway.drain()
    _log.info("stopped")


async def _send_house_home(house: HouseStore) -> None:
    """Let bots of the house leave, if there is one, because this node has too much to do."""
    if await house.is_open():
        if not await house.is_at_home():
            _log.warning("house_sent_home", seconds=AT_HOME // 1000)
        await house.send_home()


@asynccontextmanager
async def build(config: Config, name: str, stop: asyncio.Event, *, shares_port: bool = False) -> AsyncIterator[Node]:
    """Build a node to which clients can connect, and close it when the ``async with`` block ends.

    When ``stop`` is set, the node reports that it is not ready for new clients. An operator's order to drain sets
    ``stop``. If ``shares_port`` is true, other processes may listen on the same port. Raise StartupError if the node
    cannot start.
    """
    offer_games(config.games)
    tides = checked_tides(config.tides)
    metrics = Metrics()
    hook_secret = read_hook_secret(config)
    limits = LiveLimits(fit_to_open_file_limit(config.limits))
    tasks: list[asyncio.Task[None]] = []
    async with AsyncExitStack() as stack:
        embedded = None if config.redis else EmbeddedRedis(config.data, config.durability)
        redis = config.redis if embedded is None else await stack.enter_async_context(embedded)
        store = await stack.enter_async_context(open_store(redis, config.replicas, metrics))
        metrics.redis_replicas.set(config.replicas)
        certificate = None
        if config.tls_cert and config.tls_key:
            certificate = Certificate(config.tls_cert, config.tls_key, metrics)
        clock = StoreClock(store)
        with store_required():
            await clock.sync()
        duties = Duties(store, name)
        deals = DealSearch(store, duties, metrics)
        stack.push_async_callback(deals.close)
        background = BackgroundTasks(metrics)
        stack.push_async_callback(background.stop)
        rooms = RoomRegistry(store, clock, name, limits, metrics, duties, deals, background, tides=tides)

        connections: set[PlayerConnection] = set()
        bans = Bans()
        handshakes = HandshakeAdmission(limits, metrics, config.origins, config.trusted_proxies, config.public_url)
        agent = NodeAgent(rooms, connections, bans, stop)
        admin = Admin(agent, rooms, TokenAuthenticator(()), handshakes.address)
        subprotocols: dict[str, Serve] = {}

        def admit(config: Config) -> None:
            admin.authenticator.accesses = read_accesses(config)
            subprotocols.update({ADMIN: admin.serve} if admin.authenticator.accesses else {})

        admit(config)
        notes = (config.privacy_url, config.imprint_url, config.contact)
        page = PageFiles(config.public_url, config.door, notes) if config.page else None
        listeners = NewsListeners(rooms) if config.page else None
        gateway = Gateway(
            rooms,
            handshakes,
            connections,
            bans,
            agent.record_whereabouts,
            subprotocols,
            page,
            listeners,
            read_house_key(config),
        )

        checks = NodeChecks(gateway, stop)
        stack.push_async_callback(checks.close)
        health_url = await stack.enter_async_context(health_listener(config, checks.readiness, checks.metrics))
        stack.push_async_callback(agent.leave)
        with store_required():
            await agent.join()

        stack.push_async_callback(cancel_and_wait, tasks)
        tasks.append(asyncio.create_task(rooms.listen()))
        tasks.append(asyncio.create_task(Upkeep(rooms).run()))
        send_house_home = partial(background.spawn, partial(_send_house_home, store.house))
        tasks.append(asyncio.create_task(measure_loop_lag(metrics, send_house_home)))
        if listeners is not None:
            tasks.append(asyncio.create_task(listeners.run()))
        if embedded is not None:
            tasks.append(asyncio.create_task(embedded.raise_on_exit()))
        if certificate is not None:
            tasks.append(asyncio.create_task(certificate.watch()))
        homes = WorkerHomes.of_this_worker(config.limits.connections) if shares_port else None
        addresses = await stack.enter_async_context(_listen(config, gateway, certificate, homes))
        tasks.append(asyncio.create_task(agent.run(addresses.public)))
        told = [(store.news, each) for each in config.hook] + [(store.reports, each) for each in config.report_hook]
        for feed, url in told:
            address, at = HookAddress.parse(url), page_address(addresses.public) if page else ""
            hook = HookSender(store, feed, metrics, address, at, hook_secret)
            tasks.append(asyncio.create_task(hook.run(background.guard)))
        yield Node(
            config=config,
            rooms=rooms,
            agent=agent,
            gateway=gateway,
            certificate=certificate,
            homes=homes,
            admit=admit,
            addresses=addresses,
            health_url=health_url,
            stop=stop,
            tasks=tasks,
        )


@asynccontextmanager
async def _listen(
    config: Config, gateway: Gateway, certificate: Certificate | None, homes: WorkerHomes | None
) -> AsyncIterator[ListenAddresses]:
    open_connection = partial(ClientSocket, gateway.handshakes)
    start = partial(
        websocket_server,
        homes.counted(gateway.serve) if homes else gateway.serve,  # type: ignore[arg-type]  # all are ClientSockets
        select_subprotocol=gateway.select_subprotocol,
        process_request=homes.route(gateway.process_request) if homes else gateway.process_request,  # type: ignore[arg-type]  # the same
        create_connection=open_connection,  # type: ignore[arg-type]  # any factory will do
        compression=None,
        max_size=LARGEST_FRAME,
        open_timeout=config.limits.handshake_timeout,
        ping_interval=None,
        close_timeout=CLOSE_TIMEOUT,
        server_header=None,
        ssl=certificate and certificate.context,
        ssl_handshake_timeout=config.limits.handshake_timeout if certificate else None,
    )
    async with listening(start, config.host, config.port, "--port", is_shared=homes is not None) as server:
        addresses = listen_addresses(config, port_of(server))
        if homes is None:
            yield addresses
            return

        def receive() -> ClientSocket:
            """Return the protocol for a connection that another worker has accepted, as the library makes it."""
            protocol = ServerProtocol(
                select_subprotocol=lambda _, offered: gateway.select_subprotocol(None, offered), max_size=LARGEST_FRAME
            )
            return open_connection(protocol, server, ping_interval=None, close_timeout=CLOSE_TIMEOUT)

        async with homes.receiving(receive):
            yield addresses
