from __future__ import annotations

from unittest import mock

from hypothesis import given
from hypothesis import strategies as st

from samedeal import deal_words as module
from samedeal.deal_words import deal_words, result_words
from tests.shared.joint_deals import some_bytes

TERMS, COMMITMENT = some_bytes("terms"), some_bytes("commitment")
SHARES = ((1, some_bytes("hash"), some_bytes("one")), (5, some_bytes("another"), some_bytes("two")))


def test_words_are_proquints_of_64_bits() -> None:
    for digest, words in [
        ("7f000001 3f54dcc1", "lusab babad gutih tugad"),  # 127.0.0.1 and 63.84.220.193, as proquints are specified
        ("3f760723 8c62c18d", "gutuk bisog mudof sakat"),  # 63.118.7.35 and 140.98.193.141, as above
        ("00000000 00000000", "babab babab babab babab"),
        ("ffffffff ffffffff", "zuzuz zuzuz zuzuz zuzuz"),
        ("0123456789abcdef", "bahog hijol mokor suloz"),
    ]:
        with mock.patch.object(module, "sha256") as hashed:
            hashed.return_value.digest.return_value = bytes.fromhex(digest) + bytes(24)
            assert deal_words(TERMS, COMMITMENT) == result_words(TERMS) == words


@given(st.binary(min_size=32, max_size=32))
def test_words_can_be_read_aloud(commitment: bytes) -> None:
    words = deal_words(TERMS, commitment).split(" ")
    assert len(words) == 4
    for word in words:
        assert [letter in "aiou" for letter in word] == [False, True, False, True, False]


def test_words_depend_on_all_that_was_shown() -> None:
    """Two players with the same words were shown the same terms, commitment, seats, hashes and shares."""
    (first, second), x = SHARES, some_bytes("x")
    found = [
        deal_words(TERMS, COMMITMENT, SHARES),
        deal_words(TERMS, COMMITMENT),
        deal_words(x, COMMITMENT, SHARES),
        deal_words(TERMS, x, SHARES),
        deal_words(TERMS, COMMITMENT, [first]),
        *(
            deal_words(TERMS, COMMITMENT, [first, other])
            for other in [(6, *second[1:]), (5, x, second[2]), (*second[:2], x)]
        ),
        result_words(TERMS),
    ]
    assert len(set(found)) == len(found)
