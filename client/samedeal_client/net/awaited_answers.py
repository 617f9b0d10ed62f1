"""Futures for callers that wait for the answers to their requests."""

from __future__ import annotations

import asyncio

from samedeal.errors import RequestRefused
from samedeal_client.net.client_error_codes import ClientCode
from samedeal_client.net.unanswered_requests import ServerAnswer


class AwaitedAnswers:
    """A future for each request whose caller waits for the answer, by the id of the request."""

    def __init__(self) -> None:
        self._futures: dict[int, asyncio.Future[ServerAnswer]] = {}

    def expect(self, number: int) -> asyncio.Future[ServerAnswer]:
        """Return a new future for the answer to the request with the id ``number``."""
        future: asyncio.Future[ServerAnswer] = asyncio.get_running_loop().create_future()
        self._futures[number] = future
        future.add_done_callback(lambda _: self._futures.pop(number, None))
        return future

    def resolve(self, answer: ServerAnswer) -> None:
        """Give ``answer`` to the caller that waits for it. Does nothing if no caller waits."""
        future = self._futures.get(answer.to)
        if future is not None and not future.done():
            future.set_result(answer)

    def fail(self, number: int, refused: RequestRefused) -> None:
        """Raise ``refused`` in the caller that waits for the answer to request ``number``.

        Does nothing if no caller waits.
        """
        future = self._futures.get(number)
        if future is not None and not future.done():
            future.set_exception(refused)

    def fail_all(self, code: ClientCode, sentence: str) -> None:
        """Raise RequestRefused, with ``code`` and ``sentence``, in every caller that waits for an answer."""
        for number in list(self._futures):
            self.fail(number, RequestRefused(code, sentence))
