"""Frames and requests that break the WebSocket protocol, with the expected outcome."""

from __future__ import annotations

from typing import Final

import pytest

from samedeal.protocol.codec import LARGEST_FRAME, encode
from samedeal.protocol.messages import Ping
from samedeal.protocol_codes import CloseCode
from samedeal_server.connections.client_socket import LARGEST_REQUEST
from tests.server.raw_client import BINARY, CLOSE, CONT, PING, PONG, TEXT, frame, handshake, hello

PIECE = frame(BINARY, b"\x81", fin=False)


BREAKS: Final = [
    pytest.param(frame(BINARY, encode(Ping(id=1)), masked=False), 1002, id="not masked"),
    pytest.param(frame(BINARY, b"x", reserved=4), 1002, id="compressed, which was not agreed on"),
    pytest.param(frame(BINARY, b"x", reserved=1), 1002, id="reserved bit"),
    pytest.param(frame(0x3, b"x"), 1002, id="reserved opcode"),
    pytest.param(frame(0xF, b"x"), 1002, id="reserved control opcode"),
    pytest.param(frame(PING, b"x", fin=False), 1002, id="control frame in parts"),
    pytest.param(frame(PING, b"x" * 126), 1002, id="control frame too long"),
    pytest.param(frame(CONT, b"x"), 1002, id="a part of nothing"),
    pytest.param(PIECE + frame(BINARY, b"x"), 1002, id="a message within a message"),
    pytest.param(PIECE + frame(CLOSE, b"\x03\xe8"), 1002, id="close within a message"),
    pytest.param(frame(BINARY, b"x", length=LARGEST_FRAME + 1), 1009, id="says that it is too long"),
    pytest.param(frame(BINARY, b"x", length=1 << 40), 1009, id="says that it is gigantic"),
    pytest.param(frame(BINARY, b"x", length=(1 << 64) - 1), 1009, id="says that it is as long as can be"),
    pytest.param(PIECE + frame(CONT, b"x" * LARGEST_FRAME), 1009, id="too long in parts"),
    pytest.param(PIECE + frame(CONT, fin=False) * 20_000, CloseCode.FLOOD, id="parts without an end"),
    pytest.param(frame(PING, b"x" * 125) * 20_000, CloseCode.FLOOD, id="a flood of pings"),
    pytest.param(frame(PONG) * 20_000, CloseCode.FLOOD, id="a flood of pongs"),
    pytest.param(frame(TEXT, b"\xff\xfe"), 1007, id="text that is no UTF-8"),
    pytest.param(frame(CLOSE, b"\x03"), 1002, id="half a close code"),
    pytest.param(frame(CLOSE, b"\x00\x00"), 1002, id="close code 0"),
    pytest.param(frame(CLOSE, b"\x03\xed"), 1002, id="close code 1005, which is never sent"),
    pytest.param(frame(CLOSE, b"\xff\xff"), 1002, id="close code 65535"),
    pytest.param(frame(CLOSE, b"\x03\xe8\xff\xfe"), 1007, id="a close reason that is no UTF-8"),
    pytest.param(frame(CLOSE, b"\x03\xe8") + hello() * 100, 1000, id="goes on after its close"),
    pytest.param(frame(CLOSE), 0, id="a close without a code"),
]


LONG = "x" * 9000


NO_HANDSHAKES: Final = [
    pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 500 + b"\n", b"", id="TLS"),
    pytest.param(b"SSH-2.0-OpenSSH_9.6\r\n", b" 400 ", id="SSH"),
    pytest.param(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b" 400 ", id="HTTP/2"),
    pytest.param(b"*1\r\n$4\r\nPING\r\n", b" 400 ", id="Redis"),
    pytest.param(b"\0" * 100 + b"\r\n\r\n", b" 400 ", id="zeros"),
    pytest.param(b"\r\n\r\n", b" 400 ", id="empty lines"),
    pytest.param(b"GET /\r\n\r\n", b" 400 ", id="HTTP/0.9"),
    pytest.param("GET /é HTTP/1.1\r\n\r\n".encode(), b" 400 ", id="a path that is no ASCII"),
    pytest.param(handshake()[:-2] + b"no header\r\n\r\n", b" 400 ", id="a line that is no header"),
    pytest.param(handshake(Host="a\x00b"), b" 400 ", id="a header with a zero"),
    pytest.param(handshake(Content_Length="5") + b"hello", b" 400 ", id="a body"),
    pytest.param(handshake(Transfer_Encoding="chunked"), b" 400 ", id="a body in chunks"),
    pytest.param(handshake("POST / HTTP/1.1"), b" 405 ", id="POST"),
    pytest.param(handshake(f"GET /{LONG} HTTP/1.1"), b" 414 ", id="a long path"),
    pytest.param(handshake(X_Long=LONG), b" 431 ", id="a long header"),
    pytest.param(handshake(**{f"X_{number}": "x" for number in range(200)}), b" 431 ", id="many headers"),
    pytest.param(b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * LARGEST_REQUEST, b" 431 ", id="headers without an end"),
    pytest.param(b"x" * (LARGEST_REQUEST + 1), b" 431 ", id="a line without an end"),
    pytest.param(handshake(Upgrade=None), b" 426 ", id="no upgrade"),
    pytest.param(handshake(Upgrade="h2c"), b" 426 ", id="another upgrade"),
    pytest.param(handshake(Sec_WebSocket_Version="8"), b" 400 ", id="an old version"),
    pytest.param(handshake(Sec_WebSocket_Key=None), b" 400 ", id="no key"),
    pytest.param(handshake(Sec_WebSocket_Key="short"), b" 400 ", id="a key that is none"),
    pytest.param(handshake(Sec_WebSocket_Protocol="\x7f"), b" 400 ", id="a subprotocol that is none"),
    pytest.param(handshake(Sec_WebSocket_Extensions="permessage-deflate"), b" 101 ", id="compression is not taken"),
]
