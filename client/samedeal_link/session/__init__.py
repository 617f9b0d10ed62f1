"""The session of a player: requests, moves, and the audit of a race."""
