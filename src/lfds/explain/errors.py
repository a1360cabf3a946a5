"""The exception for models and options of which no atlas can be made."""


class ExplainError(ValueError):
    """An atlas cannot be made, and the message says in one line what to do about it."""
