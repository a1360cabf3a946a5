"""The method once more, as its equations, node by node and slot by slot: slow, and easy to check.

Nothing here calls the code of :mod:`lfds.nn`; only parameters are read from it. A new structure
adds one function, registered with :func:`reference_layer`.
"""

from collections import abc
from functools import singledispatch
from itertools import product

import torch
from torch import Tensor, nn
from torch.testing import assert_close

from lfds.nn import (
    Anchors,
    FixedAnchors,
    GeneratedAnchors,
    LFDSPool,
    MixtureAnchors,
    SmoothAnchors,
    Structure,
)
from lfds.nn.spatial import SpatialLayer
from lfds.nn.structures.array import Array, ArrayLayer
from lfds.nn.structures.graph import LatentGraph, Loop, Sequence
from lfds.nn.structures.image import Image, ImageLayer
from lfds.nn.structures.learned import LearnedGraph
from lfds.nn.structures.spectrum import LearnedSpectrum, SpectralLayer
from lfds.nn.structures.torus import Torus
from lfds.testing.invariants import collate, graphs_or_random, perturbed_copy, prefix


def assert_matches_reference(
    pool: LFDSPool, graphs: abc.Sequence[Tensor] | None = None, *, seed: int = 0
) -> None:
    """Assert that the pooling computes what its equations say (:func:`reference_pool`)."""
    if not isinstance(pool, LFDSPool):
        raise TypeError(f"only an LFDSPool has a slow reference, got {type(pool).__name__}")
    graphs = graphs_or_random(pool, graphs, None, seed)
    trial = perturbed_copy(pool, pool.in_channels)
    assert isinstance(trial, LFDSPool)
    expected = torch.stack([reference_pool(trial, graph) for graph in graphs])
    actual = trial(*collate(graphs), dim_size=len(graphs))
    assert_close(actual, expected, msg=prefix("the vectors differ from the slow reference"))


@torch.no_grad()
def reference_pool(pool: LFDSPool, x: Tensor) -> Tensor:
    """Return the vector of one graph in evaluation mode, from its nodes [nodes, in_channels]."""
    if pool.latent is not None:
        raise TypeError(
            "a network of your own (latent=) has no slow reference; "
            "run it on reference_slots(pool, x)"
        )
    slots = reference_slots(pool, x)
    vectors = []
    for depth, layer in enumerate(pool.layers):
        slots = reference_layer(pool.structure, layer, slots)
        vectors.append(slots.amax(dim=0))
        if pool.readout == "max+mean":
            vectors.append(slots.sum(dim=0) / len(slots))
        if pool.readout == "max+weighted":
            vectors.append((pool.weights[depth].weights * slots).sum(dim=0))
    vector = torch.cat(vectors)
    if pool.output_map is None:
        return vector
    return pool.output_map.weight @ vector + pool.output_map.bias


@torch.no_grad()
def reference_slots(pool: LFDSPool, x: Tensor) -> Tensor:
    """Return the slots [slots, hidden_channels] of one graph before the first latent layer."""
    if pool.input_map is not None:
        rows = [pool.input_map.weight @ node for node in x]
        x = torch.stack(rows) if rows else x.new_zeros(0, pool.hidden_channels)
    if pool.node_norm is not None:
        norm = pool.node_norm.norm
        assert norm.running_mean is not None
        assert norm.running_var is not None
        x = (x - norm.running_mean) / torch.sqrt(norm.running_var + norm.eps)
    x_max = x.amax(dim=0) if len(x) else torch.zeros_like(x.sum(dim=0))
    slots, mass = _distribute(x, reference_anchors(pool.anchors, x_max), pool.reduction)
    if pool.counts is not None:
        slots = slots + torch.outer(torch.log(1 + mass), pool.counts.direction)
    if pool.blend is not None:
        own, largest = pool.blend.logarithms.exp()
        slots = torch.stack([own * slot + largest * x_max for slot in slots])
    return slots


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


@singledispatch
def reference_anchors(anchors: Anchors, x_max: Tensor) -> Tensor:
    """Return the anchors [slots, channels] of a graph with the largest values ``x_max``."""
    raise TypeError(f"there is no slow reference of {type(anchors).__name__}")


@reference_anchors.register
def _fixed(anchors: FixedAnchors, x_max: Tensor) -> Tensor:
    return anchors.matrix


@reference_anchors.register
def _smooth(anchors: SmoothAnchors, x_max: Tensor) -> Tensor:
    laplacian = (anchors.modes * anchors.frequencies) @ anchors.modes.T
    diffused = torch.linalg.inv(torch.eye(anchors.num_slots) + anchors.factor() * laplacian)
    scale = (anchors.num_slots / diffused.square().sum()) ** 0.5
    rows = []
    for slot in diffused:
        rows.append(scale * sum(a * c for a, c in zip(slot, anchors.free, strict=True)))
    return torch.stack(rows)


@reference_anchors.register
def _generated(anchors: GeneratedAnchors, x_max: Tensor) -> Tensor:
    return _perceptron(anchors, x_max).view(anchors.num_slots, anchors.channels)


@reference_anchors.register
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


@singledispatch
def reference_layer(structure: Structure, layer: nn.Module, slots: Tensor) -> Tensor:
    """Return the slots [slots, channels] of one graph after a latent layer.

    The reference of another structure is a function of the same arguments, registered by the type
    of the first: ``@reference_layer.register``.
    """
    raise TypeError(
        f"there is no slow reference of {type(structure).__name__}; "
        "add one with lfds.testing.reference.reference_layer.register"
    )


