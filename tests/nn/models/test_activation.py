import torch
from torch.testing import assert_close

from lfds.nn.models.activation import Activation


def test_rows_are_cut_at_zero_and_then_normed():
    rows = Activation(3)(torch.randn(50, 3))
    assert_close(rows.mean(0), torch.zeros(3), atol=1e-6, rtol=0)
    assert_close(rows.var(0, correction=0), torch.ones(3), atol=1e-3, rtol=0)
    assert (rows.amin(0) > -1.5).all()  # what was negative is one value below the mean


def test_one_row_is_normed_by_what_was_learned_and_teaches_nothing():
    activation = Activation(3)
    activation(torch.randn(50, 3))
    learned = activation.norm.running_mean.clone()
    row = torch.randn(1, 3)
    in_training = activation(row)
    assert_close(activation.norm.running_mean, learned)
    assert_close(activation.eval()(row), in_training)
    assert activation(torch.zeros(0, 3)).shape == (0, 3)
