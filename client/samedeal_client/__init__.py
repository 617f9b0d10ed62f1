"""The terminal client of Samedeal: the line client, bots and the command line."""
