"""The players' connections to a node: requests and their answers."""
