"""A private Redis that the server starts and stops itself."""
