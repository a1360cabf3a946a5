"""The tasks there are, and the forms objects come in: names alone, for lists that cannot wait."""

from typing import Literal

Task = Literal["count", "share", "pairs"]
Form = Literal["graph", "set"]
