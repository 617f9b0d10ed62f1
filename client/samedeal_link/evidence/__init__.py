"""The evidence of a client's own race, the files that keep it, and the verdict that follows from it."""
