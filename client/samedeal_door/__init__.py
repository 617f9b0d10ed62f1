"""The door: the client over ssh. It lets people play who have nothing but ssh."""
