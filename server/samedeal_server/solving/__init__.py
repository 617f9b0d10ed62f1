"""The search for joint deals, in separate processes."""
