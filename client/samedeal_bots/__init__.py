"""Bots, engines, and matches between them."""
