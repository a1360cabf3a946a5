"""The exception for models and options that have no atlas."""


class ExplainError(ValueError):
    """An atlas cannot be made; the message is one line that says what to do."""
