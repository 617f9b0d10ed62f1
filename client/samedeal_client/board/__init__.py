"""A board as a player sees it and plays on it."""
