"""The pieces that screens are made of, such as rows of styled text and boards, and the colours of style names."""
