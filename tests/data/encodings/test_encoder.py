import json
import os

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from torch.testing import assert_close

from lfds.config.registry import ENCODINGS
from lfds.data import DataError, GraphSet
from lfds.data.encodings import RWSE, Degree, Encoder, EncodingSettings, NetMF
from lfds.data.encodings.encoder import (
    BUCKETS,
    MAX_VALUES,
    AttributeColumns,
    LabelColumns,
    automatic_encoding,
)


def make(graphs=6, seed=0):
    """Graphs of four nodes, with two attributes and one label."""
    generator = torch.Generator().manual_seed(seed)
    nodes = 4 * graphs
    ring = torch.arange(nodes)
    after = ring - ring % 4 + (ring + 1) % 4
    return GraphSet.from_arrays(
        [4] * graphs,
        torch.stack([torch.cat([ring, after]), torch.cat([after, ring])]),
        [g % 2 for g in range(graphs)],
        attributes=torch.randn(nodes, 2, generator=generator) * 5 + 3,
        labels=torch.randint(0, 3, (nodes,), generator=generator),
    )


def spoiled(graphs, rows):
    """The same set, but with other attributes and labels in the graphs ``rows``."""
    nodes = torch.isin(torch.arange(graphs.num_nodes) // 4, torch.tensor(rows))
    edge_index = torch.stack(
        [
            graphs.edge_dst.long() + torch.arange(graphs.num_nodes).repeat_interleave(2) // 4 * 4,
            torch.arange(graphs.num_nodes).repeat_interleave(2),
        ]
    )
    return GraphSet.from_arrays(
        [4] * len(graphs),
        edge_index,
        graphs.y,
        attributes=torch.where(nodes[:, None], graphs.attributes * 100 - 7, graphs.attributes),
        labels=torch.where(nodes, graphs.labels[:, 0] + 50, graphs.labels[:, 0]),
    )


def assert_never_sees_the_test_part(encode):
    """Features of the training graphs must not change with what the test graphs hold."""
    train, test = [0, 2, 3], [1, 4, 5]
    graphs = make()
    before = encode(graphs, train)[train].x
    after = encode(spoiled(graphs, test), train)[train].x
    assert_close(after, before, msg="the test part was seen")


def test_the_encoder_is_fitted_on_the_training_part_only():
    assert_never_sees_the_test_part(
        lambda graphs, train: Encoder().fit(graphs, train).transform(graphs)
    )


def test_an_encoder_fitted_on_all_graphs_is_detected():
    with pytest.raises(AssertionError, match="the test part was seen"):
        assert_never_sees_the_test_part(
            lambda graphs, train: Encoder().fit(graphs).transform(graphs)
        )


@given(st.sets(st.integers(0, 5), min_size=1), st.integers(0, 100))
def test_training_attributes_are_standardized(train, seed):
    rows = sorted(train)
    graphs = make(seed=seed)
    x = Encoder(EncodingSettings(labels=False)).fit(graphs, rows).transform(graphs)[rows].x
    assert_close(x.mean(dim=0), torch.zeros(2), atol=1e-5, rtol=0)
    assert_close(x.std(dim=0, correction=0), torch.ones(2), atol=1e-4, rtol=0)


def test_columns_are_in_the_order_of_their_names():
    graphs = make()
    settings = EncodingSettings(structure=(Degree(), RWSE(steps=2)))
    encoder = Encoder(settings).fit(graphs)
    assert encoder.names == (
        *("label0=0", "label0=1", "label0=2", "attribute0", "attribute1"),
        *("degree0", "rwse0", "rwse1"),
    )
    x = encoder.transform(graphs).x
    assert x.shape == (24, encoder.width) == (24, 8)
    assert_close(x[:, :3].argmax(dim=1), graphs.labels[:, 0])
    assert_close(x[:, 5:], torch.tensor([[torch.tensor(3.0).log(), 0, 0.5]]).expand(24, 3))


@pytest.mark.parametrize("kind", ["none", *ENCODINGS])
def test_features_of_a_graph_do_not_depend_on_the_set(kind):
    graphs = make()
    encoder = Encoder(EncodingSettings(structure=kind)).fit(graphs)
    together = encoder.transform(graphs)
    for number in range(len(graphs)):
        assert torch.equal(encoder.transform(graphs[number]).x, together[number].x)


def test_without_features_every_node_gets_a_one():
    settings = EncodingSettings(labels=False, attributes=False)
    encoder = Encoder(settings).fit(make())
    assert encoder.names == ("one",)
    assert torch.equal(encoder.transform(make()).x, torch.ones(24, 1))


def test_a_saved_encoder_transforms_equally(tmp_path):
    graphs = make()
    settings = EncodingSettings(structure=(NetMF(dimensions=2), RWSE(steps=3)))
    encoder = Encoder(settings).fit(graphs, [0, 1])
    encoder.save(tmp_path / "encoder.json")
    again = Encoder.load(tmp_path / "encoder.json")
    assert again.settings == settings
    assert torch.equal(again.transform(graphs).x, encoder.transform(graphs).x)
    assert os.listdir(tmp_path) == ["encoder.json"]
    assert json.loads(encoder.to_json())["settings"]["structure"][0]["kind"] == "netmf"


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff\x00", b'{"settings": {"bogus": 1}}'])
def test_a_file_that_is_no_encoder_is_named(tmp_path, content):
    (tmp_path / "encoder.json").write_bytes(content)
    with pytest.raises(DataError, match=r"encoder\.json"):
        Encoder.load(tmp_path / "encoder.json")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(DataError, match=r"gone\.json"):
        Encoder.load(tmp_path / "gone.json")


def test_an_encoder_must_be_fitted_first():
    with pytest.raises(DataError, match=r"call fit\(graphs, train\) first"):
        Encoder().transform(make())
    with pytest.raises(DataError, match="at least one node"):
        Encoder().fit(make(), [])


def test_unknown_and_invalid_settings_are_errors():
    with pytest.raises(ValidationError):
        EncodingSettings(label=True)
    with pytest.raises(ValidationError):
        EncodingSettings(structure=({"kind": "rwse", "step": 4},))
    with pytest.raises(ValidationError):
        EncodingSettings(structure=({"kind": "walk"},))
    assert EncodingSettings(structure=({"kind": "rwse", "steps": 4},)).structure == (RWSE(steps=4),)


def test_graphs_with_other_columns_are_an_error():
    plain = GraphSet.from_arrays([2], [[0, 1], [1, 0]], [0])
    with pytest.raises(DataError, match="fitted on graphs with the same columns"):
        Encoder().fit(make()).transform(plain)


def test_a_value_that_overflows_after_scaling_is_an_error():
    graphs = GraphSet.from_arrays([2, 1], [[], []], attributes=[[0.0], [2e-37], [100.0]])
    encoder = Encoder().fit(graphs, [0])
    with pytest.raises(DataError, match="column 0 of node 2 is not finite in single precision"):
        encoder.transform(graphs)


def test_settings_must_not_be_a_string():
    with pytest.raises(DataError, match="settings: needs EncodingSettings, not 'rwse'"):
        Encoder("rwse")


@pytest.mark.parametrize(
    ("part", "damage"),
    [
        ("attributes", {"scales": [0.0]}),
        ("attributes", {"scales": [-1.0]}),
        ("attributes", {"scales": []}),
        ("attributes", {"means": [1e999]}),
        ("labels", {"values": [[2**70]]}),
        ("labels", {"values": [[3, 3]]}),
        ("labels", {"values": [[3, 1]]}),
    ],
)
def test_an_invalid_saved_encoder_is_an_error(part, damage):
    graphs = GraphSet.from_arrays([2], [[], []], attributes=[[0.0], [1.0]], labels=[1, 3])
    saved = json.loads(Encoder().fit(graphs).to_json())
    Encoder.from_json(json.dumps(saved))
    saved[part].update(damage)
    with pytest.raises(DataError, match=f"invalid encoder: {part}"):
        Encoder.from_json(json.dumps(saved))


@pytest.mark.parametrize("given", ["rwse", ("rwse",), ["rwse"], RWSE()])
def test_structural_encodings_are_given_by_name(given):
    expected = EncodingSettings(structure=(RWSE(),))
    given = (given,) if isinstance(given, RWSE) else given
    assert EncodingSettings(structure=given) == expected
    assert EncodingSettings(structure=given).model_dump() == expected.model_dump()


def test_names_and_settings_of_encodings_may_be_mixed():
    mixed = EncodingSettings(structure=["degree", NetMF(), "rwse"])
    assert mixed.structure == (Degree(), NetMF(), RWSE())
    assert EncodingSettings(structure="none").structure == ()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"structure": "rswe"}, "no encoding is called 'rswe'; did you mean 'rwse'"),
        ({"structure": ["degree", "Laplace"]}, "called 'Laplace'; did you mean 'laplacian'"),
        ({"structur": "rwse"}, "no setting is called 'structur'; did you mean 'structure'"),
        ({"zzz": 1}, "no setting is called 'zzz'; choose from labels, attributes, structure"),
        ({"structure": 3}, "valid tuple"),
    ],
)
def test_unknown_encodings_suggest_the_closest_name(settings, message):
    with pytest.raises(ValidationError, match=message):
        EncodingSettings(**settings)


