"""The laws of play, which every client obeys: which cards are safe on foundations, who is stuck, and what a hint is."""
