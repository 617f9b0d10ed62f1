"""The rooms that this node follows, the connections of the players in them, and their moves."""
