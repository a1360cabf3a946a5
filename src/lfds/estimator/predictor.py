"""The outputs of a network for any number of graphs, a piece at a time."""

import torch
from torch import Tensor

from lfds.data.encodings.encoder import Encoder
from lfds.data.graphset import GraphSet
from lfds.nn import Edges, GraphNetwork
from lfds.nn.models.inference import inference_copy
from lfds.nn.ops.ragged import runs_of_nodes

# Encoded at once: features of more graphs than this would fill the memory before they are used.
_NODES_OF_A_PIECE = 1 << 18
# Through the network at once: enough to forget what a call costs, few enough to stay in the cache.
_NODES_OF_A_BATCH = 4096


def predict(
    network: GraphNetwork, encoder: Encoder, graphs: GraphSet, *, workers: int = 1
) -> Tensor:
    """Return the outputs of a network, ``[graphs, outputs]``.

    Args:
        network: Left in evaluation mode.
        encoder: Makes the features it was fitted with.
        graphs: Any number, mapped from disk if need be.
        workers: Processes that compute structural encodings.
    """
    network.eval()
    folded = inference_copy(network)
    found = [torch.empty(0, network.out_channels)]
    for piece in runs_of_nodes(graphs.ptr, _NODES_OF_A_PIECE):
        found.append(run(folded, encoder.transform(graphs[piece], workers=workers)))
    return torch.cat(found)


def run(network: GraphNetwork, encoded: GraphSet) -> Tensor:
    """Return the outputs for graphs that are encoded and small enough to be taken as a whole."""
    found = [torch.empty(0, network.out_channels)]
    with torch.inference_mode():
        for rows in runs_of_nodes(encoded.ptr, _NODES_OF_A_BATCH):
            batch = encoded.batch(rows)
            edges = Edges.forward_only(batch.edge_ptr, batch.edge_dst)
            found.append(network(batch.x, batch.ptr, edges))
    # Copied outside of inference mode: a tensor like any other.
    return torch.cat(found)
