"""What players choose from: the start menu, the lobby, and the form for a new room. Pure."""
