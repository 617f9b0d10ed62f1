"""The ssh connections of a door: who logs in, and what is refused."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

import asyncssh
import asyncssh.constants

import samedeal
from samedeal_door.identities import fingerprint, trim
from samedeal_door.limits import network_of, session_refusal
from samedeal_door.session import SessionRequest, SessionTerminal

if TYPE_CHECKING:
    from samedeal_door.door import Door

_logger = logging.getLogger(__name__)

_KEX: Final = ("mlkem768x25519-sha256", "sntrup761x25519-sha512", "curve25519-sha256", "curve25519-sha256@libssh.org")
_CIPHERS: Final = ("chacha20-poly1305@openssh.com", "aes256-gcm@openssh.com", "aes128-gcm@openssh.com")
_MACS: Final = ("hmac-sha2-256-etm@openssh.com", "hmac-sha2-512-etm@openssh.com")
_SIGNATURES: Final = (
    *("ssh-ed25519", "sk-ssh-ed25519@openssh.com", "sk-ecdsa-sha2-nistp256@openssh.com"),
    *("ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "rsa-sha2-512", "rsa-sha2-256"),
)

_VARIABLES: Final = ("LANG", "COLORTERM", "NO_COLOR")
_VALUE_LENGTH: Final = 100
_MOST_VARIABLES: Final = 50

_WINDOW: Final = 64 * 1024
"""Maximum number of bytes that a user may send before the door has read them."""

_QUEUED: Final = 64 * 1024
"""Number of bytes that may wait for a slow reader, in the channel and in the connection. Frames above are dropped."""

_START_TIME: Final = 10.0
"""Timeout, in seconds, for a session to begin after the login."""

_KEEPALIVE: Final = 30.0
"""Time, in seconds, between two questions whether the user's ssh is still there. It may leave three unanswered."""

_STOPPING: Final = "This door is stopping. Your seat is kept: type the same ssh command again."
_IDLE: Final = "Nothing was typed for a long time, so the session has ended. Type the same ssh command again to go on."

_SIGNALS: Final = {"INT": 130, "TERM": 143, "HUP": 129}


class DoorConnection(asyncssh.SSHServerConnection):
    """A connection that tells its session when the network takes no more output."""

    def __init__(self, options: asyncssh.SSHServerConnectionOptions, address: str) -> None:
        super().__init__(asyncio.get_running_loop(), options)
        self.address = address
        self.session: ChannelSession | None = None
        self.stalled = False

    def send_packet(self, pkttype: int, *args: bytes, **options: Any) -> None:
        """Send a packet. asyncssh sends an empty one before each, which only protects ciphers that the door refuses."""
        if pkttype != asyncssh.constants.MSG_IGNORE:
            super().send_packet(pkttype, *args, **options)

    def pause_writing(self) -> None:
        """Handle that the network takes no more output."""
        self.stalled = True
        if self.session is not None:
            self.session.update_stalled()

    def resume_writing(self) -> None:
        """Handle that the network takes output again."""
        self.stalled = False
        if self.session is not None:
            self.session.update_stalled()


