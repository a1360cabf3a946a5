"""Properties that a pooling must have, as assertions for anyone's tests.

Most take any pooling that is called like a PyG ``Aggregation``,
``pool(x, index, dim_size=num_graphs)``; :func:`assert_equivariant` and
:func:`assert_matches_reference` are about :class:`lfds.LFDSPool`.
"""

from lfds.testing.invariants import (
    assert_batch_independent,
    assert_empty_graph_finite,
    assert_equivariant,
    assert_float32_accurate,
    assert_gradients_correct,
    assert_no_cross_graph_gradient,
    assert_permutation_invariant,
    assert_state_dict_round_trip,
)
from lfds.testing.reference import assert_matches_reference, reference_pool, reference_slots

__all__ = [
    "assert_batch_independent",
    "assert_empty_graph_finite",
    "assert_equivariant",
    "assert_float32_accurate",
    "assert_gradients_correct",
    "assert_matches_reference",
    "assert_no_cross_graph_gradient",
    "assert_permutation_invariant",
    "assert_state_dict_round_trip",
    "reference_pool",
    "reference_slots",
]
