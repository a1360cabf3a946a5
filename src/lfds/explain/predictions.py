"""What a model says of graphs, and what they themselves say: classes, or quantities."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from lfds.data.errors import DataError
from lfds.data.graphset import GraphSet
from lfds.estimator.calibration import probabilities
from lfds.estimator.output_decoding import AmountMeaning, ClassMeaning, Label
from lfds.estimator.regression_targets import amounts
from lfds.estimator.targets import class_labels, positions
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
    told = meaning.in_units(outputs).reshape(len(graphs), -1).astype(np.float32)
    return {
        "classes": (),
        "target": np.full(len(graphs), -1),
        "probabilities": nothing,
        "amounts": told,
        "true_amounts": known_amounts(graphs, told.shape[1]),
    }


def with_known(graphs: GraphSet, y: Any, meaning: ClassMeaning | AmountMeaning) -> GraphSet:
    """Return the graphs with the classes or quantities that the user knows them to have.

    Args:
        graphs: Whatever they carry themselves is passed over.
        y: What ``fit`` takes; only classes of the model, and as many quantities as it tells.
        meaning: What the outputs of the model mean.
    """
    if isinstance(meaning, ClassMeaning):
        places = positions(class_labels(y, graphs), meaning.labels)
        return replace(graphs, y=places, classes=tuple(str(name) for name in meaning.names))
    values = amounts(y, graphs).reshape(len(graphs), -1)
    if values.shape[1] != meaning.outputs:
        raise DataError(
            f"has {values.shape[1]} targets for each graph, and the model {meaning.outputs}",
            source="y",
        )
    return replace(graphs, y=torch.from_numpy(values).float(), classes=())


def known_targets(graphs: GraphSet, classes: Sequence[Label]) -> Whole:
    """Return the class of each graph as a position in ``classes``; -1 where it is none of them."""
    if not graphs.classes:
        return np.full(len(graphs), -1)
    # Numbers are the same whatever their kind (1, 1.0, True); words may stand for numbers.
    places = {name: place for place, name in enumerate(classes)}
    words = {str(name): place for place, name in enumerate(classes)}
    of_position = np.array([places.get(name, words.get(str(name), -1)) for name in graphs.classes])
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
