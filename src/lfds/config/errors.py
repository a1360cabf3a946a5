"""The exceptions of experiments: a description that cannot be run, and a training that broke."""


class SpecError(ValueError):
    """What a user asked for cannot be run: the thing, the need, the value, the way out."""

    def __init__(self, problem: str) -> None:
        # A message is one line whatever a name or a file held.
        super().__init__(" ".join(problem.split()))


class DivergedError(ArithmeticError):
    """The loss is no number any more; the fold is recorded as failed."""
