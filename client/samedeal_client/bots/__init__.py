"""Bots, and the local servers on which people race against them."""