class DoorServer(asyncssh.SSHServer):
    """The login on one connection. Any key logs in, and so does a guest without a key."""

    def __init__(self, door: Door) -> None:
        self._door = door
        self._offered = 0
        self._key = ""
        self.identity = ""
        self.connection: DoorConnection

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        """Note the connection."""
        self.connection = cast("DoorConnection", conn)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection. Its session hears of it from the channel."""
        self._door.logged_in(self.connection)

    def public_key_auth_supported(self) -> bool:
        """Let users log in with keys."""
        return True

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        """Accept a key. asyncssh calls this again with the key whose signature it has checked, so that this one counts."""
        self._offered += 1
        if self._offered > 2 * self._door.limits.offered_keys:  # each is asked for, and then used
            self._door.metrics.refused.labels("keys").inc()
            self.connection.abort()
            return False
        self._key = fingerprint(key.public_data)
        return True

    def kbdint_auth_supported(self) -> bool:
        """Let users without a key log in."""
        return True

    def get_kbdint_challenge(
        self, username: str, lang: str, submethods: str
    ) -> tuple[str, str, str, list[tuple[str, bool]]]:
        """Ask nothing."""
        self._key = ""
        return "", "", "", []

    def validate_kbdint_response(self, username: str, responses: object) -> bool:
        """Accept a guest."""
        return True

    def auth_completed(self) -> None:
        """Forget the key, except for what it is kept under."""
        self.identity, self._key = self._door.identities.identity(self._key) if self._key else "", ""
        self._door.logged_in(self.connection)
        self._door.metrics.logins.labels("key" if self.identity else "guest").inc()

        def close_unused() -> None:
            if self.connection.session is None or not self.connection.session.has_begun:
                self.connection.abort()

        asyncio.get_running_loop().call_later(_START_TIME, close_unused)

    def session_requested(self) -> Any:
        """Begin a session, but only one on a connection."""
        if self.connection.session is not None or self._door.stopping:
            return False
        session = ChannelSession(self._door, self)
        self.connection.session = session
        return self.connection.create_server_channel("utf-8", "replace", _WINDOW), session


class _Variables(dict[bytes, bytes]):
    """The environment variables that a user sends. All but a few are ignored."""

    def __setitem__(self, name: bytes, value: bytes) -> None:
        known = name.decode("ascii", "replace") in _VARIABLES or name.startswith(b"LC_")
        if known and len(self) < _MOST_VARIABLES and len(name) + len(value) <= _VALUE_LENGTH:
            super().__setitem__(name, value)


class ChannelSession(asyncssh.SSHServerSession[str]):
    """The session in a channel of a connection."""

    def __init__(self, door: Door, login: DoorServer) -> None:
        self._door = door
        self._login = login
        self._channel: asyncssh.SSHServerChannel[str]
        self._command: str | None = None
        self._has_terminal = False
        self._channel_stalled = False
        self._task: asyncio.Task[None] | None = None
        self.terminal: SessionTerminal | None = None
        self.player = ("", "")
        self.ended = asyncio.Event()

    @property
    def has_begun(self) -> bool:
        """Whether the user has asked for a shell or a command. Until then, nothing counts the session."""
        return self._task is not None

    def connection_made(self, chan: asyncssh.SSHServerChannel[str]) -> None:
        """Note the channel, and bound what it queues and keeps."""
        self._channel = chan
        chan.set_write_buffer_limits(high=_QUEUED)
        chan._env = _Variables()  # noqa: SLF001 (asyncssh would keep any number of variables)

    def pty_requested(self, term_type: str, term_size: object, term_modes: object) -> bool:
        """Accept a terminal."""
        self._has_terminal = True
        return True

    def shell_requested(self) -> bool:
        """Begin with the start screen."""
        self._command = ""
        return True

    def exec_requested(self, command: str) -> bool:
        """Begin with words, which are never run as a command."""
        self._command = command[:1000]
        return True

    def subsystem_requested(self, subsystem: str) -> bool:
        """Refuse sftp and the like."""
        self._door.metrics.refused.labels("subsystem").inc()
        return False

    def session_started(self) -> None:
        """Run the client."""
        self._task = asyncio.create_task(self._run())

    def data_received(self, data: str, datatype: object) -> None:
        """Pass on what the user types."""
        if self.terminal is not None:
            self.terminal.received(data)

    def eof_received(self) -> bool:
        """Pass on the end of the input, and keep the channel open for output."""
        if self.terminal is not None:
            self.terminal.ended()
        return True

    def terminal_size_changed(self, width: int, height: int, pixwidth: int, pixheight: int) -> None:
        """Pass on the size of the window."""
        if self.terminal is not None:
            self.terminal.resized(width, height)

    def signal_received(self, signal: str) -> None:
        """End the client."""
        if self.terminal is not None and signal in _SIGNALS:
            self.terminal.stop(_SIGNALS[signal])

    def pause_writing(self) -> None:
        """Handle that the user's ssh takes no more output."""
        self._channel_stalled = True
        self.update_stalled()

    def resume_writing(self) -> None:
        """Handle that the user's ssh takes output again."""
        self._channel_stalled = False
        self.update_stalled()

    def update_stalled(self) -> None:
        """Tell the client whether it can draw."""
        if self.terminal is not None:
            self.terminal.set_stalled(stalled=self._channel_stalled or self._login.connection.stalled)

    def connection_lost(self, exc: Exception | None) -> None:
        """End the client, whose user is gone."""
        if self.terminal is not None:
            self.terminal.stop(129)

    def stop(self) -> None:
        """End the client, because the door stops."""
        if self.terminal is not None:
            self.terminal.stop(75, _STOPPING)

    def stop_if_idle(self, now: float) -> None:
        """End the client if nothing was typed for too long."""
        if self.terminal is not None and now - self.terminal.last_input > self._door.limits.idle:
            self.terminal.stop(0, _IDLE)

    async def _run(self) -> None:
        code = 1
        try:
            code = await self._serve()
        except Exception:
            _logger.exception("a session could not begin")
            with suppress(OSError):
                self._channel.write_stderr("samedeal: The door has a fault. Try again later.\r\n")
        finally:
            self._finish(code)

    async def _serve(self) -> int:
        """Run the client, unless there are too many sessions, and return the exit code."""
        door, address, identity = self._door, self._login.connection.address, self._login.identity
        self.player = network_of(address), identity
        if refusal := session_refusal(door.limits, door.players, *self.player):
            door.metrics.refused.labels("sessions").inc()
            self._channel.write_stderr(f"samedeal: {refusal}\r\n")
            return 1
        with door.open_session(self), door.identities.visit(identity) as home:
            if self._command is not None and self._command.strip() == "forget":
                self._forget(identity)
                return 0
            trim(home)
            self.terminal = SessionTerminal(self._channel, self._request(), home, address, door)
            self.update_stalled()
            return await self.terminal.run()

    def _forget(self, identity: str) -> None:
        known = bool(identity) and self._door.identities.forget(identity)
        self._channel.write("What this door kept of your key is deleted.\r\n" if known else "Nothing was kept.\r\n")

    def _request(self) -> SessionRequest:
        width, height, *_ = self._channel.get_terminal_size()
        size = (min(width or 80, 1000), min(height or 24, 500)) if self._has_terminal else (0, 0)
        sent = {name.decode("ascii", "replace"): value for name, value in self._channel.get_environment_bytes().items()}
        environment = {name: value.decode("utf-8", "replace") for name, value in sent.items()}
        environment["TERM"] = (self._channel.get_terminal_type() or "")[:_VALUE_LENGTH]
        user = str(self._login.connection.get_extra_info("username", ""))[:_VALUE_LENGTH]
        return SessionRequest(user, self._command or "", size, environment)

    def _finish(self, code: int) -> None:
        """Send the exit code. A client that does not close the connection then is disconnected."""
        with suppress(OSError):
            self._channel.exit(code)
        asyncio.get_running_loop().call_later(_START_TIME, self._login.connection.close)


def connection_options(door: Door, host_key: asyncssh.SSHKey) -> asyncssh.SSHServerConnectionOptions:
    """Return the options of all connections: modern algorithms only, and everything refused but sessions."""
    available = {name.decode() for name in asyncssh.kex.get_kex_algs()}
    return asyncssh.SSHServerConnectionOptions(
        server_factory=partial(DoorServer, door),
        server_host_keys=[host_key],
        server_version=f"Samedeal_{samedeal.__version__}",
        kex_algs=[name for name in _KEX if name in available],
        encryption_algs=_CIPHERS,
        mac_algs=_MACS,
        compression_algs=None,
        signature_algs=_SIGNATURES,
        login_timeout=door.limits.login_time,
        keepalive_interval=_KEEPALIVE,
        keepalive_count_max=3,
        password_auth=False,
        host_based_auth=False,
        gss_host=None,
        x509_trusted_certs=None,
        agent_forwarding=False,
        x11_forwarding=False,
        allow_scp=False,
        line_editor=False,
        encoding="utf-8",
        errors="replace",
    )
