"""The clients' connections: the handshake, the WebSocket, and a bounded queue of outgoing frames."""
