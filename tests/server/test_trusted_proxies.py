"""Tests of the addresses of clients behind trusted and untrusted proxies."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samedeal_server.config.trusted_proxies import TrustedProxies
from tests.golden.golden_files import assert_answers

INSIDE = ("10.0.0.0/8", "fd00::/8", "127.0.0.1")


def test_client_has_the_address_on_the_page() -> None:
    def answer(heading: str, question: str) -> str:
        given = eval(question)
        if heading != "Networks that are none":
            return TrustedProxies(INSIDE).client(*given)
        with pytest.raises(ValueError, match="is not") as refused:
            TrustedProxies([given])
        return str(refused.value)

    assert_answers("forwarded", answer)


def test_no_proxy_is_trusted_by_default() -> None:
    assert TrustedProxies(()).client("127.0.0.1", ["203.0.113.7"]) == "127.0.0.1"
    assert not TrustedProxies(()).trusts("127.0.0.1")
    assert TrustedProxies(INSIDE).trusts("::ffff:10.9.9.9")
    assert not TrustedProxies(INSIDE).trusts("local")


@given(st.lists(st.text(max_size=60), max_size=4))
def test_any_header_gives_an_address(forwarded: list[str]) -> None:
    client = TrustedProxies(INSIDE).client("10.0.0.1", forwarded)
    assert not TrustedProxies([client]).trusts("203.0.113.200") or client == "203.0.113.200"
