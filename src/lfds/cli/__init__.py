"""The command ``lfds``: one module for each command."""

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command ``lfds``; a Ctrl-C ends it without a traceback."""
    try:
        # Importing takes a while, during which somebody may think better of it.
        from lfds.cli.app import main as run

        run()
    except KeyboardInterrupt:
        print("lfds: stopped", file=sys.stderr)
        sys.exit(130)
