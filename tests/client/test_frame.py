"""The sentences in the frame of a screen."""

from __future__ import annotations

from samedeal_client.board.layout import Size
from samedeal_client.panels.frame import connection_text, too_small_rows
from samedeal_client.text.appearance import Look
from samedeal_client.text.spans import row_text
from samedeal_link.model.connection_status import ConnectionStatus
from samedeal_link.model.model import Model
from tests.golden.golden_files import assert_sentences


def test_sentences_of_the_frame() -> None:
    cases = {
        "lost": (ConnectionStatus("lost", reason="The server does not answer."), 0.2),
        "lost, retried later": (ConnectionStatus("lost", reason="The server does not answer."), 7.0),
        "server gone": (ConnectionStatus("lost", server_gone=True), 7.0),
        "ended": (ConnectionStatus("ended", reason="You have connected from somewhere else."), 0.0),
    }
    lines = [
        f"{case}\t{connection_text(connection, retry_in, Model(), Look())}"
        for case, (connection, retry_in) in cases.items()
    ]
    assert not connection_text(ConnectionStatus(), 0.0, Model(), Look())
    small = " ".join(row_text(row) for row in too_small_rows(Size(40, 10), Size(57, 18), Look()))
    assert_sentences("frame of a screen", [*lines, f"too small\t{small}"])
