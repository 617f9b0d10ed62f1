"""Input: keys, mouse and typed lines."""
