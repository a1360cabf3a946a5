import copy

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from lfds.nn.models.head import Head


@pytest.mark.parametrize("norm", [True, False])
def test_three_layers_with_dropout_after_the_first_two(norm):
    head = Head(10, 6, 3, dropout=0.5, norm=norm)
    linear = [module for module in head.modules() if isinstance(module, nn.Linear)]
    assert [(layer.in_features, layer.out_features) for layer in linear] == [
        (10, 6),
        (6, 6),
        (6, 3),
    ]
    assert sum(isinstance(module, nn.Dropout) for module in head.modules()) == 2
    assert any(isinstance(module, nn.BatchNorm1d) for module in head.modules()) == norm
    assert head(torch.randn(1, 10)).shape == (1, 3)  # a batch of one graph trains as well


@pytest.mark.parametrize("norm", [True, False])
@pytest.mark.parametrize("training", [True, False])
def test_in_one_piece_it_is_what_its_layers_say(norm, training):
    head = Head(10, 6, 3, dropout=0.0, norm=norm).double().train(training)
    for parameter in head.parameters():
        parameter.data.add_(torch.randn_like(parameter))
    twin = copy.deepcopy(head)
    one = torch.randn(5, 10, dtype=torch.float64, requires_grad=True)
    other = one.detach().clone().requires_grad_()
    found, expected = head(one), twin.layers(other)
    assert_close(found, expected)
    pull = torch.randn_like(expected)
    found.backward(pull)
    expected.backward(pull)
    assert_close(one.grad, other.grad)
    for mine, theirs in zip(head.parameters(), twin.parameters(), strict=True):
        assert_close(mine.grad, theirs.grad)
    for mine, theirs in zip(head.buffers(), twin.buffers(), strict=True):
        assert_close(mine, theirs)


def test_statistics_changed_before_the_way_back_are_noticed():
    head = Head(10, 6, 3, dropout=0.0, norm=True).eval()
    out = head(torch.randn(5, 10, requires_grad=True))
    head.layers[1].norm.running_var.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()


def test_dropped_values_pass_no_gradient_and_others_are_scaled_up():
    head = Head(4, 200, 1, dropout=0.5, norm=False).double()
    with torch.no_grad():
        for parameter in head.parameters():
            parameter.fill_(1.0)
    head(torch.ones(2, 4, dtype=torch.float64)).sum().backward()
    (*_, last) = (module for module in head.modules() if isinstance(module, nn.Linear))
    (values,) = last.weight.grad.unsqueeze(0)
    assert 0.1 < (values == 0).double().mean() < 0.4  # dropped in both rows: a quarter
    out = torch.stack([head(torch.ones(2, 4, dtype=torch.float64)) for _ in range(50)])
    head.eval()
    expected = head(torch.ones(2, 4, dtype=torch.float64))
    assert_close(out.mean(), expected.mean(), rtol=0.1, atol=0.0)
    assert out.std() > 0


@pytest.mark.parametrize("graphs", [1, 4])
def test_dropout_follows_its_modules_in_a_batch_of_any_size(graphs):
    head = Head(4, 50, 2, dropout=0.5, norm=True).eval()
    rows = torch.randn(graphs, 4)
    assert_close(head(rows), head(rows))
    for module in head.modules():
        if isinstance(module, nn.Dropout):
            module.train()
    assert not torch.equal(head(rows), head(rows))
