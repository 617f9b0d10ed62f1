"""Builds a node, serves, drains; holds no logic."""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from functools import partial

import structlog
from redis.exceptions import RedisError
from websockets.asyncio.server import serve

from samedeal.protocol.admin import SUBPROTOCOL as ADMIN
from samedeal.protocol.codec import LARGEST_FRAME
from samedeal_server import logs, supervisor
from samedeal_server.admin import Admin
from samedeal_server.clock import Clock
from samedeal_server.config import Config
from samedeal_server.descriptors import fitting
from samedeal_server.door import Door, Socket
from samedeal_server.embedded import EmbeddedRedis
from samedeal_server.errors import StartupError
from samedeal_server.gate import token_of
from samedeal_server.gateway import Gateway
from samedeal_server.greeting import Doors, doors
from samedeal_server.health import Health
from samedeal_server.listening import listening
from samedeal_server.metrics import Metrics
from samedeal_server.redis_check import check_redis
from samedeal_server.reload import Reload
from samedeal_server.rooms import Rooms
from samedeal_server.roster import Roster
from samedeal_server.signals import Signals
from samedeal_server.store.address import BadAddress
from samedeal_server.store.cluster import Cluster
from samedeal_server.store.connect import connect
from samedeal_server.store.pulse import Pulse
from samedeal_server.store.redis import Store
from samedeal_server.store.spread import SpreadStore
from samedeal_server.tasks import end, pass_over_lost_connections
from samedeal_server.tls import Certificate

Announce = Callable[[Doors, str], None]

_log: structlog.stdlib.BoundLogger = structlog.get_logger("app")


def node_name() -> str:
    """A name for this node that no other has."""
    return f"{socket.gethostname()[:20]}-{os.getpid()}-{secrets.token_hex(2)}"


async def run(config: Config, node: str, announce: Announce, read: Callable[[], Config] | None = None) -> None:
    """Serve until SIGTERM or SIGINT, then drain; a second one hurries.

    ``announce`` is told once clients can come: where, and the URL of the health listener or an empty text. ``read``
    reads the settings again, for SIGHUP. Raises StartupError when the node can't start, or loses the Redis that it started.
    """
    pass_over_lost_connections()
    token = token_of(config)
    limits = fitting(config.limits)
    signals = Signals()
    async with AsyncExitStack() as stack:
        url = config.redis
        ends: list[asyncio.Task[object]] = [asyncio.create_task(signals.stopping.wait())]
        stack.push_async_callback(end, ends)
        if not url:
            redis = EmbeddedRedis(config.data, config.durability)
            url = await stack.enter_async_context(redis)
            ends.append(asyncio.create_task(redis.died()))
        store = await stack.enter_async_context(_store(url, config.replicas))
        certificate = None
        if config.tls_cert and config.tls_key:
            certificate = Certificate(config.tls_cert, config.tls_key, store.metrics)
        clock = Clock(store)
        with _answering():
            await clock.look()
        rooms = Rooms(store, clock, node, limits)
        stack.push_async_callback(rooms.stop)
        gateway = Gateway(rooms, limits, Door(limits, store.metrics, config.origins, config.trusted_proxies))
        health = Health(gateway)
        checked = ""
        if config.health_port is not None:
            checked = await stack.enter_async_context(health.listen(config.health_host, config.health_port))
        roster = Roster(gateway, signals.stopping.set)
        stack.push_async_callback(roster.leave)
        with _answering():
            await roster.begin()
        if token:
            gateway.others[ADMIN] = Admin(roster, rooms, token, gateway.door.address).serve
        running: list[asyncio.Task[object]] = [asyncio.create_task(rooms.run())]
        if certificate is not None:
            running.append(asyncio.create_task(certificate.watch()))
        stack.push_async_callback(end, running)
        found = await stack.enter_async_context(_listening(config, gateway, certificate))
        roster.address = found.share or found.here
        running.append(asyncio.create_task(roster.run()))
        if patience := supervisor.patience():
            running.append(asyncio.create_task(supervisor.reassure(patience)))

        def take(settings: Config) -> None:
            gateway.take_limits(fitting(settings.limits))
            logs.set_up(settings, node)
            if certificate is not None:
                certificate.renew()

        signals.reload = Reload(config, read or (lambda: config), take, store.metrics)
        _log.info("listening", address=found.here, share=found.share, health=checked)
        announce(found, checked)
        ends += running
        await _one_of(ends)
        supervisor.tell("STOPPING=1")
        health.leaving = True
        if config.drain_delay:
            _log.info("leaving", seconds=config.drain_delay)
            ends[0] = asyncio.create_task(signals.hurrying.wait())
            await _one_of(ends, config.drain_delay)
        _log.info("draining", connections=len(gateway.connections))
        await gateway.drain()
        _log.info("stopped")


async def _one_of(tasks: list[asyncio.Task[object]], seconds: float | None = None) -> None:
    """Wait until one of some tasks has ended, or for so long. Raises StartupError when it ended with one."""
    done, _ = await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    for ended in done:
        if isinstance(why := ended.result(), StartupError):
            raise why


@asynccontextmanager
async def _store(url: str, replicas: int = 0) -> AsyncIterator[Store]:
    metrics = Metrics()
    try:
        redis = connect(url, Pulse(metrics), replicas)
    except BadAddress as error:
        # The address itself is not repeated: it may hold a password.
        raise StartupError("bad_redis_url", f"That is not the address of a Redis: {error}") from None
    async with redis:
        await check_redis(redis)
        store = SpreadStore(redis, metrics) if isinstance(redis, Cluster) else Store(redis, metrics)
        with _answering():
            await store.check_layout()
            await store.mark_layout()
            await store.share_key()
        yield store


@contextmanager
def _answering() -> Iterator[None]:
    """Turns what goes wrong with a Redis that has just been found good into the reason for not starting."""
    try:
        yield
    except (RedisError, TimeoutError, OSError) as error:
        raise StartupError(
            "redis_unreachable",
            f"Redis answered and does not any more ({error}): see that it keeps running, and try again",
        ) from None


@asynccontextmanager
async def _listening(config: Config, gateway: Gateway, certificate: Certificate | None = None) -> AsyncIterator[Doors]:
    server = serve(
        gateway.serve,
        config.host,
        config.port,
        select_subprotocol=gateway.choose,
        process_request=gateway.check,
        create_connection=partial(Socket, gateway.door),  # type: ignore[arg-type]  # whatever makes one will do
        compression=None,
        max_size=LARGEST_FRAME,
        max_queue=16,
        open_timeout=config.limits.handshake_timeout,
        ping_interval=20,
        ping_timeout=20,
        close_timeout=2,
        server_header=None,
        ssl=certificate and certificate.context,
        ssl_handshake_timeout=config.limits.handshake_timeout if certificate else None,
    )
    async with listening(server, config.host, config.port, "--port") as port:
        yield doors(config, port)
