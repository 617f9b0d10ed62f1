"""Which players and addresses a ban applies to, and for how long."""

from __future__ import annotations

from ast import literal_eval

from samedeal.errors import MalformedText
from samedeal.protocol.admin import BanLine
from samedeal_server.races.server_bans import Bans, ban_sentence, normalize_target
from tests.golden.golden_files import assert_answers

PLAYERS = {"ANA": "0123456789abcdef0123", "BOB": "3210fedcba9876543210", "nobody": ""}
NOW = 1000


def test_bans_apply_as_the_page_says() -> None:
    def answer(heading: str, question: str) -> str:
        return target_of(literal_eval(question)) if heading == "Targets" else ban_of(question)

    assert_answers("bans", answer)


def target_of(given: str) -> str:
    """What a target of a ban means, or why it means nothing."""
    try:
        means = normalize_target(given)
    except MalformedText as error:
        return str(error)
    assert normalize_target(means) == means
    return means


def ban_of(question: str) -> str:
    """The ban that keeps a player at an address away."""
    targets, _, who = question.partition(": ")
    lines = []
    for text in targets.split(", "):
        target = text.removesuffix(" ended")
        lines.append(BanLine(target=PLAYERS.get(target, target), since=1, until=NOW * text.endswith(" ended")))
    player, _, address = who.partition(" at ")
    bans = Bans(lines)
    found = bans.of(PLAYERS[player], address, NOW)
    assert bans.of(PLAYERS[player], address, NOW - 1) or not found
    return "may play" if found is None else f"banned by {'ANA' if found.target == PLAYERS['ANA'] else found.target}"


def test_ban_sentence() -> None:
    line = BanLine(target="x", since=1, until=1_763_751_600_000, reason="rude")
    assert ban_sentence(line) == "You are banned from this server until 2025-11-21 19:00 UTC. Reason: rude"
    assert ban_sentence(BanLine(target="x", since=1)) == "You are banned from this server permanently."
