"""What a client knows of rooms and races, as frozen values."""
