import pytest
import torch

from lfds.data.encodings.encoder import Encoder
from lfds.train.epoch import batches, evaluate
from tests.compare.small import graphs
from tests.train.small import trained


def test_evaluation_does_not_depend_on_the_batch_size():
    training = trained()
    whole = evaluate(training.model, training._validation, 100)
    parts = evaluate(training.model, training._validation, 5)
    assert whole[0] == parts[0]
    assert whole[1] == pytest.approx(parts[1], rel=1e-4)
    # Without dropout and batch statistics, repeated evaluation is identical.
    assert parts == evaluate(training.model, training._validation, 5)


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8, 9, 12])
@pytest.mark.parametrize("size", [2, 4])
def test_batches_hold_every_graph_once_and_never_a_single_one(count, size):
    encoded = Encoder().fit(graphs()).transform(graphs())
    parts = list(batches(encoded, torch.arange(count), size))
    assert torch.equal(torch.cat([part.y for part in parts]), encoded.y[:count])
    assert all(len(part) > 1 for part in parts) or count == 1
    assert all(len(part) <= size for part in parts) or size == 2
