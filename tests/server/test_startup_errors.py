"""Why a node does not start: what operators are told of their settings, and of what Redis answers or logs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from redis import exceptions
from redis.asyncio.sentinel import MasterNotFoundError

from samedeal_server.config.config import Config
from samedeal_server.embedded_redis.binary import RedisBinary, RedisRelease
from samedeal_server.embedded_redis.diagnosis import explain_exit
from samedeal_server.errors import StartupError
from samedeal_server.operators import backup
from samedeal_server.process.further_games import checked_tides, offer_games
from samedeal_server.process.secret_settings import read_accesses, read_hook_secret, read_house_key
from samedeal_server.store.preflight import explain_failure
from samedeal_server.store.redis_client import TooFewReplicas
from tests.golden.golden_files import assert_answers
from tests.server.redis_programs import write_program

NAMES: Final[dict[str, Any]] = {
    **vars(exceptions),
    **{each.__name__: each for each in (Config, MasterNotFoundError, RedisRelease, TimeoutError, TooFewReplicas)},
    **{each.__name__: each for each in (checked_tides, offer_games)},
    **{each.__name__: each for each in (read_accesses, read_hook_secret, read_house_key)},
}
"""What the page's expressions may name."""


def test_errors_are_explained_as_the_page_says(tmp_path: Path) -> None:
    """Each question is a Python expression that raises an error or returns it."""
    data = tmp_path / "data"
    (data / "appendonlydir").mkdir(parents=True)
    (data / "appendonlydir" / "appendonly.aof.1.incr.aof").touch()
    write_program(tmp_path / "redis-check-aof", "")
    redis = RedisBinary(tmp_path / "redis-server", RedisRelease(valkey=False, version=(7, 0)))
    file = tmp_path / "house.toml"

    def offer(content: bytes) -> None:
        file.write_bytes(content)
        offer_games(tmp_path)

    def ended(log: str, writer: RedisRelease | None = None) -> StartupError:
        return explain_exit(data, redis, 1, log, writer)

    names = {
        "failed": lambda error: explain_failure(error, "HOST"),
        "ended": ended,
        "offer": offer,
        **NAMES,
        "folder": tmp_path,
        "first_record": lambda path: next(backup.read(path)),
    }

    def answer(_: str, question: str) -> str:
        try:
            error = eval(question, names)
        except StartupError as raised:
            error = raised
        return f"{error.code}: {error}".replace(f"{tmp_path}/", "").replace(str(tmp_path), "DIR").replace("\n", "\\n")

    assert_answers("startup_errors", answer)
