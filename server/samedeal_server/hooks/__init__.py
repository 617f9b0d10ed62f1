"""Hooks: addresses of other programs that a server tells the news of public races."""
