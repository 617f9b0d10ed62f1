"""What clients and servers say to each other; PROTOCOL.md writes it down for other languages."""
