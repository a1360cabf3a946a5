"""The command ``lfds``: one module for each command, and how errors reach people."""

from lfds.cli.app import main

__all__ = ["main"]
