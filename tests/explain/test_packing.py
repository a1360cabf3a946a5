import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lfds.explain.packing import packed


@given(sizes=st.lists(st.integers(1, 6), min_size=1, max_size=8), seed=st.integers(0, 99))
def test_parts_keep_their_shape_and_their_distance(sizes, seed):
    rng = np.random.default_rng(seed)
    parts = [rng.normal(size=(size, 2)) * 3 for size in sizes]
    moved = packed(parts)
    for before, after in zip(parts, moved, strict=True):
        np.testing.assert_allclose(after - after[0], before - before[0], atol=1e-9)
    boxes = [(part.min(axis=0), part.max(axis=0)) for part in moved]
    for place, (low, high) in enumerate(boxes):
        for other_low, other_high in boxes[:place]:
            gap = np.maximum(low - other_high, other_low - high).max()
            assert gap >= 1 - 1e-6


def test_many_single_nodes_fill_a_picture_not_a_line():
    moved = np.concatenate(packed([np.zeros((1, 2))] * 30))
    wide, high = np.ptp(moved, axis=0)
    assert 1 / 3 < wide / high < 3
