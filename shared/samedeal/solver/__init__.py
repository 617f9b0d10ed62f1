"""The solver: whether a board can be won, and how. All cards of the board must be known."""
