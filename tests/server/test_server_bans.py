"""Which players and addresses a ban applies to, and for how long."""

from __future__ import annotations

import pytest

from samedeal.errors import MalformedText
from samedeal.protocol.admin import BanLine
from samedeal_server.races.server_bans import Bans, ban_sentence, normalize_target

ANA, BOB = "0123456789abcdef0123", "3210fedcba9876543210"


@pytest.mark.parametrize(
    ("given", "means"),
    [
        (ANA, ANA),
        (f" {ANA.upper()} ", ANA),
        ("203.0.113.7", "203.0.113.7"),
        ("203.0.113.7/32", "203.0.113.7"),
        ("203.0.113.7/24", "203.0.113.0/24"),
        ("2001:DB8:1:2:3::7", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:3::7/128", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:3::/80", "2001:db8:1:2:3::/80"),
        ("2001:db8::7/64", "2001:db8::/64"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("::ffff:203.0.113.7/120", "203.0.113.0/24"),
    ],
)
def test_target_of_a_ban_is_normalized(given: str, means: str) -> None:
    assert normalize_target(given) == means
    assert normalize_target(means) == means


@pytest.mark.parametrize(
    "given",
    [
        *("", "ana", "0123456789abcdef012", "10.0.0.0/7", "0.0.0.0/0", "::/0", "::ffff:0:0/96", "1.2.3.4.5"),
        *("10.0.0.1/33", "x\x1b"),
    ],
)
def test_malformed_target_is_refused(given: str) -> None:
    with pytest.raises(MalformedText, match=r"network"):
        normalize_target(given)


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
def test_ban_applies_to_player_and_network(bans: list[str], player: str, address: str, kept_away: bool) -> None:
    found = Bans(BanLine(target=target, since=1) for target in bans).of(player, address, 1000)
    assert (found is not None) == kept_away


def test_unknown_kind_of_ban_is_ignored() -> None:
    bans = Bans([BanLine(target="a whole country", since=1), BanLine(target="10.0.0.1", since=1)])
    assert bans.of(ANA, "10.0.0.1", 1000)


def test_ban_ends_at_its_time() -> None:
    bans = Bans([BanLine(target=ANA, since=1, until=1000)])
    assert bans.of(ANA, "10.0.0.1", 999)
    assert bans.of(ANA, "10.0.0.1", 1000) is None


@pytest.mark.parametrize("ended", [ANA, "10.0.0.1", "10.0.0.0/24"])
def test_ban_that_has_ended_hides_no_other_ban(ended: str) -> None:
    others = [BanLine(target=target, since=1) for target in (ANA, "10.0.0.1", "10.0.0.0/24") if target != ended]
    for other in others:
        assert Bans([BanLine(target=ended, since=1, until=999), other]).of(ANA, "10.0.0.1", 1000) == other


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (BanLine(target=ANA, since=1), "You are banned from this server permanently."),
        (
            BanLine(target=ANA, since=1, until=1_763_751_600_000, reason="rude"),
            "You are banned from this server until 2025-11-21 19:00 UTC. Reason: rude",
        ),
    ],
)
def test_ban_sentence(line: BanLine, told: str) -> None:
    assert ban_sentence(line) == told
