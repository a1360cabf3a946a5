from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings

from lfds.data import DataError
from lfds.data.readers.arrays import not_yet_encoded
from lfds.data.readers.tu import read_tu
from tests.data.graphs import SHARED, graph_sets, needs_shared, three_graphs

in_one_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def comparable(graphs, written):
    """A table without rows loses its width; all else must be equal."""
    return replace(
        written,
        attributes=graphs.attributes if not graphs.num_nodes else written.attributes,
        labels=graphs.labels if not graphs.num_nodes else written.labels,
        label_values=graphs.label_values if not graphs.num_nodes else written.label_values,
        edge_labels=graphs.edge_labels if not graphs.num_edges else written.edge_labels,
        edge_attributes=graphs.edge_attributes if not graphs.num_edges else written.edge_attributes,
    )


@given(graphs=graph_sets(min_nodes=1))
@in_one_folder
def test_what_was_written_reads_back_equal(graphs, tmp_path):
    graphs.to_tu(tmp_path / "drawn")
    back = read_tu(tmp_path / "drawn", seed=None)
    assert comparable(graphs, back).equals(not_yet_encoded(graphs))


def test_part_of_a_set_keeps_classes_and_labels_it_has_no_graph_of(tmp_path):
    some = three_graphs()[1:]
    some.to_tu(tmp_path / "three")
    back = read_tu(tmp_path / "three", seed=None)
    assert back.equals(not_yet_encoded(some))
    assert back.classes == (-1, 1)
    assert back.label_values == ((5, 7, 9),)


def test_the_files_are_those_of_the_collection(tmp_path):
    three_graphs().to_tu(tmp_path / "out")
    assert (tmp_path / "out" / "three_A.txt").read_text().splitlines()[:2] == ["2, 1", "1, 2"]
    assert (tmp_path / "out" / "three_graph_labels.txt").read_text() == "-1\n1\n1\n"
    assert (tmp_path / "out" / "three_graph_indicator.txt").read_text() == "1\n1\n1\n3\n3\n"
    assert not (tmp_path / "out" / "three_names.json").exists()
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("name", ["", "a/b", ".", "\0"])
def test_a_name_that_is_no_file_name_is_refused(name, tmp_path):
    with pytest.raises(DataError, match="cannot be named after"):
        replace(three_graphs(), name=name).to_tu(tmp_path / "out")
    assert not list(tmp_path.iterdir())


@needs_shared
@pytest.mark.parametrize("name", ["ENZYMES", "MUTAG", "Synthie"])
def test_real_datasets_read_back_equal(name, tmp_path):
    graphs = read_tu(SHARED / name)
    graphs.to_tu(tmp_path / name)
    assert read_tu(tmp_path / name, seed=None).equals(graphs)
