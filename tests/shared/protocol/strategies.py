"""Hypothesis strategies for messages, derived from their types."""

from __future__ import annotations

from typing import Any, TypeVar, get_args

import msgspec
from hypothesis import strategies as st
from msgspec import Struct, inspect

from samedeal.games import GAMES
from samedeal.options import Options, StartRule, WantedOptions
from samedeal.protocol.messages import ToClient, ToServer
from samedeal.terms import RoomTerms
from tests.shared.recorded import described_terms

TO_SERVER: tuple[type[Struct], ...] = get_args(ToServer)
TO_CLIENT: tuple[type[Struct], ...] = get_args(ToClient)

_Message = TypeVar("_Message", bound=Struct)
_BIGGEST = (1 << 63) - 1


@st.composite
def options(draw: st.DrawFn, kind: type[Options] = Options) -> Options:
    """Valid options of a room, or of a request for one."""
    fields: dict[str, Any] = {
        field.name: draw(values(field.type))
        for field in inspected(kind).fields
        if field.name not in ("games", "deal", "start", "start_at", "hosted")
    }
    starts: list[StartRule] = ["host", "all-ready", "full", "at"]
    start = draw(st.sampled_from(starts))
    return Options(
        games=tuple(draw(st.lists(st.sampled_from(list(GAMES)), min_size=1, max_size=16))),
        deal=draw(st.sampled_from(["random", "#4821", "daily", "daily 2026-11-21"])),
        start=start,
        start_at=draw(st.integers(1, 1 << 52)) if start == "at" else 0,
        hosted=start == "host" or draw(st.booleans()),
        **fields,
    )


def room_terms(
    *deals: str,
    usual: tuple[str, ...] = ("winnable", "random", "#4821", "daily 2024-02-29", f"again {bytes(32).hex()}"),
) -> st.SearchStrategy[RoomTerms]:
    """The terms of a room with one of these deals."""
    return st.builds(
        described_terms,
        st.sampled_from(["friday", "a-1", "7"]),
        options(),
        st.sampled_from(deals or usual),
        round_number=st.sampled_from([0, 1, 99, 999_999_999]),
        private=st.booleans(),
        tide=st.sampled_from([0, 1_790_000_000_000]),
        window=st.sampled_from([0, 3_600, 259_200]),
    )


def inspected(kind: type[Struct]) -> inspect.StructType:
    found = inspect.type_info(kind)
    assert isinstance(found, inspect.StructType)
    return found


def values(kind: inspect.Type) -> st.SearchStrategy[Any]:
    """Any value that a field of this type can have."""
    match kind:
        case inspect.Metadata(type=inner):
            return values(inner)
        case inspect.BoolType():
            return st.booleans()
        case inspect.IntType():
            return st.integers(-_BIGGEST if kind.ge is None else kind.ge, _BIGGEST if kind.le is None else kind.le)
        case inspect.FloatType():
            return st.floats(allow_nan=False)
        case inspect.StrType():
            return st.text(st.characters(codec="utf-8"), max_size=20 if kind.max_length is None else kind.max_length)
        case inspect.BytesType():
            return st.binary(max_size=60 if kind.max_length is None else kind.max_length)
        case inspect.LiteralType():
            return st.sampled_from(kind.values)
        case inspect.VarTupleType():
            most = 5 if kind.max_length is None else kind.max_length
            return st.lists(values(kind.item_type), min_size=kind.min_length or 0, max_size=most).map(tuple)
        case inspect.StructType(cls=cls) if cls is Options:
            return options()
        case inspect.StructType(cls=cls) if cls is WantedOptions:
            return options(WantedOptions).map(WantedOptions.of)
        case inspect.StructType(cls=cls):
            return structs(cls)
        case _:
            raise NotImplementedError(kind)


def structs(kind: type[_Message]) -> st.SearchStrategy[_Message]:
    """Any message of a type. Fields sometimes have their default value."""
    fields = inspected(kind).fields
    required = {field.name: values(field.type) for field in fields if field.required}
    optional = {field.name: values(field.type) for field in fields if not field.required}
    return st.fixed_dictionaries(required, optional=optional).map(lambda drawn: kind(**drawn))


to_server = st.one_of([structs(kind) for kind in TO_SERVER])
to_client = st.one_of([structs(kind) for kind in TO_CLIENT])

plain = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(1 << 63), (1 << 64) - 1),
        st.floats(),
        st.text(max_size=10),
        st.binary(max_size=10),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=5),
        st.dictionaries(st.one_of(st.text(max_size=10), st.binary(max_size=5)), inner, max_size=5),
    ),
    max_leaves=20,
)
"""Any value that msgpack can encode."""


def fields_of(message: Struct) -> dict[str, Any]:
    """A message as the map that is sent."""
    found: dict[str, Any] = msgspec.to_builtins(message, builtin_types=(bytes,))
    return found
