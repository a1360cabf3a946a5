r"""A network that no longer learns: what is left to do between its products.

Nodes are numbered within their graph, so that graphs anywhere in a large set are read where they
are.  All functions work on a run of graphs, and on rows of their nodes alone.
"""

import numpy as np

from lfds.nn.accel.numba_compile import Index, compiled

Array = np.ndarray


@compiled
def hear(
    rows: Array,
    scale: Array,
    shift: Array,
    ptr: Array,
    edge_ptr: Array,
    source: Array,
    out: Array,
    largest: Array,
) -> None:
    r"""Rectify a product and norm it, sum along the edges, and take the maxima of each graph.

    .. math::
        \mathbf{z}_i = \mathbf{n}_{o,i} + \sum_{j \to i} \mathbf{n}_{s,j}, \qquad
        \mathbf{n}_i = \mathbf{s} \odot \mathrm{relu}(\mathbf{r}_i) + \mathbf{b}, \qquad
        \mathbf{m}_g = \max_{i \in g} \mathbf{z}_i

    Args:
        rows: The product of these nodes, what a node keeps beside what it sends.
        scale: That of the norm.
        shift: That of the norm.
        ptr: Where each graph begins, counted from anywhere.
        edge_ptr: Where the edges to each node begin, counted from anywhere.
        source: For every edge of the run the node it comes from, numbered within its graph.
        out: The sums.
        largest: The maxima; zero in a graph without nodes, and NaN if there is any.
    """
    zero = rows.dtype.type(0)
    width = Index(out.shape[1])
    for g in range(Index(len(ptr) - 1)):
        start, end = Index(ptr[g] - ptr[0]), Index(ptr[g + Index(1)] - ptr[0])
        for j in range(width):
            largest[g, j] = 0
        for i in range(start, end):
            first, last = edge_ptr[i] - edge_ptr[0], edge_ptr[i + Index(1)] - edge_ptr[0]
            degree = rows.dtype.type(last - first)
            for j in range(width):
                out[i, j] = 0
            for e in range(Index(first), Index(last)):
                other = start + Index(source[e])
                for j in range(width):
                    sent = rows[other, width + j]
                    out[i, j] += zero if sent <= zero else sent
            for j in range(width):
                own = rows[i, j]
                kept = (zero if own <= zero else own) * scale[j] + shift[j]
                value = kept + out[i, j] * scale[width + j] + degree * shift[width + j]
                out[i, j] = value
                most = largest[g, j]
                above = i == start or value > most or value != value
                largest[g, j] = value if above else most


@compiled
def place(x: Array, share: Array, ptr: Array, slots: Array, mass: Array) -> None:
    r"""Share the nodes of each graph out over its slots.

    .. math::
        \mathbf{y}_{gk} = \sum_{i \in g} p_{ik} \mathbf{x}_i, \qquad m_{gk} = \sum_{i \in g} p_{ik}
    """
    slots[:] = 0
    mass[:] = 0
    for g in range(Index(len(ptr) - 1)):
        i, end = Index(ptr[g] - ptr[0]), Index(ptr[g + Index(1)] - ptr[0])
        while i + Index(4) <= end:
            _place_four(x, share, i, slots[g], mass[g])
            i += Index(4)
        while i < end:
            _place_one(x, share, i, slots[g], mass[g])
            i += Index(1)


@compiled
def _place_one(x: Array, share: Array, i: Index, slots: Array, mass: Array) -> None:
    for k in range(Index(share.shape[1])):
        part = share[i, k]
        mass[k] += part
        for j in range(Index(x.shape[1])):
            slots[k, j] += part * x[i, j]


@compiled
def _place_four(x: Array, share: Array, i: Index, slots: Array, mass: Array) -> None:
    """Four nodes at a time: a slot is read and written once for all of them."""
    i1, i2, i3 = i + Index(1), i + Index(2), i + Index(3)
    for k in range(Index(share.shape[1])):
        a, b, c, d = share[i, k], share[i1, k], share[i2, k], share[i3, k]
        mass[k] += (a + b) + (c + d)
        for j in range(Index(x.shape[1])):
            slots[k, j] += (a * x[i, j] + b * x[i1, j]) + (c * x[i2, j] + d * x[i3, j])
