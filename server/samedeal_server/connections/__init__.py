"""Client connections: the handshake, and a bounded outbox for each."""
