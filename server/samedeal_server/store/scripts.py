"""The Lua scripts that Redis runs atomically."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from importlib.resources import files
from typing import ClassVar, Final

from samedeal_server.store.redis_client import Argument, RedisCommand


class Script:
    """A script from ``lua/``, with ``prelude.lua`` in front of it.

    Call the object with keys and arguments to make a command that runs the script.
    """

    sources: ClassVar[dict[str, bytes]] = {}

    def __init__(self, name: str) -> None:
        lua = files(__package__) / "lua"
        source = (lua / "prelude.lua").read_bytes() + (lua / f"{name}.lua").read_bytes()
        self._hash = hashlib.sha1(source, usedforsecurity=False).hexdigest()
        self.sources[self._hash] = source

    def __call__(self, keys: Sequence[str], *arguments: Argument) -> RedisCommand:
        """Make a command that runs the script by its hash. All keys must share a hash tag."""
        return RedisCommand(keys[0], ("EVALSHA", self._hash, len(keys), *keys, *arguments))

    @classmethod
    def with_source(cls, command: RedisCommand) -> RedisCommand:
        """Return the command with the source of its script instead of the hash.

        Redis can then run a script that it does not know. A command that runs no script is returned unchanged.
        """
        name, *words = command.arguments
        if name != "EVALSHA":
            return command
        return RedisCommand(command.key, ("EVAL", cls.sources[str(words[0])], *words[1:]))


REPLACE_STRING: Final = Script("replace_string")
