"""Messages of the operator protocol on the wire."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samedeal.errors import MalformedFrame, UnknownRequest
from samedeal.protocol.admin import ListServerRooms
from samedeal.protocol.codec import decode_from_operator, decode_to_client, decode_to_operator, decode_to_server, encode
from samedeal.protocol.messages import Done, Hello, Refused
from tests.shared.protocol.samples import ADMIN_SAMPLES


def test_operator_and_player_messages_are_disjoint() -> None:
    for sample in ADMIN_SAMPLES:
        shared = isinstance(sample, (Done, Refused, ListServerRooms))
        for decode in (decode_to_server, decode_to_client):
            try:
                decode(encode(sample))
            except (MalformedFrame, UnknownRequest):
                continue
            assert shared
        with pytest.raises(UnknownRequest):
            decode_from_operator(encode(Hello(id=1, name="Ana")))


@given(st.binary(max_size=200))
def test_any_bytes_are_decoded_or_rejected(data: bytes) -> None:
    for decode in (decode_from_operator, decode_to_operator):
        with suppress(MalformedFrame, UnknownRequest):
            decode(data)
