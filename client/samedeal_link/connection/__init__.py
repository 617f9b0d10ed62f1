"""The connection to a server, which is opened again whenever it is lost."""
