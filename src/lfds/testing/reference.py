"""The method once more, written as its equations: slow, and right at a glance."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.testing import assert_close

from lfds.nn import (
    Array,
    FixedAnchors,
    GeneratedAnchors,
    Image,
    LatentGraph,
    LearnedGraph,
    LearnedSpectrum,
    LFDSPool,
    Loop,
    MixtureAnchors,
)
from lfds.nn import Sequence as Path
from lfds.nn.spatial import SpatialLayer
from lfds.nn.structures.array import ArrayLayer
from lfds.nn.structures.image import ImageLayer
from lfds.nn.structures.spectrum import SpectralLayer
from lfds.testing.trial import after, collate, graphs_for, ready


def assert_agrees_with_reference(
    pool: LFDSPool, graphs: Sequence[Tensor] | None = None, *, seed: int = 0
) -> None:
    """The pooling must give what its equations give, node by node and slot by slot."""
    if not isinstance(pool, LFDSPool):
        raise TypeError(f"only an LFDSPool has this reference, got {type(pool).__name__}")
    for part, known in ((pool.structure, LAYER_OF), (pool.anchors, ANCHORS_OF)):
        if type(part) not in known:
            raise TypeError(f"there is no slow reference of {type(part).__name__}")
    graphs = graphs_for(pool, graphs, None, seed)
    trial = ready(pool, pool.in_channels)
    assert isinstance(trial, LFDSPool)
    actual = trial(*collate(graphs), dim_size=len(graphs))
    expected = torch.stack([reference_pool(trial, graph) for graph in graphs])
    assert_close(actual, expected, msg=after("not what the equations say"))


@torch.no_grad()
def reference_pool(pool: LFDSPool, x: Tensor) -> Tensor:
    """The vector of one graph in evaluation mode, from its nodes [nodes, channels]."""
    if pool.input_map is not None:
        x = (
            torch.stack([pool.input_map.weight @ node for node in x])
            if len(x)
            else x.new_zeros(0, pool.hidden_channels)
        )
    if pool.node_norm is not None:
        norm = pool.node_norm.norm
        assert norm.running_mean is not None
        assert norm.running_var is not None
        x = (x - norm.running_mean) / torch.sqrt(norm.running_var + norm.eps)
    x_max = x.amax(dim=0) if len(x) else torch.zeros_like(x.sum(dim=0))
    anchors = ANCHORS_OF[type(pool.anchors)](pool.anchors, x_max)
    slots, mass = _distribute(x, anchors, pool.reduction)
    if pool.counts is not None:
        slots = slots + torch.outer(torch.log(1 + mass), pool.counts.direction)
    if pool.blend is not None:
        own, largest = pool.blend.logarithms.exp()
        slots = torch.stack([own * slot + largest * x_max for slot in slots])
    vectors = []
    for place, layer in enumerate(pool.layers):
        slots = LAYER_OF[type(pool.structure)](slots, layer, pool.structure)
        vectors.append(slots.amax(dim=0))
        if pool.readout == "max+mean":
            vectors.append(slots.sum(dim=0) / len(slots))
        if pool.readout == "max+weighted":
            vectors.append((pool.weights[place].weights * slots).sum(dim=0))
    return torch.cat(vectors)


def _distribute(x: Tensor, anchors: Tensor, reduction: str) -> tuple[Tensor, Tensor]:
    slots = torch.zeros_like(anchors)
    mass = torch.zeros_like(anchors[:, 0])
    for node in x:
        weights = torch.stack([torch.exp(node @ anchor) for anchor in anchors])
        share = weights / weights.sum()
        for slot in range(len(anchors)):
            slots[slot] += share[slot] * node
            mass[slot] += share[slot]
    if len(x) == 0 or reduction == "sum":
        return slots, mass
    return slots / (len(x) if reduction == "mean" else mass[:, None]), mass


def _fixed(anchors: FixedAnchors, x_max: Tensor) -> Tensor:
    return anchors.matrix


def _generated(anchors: GeneratedAnchors, x_max: Tensor) -> Tensor:
    return _perceptron(anchors, x_max).view(anchors.num_slots, anchors.channels)


def _mixture(anchors: MixtureAnchors, x_max: Tensor) -> Tensor:
    weights = torch.exp(_perceptron(anchors, x_max))
    weights = weights / weights.sum()
    total = torch.zeros_like(anchors.matrices[0])
    for weight, matrix in zip(weights, anchors.matrices, strict=True):
        total += weight * matrix
    return total


def _perceptron(anchors: GeneratedAnchors | MixtureAnchors, x_max: Tensor) -> Tensor:
    hidden = (anchors.hidden.weight @ x_max + anchors.hidden.bias).clamp(min=0)
    return anchors.output.weight @ hidden + anchors.output.bias


ANCHORS_OF: dict[type, Callable[..., Tensor]] = {
    FixedAnchors: _fixed,
    GeneratedAnchors: _generated,
    MixtureAnchors: _mixture,
}


def _f(values: Tensor, norm: nn.BatchNorm1d, channels: slice) -> Tensor:
    """ReLU, then batch norm with the running statistics."""
    mean, variance = norm.running_mean, norm.running_var
    assert mean is not None
    assert variance is not None
    standard = (values.clamp(min=0) - mean[channels]) / torch.sqrt(variance[channels] + norm.eps)
    return standard * norm.weight[channels] + norm.bias[channels]


def _spatial(slots: Tensor, layer: SpatialLayer, adjacency: Tensor) -> Tensor:
    width = slots.shape[1]
    own, others = slice(0, width), slice(width, 2 * width)
    phi_1, phi_2 = layer.transforms.weight[own].T, layer.transforms.weight[others].T
    sent = _f(slots @ phi_2, layer.activation.norm, others)
    result = _f(slots @ phi_1, layer.activation.norm, own)
    for slot in range(len(slots)):
        for neighbour in range(len(slots)):
            result[slot] += adjacency[slot, neighbour] * sent[neighbour]
    return result


def _on_path(slots: Tensor, layer: SpatialLayer, structure: Path) -> Tensor:
    adjacency = torch.zeros(len(slots), len(slots), dtype=slots.dtype)
    for slot in range(len(slots) - 1):
        adjacency[slot, slot + 1] = adjacency[slot + 1, slot] = 1
    return _spatial(slots, layer, adjacency)


def _on_loop(slots: Tensor, layer: SpatialLayer, structure: Loop) -> Tensor:
    adjacency = torch.zeros(len(slots), len(slots), dtype=slots.dtype)
    for slot in range(len(slots)):
        following = (slot + 1) % len(slots)
        adjacency[slot, following] = adjacency[following, slot] = 1
    return _spatial(slots, layer, adjacency)


def _on_graph(slots: Tensor, layer: SpatialLayer, structure: LatentGraph) -> Tensor:
    return _spatial(slots, layer, _by_degree(structure.matrix, structure.normalized))


def _on_learned_graph(slots: Tensor, layer: SpatialLayer, structure: LearnedGraph) -> Tensor:
    adjacency = torch.zeros_like(structure.logits)
    for slot in range(len(slots)):
        for other in range(len(slots)):
            if slot != other:
                logit = structure.logits[slot, other] + structure.logits[other, slot]
                adjacency[slot, other] = 1 / (1 + torch.exp(-logit))
    return _spatial(slots, layer, _by_degree(adjacency, structure.normalized))


def _by_degree(adjacency: Tensor, normalized: bool) -> Tensor:
    if not normalized:
        return adjacency
    return torch.stack([row / row.sum() if row.sum() > 0 else row for row in adjacency])


def _on_spectrum(slots: Tensor, layer: SpectralLayer, structure: LearnedSpectrum) -> Tensor:
    width = slots.shape[1]
    own, mixed = slice(0, width), slice(width, 2 * width)
    phi_1, phi_2 = layer.transforms.weight[own].T, layer.transforms.weight[mixed].T
    basis = structure.basis
    filtered = basis @ torch.diag(layer.response) @ basis.T @ slots @ phi_2
    norm = layer.activation.norm
    return _f(filtered, norm, mixed) + _f(slots @ phi_1, norm, own)


def _on_array(slots: Tensor, layer: ArrayLayer, structure: Array) -> Tensor:
    kernel = layer.convolution.weight  # [out, in, place]
    assert layer.convolution.bias is not None
    result = layer.convolution.bias.repeat(len(slots), 1)
    for slot in range(len(slots)):
        for place in range(kernel.shape[2]):
            seen = slot + place - kernel.shape[2] // 2
            if 0 <= seen < len(slots):
                result[slot] += kernel[:, :, place] @ slots[seen]
    return _f(result, layer.activation.norm, slice(None))


def _on_image(slots: Tensor, layer: ImageLayer, structure: Image) -> Tensor:
    kernel = layer.convolution.weight  # [out, in, row, column]
    middle = kernel.shape[2] // 2
    pixels = slots.view(structure.height, structure.width, -1)
    assert layer.convolution.bias is not None
    result = layer.convolution.bias.repeat(structure.height, structure.width, 1)
    for row in range(structure.height):
        for column in range(structure.width):
            for i in range(kernel.shape[2]):
                for j in range(kernel.shape[3]):
                    seen = (row + i - middle, column + j - middle)
                    if 0 <= seen[0] < structure.height and 0 <= seen[1] < structure.width:
                        result[row, column] += kernel[:, :, i, j] @ pixels[seen]
    return _f(result.flatten(0, 1), layer.activation.norm, slice(None))


LAYER_OF: dict[type, Callable[..., Tensor]] = {
    Image: _on_image,
    Array: _on_array,
    Path: _on_path,
    Loop: _on_loop,
    LatentGraph: _on_graph,
    LearnedGraph: _on_learned_graph,
    LearnedSpectrum: _on_spectrum,
}
