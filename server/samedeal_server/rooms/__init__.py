"""The rooms that this node follows, and the moves made in them."""
