"""The machine and the terminal of a client: directories, signals, environment."""
