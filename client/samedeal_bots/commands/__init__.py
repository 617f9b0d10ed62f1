"""The commands that need bots, one module each."""
