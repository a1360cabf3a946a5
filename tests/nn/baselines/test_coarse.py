import copy
import pickle

import numpy as np
import pytest
import torch
from tests.nn.drawn_edges import OnDrawnEdges, edges_of
from tests.nn.poolers_of_tgp import stand_ins  # noqa: F401
from torch.testing import assert_close

from lfds.nn import GraphNetwork, NetworkSettings
from lfds.nn.baselines.coarse import CoarsePool
from lfds.nn.baselines.rank import RankPool
from lfds.nn.ops.edges import Edges
from lfds.testing import (
    assert_company_free,
    assert_empty_graph_finite,
    assert_gradients_right,
    assert_isolated,
    assert_order_free,
    assert_precise,
)

LAWS = [
    assert_order_free,
    assert_company_free,
    assert_isolated,
    assert_empty_graph_finite,
    assert_gradients_right,
    assert_precise,
]
PTR = torch.tensor([0, 5, 5, 14])
standing_in = pytest.mark.usefixtures("stand_ins")


def build(name):
    torch.manual_seed(0)
    return CoarsePool(8, name, clusters=3)


def batch():
    x = torch.randn(14, 8, dtype=torch.float64)
    return x, PTR, edges_of(x, PTR)


def layered(pool, x, adjacency):
    """The two layers and their maxima on one graph, by a dense matrix; a_ij is from j to i."""
    vectors = []
    for layer in pool.layers:
        own, sent = layer.activation(x @ layer.transforms.weight.T).chunk(2, dim=-1)
        x = own + adjacency @ sent
        vectors.append(x.amax(dim=0))
    return torch.cat(vectors)


@standing_in
def test_layers_on_clusters_as_with_dense_matrices():
    pool, (x, ptr, edges) = build("clusters").double().eval(), batch()
    found = pool(x, ptr, edges)
    matrix = torch.zeros(14, 14, dtype=torch.float64)
    matrix[edges.target, edges.rows.column.long()] = 1
    assert not matrix.equal(matrix.T)
    for graph, nodes in ((0, slice(0, 5)), (2, slice(5, 14))):
        share = pool.pooler.shares(x[nodes]).softmax(dim=-1)
        coarse = share.T @ matrix[nodes, nodes] @ share
        assert_close(found[graph], layered(pool, share.T @ x[nodes], coarse))
    assert (found[1] == 0).all()


@standing_in
def test_nodes_that_stay_may_come_in_any_order():
    pool, (x, ptr, edges) = build("above").double().eval(), batch()
    found = pool(x, ptr, edges)
    matrix = torch.zeros(14, 14, dtype=torch.float64)
    matrix[edges.target, edges.rows.column.long()] = 1
    for graph, (start, end) in ((0, (0, 5)), (2, (5, 14))):
        kept = start + (x[start:end, 0] > -0.2).nonzero()[:, 0]
        assert_close(found[graph], layered(pool, x[kept], matrix[kept][:, kept]))


@standing_in
@pytest.mark.parametrize("name", ["above", "clusters", "twice"])
@pytest.mark.parametrize("law", LAWS)
def test_laws(name, law):
    law(OnDrawnEdges(build(name)))


@standing_in
def test_losses_of_the_pooler_are_the_penalty_of_the_last_batch():
    pool, (x, ptr, edges) = build("clusters").double(), batch()
    assert pool.penalty() == 0
    pool(x, ptr, edges)
    share = pool.pooler.shares(x).softmax(dim=-1)
    assert_close(pool.penalty(), share.square().mean() - share.mean())
    pool.penalty().backward()
    assert pool.pooler.shares.weight.grad.abs().sum() > 0
    for other in (copy.deepcopy(pool), pickle.loads(pickle.dumps(pool))):
        assert other.penalty() == 0
    nobody = Edges.from_rows(torch.tensor([0]), torch.zeros(0).long())
    found = pool(torch.zeros(0, 8, dtype=torch.float64), torch.tensor([0, 0]), nobody)
    assert found.tolist() == [[0.0] * 16]
    assert pool.penalty() == 0


@standing_in
def test_what_a_pooler_draws_from_numpy_is_the_same_at_every_call():
    pool, together = build("drawing").double().eval(), batch()
    np.random.seed(3)
    expected = np.random.rand()
    np.random.seed(3)
    first = pool(*together)
    assert np.random.rand() == expected, "the stream of others was disturbed"
    assert first.equal(pool(*together))


@standing_in
def test_a_pooler_without_losses_has_no_penalty():
    pool = build("above").double()
    pool(*batch())
    assert pool.penalty() == 0


@standing_in
def test_the_network_is_built_by_name_and_everything_learns():
    settings = NetworkSettings(pool="tgp:clusters", width=8, clusters=5)
    model, (x, ptr, edges) = GraphNetwork(8, 3, settings), batch()
    assert model.pool.pooler.k == 5
    (model(x.float(), ptr, edges).square().sum() + model.penalty()).backward()
    assert all(parameter.grad.abs().sum() > 0 for parameter in model.parameters())


# The real ones.
REASON = "torch-geometric-pool is not there: it compiles torch_scatter, see docs/models.md"


@pytest.mark.parametrize("name", ["diff", "dmon", "ec", "jb", "kmis", "mincut", "mincut_u"])
@pytest.mark.parametrize("law", LAWS)
def test_laws_of_the_real_ones(name, law):
    pytest.importorskip("tgp", reason=REASON)
    law(OnDrawnEdges(build(name), both_ways=True))  # ec and kmis are for undirected graphs


def real_topk_and_ours():
    pytest.importorskip("tgp", reason=REASON)
    theirs, ours = build("topk").double().eval(), RankPool(8, 0.5, "topk").double().eval()
    ours.score.direction.data.copy_(theirs.pooler.selector.weight.flatten())
    ours.layers.load_state_dict(theirs.layers.state_dict())
    return theirs, ours


def test_the_real_topk_keeps_the_nodes_that_ours_keeps():
    theirs, ours = real_topk_and_ours()
    x, ptr, _ = batch()
    apart = Edges.from_index(torch.zeros(2, 0, dtype=torch.long), 14)
    assert_close(theirs(x, ptr, apart), ours(x, ptr, apart))


@pytest.mark.xfail(
    reason="tgp 1.0.2 numbers kept nodes by score and the edges between them by place; "
    "say so no longer in docs/models.md once this passes",
)
def test_the_real_topk_keeps_the_edges_that_ours_keeps():
    theirs, ours = real_topk_and_ours()
    together = batch()
    assert_close(theirs(*together), ours(*together))
