"""The commands that open a door, one module each."""
