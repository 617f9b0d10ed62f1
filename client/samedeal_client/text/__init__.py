"""Words, glyphs and colours for a terminal, and what a terminal answers."""
