"""A plot of the history of a fit: loss and score by epoch."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from lfds.data.errors import DataError
from lfds.train.loop import Progress

_SCORES = {"classes": "accuracy", "amounts": "R2"}
"""What the score of an objective is called; that of several targets with classes is -loss."""


def plot_histories(histories: Sequence[Progress], kind: str, axes: Any = None) -> Any:
    """Plot losses and scores by epoch; return the axes, ``[panels]``.

    Args:
        histories: One for each member.
        kind: What the outputs are: ``classes``, ``labels`` or ``amounts``.
        axes: Axes to draw on, one for each panel; by default those of a new figure.
    """
    panels = ["loss", *([_SCORES[kind]] if kind in _SCORES else [])]
    if axes is None:
        from matplotlib import pyplot

        size = (4.5 * len(panels), 3.2)
        figure, axes = pyplot.subplots(1, len(panels), figsize=size, squeeze=False)
        figure.set_layout_engine("constrained")
    drawn = np.atleast_1d(np.asarray(axes, dtype=object)).ravel()
    if len(drawn) != len(panels):
        raise DataError(
            f"needs {len(panels)} axes ({', '.join(panels)}), not {len(drawn)}", source="axes"
        )
    for panel, one in zip(panels, drawn, strict=True):
        for member, history in enumerate(histories):
            kept = f"kept: epoch {history.best + 1}" if len(histories) == 1 else "kept epochs"
            _draw(one, panel, history, f"C{member % 10}", kept if member == 0 else None)
        one.set_xlabel("epoch")
        one.xaxis.get_major_locator().set_params(integer=True)
        one.set_ylabel(panel)
        one.grid(alpha=0.3)
        one.legend(frameon=False)
    return drawn


def _draw(axes: Any, panel: str, history: Progress, colour: str, kept: str | None) -> None:
    """Draw the curves of a member; without ``kept``, the text for its epoch, they have no names."""
    train, validation = _curves(panel, history)
    epochs = np.arange(1, len(train) + 1)

    def name(text: str) -> str | None:
        return None if kept is None else text

    axes.plot(epochs, train, "--", color=colour, alpha=0.6, label=name("training"))
    if history.has_validation and len(validation):
        axes.plot(epochs[: len(validation)], validation, color=colour, label=name("validation"))
    best = validation if history.has_validation and len(validation) else train
    if 0 <= history.best < len(best):
        axes.plot(history.best + 1, best[history.best], "o", color=colour, label=kept)


def _curves(panel: str, history: Progress) -> tuple[Sequence[float], Sequence[float]]:
    if panel == "loss":
        return history.loss, history.validation_loss
    # The score of values is minus the squared error of targets with variance one.
    shift = 1.0 if panel == "R2" else 0.0
    train = [shift + one for one in history.train]
    return train, [shift + one for one in history.validation]