@reference_layer.register
def _sequence(structure: Sequence, layer: SpatialLayer, slots: Tensor) -> Tensor:
    adjacency = torch.zeros(len(slots), len(slots), dtype=slots.dtype)
    for slot in range(len(slots) - 1):
        adjacency[slot, slot + 1] = adjacency[slot + 1, slot] = 1
    return reference_spatial_layer(layer, slots, adjacency)


@reference_layer.register
def _loop(structure: Loop, layer: SpatialLayer, slots: Tensor) -> Tensor:
    adjacency = torch.zeros(len(slots), len(slots), dtype=slots.dtype)
    for slot in range(len(slots)):
        following = (slot + 1) % len(slots)
        adjacency[slot, following] = adjacency[following, slot] = 1
    return reference_spatial_layer(layer, slots, adjacency)


@reference_layer.register
def _latent_graph(structure: LatentGraph, layer: SpatialLayer, slots: Tensor) -> Tensor:
    return reference_spatial_layer(layer, slots, _by_degree(structure.matrix, structure.normalized))


@reference_layer.register
def _learned_graph(structure: LearnedGraph, layer: SpatialLayer, slots: Tensor) -> Tensor:
    adjacency = torch.zeros_like(structure.logits)
    for slot in range(len(slots)):
        for other in range(len(slots)):
            if slot != other:
                logit = structure.logits[slot, other] + structure.logits[other, slot]
                adjacency[slot, other] = 1 / (1 + torch.exp(-logit))
    return reference_spatial_layer(layer, slots, _by_degree(adjacency, structure.normalized))


@reference_layer.register
def _learned_spectrum(structure: LearnedSpectrum, layer: SpectralLayer, slots: Tensor) -> Tensor:
    width = slots.shape[1]
    own, mixed = slice(0, width), slice(width, 2 * width)
    phi_1, phi_2 = layer.transforms.weight[own].T, layer.transforms.weight[mixed].T
    basis = structure.basis
    filtered = basis @ torch.diag(layer.response) @ basis.T @ slots @ phi_2
    norm = layer.activation.norm
    return _activated(filtered, norm, mixed) + _activated(slots @ phi_1, norm, own)


@reference_layer.register
def _array(structure: Array, layer: ArrayLayer, slots: Tensor) -> Tensor:
    kernel = layer.convolution.weight  # [out, in, place]
    assert layer.convolution.bias is not None
    result = layer.convolution.bias.repeat(len(slots), 1)
    for slot in range(len(slots)):
        for place in range(kernel.shape[2]):
            seen = slot + place - kernel.shape[2] // 2
            if 0 <= seen < len(slots):
                result[slot] += kernel[:, :, place] @ slots[seen]
    return _activated(result, layer.activation.norm)


@reference_layer.register
def _image(structure: Image, layer: ImageLayer, slots: Tensor) -> Tensor:
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
    return _activated(result.flatten(0, 1), layer.activation.norm)


@reference_layer.register
def _torus(structure: Torus, layer: ImageLayer, slots: Tensor) -> Tensor:
    kernel = layer.convolution.weight  # [out, in, row, column]
    middle = kernel.shape[2] // 2
    pixels = slots.view(structure.height, structure.width, -1)
    assert layer.convolution.bias is not None
    result = layer.convolution.bias.repeat(structure.height, structure.width, 1)
    for row, column in product(range(structure.height), range(structure.width)):
        for i, j in product(range(kernel.shape[2]), range(kernel.shape[3])):
            seen = (row + i - middle) % structure.height, (column + j - middle) % structure.width
            result[row, column] += kernel[:, :, i, j] @ pixels[seen]
    return _activated(result.flatten(0, 1), layer.activation.norm)


def reference_spatial_layer(
    layer: SpatialLayer, x: Tensor, adjacency: Tensor, features: Tensor | None = None
) -> Tensor:
    """Return the rows after a spatial layer.

    Args:
        layer: In evaluation mode.
        x: The rows before it.
        adjacency: ``adjacency[i, j]`` weighs what j sends to i; 0 where there is no edge.
        features: ``features[i, j]`` are those of that edge; None without any.
    """
    width = layer.transforms.weight.shape[0] // 2
    own, others = slice(0, width), slice(width, 2 * width)
    phi_1, phi_2 = layer.transforms.weight[own].T, layer.transforms.weight[others].T
    result = _activated(x @ phi_1, layer.activation.norm, own)
    for row in range(len(x)):
        for neighbour in range(len(x)):
            if layer.edge_transform is None:
                message = _activated(x[neighbour] @ phi_2, layer.activation.norm, others)
            else:
                assert features is not None
                phi_3, norm = layer.edge_transform.weight.T, layer.message_activation.norm
                message = _activated(x[neighbour] @ phi_2 + features[row, neighbour] @ phi_3, norm)
            result[row] = result[row] + adjacency[row, neighbour] * message
    return result


def _activated(values: Tensor, norm: nn.BatchNorm1d, channels: slice = slice(None)) -> Tensor:
    """ReLU, then batch normalization by the running statistics."""
    mean, variance = norm.running_mean, norm.running_var
    assert mean is not None
    assert variance is not None
    standard = (values.clamp(min=0) - mean[channels]) / torch.sqrt(variance[channels] + norm.eps)
    return standard * norm.weight[channels] + norm.bias[channels]


def _by_degree(adjacency: Tensor, normalized: bool) -> Tensor:
    if not normalized:
        return adjacency
    return torch.stack([row / row.sum() if row.sum() > 0 else row for row in adjacency])
