"""Whose address counts behind proxies, and who is not believed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samedeal_server.proxies import Proxies

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
def test_a_trusted_proxy_tells_who_came(peer: str, forwarded: list[str], client: str) -> None:
    assert Proxies(INSIDE).client(peer, forwarded) == client


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
def test_what_a_client_makes_up_is_not_believed(peer: str, forwarded: list[str], client: str) -> None:
    assert Proxies(INSIDE).client(peer, forwarded) == client


def test_nobody_is_believed_unless_told() -> None:
    assert Proxies(()).client("127.0.0.1", ["203.0.113.7"]) == "127.0.0.1"
    assert not Proxies(()).trusts("127.0.0.1")
    assert Proxies(INSIDE).trusts("::ffff:10.9.9.9")
    assert not Proxies(INSIDE).trusts("local")


def test_a_long_header_costs_little() -> None:
    assert Proxies(INSIDE).client("10.0.0.1", ["203.0.113.7" + ", 10.0.0.2" * 1000]) == "10.0.0.2"


@given(st.lists(st.text(max_size=60), max_size=4))
def test_any_text_gives_an_address(forwarded: list[str]) -> None:
    client = Proxies(INSIDE).client("10.0.0.1", forwarded)
    assert not Proxies([client]).trusts("203.0.113.200") or client == "203.0.113.200"


@pytest.mark.parametrize("bad", ["proxy", "10.0.0.1/8", "10.0.0.0/40", "10.0.0", ""])
def test_a_network_that_is_none_is_named(bad: str) -> None:
    with pytest.raises(ValueError, match=r"--trusted-proxies: .* is no address or network"):
        Proxies([bad])
