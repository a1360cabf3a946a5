"""The outputs of networks for any number of graphs, a piece at a time."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from lfds.config.training import Precision
from lfds.data.encodings.encoder import Encoder
from lfds.data.errors import DataError
from lfds.data.graphset import GraphSet
from lfds.nn import Edges, GraphNetwork
from lfds.nn.input_checks import NotFiniteError
from lfds.nn.models.inference import inference_copy
from lfds.nn.ops.ragged import runs_of_nodes
from lfds.train.device import CPU, autocast, to_device

# Nodes that are encoded at a time: features of more graphs would fill the memory.
_NODES_OF_A_PIECE = 1 << 18
# Nodes of a batch: enough to amortize the cost of a call, few enough to stay in the cache.
_NODES_OF_A_BATCH = 4096
# On an accelerator: enough to keep it busy.
_NODES_ON_A_DEVICE = 1 << 16


def predict(
    networks: Sequence[GraphNetwork],
    encoder: Encoder,
    graphs: GraphSet,
    *,
    workers: int = 1,
    head: bool = True,
    device: torch.device = CPU,
    precision: Precision = "32",
) -> Tensor:
    """Return the outputs of each of several networks, ``[networks, graphs, outputs]``.

    Args:
        networks: With the same inputs and outputs; left in evaluation mode.
        encoder: The encoder they were fitted with.
        graphs: Any number of graphs; they may be memory-mapped.
        workers: Processes that compute structural encodings.
        head: Whether to apply the heads; without them, return the vectors that they see.
        device: Where to compute.
        precision: How precisely.
    """
    folded = [_folded(network, device, head=head) for network in networks]
    found = [torch.empty(len(folded), 0, folded[0].out_channels)]
    for piece in runs_of_nodes(graphs.ptr, _NODES_OF_A_PIECE):
        encoded = encoder.transform(graphs[piece].in_memory(), workers=workers)
        found.append(torch.stack([run(one, encoded, device, precision) for one in folded]))
    return torch.cat(found, dim=1)


def _folded(network: GraphNetwork, device: torch.device, *, head: bool) -> GraphNetwork:
    """Return a copy for inference."""
    network.eval()
    folded = inference_copy(network).to(device)
    if not head:
        folded.head = nn.Identity()  # type: ignore[assignment]
        folded.out_channels = network.vector_channels
    return folded


def run(
    network: GraphNetwork,
    encoded: GraphSet,
    device: torch.device = CPU,
    precision: Precision = "32",
) -> Tensor:
    """Return the outputs for encoded graphs that fit into memory together, on the CPU.

    Args:
        network: On ``device``.
        encoded: The graphs.
        device: Where to compute.
        precision: How precisely.
    """
    size = _NODES_OF_A_BATCH if device.type == "cpu" else _NODES_ON_A_DEVICE
    found = [torch.empty(0, network.out_channels)]
    with torch.inference_mode(), autocast(device, precision):
        for rows in runs_of_nodes(encoded.ptr, size):
            batch = to_device(encoded.batch(rows), device)
            edges = Edges.forward_only(batch.edge_ptr, batch.edge_dst, batch.edge_x)
            found.append(_finite(network, batch.x, batch.ptr, edges).float())
    # Copied outside of inference mode: a tensor like any other.
    return torch.cat([part.to(CPU) for part in found])


def _finite(network: GraphNetwork, x: Tensor, ptr: Tensor, edges: Edges) -> Tensor:
    """Return the outputs for a batch, or raise a DataError if one is infinite or NaN."""
    try:
        outputs: Tensor = network(x, ptr, edges)
        finite = bool(outputs.isfinite().all())
    except NotFiniteError:
        finite = False
    if not finite:
        raise DataError(
            "its outputs are not finite: weights or graphs hold too large numbers; "
            "fit the model again, or scale the attributes",
            source="model",
        )
    return outputs
