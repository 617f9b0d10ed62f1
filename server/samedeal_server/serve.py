"""``python -m samedeal_server.serve`` is ``samedeal serve``: the server, which speaks of itself by that name."""

from samedeal_server.cli import main

if __name__ == "__main__":
    raise SystemExit(main(name="samedeal serve"))
