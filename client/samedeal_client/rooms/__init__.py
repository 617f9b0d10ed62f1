"""What a client knows of rooms and the races in them."""
