"""An operator for tests."""

from __future__ import annotations

from typing import Self

from samedeal.protocol.admin import SUBPROTOCOL, BackedUp, Backup, BackupPart, Granted, Login
from samedeal.protocol.codec import decode_to_operator
from samedeal.protocol.messages import Refused
from tests.server.client import Connection

TOKEN = "a token of twenty-six chars"


class Operator(Connection):
    """An operator's connection."""

    PROTOCOL = SUBPROTOCOL
    decode = staticmethod(decode_to_operator)

    @classmethod
    async def login(cls, url: str, token: str = TOKEN) -> Self:
        """Connect and log in."""
        operator = await cls.connect(url)
        await operator.expect(Granted, Login, token=token)
        return operator

    async def back_up(self) -> tuple[bytes, BackedUp | Refused]:
        """Ask for a backup. Return its data, and the last answer."""
        number, data = await self.send(Backup), b""
        while isinstance(answer := await self.answer(number), BackupPart):
            data += answer.data
        assert isinstance(answer, BackedUp | Refused), answer
        return data, answer
