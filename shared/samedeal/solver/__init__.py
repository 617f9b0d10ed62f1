"""The solver: whether an open board can be won, and how. On an open board, all cards are known."""
