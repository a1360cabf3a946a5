import pytest
import torch
from torch import nn

from lfds.nn.head import Head


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
