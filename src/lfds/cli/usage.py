"""Errors in the use of a command, such as an unknown flag, as one line like all others."""

import re
import sys
from typing import Any

import typer

from lfds.config.messages import as_message, shortened

# Typer has no public name for the class that all of them have in common.
UsageError: Any = typer.BadParameter.__base__

_SIDES = r"'(?P<name>[^' ]+)[^']*'"  # '--balanced', or '--balanced / --no-balanced'
_REWRITTEN = (
    (rf"Invalid value for {_SIDES}: (?P<rest>.*)", r"\g<name>: \g<rest>"),
    (rf"Missing (option|argument) {_SIDES}.*", r"\g<name> is missing"),
    (r"No such (?P<what>option|command):? '?(?P<name>[^ '.]+)'?\.?(?P<rest>.*)",
     r"\g<name>: no such \g<what>\g<rest>"),
    (rf"Option {_SIDES} (?P<rest>.*)", r"\g<name>: \g<rest>"),
    (r"Got unexpected extra argument(s|\(s\))? \((?P<rest>.*)\)", r"\g<rest>: too many arguments"),
)  # fmt: skip


def usage_message(error: Any) -> str:
    """Return what is wrong as one line that begins with the flag and ends with where help is.

    >>> usage_message(typer.BadParameter("needs an integer.", param_hint="'--folds'"))
    '--folds: needs an integer; see lfds --help'
    """
    text = " ".join(str(error.format_message()).split()).removesuffix(".")
    for pattern, rewritten in _REWRITTEN:
        if re.fullmatch(pattern, text):
            text = re.sub(pattern, rewritten, text)
            break
    text = re.sub(r"Input should be (?P<need>[^,]*)(, unable to parse.*)?", r"needs \g<need>", text)
    text = text.replace(" Did you mean", "; did you mean").replace(" Possible", " possible")
    value = _given(getattr(error, "param", None))
    found = "" if value is None else f", not {shortened(value)}"
    command = "lfds" if error.ctx is None else error.ctx.command_path
    return as_message(f"{text}{found}; see {command} --help")


def _given(option: Any) -> str | None:
    """Return the value that follows an option on the command line, if there is one."""
    for flag in getattr(option, "opts", []):
        for place, word in enumerate(sys.argv):
            if word.startswith(f"{flag}="):
                return word.partition("=")[2]
            if word == flag and place + 1 < len(sys.argv):
                return sys.argv[place + 1]
    return None
