"""The pieces that screens are made of: rows of styled text, a board, a panel; and the colours of style names."""
