"""Text for terminals: wording, glyphs, styles, line input and output, and queries to the terminal."""
