"""The Triton kernels of ``distribute``: what one program computes; nothing here is called directly.

Rows of ``x`` are nodes, and a program works on one tile of them (:mod:`lfds.nn.accel.tiles`), in
blocks of ``BLOCK_N`` rows, ``BLOCK_K`` slots and ``BLOCK_C`` channels. Everything is computed and
added up in float32, in an order that does not depend on timing: no atomic operations.
:mod:`lfds.nn.accel.triton_distribute` says which kernels are launched and why.
"""

import triton
import triton.language as tl

# Channels of one product. The operands of more would not fit into the registers: with 64 at once,
# 11,000 bytes of each thread of the backward pass went to memory (sm_80).
CHUNK = tl.constexpr(16)


@triton.jit
def locate(first, ptr, tile, num_graphs, tile_rows):
    """The graph of a tile, and the rows where the tile begins and ends; none if it is empty.

    The last graph whose first tile is not behind this one, by bisection: a few reads of the cache,
    where a table of all tiles would take a dozen launches.
    """
    low = tl.load(first)  # zero, in the type of what follows
    high = low + num_graphs
    while low + 1 < high:
        middle = (low + high) // 2
        before = tl.load(first + middle) <= tile
        low = tl.where(before, middle, low)
        high = tl.where(before, high, middle)
    begin = tl.load(ptr + low) + (tile - tl.load(first + low)) * tile_rows
    return low, begin, tl.minimum(begin + tile_rows, tl.load(ptr + low + 1))


@triton.jit
def load_block(table, row, rows_used, column, CHANNELS: tl.constexpr):
    """``table[row, column]`` in float32; zero where a row is not used or a column is none."""
    where = table + row.to(tl.int64)[:, None] * CHANNELS + column[None, :]
    used = rows_used[:, None] & (column < CHANNELS)[None, :]
    return tl.load(where, mask=used, other=0.0).to(tl.float32)


