"""Features of edges: labels and attributes, fitted on the training part only."""

from dataclasses import replace

import pytest
import torch

from lfds.data.encodings.encoder import EdgeColumns, Encoder
from lfds.data.errors import DataError
from lfds.data.graphset import GraphSet
from lfds.data.storage import content_of


def graphs():
    """Two graphs of two nodes each; the second has a label and a number that the first has not."""
    return GraphSet.from_arrays(
        [2, 2],
        [[0, 1, 2, 3], [1, 0, 3, 2]],
        ["a", "b"],
        edge_labels=[4, 7, 7, 9],
        edge_attributes=[[1.0], [3.0], [5.0], [2.0]],
    )


def test_they_are_fitted_on_the_training_part():
    encoder = Encoder().fit(graphs(), [0])
    assert encoder.edge_names == ("label0=4", "label0=7", "attribute0")
    assert encoder.edge_width == 3
    found = encoder.transform(graphs()).edge_x
    # In the order of receivers: 1 -> 0, 0 -> 1, 3 -> 2, 2 -> 3; 9 was never seen.
    assert found.tolist() == [[0, 1, 1], [1, 0, -1], [0, 0, 0], [0, 1, 3]]


def test_graphs_batches_and_copies_keep_them():
    encoded = Encoder().fit(graphs()).transform(graphs())
    assert torch.equal(encoded[[1, 0]].edge_x, encoded.edge_x[[2, 3, 0, 1]])
    assert torch.equal(encoded.batch([1]).edge_x, encoded.edge_x[2:])
    assert content_of(encoded) != content_of(replace(encoded, edge_x=encoded.edge_x + 1))


def test_without_edge_data_there_are_none_and_nothing_changes():
    plain = GraphSet.from_arrays([2], [[0, 1], [1, 0]], ["a"])
    encoder = Encoder().fit(plain)
    assert encoder.edge_width == 0
    assert encoder.transform(plain).edge_x.shape == (2, 0)
    assert not plain.has_edge_data
    assert graphs().has_edge_data


def test_they_can_be_left_out():
    encoder = Encoder(edges=False).fit(graphs())
    assert encoder.edge_columns is None
    assert encoder.transform(graphs()).edge_x.shape == (4, 0)
    assert Encoder().fit(graphs()).transform(encoder.transform(graphs())).edge_x.shape == (4, 4)
    assert encoder.transform(Encoder().fit(graphs()).transform(graphs())).edge_x.shape == (4, 0)


@pytest.mark.parametrize("edges", [True, False])
def test_saved_and_loaded(edges):
    encoder = Encoder(edges=edges).fit(graphs())
    again = Encoder.from_json(encoder.to_json())
    assert again.edges == edges
    assert torch.equal(again.transform(graphs()).edge_x, encoder.transform(graphs()).edge_x)


def test_an_encoder_saved_before_uses_no_edge_data():
    text = Encoder(edges=False).fit(graphs()).to_json().replace(',\n  "edges": null', "")
    assert "edges" not in text
    assert Encoder.from_json(text).transform(graphs()).edge_x.shape == (4, 0)


def test_graphs_without_edges_may_have_any_columns():
    encoder = Encoder().fit(graphs())
    dot = GraphSet.from_arrays([1], torch.zeros(2, 0).long(), ["a"])
    assert encoder.transform(dot).edge_x.shape == (0, 4)
    lonely = replace(dot, edge_labels=torch.zeros(0, 1).long(), edge_attributes=torch.zeros(0, 1))
    assert EdgeColumns.fitted(lonely).attributes.means == (0.0,)
    assert EdgeColumns.fitted(lonely)(graphs()).tolist() == [[3.0], [1.0], [2.0], [5.0]]


def test_other_widths_and_numbers_that_are_not_finite_are_one_line():
    encoder = Encoder().fit(graphs())
    with pytest.raises(DataError, match=r"edge labels: the encoder was fitted on 1 col.*have 0"):
        encoder.transform(replace(graphs(), edge_labels=torch.zeros(4, 0).long()))
    with pytest.raises(DataError, match="edge attributes: the encoder was fitted on 1 columns"):
        encoder.transform(replace(graphs(), edge_attributes=torch.zeros(4, 2)))
    endless = replace(graphs(), edge_attributes=torch.full((4, 1), float("inf")))
    with pytest.raises(DataError, match="edge attributes: column 0 has numbers that are not fin"):
        Encoder().fit(endless)
    with pytest.raises(DataError, match="edge_x: column 3 of edge 0 is not finite"):
        encoder.transform(endless)


def test_many_values_are_hashed_with_a_warning():
    count = 1100
    many = GraphSet.from_arrays(
        [count], [range(count), range(count)], ["a"], edge_labels=range(count)
    )
    with pytest.warns(UserWarning, match="edge labels: column 0 has 1,100 values"):
        encoder = Encoder().fit(many)
    assert encoder.edge_width == 256
    assert encoder.transform(many).edge_x.sum(dim=1).eq(1).all()
