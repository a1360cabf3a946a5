r"""A spatial layer after its product: two passes over the nodes there, and two back.

With the rectified product :math:`\mathbf{R} = [\mathbf{R}_o, \mathbf{R}_s]`, what a node keeps
beside what it sends, and a norm by mean :math:`\mu` and spread :math:`\sigma`, scaled by
:math:`\gamma` and shifted by :math:`\beta`,

.. math::
    \mathbf{n}_i = s \mathbf{r}_i + b, \qquad s = \gamma / \sigma, \quad b = \beta - s \mu, \qquad
    \mathbf{z}_i = k_i \big(\mathbf{n}_{o,i} + \sum_j a_{ij} \mathbf{n}_{s,j}\big).

The normed rows are never written down: the sums along the edges take scale and shift in passing.
A gradient :math:`\bar{\mathbf{n}}` of theirs flows back as that of batch norm does,

.. math::
    \bar{\mathbf{r}} = [\mathbf{r} > 0] \, s \Big(\bar{\mathbf{n}} - \mathrm{mean}(\bar{\mathbf{n}})
        - \hat{\mathbf{r}} \, \mathrm{mean}(\hat{\mathbf{r}} \bar{\mathbf{n}})\Big),
    \qquad \hat{\mathbf{r}} = \frac{\mathbf{r} - \mu}{\sigma},

where both means are left out if :math:`\mu` and :math:`\sigma` are not those of these rows.
"""

import numpy as np

from lfds.nn.accel.numba_compile import RUN, Index, compiled

Array = np.ndarray


@compiled
def rectify(rows: Array) -> None:
    """Replace what is negative by zero."""
    zero = rows.dtype.type(0)
    for i in range(Index(rows.shape[0])):
        for j in range(Index(rows.shape[1])):
            rows[i, j] = max(rows[i, j], zero)


@compiled
def rectify_and_measure(rows: Array, mean: Array, variance: Array) -> None:
    """Replace what is negative by zero, and take mean and variance of every column.

    Squares are of distances to the first row: a column far from zero loses no digits.
    """
    zero = rows.dtype.type(0)
    count, width = Index(rows.shape[0]), Index(rows.shape[1])
    first = np.maximum(rows[0], zero)
    total, total_square = np.zeros(width), np.zeros(width)
    part, part_square = np.empty(width, rows.dtype), np.empty(width, rows.dtype)
    start = Index(0)
    while start < count:
        end = min(count, start + RUN)
        for j in range(width):
            part[j] = 0
            part_square[j] = 0
        for i in range(start, end):
            for j in range(width):
                value = max(rows[i, j], zero)
                rows[i, j] = value
                away = value - first[j]
                part[j] += away
                part_square[j] += away * away
        for j in range(width):
            total[j] += part[j]
            total_square[j] += part_square[j]
        start = end
    for j in range(width):
        away_mean = total[j] / count
        mean[j] = first[j] + away_mean
        variance[j] = max(total_square[j] / count - away_mean * away_mean, 0.0)


@compiled
def learn_statistics(
    count: int, pace: float, mean: Array, variance: Array, run_mean: Array, run_variance: Array
) -> None:
    """Move running statistics towards those of ``count`` rows."""
    for j in range(Index(len(mean))):
        run_mean[j] += pace * (mean[j] - run_mean[j])
        run_variance[j] += pace * (variance[j] * (count / (count - 1)) - run_variance[j])


@compiled
def arrive(
    rows: Array,
    gamma: Array,
    beta: Array,
    mean: Array,
    spread: Array,
    ptr: Array,
    column: Array,
    weight: Array,
    kept: Array,
    out: Array,
) -> None:
    """Sum what every node keeps and what arrives along its edges, times its factor in ``kept``.

    Where ``kept`` is empty all factors are one.
    """
    count, width = Index(out.shape[0]), Index(out.shape[1])
    scale = gamma / spread
    shift = beta - mean * scale
    for i in range(count):
        for j in range(width):
            out[i, j] = 0
        own = rows.dtype.type(1) if len(kept) == 0 else kept[i]
        if own != 0:
            degree = rows.dtype.type(0)
            for e in range(Index(ptr[i]), Index(ptr[i + Index(1)])):
                other, factor = Index(column[e]), weight[e]
                degree += factor
                for j in range(width):
                    out[i, j] += factor * rows[other, width + j]
            for j in range(width):
                received = out[i, j] * scale[width + j] + degree * shift[width + j]
                out[i, j] = own * (rows[i, j] * scale[j] + shift[j] + received)


@compiled
def _give_back_to(
    i: int, grad: Array, kept: Array, ptr: Array, column: Array, weight: Array, both: Array
) -> None:
    """The gradient of what node ``i`` kept, and of what it sent."""
    one = weight.dtype.type(1)
    width = Index(grad.shape[1])
    all_kept = len(kept) == 0
    own = one if all_kept else kept[i]
    for j in range(width):
        both[i, j] = own * grad[i, j]
        both[i, width + j] = 0
    for e in range(Index(ptr[i]), Index(ptr[i + Index(1)])):
        other = Index(column[e])
        factor = weight[e] * (one if all_kept else kept[other])
        if factor != 0:
            for j in range(width):
                both[i, width + j] += factor * grad[other, j]


@compiled
def give_back(
    grad: Array,
    kept: Array,
    rows: Array,
    ptr: Array,
    column: Array,
    weight: Array,
    both: Array,
    total: Array,
    total_product: Array,
) -> None:
    """Bring gradients back along the edges; sum them, and their products with ``rows``.

    ``ptr``, ``column`` and ``weight`` are those of the transposed adjacency; the sums are added to.
    """
    count, width = Index(grad.shape[0]), Index(grad.shape[1])
    part, part_product = np.empty(2 * width, rows.dtype), np.empty(2 * width, rows.dtype)
    start = Index(0)
    while start < count:
        end = min(count, start + RUN)
        for j in range(width + width):
            part[j] = 0
            part_product[j] = 0
        for i in range(start, end):
            _give_back_to(i, grad, kept, ptr, column, weight, both)
            for j in range(width + width):
                part[j] += both[i, j]
                part_product[j] += both[i, j] * rows[i, j]
        for j in range(width + width):
            total[j] += part[j]
            total_product[j] += part_product[j]
        start = end


@compiled
def through_norm(
    rows: Array,
    grad: Array,
    gamma: Array,
    mean: Array,
    spread: Array,
    own_statistics: bool,
    total: Array,
    total_product: Array,
    grad_gamma: Array,
    grad_beta: Array,
) -> None:
    """Replace the gradient of the normed rows by that of what was rectified.

    ``total`` and ``total_product`` are what :func:`give_back` summed.
    """
    zero = rows.dtype.type(0)
    count, width = Index(rows.shape[0]), Index(rows.shape[1])
    scale, common, along = np.empty_like(gamma), np.zeros_like(gamma), np.zeros_like(gamma)
    for j in range(width):
        normed_product = (total_product[j] - total[j] * mean[j]) / spread[j]
        grad_gamma[j] = normed_product
        grad_beta[j] = total[j]
        scale[j] = gamma[j] / spread[j]
        if own_statistics:
            slope = scale[j] * normed_product / spread[j] / count
            along[j] = slope
            common[j] = scale[j] * total[j] / count - mean[j] * slope
    for i in range(count):
        for j in range(width):
            value = rows[i, j]
            passed = scale[j] * grad[i, j] - common[j] - value * along[j]
            grad[i, j] = passed if value > 0 else zero
