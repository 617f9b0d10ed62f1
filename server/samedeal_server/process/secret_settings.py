"""Secrets of a node that are given as settings: some directly, and all by the name of a file that holds it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from samedeal.protocol.admin import FOR_MODERATORS, REQUESTS
from samedeal_server.config.config import HOUSE_KEY, Config
from samedeal_server.errors import StartupError
from samedeal_server.operators.auth import MODERATOR, OPERATOR, Access, digest

MIN_SECRET_LENGTH: Final = 16
"""Minimum length of a secret, in characters."""


def read_accesses(config: Config) -> tuple[Access, ...]:
    """Return what operators and moderators may do with their tokens.

    Raise StartupError if a token is too short, is configured twice, or cannot be read from its file.
    """
    operator = _read("admin_token", config.admin_token, config.admin_token_file)
    moderator = _read("moderator_token", "", config.moderator_token_file)
    given = (
        (OPERATOR, operator, REQUESTS),
        (MODERATOR, moderator, {"login", *(config.moderator_requests or FOR_MODERATORS)}),
    )
    return tuple(Access(role, digest(token), frozenset(requests)) for role, token, requests in given if token)


def read_hook_secret(config: Config) -> str:
    """Return the secret that signs what hooks get, or an empty string. Raise StartupError ``bad_hook_secret``."""
    return _read("hook_secret", config.hook_secret, config.hook_secret_file)


def read_house_key(config: Config) -> str:
    """Return the key of the house, or an empty string. Raise StartupError ``bad_house_key``."""
    return _read("house_key", "", config.house_key_file) or os.environ.get(HOUSE_KEY, "")


def _read(setting: str, secret: str, file: str) -> str:
    if file:
        if secret:
            raise StartupError(f"{setting}_twice")
        try:
            secret = Path(file).expanduser().read_text(encoding="utf-8").strip()
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            raise StartupError(f"{setting}_unreadable", file=file, reason=reason) from None
    if (secret or file) and len(secret) < MIN_SECRET_LENGTH:
        raise StartupError(f"bad_{setting}", length=len(secret), minimum=MIN_SECRET_LENGTH)
    return secret
