"""The command ``lfds``: one module for each command."""

from lfds.cli.app import main

__all__ = ["main"]
