"""Samedeal's shared core: the engine of five patience games, deals, records and the wire protocol. No I/O, no clock."""

__version__ = "0.1.0"
