"""The client of a player, in full screen or line by line, and the command ``samedeal``."""
