import pytest
import torch
from torch.nn.functional import cross_entropy

from lfds.train.objective import Classify, Regress

LOGITS = torch.tensor([[2.0, 0.0], [0.0, 1.0], [0.5, 0.0]], requires_grad=True)
Y = torch.tensor([0, 1, 1])


def test_classification_has_cross_entropy_and_the_number_of_correct_graphs():
    plain = Classify()
    assert torch.equal(plain.loss(LOGITS, Y), cross_entropy(LOGITS, Y))
    assert plain.total_loss(LOGITS, Y) == pytest.approx(3 * plain.loss(LOGITS, Y).item())
    assert plain.total_score(LOGITS, Y) == 2


def test_a_class_of_weight_2_counts_as_if_its_graphs_were_doubled():
    weighted = Classify(torch.tensor([1.0, 2.0]))
    twice = [0, 1, 1, 2, 2]
    assert weighted.total_loss(LOGITS, Y) == pytest.approx(
        Classify().total_loss(LOGITS[twice], Y[twice])
    )
    assert weighted.total_score(LOGITS, Y) == Classify().total_score(LOGITS[twice], Y[twice])
    assert 3 * weighted.loss(LOGITS, Y).item() == pytest.approx(weighted.total_loss(LOGITS, Y))


def test_weights_do_not_cancel_in_a_batch_of_one_class():
    ones = torch.tensor([1, 1, 1])
    weighted = Classify(torch.tensor([1.0, 5.0]))
    assert weighted.loss(LOGITS, ones).item() == pytest.approx(
        5 * Classify().loss(LOGITS, ones).item()
    )


def test_regression_has_the_mean_squared_error():
    outputs, y = torch.tensor([[1.0, 2.0], [0.0, 0.0]]), torch.tensor([[0.0, 2.0], [0.0, 2.0]])
    regress = Regress()
    assert regress.loss(outputs, y).item() == pytest.approx(5 / 4)
    assert regress.total_loss(outputs, y) == pytest.approx(5 / 2)
    assert regress.total_score(outputs, y) == pytest.approx(-5 / 2)
