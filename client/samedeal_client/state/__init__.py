"""The client's knowledge of rooms and races, as frozen values."""
