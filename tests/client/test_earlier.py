"""The players of an earlier race, as a client shows them while its player races on their deal, and afterwards."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from samedeal.options import Options
from samedeal.protocol.codec import encode
from samedeal.protocol.messages import EarlierPlayer
from samedeal_client.panels.earlier import earlier_rows
from samedeal_client.panels.live_ranking import current_ranking
from samedeal_client.room_actions import similar_options
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import row_text
from samedeal_link.connection.resume import names_other_room
from samedeal_link.connection.sanitize import decode_sanitized
from samedeal_link.model.model import Model
from tests.client.lone_player import OWN
from tests.client.lone_player import ROOM as LONE_ROOM
from tests.client.server_messages import room_state
from tests.golden.golden_files import assert_sentences

FAST = EarlierPlayer(name="ada", foundation_cards=3, time=0, reached=(1_000, 2_000, 3_000), started=90_000)
WINNER = EarlierPlayer(name="june", foundation_cards=52, time=9_000, reached=(8_000,) * 51 + (9_000,))


ROOM = replace(LONE_ROOM, deal=f"again {'0' * 64}", earlier=(FAST, WINNER))


def test_only_a_room_without_host_leads_its_player_on() -> None:
    """The other rooms name their rematch, or are where the player was led to. Nobody is led on from there."""
    led = room_state("friday", Options(hosted=False, start="full"), (), next="again")
    assert names_other_room(led)
    assert names_other_room(replace(led, phase="closed"))
    for other in (
        replace(led, next=""),
        replace(led, options=Options()),
        replace(led, earlier=(FAST,)),
        replace(led, phase="countdown"),
        replace(led, phase="closed", starts=1),
    ):
        assert not names_other_room(other)


def test_wording_of_a_ranking_with_earlier_players() -> None:
    model = Model(me="m", room=ROOM, tallies={"m": ROOM.tallies[0]})
    lines: list[str] = []
    for after in (0, 2_500, 3_000, 9_000):
        ranking = current_ranking(model, ROOM.starts + after)
        lines.append(f"after {after} ms\t{', '.join(f'{each.name} {each.foundation_cards}' for each in ranking)}")
    assert_sentences("earlier players", lines)


@pytest.mark.parametrize("earlier", [(), (FAST,)])
def test_others_can_come_to_a_room_that_the_player_opens_next(earlier: tuple[EarlierPlayer, ...]) -> None:
    options = Options(hosted=False, start="full" if earlier else "at", start_at=0 if earlier else 5, players=1)
    deal = ROOM.deal if earlier else "winnable"
    found = similar_options(replace(ROOM, options=options, earlier=earlier, deal=deal))
    assert (found.start, found.hosted, found.players) == ("host", True, 16 if earlier else 1)


def test_room_that_is_like_that_of_a_tide_has_fewer_seats() -> None:
    assert similar_options(replace(ROOM, options=Options(players=64), earlier=(), deal="winnable")).players == 16


def test_room_with_a_repeated_deal_is_not_cut() -> None:
    """The name of its deal is longer than other names."""
    assert decode_sanitized(encode(ROOM)) == ROOM


def test_results_show_the_player_among_them() -> None:
    model = Model(me="m", room=replace(ROOM, phase="finished", standings=(OWN,)))
    assert [row_text(row).split() for row in earlier_rows(model, Look())] == [
        ["Among", "those", "who", "had", "this", "deal", "before"],
        ["1", "june", "0:09"],
        ["2", "mira", "31", "of", "52", "cards"],
        ["3", "ada", "3", "of", "52", "cards"],
    ]
