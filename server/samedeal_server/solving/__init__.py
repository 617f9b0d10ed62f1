"""The search for joint and daily deals, in separate processes."""
