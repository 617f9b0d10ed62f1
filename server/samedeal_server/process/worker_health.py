"""Health checks and metrics of a server with several workers, collected from each of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Final
from urllib.parse import urlsplit

from prometheus_client import Metric, generate_latest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

from samedeal_server.process.health import PROBE_TIMEOUT, Readiness

_TIMEOUT: Final = PROBE_TIMEOUT + 0.5
"""Timeout, in seconds, for a worker to answer, less than that of whoever asks for all workers."""

NO_ANSWER: Final = 0, "It does not answer."
_NOT_RUNNING: Final = 0, "It does not run."


class WorkerChecks:
    """The state of a server with several workers, collected from the workers.

    ``urls`` returns for each worker's number the URL of the worker's health checks, or an empty text if the worker does
    not run.
    """

    def __init__(self, urls: Callable[[], Mapping[int, str]], stop: asyncio.Event) -> None:
        self._urls = urls
        self._stop = stop

    async def readiness(self) -> Readiness:
        """Find out whether new clients should be sent to this server.

        The server is ready if a worker is and the server is not stopping. The kernel gives no connection to a worker that
        does not run, and the text names those that are not ready.
        """
        if self._stop.is_set():
            return Readiness(ready=False, text="This server is stopping. Send clients to another one.")
        answers = await self._ask_all("/readyz")
        said = {number: body.strip() for number, (_, body) in answers.items()}
        ready = [number for number, (status, _) in answers.items() if status == 200]
        # Workers share their Redis. The longest answer also names the rooms that are unavailable, if there are any.
        texts = [max((said[number] for number in ready), key=len, default="No worker is ready.")]
        texts += [f"Worker {number}: {text}" for number, text in said.items() if number not in ready]
        return Readiness(ready=bool(ready), text=" ".join(texts))

    async def metrics(self) -> bytes:
        """Return the metrics of all workers that answer.

        Each sample has the number of its worker in the label ``worker``.
        """
        answers = await self._ask_all("/metrics")
        return generate_latest(_Merged({number: body for number, (status, body) in answers.items() if status == 200}))

    async def _ask_all(self, path: str) -> dict[int, tuple[int, str]]:
        urls = self._urls()
        answers = await asyncio.gather(*(ask(url, path) for url in urls.values()))
        return dict(zip(urls, answers, strict=True))


async def ask(url: str, path: str, timeout: float = _TIMEOUT) -> tuple[int, str]:  # noqa: ASYNC109
    """Return the HTTP status and the body of a worker's answer, or ``NO_ANSWER`` if none came in time."""
    if not url:
        return _NOT_RUNNING
    parts = urlsplit(url)
    try:
        async with asyncio.timeout(timeout):
            reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
            try:
                writer.write(f"GET {path} HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n".encode())
                head, _, body = (await reader.read(-1)).decode().partition("\r\n\r\n")
            finally:
                writer.close()
        return int(head.split(" ", 2)[1]), body
    except TimeoutError:
        return NO_ANSWER
    except (OSError, ValueError, IndexError):
        return _NOT_RUNNING


class _Merged(Collector):
    """The metrics of several workers as one collection. ``texts`` holds the metrics of each worker, by its number."""

    def __init__(self, texts: Mapping[int, str]) -> None:
        self._texts = texts

    def collect(self) -> Iterable[Metric]:
        """Return each metric once, with the samples of all workers."""
        families: dict[str, Metric] = {}
        for number, text in self._texts.items():
            for family in text_string_to_metric_families(text):
                merged = families.setdefault(family.name, Metric(family.name, family.documentation, family.type))
                for sample in family.samples:
                    merged.add_sample(sample.name, {"worker": str(number), **sample.labels}, sample.value)
        return families.values()
