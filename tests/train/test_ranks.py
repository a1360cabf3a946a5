"""Ranks compute what one process computes; the references are in this process."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

import pytest
import torch
import torch.distributed as dist
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from lfds.config.training import TrainingSettings
from lfds.data.encodings.encoder import Encoder
from lfds.nn import GraphNetwork, NetworkSettings
from lfds.nn.normalization import normalize_rows
from lfds.train.batchnorm import batch_norms
from lfds.train.checkpoint import restore_checkpoint, save_checkpoint
from lfds.train.device import CPU
from lfds.train.epoch import outputs_of, split_rows
from lfds.train.loop import Training
from lfds.train.objective import Classify, ClassifyEach, Regress
from lfds.train.ranks import ManyRanks, OneRank, part_of, smallest_batch
from lfds.train.sync_batch_norm import RankBatchNorm
from tests.compare.small import graphs
from tests.train.groups import in_ranks

RANKS = 3
ROWS = torch.tensor([3, 17, 0, 8, 21, 5, 11])  # in three unequal parts
MORE_ROWS = torch.arange(23)  # norms over few rows enlarge what is rounded
NAN = float("nan")
NO_DROPOUT = {"node_dropout": 0.0, "head_dropout": 0.0, "slot_dropout": 0.0}


@cache
def encoded():
    return Encoder().fit(graphs()).transform(graphs(per_class=12))


def cases():
    """Graphs, objective and network, by name."""
    count = len(encoded())
    several = torch.arange(2 * count).reshape(count, 2) % 3 - 1  # a third is missing
    several[ROWS[0]] = -1
    values = torch.linspace(-1, 1, 2 * count).reshape(count, 2)
    holes = values.masked_fill(several < 0, NAN)
    return {
        "classes": (encoded(), Classify(torch.tensor([1.0, 3.0])), "loop"),
        "several": (replace(encoded(), y=several), ClassifyEach(1.4), "image"),
        "values": (replace(encoded(), y=values, classes=()), Regress(), "learned-spectral"),
        "holes": (replace(encoded(), y=holes, classes=()), Regress(1.4, huber=True), "array"),
    }


def gradients_of(name, ranks_for, rows=ROWS):
    """Return everything that one step on one batch changes."""
    data, objective, pool = cases()[name]
    torch.manual_seed(0)
    settings = NetworkSettings(pool=pool, width=8, head_width=8, slots=4, **NO_DROPOUT)
    model = GraphNetwork(data.x.shape[1], 2, settings)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    ranks = ranks_for(data)
    loss, score = ranks.train_pass(
        model, data, rows, optimizer, objective, TrainingSettings(batch_size=len(rows))
    )
    found = {f"grad {key}": one.grad for key, one in model.named_parameters()}
    found |= {key: one for key, one in model.state_dict().items() if "running" in key}
    evaluated = ranks.evaluate(model, data, 5, objective, "32")
    copy = GraphNetwork(data.x.shape[1], 2, settings)
    copy.load_state_dict(model.state_dict())
    ranks.recalibrate(copy, data, torch.arange(len(data)), 5, "32")
    found |= {f"recalibrated {key}": one for key, one in copy.state_dict().items()}
    found["losses"] = torch.tensor([loss, score, *evaluated])
    return found


def many(data, sync=True):
    return ManyRanks(data, CPU, sync_batch_norm=sync)


def alone(data):
    """Ranks whose batch norms see their own rows only."""
    return many(data, sync=False)


def everything():
    """Run in each rank: all cases, and the norm by itself."""
    found = {name: gradients_of(name, many) for name in cases()}
    found |= {f"{name}, alone": gradients_of(name, alone, MORE_ROWS) for name in cases()}
    found["norm"] = {key: normalized(rows) for key, rows in ROWS_OF_NORM.items()}
    found["trained"] = [*trained_twice(many), *trained_twice(alone)]
    one = many(encoded())
    found["agree"] = (one.agree(5), one.agree(one.rank // 2))
    found["stream"] = one.stream(1)
    found["sum"] = one.sum([one.rank, 0.5])
    return found


def trained_twice(ranks_for):
    """Return what a training ends with: undisturbed, and from a checkpoint after the first epoch.

    With dropout, and several batches of unequal parts.
    """
    first, ends = training(ranks_for), []
    path = Path(mkdtemp()) / "checkpoint"

    def after_epoch(now):
        if now.progress.epochs == 1:
            save_checkpoint(now, path, "key")

    first.run(after_epoch)
    second = training(ranks_for)
    assert restore_checkpoint(second, path, "key")
    second.run(lambda _: None)
    rmtree(path.parent)
    for one in (first, second):
        curves = torch.tensor([one.progress.loss, one.progress.validation_loss])
        ends.append({"curves": curves, **one.best, **{f"{k} last": v for k, v in state(one)}})
    return ends


def training(ranks_for):
    torch.manual_seed(0)
    settings = NetworkSettings(pool="loop", width=8, head_width=8, slots=4)
    model, data = GraphNetwork(encoded().x.shape[1], 2, settings), encoded()
    how = TrainingSettings(epochs=2, batch_size=8, learning_rate=0.01)
    return Training(model, data, data, how, 0, ("test",), ranks=ranks_for(data))


def state(one):
    return one.model.state_dict().items()


ROWS_OF_NORM = {"unequal": (4, 0, 1), "one": (0, 1, 0), "none": (0, 0, 0), "ones": (1, 1, 1)}


def rows_of_norm(counts):
    torch.manual_seed(1)
    return (torch.randn(sum(counts), 3) * 2 + 100).split(counts)


def normalized(counts, rank=None):
    """Return output, gradients and statistics of a norm, of one rank or in one process."""
    norm = nn.BatchNorm1d(3)
    with torch.no_grad():
        norm.weight.copy_(torch.tensor([0.5, 1.0, 2.0]))
    parts = rows_of_norm(counts)
    if rank is None:
        norm = RankBatchNorm(norm, dist.group.WORLD)
        x = parts[dist.get_rank()].clone().requires_grad_()
    else:
        x = torch.cat(parts).requires_grad_()
    y = normalize_rows(norm, x)
    (y**3).sum().backward()
    if rank is not None:  # the part of a rank, and sums of all ranks
        y, gradient = y.split(counts)[rank], x.grad.split(counts)[rank]
        return y.detach(), gradient, norm.weight.grad, norm.running_mean, norm.running_var
    dist.all_reduce(norm.weight.grad)
    return y.detach(), x.grad, norm.weight.grad, norm.running_mean, norm.running_var


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return in_ranks(everything, RANKS, tmp_path_factory.mktemp("ranks"))


@pytest.mark.parametrize("name", cases())
def test_gradients_statistics_and_scores_are_those_of_one_process(found, name):
    """With parts of unequal size, missing targets, batch norm and a penalty of the weights."""
    expected = gradients_of(name, lambda _: OneRank())
    assert sum(key.startswith("grad") for key in expected) > 10
    for rank in range(RANKS):
        for key, value in expected.items():
            torch.testing.assert_close(
                found[rank][name][key], value, rtol=2e-3, atol=2e-6, msg=lambda m, k=key: f"{k} {m}"
            )


@pytest.mark.parametrize("name", cases())
def test_norms_that_are_not_synchronized_see_the_rows_of_their_rank(found, name):
    expected = one_by_one(name)
    ours = found[0][f"{name}, alone"]
    for key, value in expected.items():
        torch.testing.assert_close(
            ours[key], value, rtol=2e-3, atol=2e-6, msg=lambda m, k=key: f"{k} {m}"
        )


def one_by_one(name):
    """Return gradients and running statistics of a step whose parts are computed in turns."""
    data, objective, pool = cases()[name]
    torch.manual_seed(0)
    settings = NetworkSettings(pool=pool, width=8, head_width=8, slots=4, **NO_DROPOUT)
    model = GraphNetwork(data.x.shape[1], 2, settings)
    start = {key: one.clone() for key, one in model.state_dict().items()}
    means = {key: torch.zeros_like(one) for key, one in start.items() if "running" in key}
    model.train()
    for rank in range(RANKS):
        model.load_state_dict(start)
        batch = data.batch(MORE_ROWS[part_of(data.sizes[MORE_ROWS], rank, RANKS)])
        terms = objective.terms(batch.y) / objective.terms(data.y[MORE_ROWS])
        loss = objective.loss(outputs_of(model, batch), batch.y) * terms
        (loss + model.penalty() / RANKS).backward()
        for key, mean in means.items():
            mean += model.state_dict()[key] / RANKS
    return means | {f"grad {key}": one.grad for key, one in model.named_parameters()}


@pytest.mark.parametrize("norms", ["", ", alone"])
@pytest.mark.parametrize("name", cases())
def test_all_ranks_have_the_same_bits(found, name, norms):
    name += norms
    for rank in range(1, RANKS):
        for key, value in found[0][name].items():
            assert torch.equal(found[rank][name][key], value), key


@pytest.mark.parametrize("name", ROWS_OF_NORM)
def test_the_norm_is_that_of_all_rows(found, name):
    for rank in range(RANKS):
        expected = normalized(ROWS_OF_NORM[name], rank)
        for ours, theirs in zip(found[rank]["norm"][name], expected, strict=True):
            torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)


def test_ranks_draw_dropout_of_their_own_and_agree_on_the_rest(found):
    assert len({one["stream"] for one in found}) == RANKS
    assert [one["agree"] for one in found] == [(True, False)] * RANKS
    assert [one["sum"] for one in found] == [[3.0, 1.5]] * RANKS


def test_a_restarted_training_ends_with_the_same_bits_on_all_ranks(found):
    """Sums over three ranks are rounded in the order in which gradients are put together."""
    for start in (0, 2):  # synchronized norms, and others
        undisturbed = found[0]["trained"][start]
        assert undisturbed["curves"].shape == (2, 2)
        for one in found:
            for trained in one["trained"][start : start + 2]:
                assert trained.keys() == undisturbed.keys()
                for key, value in undisturbed.items():
                    assert torch.equal(trained[key], value), key


@given(st.lists(st.integers(0, 50), min_size=1, max_size=40), st.integers(1, 9))
def test_every_graph_is_computed_once_and_ranks_have_as_much_to_do(sizes, ranks):
    table = torch.tensor(sizes)
    parts = [part_of(table, rank, ranks) for rank in range(ranks)]
    assert sorted(torch.cat(parts).tolist()) == list(range(len(sizes)))
    counts = [len(part) for part in parts]
    assert max(counts) - min(counts) <= 1
    nodes = [int(table[part].sum()) for part in parts]
    assert max(nodes) - min(nodes) <= max(sizes)


@given(st.integers(1, 200), st.integers(2, 40))
def test_the_smallest_batch_is_that_of_training(count, size):
    parts = split_rows(torch.arange(count), size)
    assert smallest_batch(count, size) == min(map(len, parts))


def test_batch_norms_are_found():
    network = GraphNetwork(3, 2, NetworkSettings(pool="loop", width=8, head_width=8, slots=4))
    assert len(batch_norms(network)) == 9
