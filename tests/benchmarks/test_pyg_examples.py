"""The table of poolings in PyG's examples."""

import pytest
import torch
from benchmarks import pyg_examples
from torch_geometric.data import Batch


@pytest.fixture(autouse=True)
def _rows_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setattr(pyg_examples, "RESULTS", tmp_path / "rows.csv")


def test_an_incomplete_run_has_no_mean():
    for pool in pyg_examples.POOLS:
        for turn, seconds in enumerate((1.0, 2.0, 4.0)):
            factor = 2 if pool == "LFDSPool" else 1
            pyg_examples.append("mutag", pool, turn, "seconds", factor * seconds)
        pyg_examples.append("mutag", pool, 0, "accuracy", 80.0)
    pyg_examples.append("mutag", "LFDSPool", 1, "accuracy", 90.0)
    lines = pyg_examples.tables(seeds=2).splitlines()
    assert "| `LFDSPool` | 85.0 ± 7.1 | 4.00 | 2.0x |" in lines
    assert "| `GMT` | - | 2.00 | 1.0x |" in lines
    assert not any("proteins" in line for line in lines)


def test_runs_that_are_there_are_not_run_again(tmp_path, monkeypatch):
    monkeypatch.setattr(pyg_examples, "run", lambda case, graphs, pool, seed: 50.0 + seed)
    graphs = [pyg_examples._random_molecule(torch.Generator().manual_seed(i)) for i in range(3)]
    case = pyg_examples.CASES["nci1-sized"]._replace(graphs=lambda _: graphs)
    monkeypatch.setitem(pyg_examples.CASES, "nci1-sized", case)
    pyg_examples.measure_accuracies("nci1-sized", tmp_path, seeds=1)
    pyg_examples.measure_accuracies("nci1-sized", tmp_path, seeds=2)
    found = pyg_examples.read_rows()
    assert len(found) == 2 * 5
    assert found["nci1-sized", "GMT", "1", "accuracy"] == 51.0
    assert len((tmp_path / "rows.csv").read_text().splitlines()) == 1 + 2 * 5


@pytest.mark.parametrize("name", ["mutag", "proteins"])
@pytest.mark.parametrize("pool", pyg_examples.POOLS)
def test_every_pooling_fits_the_networks(name, pool):
    graphs = [pyg_examples._random_molecule(torch.Generator().manual_seed(i)) for i in range(3)]
    model = pyg_examples.build(pyg_examples.CASES[name], graphs, pool, seed=0)
    batch = Batch.from_data_list(graphs)
    pyg_examples.step(model, batch, torch.optim.Adam(model.parameters()))
    assert model(batch).shape == (3, 2)
