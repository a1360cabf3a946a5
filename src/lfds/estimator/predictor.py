"""The outputs of a network for any number of graphs, a piece at a time."""

import torch
from torch import Tensor, nn

from lfds.data.encodings.encoder import Encoder
from lfds.data.graphset import GraphSet
from lfds.nn import Edges, GraphNetwork
from lfds.nn.models.inference import inference_copy
from lfds.nn.ops.ragged import runs_of_nodes

# Nodes that are encoded at a time: features of more graphs would fill the memory.
_NODES_OF_A_PIECE = 1 << 18
# Nodes of a batch: enough to amortize the cost of a call, few enough to stay in the cache.
_NODES_OF_A_BATCH = 4096


def predict(
    network: GraphNetwork,
    encoder: Encoder,
    graphs: GraphSet,
    *,
    workers: int = 1,
    head: bool = True,
) -> Tensor:
    """Return the outputs of a network, ``[graphs, outputs]``.

    Args:
        network: Left in evaluation mode.
        encoder: The encoder it was fitted with.
        graphs: Any number of graphs; they may be memory-mapped.
        workers: Processes that compute structural encodings.
        head: Whether to apply the head; without it, return the vectors that it sees.
    """
    network.eval()
    folded = inference_copy(network)
    if not head:
        folded.head = nn.Identity()  # type: ignore[assignment]
        folded.out_channels = network.vector_channels
    found = [torch.empty(0, folded.out_channels)]
    for piece in runs_of_nodes(graphs.ptr, _NODES_OF_A_PIECE):
        found.append(run(folded, encoder.transform(graphs[piece], workers=workers)))
    return torch.cat(found)


def run(network: GraphNetwork, encoded: GraphSet) -> Tensor:
    """Return the outputs for encoded graphs that fit into memory together."""
    found = [torch.empty(0, network.out_channels)]
    with torch.inference_mode():
        for rows in runs_of_nodes(encoded.ptr, _NODES_OF_A_BATCH):
            batch = encoded.batch(rows)
            edges = Edges.forward_only(batch.edge_ptr, batch.edge_dst)
            found.append(network(batch.x, batch.ptr, edges))
    # Copied outside of inference mode: a tensor like any other.
    return torch.cat(found)
