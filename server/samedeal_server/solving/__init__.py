"""The search for joint deals, in processes of its own."""
