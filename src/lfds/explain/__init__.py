"""The atlas: on which slots of a latent structure the nodes of graphs land."""


class ExplainError(ValueError):
    """An atlas cannot be made; the message is one line that says what to do."""
