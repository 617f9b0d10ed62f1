"""The solver: whether an open board can be won, and how. Pure, and the same answer on every machine."""
