"""Past races: the history, records, replays, and ghosts."""
