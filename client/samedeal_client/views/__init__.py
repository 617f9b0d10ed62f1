"""The contents of the screens. Pure functions turn state, look and size into rows and click areas."""
