"""What a client knows of the room that it is in, and of its own play. Pure."""
