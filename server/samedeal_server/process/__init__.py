"""The server process: wiring, listeners, signals, start-up and shutdown."""
