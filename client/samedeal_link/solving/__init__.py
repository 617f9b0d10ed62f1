"""Searches for good moves: hints, the strategy of bots, where a race was lost, and a process in which all this runs."""
