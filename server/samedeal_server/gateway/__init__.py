"""The players' connections to a node, the requests that arrive on them, and the answers."""
