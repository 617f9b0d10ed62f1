"""Tests of the addresses of clients behind trusted and untrusted proxies."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samedeal_server.config.trusted_proxies import TrustedProxies

INSIDE = ("10.0.0.0/8", "fd00::/8", "127.0.0.1")


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("10.0.0.1", ["203.0.113.7"], "203.0.113.7"),
        ("10.0.0.1", ["203.0.113.7, 10.0.0.2"], "203.0.113.7"),
        ("10.0.0.1", ["203.0.113.7", "10.0.0.2"], "203.0.113.7"),
        ("10.0.0.1", ["203.0.113.7:51000"], "203.0.113.7"),
        ("10.0.0.1", ["2001:db8::7"], "2001:db8::7"),
        ("10.0.0.1", ["[2001:db8::7]"], "2001:db8::7"),
        ("10.0.0.1", ['"[2001:db8::7]:443"'], "2001:db8::7"),
        ("10.0.0.1", ["fe80::1%eth0"], "fe80::1"),
        ("10.0.0.1", ["::ffff:203.0.113.7"], "203.0.113.7"),
        ("::ffff:10.0.0.1", ["203.0.113.7"], "203.0.113.7"),
        ("fd00::1", ["203.0.113.7"], "203.0.113.7"),
        ("10.0.0.1", [], "10.0.0.1"),
        ("10.0.0.1", [""], "10.0.0.1"),
        ("10.0.0.1", ["10.0.0.3, 10.0.0.2"], "10.0.0.3"),
    ],
)
def test_header_of_trusted_proxy_is_used(peer: str, forwarded: list[str], client: str) -> None:
    assert TrustedProxies(INSIDE).client(peer, forwarded) == client


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("198.51.100.9", ["203.0.113.7"], "198.51.100.9"),
        ("10.0.0.1", ["1.1.1.1, 203.0.113.7"], "203.0.113.7"),
        ("10.0.0.1", ["1.1.1.1", "203.0.113.7, 10.0.0.2"], "203.0.113.7"),
        ("10.0.0.1", ["127.0.0.1, 203.0.113.7"], "203.0.113.7"),
        ("10.0.0.1", ["203.0.113.7, unknown"], "10.0.0.1"),
        ("10.0.0.1", ["203.0.113.7, 1.2.3.4.5, 10.0.0.2"], "10.0.0.2"),
        ("10.0.0.1", ["203.0.113.7, 1.2.3.4:x"], "10.0.0.1"),
        ("local", ["203.0.113.7"], "local"),
    ],
)
def test_claims_of_clients_are_ignored(peer: str, forwarded: list[str], client: str) -> None:
    assert TrustedProxies(INSIDE).client(peer, forwarded) == client


def test_no_proxy_is_trusted_by_default() -> None:
    assert TrustedProxies(()).client("127.0.0.1", ["203.0.113.7"]) == "127.0.0.1"
    assert not TrustedProxies(()).trusts("127.0.0.1")
    assert TrustedProxies(INSIDE).trusts("::ffff:10.9.9.9")
    assert not TrustedProxies(INSIDE).trusts("local")


def test_long_header_is_read_from_its_end() -> None:
    assert TrustedProxies(INSIDE).client("10.0.0.1", ["203.0.113.7" + ", 10.0.0.2" * 1000]) == "10.0.0.2"


@given(st.lists(st.text(max_size=60), max_size=4))
def test_any_header_gives_an_address(forwarded: list[str]) -> None:
    client = TrustedProxies(INSIDE).client("10.0.0.1", forwarded)
    assert not TrustedProxies([client]).trusts("203.0.113.200") or client == "203.0.113.200"


@pytest.mark.parametrize("bad", ["proxy", "10.0.0.1/8", "10.0.0.0/40", "10.0.0", ""])
def test_invalid_network_is_refused(bad: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(repr(bad))} is not"):
        TrustedProxies([bad])
