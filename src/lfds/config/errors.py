"""The exception for settings that cannot be used."""


class SpecError(ValueError):
    """Invalid settings: the message names the setting, what it needs, the value and the fix."""

    def __init__(self, problem: str) -> None:
        # A message is one line whatever a name or a file held.
        super().__init__(" ".join(problem.split()))
