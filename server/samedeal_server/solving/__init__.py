"""The search for joint and daily deals, in worker processes."""
