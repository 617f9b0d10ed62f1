"""The messages between clients and servers, and their encoding. PROTOCOL.md specifies them for other languages."""
