"""Whether graphs are of the kind a model was fitted on, and what is new about their nodes."""

import torch

from lfds.data.encodings.encoder import Encoder
from lfds.data.errors import DataError
from lfds.data.graphset import GraphSet

_SHOWN = 5


class UnseenLabelsWarning(UserWarning):
    """Some nodes have labels that no graph of the training part had: they count as no kind."""


def check_widths(graphs: GraphSet, encoder: Encoder) -> None:
    """Raise unless nodes have as many attributes and labels as those the model was fitted on."""
    asked = encoder.settings
    means, _ = encoder.attribute_scales
    for name, wanted, found in (
        ("attributes", len(means), graphs.attributes.shape[1] * asked.attributes),
        ("labels", len(encoder.label_values), graphs.labels.shape[1] * asked.labels),
    ):
        if wanted != found:
            raise DataError(
                f"the model was fitted on {wanted} for each node, these graphs have {found}; "
                "give graphs of the same kind",
                source=f"node {name}",
            )


def unseen_labels(graphs: GraphSet, encoder: Encoder) -> str:
    """Return what is to be said of labels that were never seen; nothing where all were."""
    for column, seen in enumerate(encoder.label_values):
        labels = graphs.labels[:, column]
        new = labels[~torch.isin(labels, torch.tensor(seen, dtype=labels.dtype))]
        if len(new):
            values = new.unique().tolist()
            more = ", ..." if len(values) > _SHOWN else ""
            shown = ", ".join(map(str, values[:_SHOWN])) + more
            return (
                f"{len(new)} nodes have a label that was never seen in training "
                f"(column {column}: {shown}); they are taken for nodes of no known kind"
            )
    return ""
