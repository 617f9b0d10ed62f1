"""The first exchange on a new connection: ``Hello`` and ``Welcome``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from msgspec.structs import replace
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

import samedeal
from samedeal.errors import RequestRefused
from samedeal.games import SHIPPED_RULES
from samedeal.protocol.codec import encode
from samedeal.protocol.messages import Hello, Notice, Refused, ToClient, Welcome
from samedeal.protocol_codes import NoticeCode, RefusalCode
from samedeal_link.connection.dial import OPEN_TIMEOUT, CannotConnect
from samedeal_link.connection.disconnect import Disconnected, close_error, decode_or_end
from samedeal_link.connection.unanswered_requests import MAX_RETRY_AFTER, is_rate_limited


async def greet(
    socket: ClientConnection,
    server: str,
    name: str,
    session: str,
    new_id: Callable[[], int],
    *,
    bot: bool = False,
    house: str = "",
) -> Welcome:
    """Send ``Hello`` and return the ``Welcome``. If the server does not know ``session``, ask for a new session.

    Raise Disconnected if the client may retry. Raise RequestRefused if the server refuses the name or the player.
    Raise CannotConnect or LinkEnded if retrying does not help, for example if ``server`` is no Samedeal server.
    """
    client = f"samedeal {samedeal.__version__} (Python)"
    hello = Hello(id=0, name=name, session=session, client=client, bot=bot, games=SHIPPED_RULES, house=house)
    try:
        async with asyncio.timeout(OPEN_TIMEOUT):
            answer = await _exchange(socket, replace(hello, id=new_id()))
            if isinstance(answer, Refused) and answer.code == RefusalCode.NO_SESSION:
                hello = replace(hello, session="")
                answer = await _exchange(socket, replace(hello, id=new_id()))
            while is_rate_limited(answer) and answer.retry_after < OPEN_TIMEOUT / 2:
                await asyncio.sleep(answer.retry_after)
                answer = await _exchange(socket, replace(hello, id=new_id()))
    except TimeoutError:
        raise Disconnected("The server did not answer in time.") from None
    except ConnectionClosed as closed:
        raise close_error(closed) from None
    if isinstance(answer, Welcome):
        return answer
    if isinstance(answer, Notice) and answer.code == NoticeCode.DRAINING:  # it began to drain before it answered
        raise Disconnected(answer.message, server_gone=True)
    if not isinstance(answer, Refused):
        sentence = f"{server} is not a Samedeal server: it sent no welcome. Check the address."
        raise CannotConnect(sentence, permanent=True)
    if answer.retry_after:
        raise Disconnected(answer.message, min(answer.retry_after, MAX_RETRY_AFTER))
    raise RequestRefused(answer.code, answer.message)


async def _exchange(socket: ClientConnection, hello: Hello) -> ToClient:
    await socket.send(encode(hello))
    return decode_or_end(await socket.recv())
