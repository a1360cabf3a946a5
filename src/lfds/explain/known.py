"""What a model says of graphs, and what they themselves say: classes, or quantities."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from lfds.data.graphset import GraphSet
from lfds.estimator.calibration import probabilities
from lfds.estimator.meaning import AmountMeaning, ClassMeaning, Label
from lfds.explain.record import Floats, Whole


def predictions(
    outputs: Floats, graphs: GraphSet, meaning: ClassMeaning | AmountMeaning
) -> dict[str, Any]:
    """Return what the network says of each graph, and what is known of it."""
    nothing = np.zeros((len(graphs), 0), dtype=np.float32)
    if isinstance(meaning, ClassMeaning):
        return {
            "classes": tuple(str(name) for name in meaning.names),
            "target": known_targets(graphs, meaning.names),
            "probabilities": probabilities(outputs, meaning.temperature).astype(np.float32),
            "amounts": nothing,
            "true_amounts": nothing,
        }
    amounts = meaning.in_units(outputs).reshape(len(graphs), -1).astype(np.float32)
    return {
        "classes": (),
        "target": np.full(len(graphs), -1),
        "probabilities": nothing,
        "amounts": amounts,
        "true_amounts": known_amounts(graphs, amounts.shape[1]),
    }


def known_targets(graphs: GraphSet, classes: Sequence[Label]) -> Whole:
    """Return the class of each graph as a position in ``classes``; -1 where it is none of them."""
    if not graphs.classes:
        return np.full(len(graphs), -1)
    places = {str(name): place for place, name in enumerate(classes)}
    of_position = np.array([places.get(str(name), -1) for name in graphs.classes])
    targets: Whole = of_position[graphs.y.numpy()].astype(np.int64)
    return targets


def known_amounts(graphs: GraphSet, width: int) -> Floats:
    """Return the quantities that graphs carry ``[graphs, width]``; NaN where they carry others."""
    y = graphs.y.numpy()
    carried = np.array(graphs.classes)[y] if graphs.classes else y
    fits = carried.dtype.kind in "iuf" and carried.size == len(graphs) * width
    if not fits:
        return np.full((len(graphs), width), np.nan, dtype=np.float32)
    return carried.reshape(len(graphs), width).astype(np.float32)
