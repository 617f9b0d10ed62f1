"""Runs the command ``samedeal`` as ``python -m samedeal_client``."""

import sys

from samedeal_client.cli import main

sys.exit(main())
