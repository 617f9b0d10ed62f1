"""What a terminal can do, shows, and answers."""
