"""Why a node can't start, or go on.

Codes of ``StartupError``:

redis_missing      no redis-server on this machine
redis_failed       the Redis started here ended
data_corrupt       the embedded Redis refuses its data
data_in_use        another server uses the data directory
data_unwritable    the data directory can't be written
redis_unreachable  no Redis answers at the address given
redis_too_old      a Redis older than 6.2, or than the data
redis_readonly     the Redis takes no writes
redis_replicas     the Redis has fewer replicas than are to have each move
store_newer        the Redis holds rooms of a newer version that this one can't read
store_older        the Redis holds rooms of an older one
bad_redis_url      not the address of a Redis
port_in_use        another program listens there
cannot_listen      the address can't be listened on
bad_certificate    the certificate or its key can't be used
bad_admin_token    the operator's token can't be read, or is too short
bad_backup         a file is no backup, or not whole
not_empty          a backup is to be restored into a store that holds something
nodes_running      a backup is to be restored under nodes that run
"""

from __future__ import annotations


class StartupError(Exception):
    """A node can't run; ``str()`` of it says what to do about it."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code
