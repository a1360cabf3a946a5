"""What docs/must-win.md proves of poolings of the input features, on twins of both classes."""

import pytest
import torch
from benchmarks.without_backbone import FLAT, PAGE, Classifier
from torch.testing import assert_close

from lfds.config.registry import STRUCTURES
from lfds.data.datasets.parts import PartsSettings, draw_object
from lfds.nn.ops.edges import Edges


def pooled_twins(pool, task, number=7):
    """The vectors of an object and of its twin of the other class, of random weights."""
    torch.manual_seed(0)
    settings = PartsSettings(task=task, form="set")
    model = Classifier(pool, 2 * settings.part_types).double().eval()
    vectors = []
    for label in (0, 1):
        x = torch.from_numpy(draw_object(settings, number, label=label).features)
        ptr = torch.tensor([0, len(x)])
        nothing = Edges.from_rows(torch.zeros(len(x) + 1, dtype=torch.long), torch.empty(0).long())
        vectors.append(model.pool(x, ptr, nothing) if model.flat else model.pool(x, ptr=ptr))
    return vectors


@pytest.mark.parametrize("number", [0, 7])
@pytest.mark.parametrize("pool", FLAT)
def test_flat_statistics_of_twins_are_equal(pool, number):
    assert_close(*pooled_twins(pool, "pairs", number), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("pool", STRUCTURES)
def test_latent_structures_distinguish_twins(pool):
    own, following = pooled_twins(pool, "pairs")
    assert (own - following).abs().max() > 1e-4


def test_flat_statistics_differ_where_proportions_do():
    own, other = pooled_twins("stats", "share")
    assert (own - other).abs().max() > 1e-2


def test_the_page_has_a_row_for_every_pooling():
    page = PAGE.read_text()
    table = page[page.index("without-backbone: begin") : page.index("without-backbone: end")]
    for pool in (*FLAT, *STRUCTURES):
        assert f"\n| `{pool}` |" in table
