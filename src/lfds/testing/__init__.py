"""Laws that a pooling must keep, as assertions for anyone's tests.

The general ones take any pooling with the call of a PyG ``Aggregation``,
``pool(x, index, dim_size=num_graphs)``; the last two are about :class:`lfds.LFDSPool`.
"""

from lfds.testing.invariants import (
    assert_company_free,
    assert_empty_graph_finite,
    assert_gradients_right,
    assert_isolated,
    assert_order_free,
    assert_precise,
    assert_state_round_trip,
)
from lfds.testing.reference import assert_agrees_with_reference, reference_pool
from lfds.testing.symmetry import assert_symmetric

__all__ = [
    "assert_agrees_with_reference",
    "assert_company_free",
    "assert_empty_graph_finite",
    "assert_gradients_right",
    "assert_isolated",
    "assert_order_free",
    "assert_precise",
    "assert_state_round_trip",
    "assert_symmetric",
    "reference_pool",
]