@triton.jit
def products(
    x,
    row,
    used,
    table,
    slot,
    SLOTS: tl.constexpr,
    CHANNELS: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """The products of rows of ``x`` with the vectors of some slots, [rows, slots]."""
    total = tl.zeros((row.shape[0], slot.shape[0]), dtype=tl.float32)
    for begin in range(0, CHANNELS, CHUNK):
        column = begin + tl.arange(0, CHUNK)
        nodes = load_block(x, row, used, column, CHANNELS)
        vectors = load_block(table, slot, slot < SLOTS, column, CHANNELS)
        total += tl.dot(nodes, tl.trans(vectors), input_precision=PRECISION)
    return total


@triton.jit
def softmax(logits, slot, SLOTS: tl.constexpr):
    """The softmax over all slots, which are in one block."""
    logits = tl.where((slot < SLOTS)[None, :], logits, float("-inf"))
    powers = tl.exp(logits - tl.max(logits, axis=1)[:, None])
    return powers / tl.sum(powers, axis=1)[:, None]


@triton.jit
def shares(
    x,
    row,
    used,
    anchors,
    slot,
    log_sums,
    SLOTS: tl.constexpr,
    CHANNELS: tl.constexpr,
    ALL_SLOTS: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """How much of each row goes to each slot of a block; nothing of a row that is not used."""
    logits = products(x, row, used, anchors, slot, SLOTS, CHANNELS, PRECISION)
    if ALL_SLOTS:
        share = softmax(logits, slot, SLOTS)
    else:
        log_sum = tl.load(log_sums + row, mask=used, other=0.0)
        share = tl.where((slot < SLOTS)[None, :], tl.exp(logits - log_sum[:, None]), 0.0)
    return tl.where(used[:, None], share, 0.0)


@triton.jit
def weights_of(weight, row, used, WEIGHTED: tl.constexpr):
    """The weights of some rows."""
    if WEIGHTED:
        return tl.load(weight + row, mask=used, other=0.0).to(tl.float32)
    else:
        return tl.where(used, 1.0, 0.0)


@triton.jit
def store_slots(
    out, out_mass, graph, total, mass, slot, column, size,
    SLOTS: tl.constexpr, CHANNELS: tl.constexpr, REDUCTION: tl.constexpr, LEAST: tl.constexpr,
):  # fmt: skip
    """Divide the sums of a graph's slots, and write them and their masses."""
    if REDUCTION == "mean":
        total = total / tl.maximum(size, 1).to(tl.float32)
    if REDUCTION == "mass":
        total = total / tl.maximum(mass, LEAST)[:, None]
    here = graph.to(tl.int64) * SLOTS + slot
    used = (slot < SLOTS)[:, None] & (column < CHANNELS)[None, :]
    tl.store(out + here[:, None] * CHANNELS + column[None, :], total, mask=used)
    tl.store(out_mass + here, mass, mask=slot < SLOTS)


@triton.jit
def place_kernel(
    x, anchors, weight, log_sums, ptr, first, num_graphs, tile_rows, out, out_mass, part, part_mass,
    ANCHORS_APART: tl.constexpr, SLOTS: tl.constexpr, CHANNELS: tl.constexpr,
    REDUCTION: tl.constexpr, WEIGHTED: tl.constexpr, ALL_SLOTS: tl.constexpr,
    LEAST: tl.constexpr, PRECISION: tl.constexpr,
    BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, BLOCK_C: tl.constexpr,
):  # fmt: skip
    """Sum one tile's nodes by their shares: to the result if it is the graph's only tile."""
    tile = tl.program_id(0)
    slot = tl.program_id(1) * BLOCK_K + tl.arange(0, BLOCK_K)
    column = tl.program_id(2) * BLOCK_C + tl.arange(0, BLOCK_C)
    graph, begin, end = locate(first, ptr, tile, num_graphs, tile_rows)
    if begin >= end:
        return
    own = anchors + graph.to(tl.int64) * ANCHORS_APART
    total = tl.zeros((BLOCK_K, BLOCK_C), dtype=tl.float32)
    mass = tl.zeros((BLOCK_K,), dtype=tl.float32)
    for at in range(begin, end, BLOCK_N):
        row = at + tl.arange(0, BLOCK_N)
        used = row < end
        share = shares(x, row, used, own, slot, log_sums, SLOTS, CHANNELS, ALL_SLOTS, PRECISION)
        share = share * weights_of(weight, row, used, WEIGHTED)[:, None]
        nodes = load_block(x, row, used, column, CHANNELS)
        total += tl.dot(tl.trans(share), nodes, input_precision=PRECISION)
        mass += tl.sum(share, axis=0)
    if tl.load(first + graph + 1) - tl.load(first + graph) == 1:
        size = tl.load(ptr + graph + 1) - tl.load(ptr + graph)
        store_slots(
            out, out_mass, graph, total, mass, slot, column, size, SLOTS, CHANNELS, REDUCTION, LEAST
        )
    else:
        store_slots(
            part, part_mass, tile, total, mass, slot, column, 1, SLOTS, CHANNELS, "sum", LEAST
        )


@triton.jit
def combine_kernel(
    ptr, first, part, part_mass, out, out_mass,
    SLOTS: tl.constexpr, CHANNELS: tl.constexpr, REDUCTION: tl.constexpr, LEAST: tl.constexpr,
    ALWAYS: tl.constexpr, WITH_MASS: tl.constexpr, BLOCK_K: tl.constexpr, BLOCK_C: tl.constexpr,
):  # fmt: skip
    """Add up the tiles of a graph, one after the other, where it does not have just one."""
    graph = tl.program_id(0)
    slot = tl.program_id(1) * BLOCK_K + tl.arange(0, BLOCK_K)
    column = tl.program_id(2) * BLOCK_C + tl.arange(0, BLOCK_C)
    begin, end = tl.load(first + graph), tl.load(first + graph + 1)
    if not ALWAYS:
        if end - begin == 1:
            return
    total = tl.zeros((BLOCK_K, BLOCK_C), dtype=tl.float32)
    mass = tl.zeros((BLOCK_K,), dtype=tl.float32)
    for tile in range(begin, end):
        row = tile * SLOTS + slot  # int64, as `first` is
        total += load_block(part, row, slot < SLOTS, column, CHANNELS)
        if WITH_MASS:
            mass += tl.load(part_mass + row, mask=slot < SLOTS, other=0.0)
    if WITH_MASS:
        size = tl.load(ptr + graph + 1) - tl.load(ptr + graph)
        store_slots(
            out, out_mass, graph, total, mass, slot, column, size, SLOTS, CHANNELS, REDUCTION, LEAST
        )
    else:
        here = (graph.to(tl.int64) * SLOTS + slot)[:, None] * CHANNELS + column[None, :]
        used = (slot < SLOTS)[:, None] & (column < CHANNELS)[None, :]
        tl.store(out + here, total, mask=used)


@triton.jit
def slot_gradients(
    grad, grad_mass, slots, mass, ptr, graph, slot,
    SLOTS: tl.constexpr, CHANNELS: tl.constexpr, REDUCTION: tl.constexpr,
    BY_MASS: tl.constexpr, LEAST: tl.constexpr, BLOCK_C: tl.constexpr,
):  # fmt: skip
    """What the gradient of each slot of a graph is divided by, and the gradient of its mass."""
    here, used = graph.to(tl.int64) * SLOTS + slot, slot < SLOTS
    scale = tl.where(used, 1.0, 0.0)
    by_mass = tl.zeros((slot.shape[0],), dtype=tl.float32)
    if BY_MASS:
        by_mass += tl.load(grad_mass + here, mask=used, other=0.0)
    if REDUCTION == "mean":
        size = tl.load(ptr + graph + 1) - tl.load(ptr + graph)
        scale = scale / tl.maximum(size, 1).to(tl.float32)
    if REDUCTION == "mass":
        weight = tl.load(mass + here, mask=used, other=1.0)
        scale = scale / tl.maximum(weight, LEAST)
        drawn = tl.zeros((slot.shape[0],), dtype=tl.float32)
        for begin in range(0, CHANNELS, BLOCK_C):
            column = begin + tl.arange(0, BLOCK_C)
            one = load_block(grad, here, used, column, CHANNELS)
            drawn += tl.sum(one * load_block(slots, here, used, column, CHANNELS), axis=1)
        by_mass -= tl.where(weight >= LEAST, drawn * scale, 0.0)
    return scale, by_mass


@triton.jit
def share_gradients(
    x, row, used, grad_of_graph, slot, scale, by_mass,
    SLOTS: tl.constexpr, CHANNELS: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """The gradients of the shares of some rows in some slots, before weights."""
    plain = products(x, row, used, grad_of_graph, slot, SLOTS, CHANNELS, PRECISION)
    return plain * scale[None, :] + by_mass[None, :]


@triton.jit
def statistics_kernel(
    x, anchors, grad, grad_mass, slots, mass, ptr, first, num_graphs, tile_rows, log_sums, inner,
    ANCHORS_APART: tl.constexpr, SLOTS: tl.constexpr, CHANNELS: tl.constexpr,
    REDUCTION: tl.constexpr, BACKWARD: tl.constexpr, BY_MASS: tl.constexpr,
    LEAST: tl.constexpr, PRECISION: tl.constexpr,
    BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, BLOCK_C: tl.constexpr,
):  # fmt: skip
    """Where slots do not fit into one block: log-sum-exp of each row, and its sum of p * grad p."""
    tile = tl.program_id(0)
    graph, begin, end = locate(first, ptr, tile, num_graphs, tile_rows)
    if begin >= end:
        return
    own = anchors + graph.to(tl.int64) * ANCHORS_APART
    grad_of_graph = grad + graph.to(tl.int64) * SLOTS * CHANNELS
    for at in range(begin, end, BLOCK_N):
        row = at + tl.arange(0, BLOCK_N)
        used = row < end
        top = tl.full((BLOCK_N,), float("-inf"), dtype=tl.float32)
        total = tl.zeros((BLOCK_N,), dtype=tl.float32)
        product = tl.zeros((BLOCK_N,), dtype=tl.float32)
        for block in range(0, SLOTS, BLOCK_K):
            slot = block + tl.arange(0, BLOCK_K)
            logits = products(x, row, used, own, slot, SLOTS, CHANNELS, PRECISION)
            logits = tl.where((slot < SLOTS)[None, :], logits, float("-inf"))
            higher = tl.maximum(top, tl.max(logits, axis=1))
            powers, shrink = tl.exp(logits - higher[:, None]), tl.exp(top - higher)
            total = total * shrink + tl.sum(powers, axis=1)
            if BACKWARD:
                scale, by_mass = slot_gradients(
                    grad, grad_mass, slots, mass, ptr, graph, slot,
                    SLOTS, CHANNELS, REDUCTION, BY_MASS, LEAST, BLOCK_C,
                )  # fmt: skip
                by_share = share_gradients(
                    x, row, used, grad_of_graph, slot, scale, by_mass,
                    SLOTS, CHANNELS, PRECISION,
                )  # fmt: skip
                product = product * shrink + tl.sum(powers * by_share, axis=1)
            top = higher
        tl.store(log_sums + row, top + tl.log(total), mask=used)
        if BACKWARD:
            tl.store(inner + row, product / total, mask=used)


@triton.jit
def gradients_of_block(
    x, row, used, own, weight, grad_of_graph, slot, scale, by_mass, log_sums, inner,
    SLOTS: tl.constexpr, CHANNELS: tl.constexpr, WEIGHTED: tl.constexpr, ALL_SLOTS: tl.constexpr,
    PRECISION: tl.constexpr,
):  # fmt: skip
    """Weighted and scaled shares, gradients of logits, and the gradient of the weight, of rows."""
    share = shares(x, row, used, own, slot, log_sums, SLOTS, CHANNELS, ALL_SLOTS, PRECISION)
    by_share = share_gradients(
        x, row, used, grad_of_graph, slot, scale, by_mass, SLOTS, CHANNELS, PRECISION
    )
    if ALL_SLOTS:
        product = tl.sum(share * by_share, axis=1)
    else:
        product = tl.load(inner + row, mask=used, other=0.0)
    share = share * weights_of(weight, row, used, WEIGHTED)[:, None]
    return share * scale[None, :], share * (by_share - product[:, None]), product


@triton.jit
def backward_kernel(
    x, anchors, weight, grad, grad_mass, slots, mass, ptr, first, num_graphs, tile_rows,
    log_sums, inner,
    grad_x, grad_weight, part, tiles, tiles_each,
    ANCHORS_APART: tl.constexpr, SLOTS: tl.constexpr, CHANNELS: tl.constexpr,
    REDUCTION: tl.constexpr, WEIGHTED: tl.constexpr, BY_MASS: tl.constexpr,
    LEAST: tl.constexpr, PRECISION: tl.constexpr,
    BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, BLOCK_C: tl.constexpr,
):  # fmt: skip
    """All gradients at once, where slots and channels fit into one block."""
    program = tl.program_id(0)
    slot, column = tl.arange(0, BLOCK_K), tl.arange(0, BLOCK_C)
    by_anchors = tl.zeros((BLOCK_K, BLOCK_C), dtype=tl.float32)
    last = tl.minimum((program + 1) * tiles_each, tiles)
    for tile in range(program * tiles_each, last):
        graph, begin, end = locate(first, ptr, tile, num_graphs, tile_rows)
        own = anchors + graph.to(tl.int64) * ANCHORS_APART
        grad_of_graph = grad + graph.to(tl.int64) * SLOTS * CHANNELS
        scale, by_mass = slot_gradients(
            grad, grad_mass, slots, mass, ptr, graph, slot,
            SLOTS, CHANNELS, REDUCTION, BY_MASS, LEAST, BLOCK_C,
        )  # fmt: skip
        for at in range(begin, end, BLOCK_N):
            row = at + tl.arange(0, BLOCK_N)
            used = row < end
            scaled, by_logits, product = gradients_of_block(
                x, row, used, own, weight, grad_of_graph, slot, scale, by_mass, log_sums, inner,
                SLOTS, CHANNELS, WEIGHTED, True, PRECISION,
            )  # fmt: skip
            if WEIGHTED:
                tl.store(grad_weight + row, product, mask=used)
            nodes = load_block(x, row, used, column, CHANNELS)
            by_anchors += tl.dot(tl.trans(by_logits), nodes, input_precision=PRECISION)
            for at_column in range(0, CHANNELS, CHUNK):
                some = at_column + tl.arange(0, CHUNK)
                vectors = load_block(own, slot, slot < SLOTS, some, CHANNELS)
                by_slots = load_block(grad_of_graph, slot, slot < SLOTS, some, CHANNELS)
                by_x = tl.dot(scaled, by_slots, input_precision=PRECISION)
                by_x = tl.dot(by_logits, vectors, by_x, input_precision=PRECISION)
                where = row.to(tl.int64)[:, None] * CHANNELS + some[None, :]
                tl.store(grad_x + where, by_x, mask=used[:, None] & (some < CHANNELS)[None, :])
    here = (program.to(tl.int64) * SLOTS + slot)[:, None] * CHANNELS + column[None, :]
    tl.store(part + here, by_anchors, mask=(slot < SLOTS)[:, None] & (column < CHANNELS)[None, :])


@triton.jit
def nodes_backward_kernel(
    x, anchors, weight, grad, grad_mass, slots, mass, ptr, first, num_graphs, tile_rows,
    log_sums, inner,
    grad_x,
    ANCHORS_APART: tl.constexpr, SLOTS: tl.constexpr, CHANNELS: tl.constexpr,
    REDUCTION: tl.constexpr, WEIGHTED: tl.constexpr, BY_MASS: tl.constexpr,
    LEAST: tl.constexpr, PRECISION: tl.constexpr,
    BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, BLOCK_C: tl.constexpr,
):  # fmt: skip
    """The gradient of one tile's nodes in a block of channels, for any number of slots."""
    tile = tl.program_id(0)
    column = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)
    graph, begin, end = locate(first, ptr, tile, num_graphs, tile_rows)
    if begin >= end:
        return
    own = anchors + graph.to(tl.int64) * ANCHORS_APART
    grad_of_graph = grad + graph.to(tl.int64) * SLOTS * CHANNELS
    for at in range(begin, end, BLOCK_N):
        row = at + tl.arange(0, BLOCK_N)
        used = row < end
        by_x = tl.zeros((BLOCK_N, BLOCK_C), dtype=tl.float32)
        for block in range(0, SLOTS, BLOCK_K):
            slot = block + tl.arange(0, BLOCK_K)
            scale, by_mass = slot_gradients(
                grad, grad_mass, slots, mass, ptr, graph, slot,
                SLOTS, CHANNELS, REDUCTION, BY_MASS, LEAST, BLOCK_C,
            )  # fmt: skip
            scaled, by_logits, _ = gradients_of_block(
                x, row, used, own, weight, grad_of_graph, slot, scale, by_mass, log_sums, inner,
                SLOTS, CHANNELS, WEIGHTED, False, PRECISION,
            )  # fmt: skip
            vectors = load_block(own, slot, slot < SLOTS, column, CHANNELS)
            by_slots = load_block(grad_of_graph, slot, slot < SLOTS, column, CHANNELS)
            by_x += tl.dot(scaled, by_slots, input_precision=PRECISION)
            by_x += tl.dot(by_logits, vectors, input_precision=PRECISION)
        where = row.to(tl.int64)[:, None] * CHANNELS + column[None, :]
        tl.store(grad_x + where, by_x, mask=used[:, None] & (column < CHANNELS)[None, :])


@triton.jit
def anchors_backward_kernel(
    x, anchors, weight, grad, grad_mass, slots, mass, ptr, first, num_graphs, tile_rows,
    log_sums, inner,
    part, tiles, tiles_each,
    ANCHORS_APART: tl.constexpr, SLOTS: tl.constexpr, CHANNELS: tl.constexpr,
    REDUCTION: tl.constexpr, WEIGHTED: tl.constexpr, BY_MASS: tl.constexpr,
    LEAST: tl.constexpr, PRECISION: tl.constexpr,
    BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, BLOCK_C: tl.constexpr,
):  # fmt: skip
    """The part of some tiles in the gradient of a block of the anchors."""
    program = tl.program_id(0)
    slot = tl.program_id(1) * BLOCK_K + tl.arange(0, BLOCK_K)
    column = tl.program_id(2) * BLOCK_C + tl.arange(0, BLOCK_C)
    by_anchors = tl.zeros((BLOCK_K, BLOCK_C), dtype=tl.float32)
    last = tl.minimum((program + 1) * tiles_each, tiles)
    for tile in range(program * tiles_each, last):
        graph, begin, end = locate(first, ptr, tile, num_graphs, tile_rows)
        own = anchors + graph.to(tl.int64) * ANCHORS_APART
        grad_of_graph = grad + graph.to(tl.int64) * SLOTS * CHANNELS
        scale, by_mass = slot_gradients(
            grad, grad_mass, slots, mass, ptr, graph, slot,
            SLOTS, CHANNELS, REDUCTION, BY_MASS, LEAST, BLOCK_C,
        )  # fmt: skip
        for at in range(begin, end, BLOCK_N):
            row = at + tl.arange(0, BLOCK_N)
            used = row < end
            _, by_logits, _ = gradients_of_block(
                x, row, used, own, weight, grad_of_graph, slot, scale, by_mass, log_sums, inner,
                SLOTS, CHANNELS, WEIGHTED, False, PRECISION,
            )  # fmt: skip
            nodes = load_block(x, row, used, column, CHANNELS)
            by_anchors += tl.dot(tl.trans(by_logits), nodes, input_precision=PRECISION)
    here = (program.to(tl.int64) * SLOTS + slot)[:, None] * CHANNELS + column[None, :]
    tl.store(part + here, by_anchors, mask=(slot < SLOTS)[:, None] & (column < CHANNELS)[None, :])
