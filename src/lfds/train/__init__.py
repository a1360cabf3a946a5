"""Training one network: epochs, objective, weight averaging, checkpoints."""


class DivergedError(ArithmeticError):
    """The loss is not finite any more; in a comparison the fold is recorded as failed."""
