from itertools import pairwise

import numpy as np

from lfds.explain.slot_meaning import TYPICAL, SlotCollector


def collected(shares, ptr, category, sizes):
    collector = SlotCollector(shares.shape[1], 2)
    for first, last in pairwise(sizes):
        nodes = slice(ptr[first], ptr[last])
        part = np.array(ptr[first : last + 1]) - ptr[first]
        collector.add(shares[nodes], part, first, category[nodes])
    return collector


def test_typical_nodes_have_the_largest_shares_each_of_another_graph():
    rng = np.random.default_rng(0)
    ptr = [0, 3, 3, 10, 12, 20, 27]
    shares = rng.dirichlet(np.ones(5), size=27).astype(np.float32)
    category = rng.integers(-1, 2, size=27)
    found = collected(shares, ptr, category, [0, 2, 5, 6])
    for slot, some in enumerate(found.typical):
        best = {
            graph: max(range(ptr[graph], ptr[graph + 1]), key=lambda n: shares[n, slot])
            for graph in (0, 2, 3, 4, 5)
        }
        order = sorted(best, key=lambda graph: -shares[best[graph], slot])[:TYPICAL]
        assert [(g, n) for _, g, n in some] == [(g, best[g] - ptr[g]) for g in order]
        assert [s for s, _, _ in some] == [float(shares[best[g], slot]) for g in order]
    whole = collected(shares, ptr, category, [0, 6])
    assert whole.typical == found.typical


def test_mix_is_weighted_by_shares():
    shares = np.float32([[1, 0], [0.5, 0.5], [0.5, 0.5]])
    found = collected(shares, [0, 3], np.array([0, 1, -1]), [0, 1])
    np.testing.assert_allclose(found.mix, [[2 / 3, 1 / 3], [0, 1]], rtol=1e-6)
    np.testing.assert_allclose(found.overall, [0.5, 0.5])


def test_nothing_is_collected_of_graphs_without_nodes():
    found = collected(np.zeros((0, 2), dtype=np.float32), [0, 0], np.zeros(0, dtype=int), [0, 1])
    assert found.typical == ((), ())
    assert not found.mix.any()
