"""Drawing boards as rows of styled text."""
