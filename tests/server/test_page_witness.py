"""What the page keeps of its race, asks for and believes, with a connection that the tests hold."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import json
from msgspec.structs import replace

from samedeal.deal import Deal
from samedeal.options import Options
from samedeal.protocol.codec import encode
from samedeal.protocol.messages import Joined, RoomState, Seat, Watching
from samedeal.verdict_rows import row_sentence
from samedeal_link.evidence.facts import Wanted
from samedeal_link.evidence.verdict import RaceReading
from tests.client.server_messages import SERVER, drawing, room_state
from tests.shared.javascript import answer_of_page, needs_node
from tests.shared.recorded import described_terms

pytestmark = needs_node


def hexes(*messages: Joined | Watching | RoomState) -> list[str]:
    return [encode(each).hex() for each in messages]


def test_connection_that_is_cut_when_the_page_reads_the_record_accuses_nobody(tmp_path: Path) -> None:
    assert answer_of_page("witness.readWithoutConnection", tmp_path) == [["no_record", "No."]]


def test_race_without_a_record_is_a_sentence_in_terminal_and_page(tmp_path: Path) -> None:
    (fault,) = RaceReading().faults
    assert answer_of_page("witness.faultsWithoutRecord", tmp_path) == [row_sentence(*fault)]
    assert row_sentence(*fault).endswith(".")


def test_unanswered_move_is_pinged_and_its_connection_given_up(tmp_path: Path) -> None:
    """After two seconds and five more, which the player sees. Any message in between keeps the connection."""
    expected = [[0, "", ""], [0, "act", ""], [2, "ping", ""], [5, "", ""], [6, "ping", ""], [11, "", ""], True]
    assert answer_of_page("witness.unansweredMove", tmp_path) == [*expected, [0, "", "lost"]]


def test_only_a_refusal_answers_a_request_that_it_does_not_name(tmp_path: Path) -> None:
    """The evidence does not know such an answer, which shows what cards the server likes."""
    assert answer_of_page("witness.answersWithoutName", tmp_path) == ["Server: No."]


def test_sentence_of_the_server_does_not_look_like_a_verdict(tmp_path: Path) -> None:
    assert answer_of_page("witness.notices", tmp_path) == ["Server: Fair.", "Message from the operator: Fair."]


def test_racer_who_watches_the_others_keeps_the_evidence(tmp_path: Path) -> None:
    """Programs in terminals do."""
    assert answer_of_page("witness.racerWhoWatches", tmp_path) == "player"


def test_spectator_who_comes_back_to_a_room_that_was_opened_anew_accuses_nobody(tmp_path: Path) -> None:
    commitments = (bytes(32), bytes(32), SERVER)
    expected = [[[], commitment.hex()] for commitment in commitments]
    assert answer_of_page("witness.spectatorOfStates", tmp_path, hexes(*map(drawing, commitments))) == expected


def test_house_is_excused_only_where_the_server_lets_it_in(tmp_path: Path) -> None:
    """In a race without a host, and in its rematch. Elsewhere, the mark of the house excuses no bot."""
    seats = (Seat(player="p1", name="ana", seat=1), Seat(player="p2", name="Clover", seat=2, bot=True, house=True))

    def state(hosted: bool, number: int, *, house: bool = True) -> RoomState:
        options = Options(deal="#7", bots=False, hosted=hosted, start="full")
        terms = str(described_terms("k7", options, "#7", round_number=number))
        players = (seats[0], replace(seats[1], house=house))
        return room_state("k7", options, players, phase="countdown", terms=terms, round=number)

    states = (state(False, 0), state(True, 1), state(True, 0), state(False, 0, house=False))
    assert answer_of_page("witness.contradictsTerms", tmp_path, hexes(*states)) == [False, False, True, True]


def test_public_deal_that_is_raced_again_in_a_room_with_the_same_code_is_another_race(tmp_path: Path) -> None:
    seats = drawing().players[:1]
    state = room_state("k7", Options(deal="#7"), seats)
    over = room_state("k7", Options(deal="#7"), seats, phase="finished", starts=1000, ends=901_000, finished_at=2000)
    assert answer_of_page("witness.racersOfStates", tmp_path, hexes(over, state)) == [[[], 1], [[], 0]]


def test_what_a_player_wanted_is_forgotten_in_the_room(tmp_path: Path) -> None:
    """A later room with its code may be one of others."""
    assert answer_of_page("witness.wantedUntilEntered", tmp_path) == [{"round": 0}, {}]


@pytest.mark.parametrize(
    "deal", ["winnable hard", "random", "#4821", "#999999999", "daily 1987-05-03", f"again {bytes(32).hex()}"]
)
def test_page_wants_the_rematch_that_terminals_want(deal: str, tmp_path: Path) -> None:
    options = Options(deal=deal, players=2, start="at", start_at=5, hosted=False, series=3)
    state = room_state("k7", options, (), round=4, private=True, window=3600)
    wanted = Wanted(options=options.successor(Deal.parse(deal)), round=5, private=True, window=3600)
    assert answer_of_page("witness.rematch", tmp_path, encode(state).hex()) == json.decode(json.encode(wanted))


def test_page_judges_again_what_is_shown_after_the_verdict(tmp_path: Path) -> None:
    assert answer_of_page("witness.judgedAgain", tmp_path, drawing().terms) == ["checking", "unsure", "unsure"]


def test_check_that_lasts_until_the_next_race_judges_nothing_there(tmp_path: Path) -> None:
    assert answer_of_page("witness.judgedTooLate", tmp_path, drawing().terms) == [["checking"], []]
