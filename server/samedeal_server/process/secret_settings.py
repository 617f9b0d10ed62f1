"""Secrets of a node that are given as settings: each directly, or by the name of a file that holds it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from samedeal_server.config.config import Config
from samedeal_server.errors import StartupCode, StartupError

MIN_SECRET_LENGTH: Final = 16
"""Minimum length of a secret, in characters."""


def read_admin_token(config: Config) -> str:
    """Return the operators' token, or an empty string if none is configured.

    Raise StartupError ``bad_admin_token`` if the token is too short, is configured twice, or cannot be read from its
    file.
    """
    given = config.admin_token, config.admin_token_file
    return _read(StartupCode.BAD_ADMIN_TOKEN, "operators' token", "admin-token", *given)


def read_hook_secret(config: Config) -> str:
    """Return the secret that signs what hooks get, or an empty string. Raise StartupError ``bad_hook_secret``."""
    given = config.hook_secret, config.hook_secret_file
    return _read(StartupCode.BAD_HOOK_SECRET, "hooks' secret", "hook-secret", *given)


def _read(code: StartupCode, noun: str, setting: str, secret: str, file: str) -> str:
    if file:
        if secret:
            raise StartupError(code, f"Both --{setting} and --{setting}-file are set. Use only --{setting}-file.")
        try:
            secret = Path(file).expanduser().read_text(encoding="utf-8").strip()
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            raise StartupError(
                code,
                f"Cannot read the {noun} from {file!r}: {reason}. "
                f"Check the file, or pass a different one with --{setting}-file.",
            ) from None
    if (secret or file) and len(secret) < MIN_SECRET_LENGTH:
        raise StartupError(
            code,
            f"The {noun} has only {len(secret)} characters. "
            f"Use at least {MIN_SECRET_LENGTH}, for example the output of 'openssl rand -hex 24'.",
        )
    return secret
