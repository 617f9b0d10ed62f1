"""Operating a server: administration, checks of this machine, and hosting."""
