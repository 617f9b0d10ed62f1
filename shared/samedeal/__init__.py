"""Samedeal's shared core: the engine of five patience games, deals, records and the wire protocol. No I/O, no clock."""

__version__ = "0.1.0"

ENGINE = 1
"""The version of the rules: raised when an action on some board may come to another board than before, or be refused."""