def test_the_width_is_computed_without_listing_names(monkeypatch):
    """A file may have more columns than there is memory for names."""
    encoder = Encoder(EncodingSettings(labels=False, structure=(RWSE(steps=5),))).fit(make())
    assert encoder.width == len(encoder.names)
    huge = Encoder.from_json(encoder.to_json().replace('"steps": 5', '"steps": 1000000000000'))
    monkeypatch.setattr(Encoder, "names", property(lambda self: pytest.fail("one for each")))
    assert huge.width == encoder.width - 5 + 10**12


def test_labels_get_a_column_for_each_value():
    learned = LabelColumns.fitted(torch.tensor([[7, 1], [-2, 1], [7, 4]]))
    assert learned.values == ((-2, 7), (1, 4))
    assert learned.names == ("label0=-2", "label0=7", "label1=1", "label1=4")
    found = learned(torch.tensor([[7, 4], [-2, 1]]))
    assert_close(found, torch.tensor([[0.0, 1, 0, 1], [1, 0, 1, 0]]))


def test_an_unknown_label_value_is_all_zeros():
    learned = LabelColumns.fitted(torch.tensor([[0], [1]]))
    assert learned(torch.tensor([[5]])).tolist() == [[0, 0]]


@given(st.integers(2, 30), st.integers(1, 4), st.integers(0, 2**31))
def test_attributes_get_mean_zero_and_standard_deviation_one(nodes, width, seed):
    drawn = torch.randn(nodes, width, generator=torch.Generator().manual_seed(seed))
    found = AttributeColumns.fitted(drawn * 50 + 900)(drawn * 50 + 900)
    assert_close(found.mean(dim=0), torch.zeros(width), atol=1e-4, rtol=0)
    assert_close(found.std(dim=0, correction=0), torch.ones(width), atol=1e-3, rtol=0)


