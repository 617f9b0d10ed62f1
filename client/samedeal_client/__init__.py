"""The terminal client of Samedeal: the full screen, the line client, bots and the command line."""
