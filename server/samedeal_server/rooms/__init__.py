"""Rooms as one node follows them, and the moves made in them."""
