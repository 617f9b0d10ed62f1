"""The operators' connections to a node.

They use a separate WebSocket subprotocol and are protected by tokens (ADMIN.md). Answers contain no cards, and no
seeds of races that are not finished. Only a backup contains everything.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from structlog.typing import FilteringBoundLogger
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

import samedeal
from samedeal.errors import SamedealError
from samedeal.protocol.admin import Granted, Login, Status, ToOperator
from samedeal.protocol.codec import decode_from_operator, encode, request_id
from samedeal.protocol.messages import Refused
from samedeal.protocol_codes import CloseCode
from samedeal.sentences import refused
from samedeal_server.connections.handshake_admission import networks_of
from samedeal_server.operators.auth import OPERATOR, Access, TokenAuthenticator
from samedeal_server.operators.node_agent import NodeAgent
from samedeal_server.operators.request_handlers import OperatorRequests
from samedeal_server.races.refusals import to_message
from samedeal_server.rooms.registry import RoomRegistry
from samedeal_server.telemetry.logger import get_logger

LOGIN_TIMEOUT: Final = 5.0
"""Timeout, in seconds, for receiving the token of an operator."""

_NOT_LOGGED: Final = frozenset(("type", "id", "token", "words"))
"""Fields of requests that are not logged. Neither are those that are empty or zero."""

_log = get_logger()


@dataclass(eq=False, repr=False)
class Admin:
    """Serves the operators' connections to this node. ``address_of`` returns the address of a connection's client."""

    _agent: NodeAgent
    _rooms: RoomRegistry
    authenticator: TokenAuthenticator
    _address_of: Callable[[ServerConnection], str]

    def __post_init__(self) -> None:
        self._requests = OperatorRequests(self._agent.nodes, self._rooms)

    async def serve(self, socket: ServerConnection) -> None:
        """Serve an operator's connection until it ends."""
        address = self._address_of(socket)
        network = networks_of(address)[0]
        log = _log.bind(address=address)
        try:
            if not self.authenticator.try_acquire(network):
                self._record_failed_login("too_many_connections", log)
                await socket.close(CloseCode.NOT_LOGGED_IN, "too many connections without a token from your address")
                return
            try:
                access = await self._log_in(socket, network, log)
            finally:
                self.authenticator.release(network)
            if access:
                log = log.bind(role=access.role)
                log.info("admin_request", request="login", outcome="done")
                await self._serve_requests(socket, access, log)
        except ConnectionClosed:
            pass
        except Exception:  # a fault in one connection must not stop the node; it is logged with its traceback
            self._rooms.metrics.faults.inc()
            log.exception("fault")
            await socket.close(CloseCode.RESTART, "internal error")

    async def _log_in(self, socket: ServerConnection, network: str, log: FilteringBoundLogger) -> Access | None:
        try:
            async with asyncio.timeout(LOGIN_TIMEOUT):
                frame = await socket.recv()
        except TimeoutError:
            await socket.close(CloseCode.SILENT, "no token received in time")
            return None
        try:
            message = decode_from_operator(frame)
            if not isinstance(message, Login):
                raise refused("login_first")
            if (access := await self.authenticator.authenticate(network, message.token)) is None:
                raise refused("bad_token")
        except SamedealError as error:
            self._record_failed_login(error.code, log)
            await socket.send(encode(to_message(request_id(frame), error)))
            await socket.close(CloseCode.NOT_LOGGED_IN, "not logged in")
            return None
        server = f"samedeal {samedeal.__version__}"
        granted = Granted(to=message.id, node=self._rooms.node, server=server, time=self._rooms.clock.now())
        await socket.send(encode(granted))
        return access

    def _record_failed_login(self, reason: str, log: FilteringBoundLogger) -> None:
        self._rooms.metrics.admin_logins_failed[reason].inc()
        log.warning("admin_login_failed", reason=reason)

    async def _serve_requests(self, socket: ServerConnection, access: Access, log: FilteringBoundLogger) -> None:
        async def send(answer: ToOperator) -> None:
            await socket.send(encode(answer))

        async for frame in socket:
            try:
                message = decode_from_operator(frame)
            except SamedealError as error:
                log.warning("admin_request", request="unreadable", outcome=error.code)
                await send(to_message(request_id(frame), error))
                continue
            if access not in self.authenticator.accesses:
                await socket.close(CloseCode.NOT_LOGGED_IN, "the token was replaced")
                return
            request = message.__struct_config__.tag
            if request in access.requests:
                answer = await self._requests.answer(message, send)
            else:
                answer = to_message(message.id, refused("not_allowed", request=request))
            outcome = answer.code if isinstance(answer, Refused) else "done"
            given = {name: getattr(message, name) for name in message.__struct_fields__ if name not in _NOT_LOGGED}
            fields = {name: value for name, value in given.items() if value not in ("", 0)}
            log_line = log.debug if isinstance(message, Status) and access.role == OPERATOR else log.info
            log_line("admin_request", request=request, outcome=outcome, **fields)
            await send(answer)
