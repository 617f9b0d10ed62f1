"""The clients' connections: the handshake and the WebSocket."""
