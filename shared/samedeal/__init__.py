"""Samedeal's shared core: the engine of the five games, deals, records and messages. No I/O, no clock."""

__version__ = "0.1.0"

ENGINE = 1
"""Version of the rules. Raise it whenever a change of the rules makes an action lead to a different board, or makes it legal
or illegal where it was not before."""
