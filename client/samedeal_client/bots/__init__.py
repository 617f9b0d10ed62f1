"""Players that play by themselves, and servers on this machine to play on."""
