"""Whom a ban keeps away, and how long."""

from __future__ import annotations

import pytest

from samedeal.errors import MalformedText
from samedeal.protocol.admin import BanLine
from samedeal_server.bans import Bans, sentence, whom

ANA, BOB = "0123456789ab", "ba9876543210"


@pytest.mark.parametrize(
    ("given", "means"),
    [
        (ANA, ANA),
        (f" {ANA.upper()} ", ANA),
        ("203.0.113.7", "203.0.113.7"),
        ("203.0.113.7/32", "203.0.113.7"),
        ("203.0.113.7/24", "203.0.113.0/24"),
        ("2001:DB8::7", "2001:db8::7"),
        ("2001:db8::7/64", "2001:db8::/64"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("::ffff:203.0.113.7/120", "203.0.113.0/24"),
    ],
)
def test_whom_a_text_means(given: str, means: str) -> None:
    assert whom(given) == means
    assert whom(means) == means


@pytest.mark.parametrize(
    "given",
    ["", "ana", "0123456789a", "10.0.0.0/7", "0.0.0.0/0", "::/0", "::ffff:0:0/96", "1.2.3.4.5", "10.0.0.1/33", "x\x1b"],
)
def test_what_is_no_player_and_no_address_is_refused_with_words(given: str) -> None:
    with pytest.raises(MalformedText, match=r"network"):
        whom(given)


@pytest.mark.parametrize(
    ("bans", "player", "address", "kept_away"),
    [
        ([ANA], ANA, "10.0.0.1", True),
        ([ANA], BOB, "10.0.0.1", False),
        ([ANA], "", "10.0.0.1", False),
        (["10.0.0.1"], BOB, "10.0.0.1", True),
        (["10.0.0.1"], BOB, "10.0.0.2", False),
        (["10.0.0.1"], BOB, "::ffff:10.0.0.1", True),
        (["10.0.0.0/24"], BOB, "10.0.0.255", True),
        (["10.0.0.0/24", "10.1.0.0/16"], BOB, "10.1.255.1", True),
        (["10.0.0.0/24"], BOB, "10.0.1.0", False),
        (["2001:db8::/32"], BOB, "2001:db8:1::1", True),
        (["2001:db8::/32"], BOB, "2001:db9::1", False),
        (["fe80::1"], BOB, "fe80::1%eth0", True),
        (["10.0.0.0/24"], BOB, "local", False),
        ([], BOB, "10.0.0.1", False),
    ],
)
def test_who_is_kept_away(bans: list[str], player: str, address: str, kept_away: bool) -> None:
    found = Bans(BanLine(who=who, since=1) for who in bans).of(player, address, 1000)
    assert (found is not None) == kept_away


def test_what_a_later_version_bans_is_passed_over() -> None:
    bans = Bans([BanLine(who="a whole country", since=1), BanLine(who="10.0.0.1", since=1)])
    assert bans.of(ANA, "10.0.0.1", 1000)


def test_a_ban_ends_when_it_says() -> None:
    bans = Bans([BanLine(who=ANA, since=1, until=1000)])
    assert bans.of(ANA, "10.0.0.1", 999)
    assert bans.of(ANA, "10.0.0.1", 1000) is None


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (BanLine(who=ANA, since=1), "You are banned from this server for good"),
        (
            BanLine(who=ANA, since=1, until=1_763_751_600_000, reason="rude"),
            "You are banned from this server until 2025-11-21 19:00 UTC: rude",
        ),
    ],
)
def test_what_they_are_told(line: BanLine, told: str) -> None:
    assert sentence(line) == told