@pytest.mark.parametrize("value", [0.0, 0.1, 1e30, -3.3])
def test_a_constant_attribute_becomes_zero_and_other_values_stay_finite(value):
    learned = AttributeColumns.fitted(torch.full((1001, 1), value))
    assert learned.scales == (1.0,)
    assert learned(torch.full((3, 1), value)).tolist() == [[0], [0], [0]]
    assert learned(torch.tensor([[value + 2.0]])).isfinite().all()


def test_one_node_is_enough_to_fit():
    learned = AttributeColumns.fitted(torch.tensor([[3.0, 4.0]]))
    assert learned(torch.tensor([[3.0, 5.0]])).tolist() == [[0, 1]]


def test_no_columns_are_encoded_as_no_columns():
    assert LabelColumns.fitted(torch.empty(4, 0, dtype=torch.int64))(
        torch.empty(2, 0, dtype=torch.int64)
    ).shape == (2, 0)
    assert AttributeColumns.fitted(torch.empty(4, 0))(torch.empty(2, 0)).shape == (2, 0)


def test_another_number_of_columns_is_an_error():
    with pytest.raises(DataError, match="labels: the encoder was fitted on 1 columns"):
        LabelColumns.fitted(torch.tensor([[1]]))(torch.tensor([[1, 2]]))
    with pytest.raises(DataError, match="attributes: the encoder was fitted on 2 columns"):
        AttributeColumns.fitted(torch.zeros(3, 2))(torch.zeros(3, 1))


def test_the_automatic_encoding_uses_rwse_without_labels_and_attributes():
    assert automatic_encoding(make()) == EncodingSettings()
    plain = GraphSet.from_arrays([2], [[0, 1], [1, 0]], [0])
    assert automatic_encoding(plain) == EncodingSettings(structure=(RWSE(),))


def test_fitted_values_are_available():
    graphs = GraphSet.from_arrays([2], [[], []], attributes=[[0.0], [2.0]], labels=[3, 1])
    encoder = Encoder().fit(graphs)
    assert encoder.label_values == ((1, 3),)
    assert encoder.attribute_scales == ((1.0,), (1.0,))


def many_labels(count):
    return GraphSet.from_arrays([count], [[], []], [0], labels=[3 * n - 7 for n in range(count)])


def test_labels_of_very_many_values_are_hashed_and_that_is_said():
    graphs = many_labels(MAX_VALUES + 1)
    with pytest.warns(UserWarning, match="column 0 has 1,025 values.* hashed to 256 features"):
        encoder = Encoder().fit(graphs)
    x = encoder.transform(graphs).x
    assert x.shape[1] == encoder.width == len(encoder.names) == BUCKETS
    assert torch.equal(x.sum(dim=1), torch.ones(len(x)))
    assert x.sum(dim=0).max() < 20  # 4 expected
    again = Encoder.from_json(encoder.to_json())
    assert torch.equal(again.transform(graphs[[0]]).x, x)
    assert encoder.transform(many_labels(MAX_VALUES + 2)).x.sum() == MAX_VALUES + 2


def test_as_many_values_as_the_bound_are_one_hot():
    encoder = Encoder().fit(many_labels(MAX_VALUES))
    assert (encoder.width, encoder.hashed_labels) == (MAX_VALUES, ())


def test_features_that_memory_cannot_hold_are_refused(monkeypatch):
    graphs = many_labels(1000)
    encoder = Encoder().fit(graphs)
    monkeypatch.setenv("LFDS_MAX_MEMORY", "7MB")
    with pytest.raises(DataError, match=r"1,000 features of 1,000 nodes: .* at least 8 MB"):
        encoder.transform(graphs)


def test_attributes_that_are_not_finite_are_refused_by_column():
    graphs = GraphSet.from_arrays([2], [[], []], [0], attributes=[[1.0, 2.0], [3.0, 4.0]])
    graphs.attributes[1, 1] = float("nan")
    with pytest.raises(DataError, match=r"attributes: column 1 has numbers that are not finite"):
        Encoder().fit(graphs)
