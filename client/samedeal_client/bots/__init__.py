"""Bots, and servers on this machine to play on."""
