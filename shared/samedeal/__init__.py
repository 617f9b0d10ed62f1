"""The core that client and server share: the rules, the deals, the records and the messages.

It does no I/O and reads no clock.
"""

__version__ = "0.1.0"

ENGINE = 1
"""Version of the rules.

Raise it whenever a change makes an action lead to a different board, or changes whether an action is legal.
"""
