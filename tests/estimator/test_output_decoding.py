import numpy as np
import pytest
import torch
from pydantic import TypeAdapter, ValidationError

from lfds.data.errors import DataError
from lfds.estimator.output_decoding import AmountMeaning, ClassMeaning, Meaning


@pytest.mark.parametrize("names", [("a", "b"), (-1, 1), (False, True), (1.0, 2.0), ("1", "2")])
def test_names_come_back_from_json_as_they_were(names):
    meaning = ClassMeaning(names=names, temperature=1.7)
    again = TypeAdapter(Meaning).validate_json(meaning.model_dump_json())
    assert again == meaning
    assert [type(name) for name in again.names] == [type(name) for name in names]
    assert again.labels.tolist() == list(names)
    assert again.outputs == 2


@pytest.mark.parametrize("shape", [(50,), (50, 1), (50, 3)])
def test_amounts_are_standardised_and_come_back(shape):
    values = np.random.default_rng(0).normal(5, 20, size=shape)
    meaning = AmountMeaning.learned(values)
    table = meaning.standardised(values)
    assert torch.allclose(table.mean(dim=0), torch.zeros(1), atol=1e-6)
    assert torch.allclose(table.std(dim=0, unbiased=False), torch.ones(1), atol=1e-6)
    assert table.dtype == torch.float32
    back = meaning.in_units(table.numpy())
    assert back.shape == values.shape
    assert np.allclose(back, values, rtol=1e-5)
    assert TypeAdapter(Meaning).validate_json(meaning.model_dump_json()) == meaning


def test_a_target_that_never_changes_is_centred_and_not_scaled():
    meaning = AmountMeaning.learned(np.full(4, 3.0))
    assert meaning.scales == (1.0,)
    assert meaning.standardised(np.full(4, 3.0)).tolist() == [[0.0]] * 4


def test_a_spread_that_vanishes_is_not_taken_for_none():
    with pytest.raises(DataError, match=r"y: the targets differ by less than can be squared"):
        AmountMeaning.learned(np.arange(4) * 1e-200)


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "classes", "names": ["a"]},
        {"kind": "classes", "names": ["a", "b"], "temperature": 0.0},
        {"kind": "classes", "names": ["a", "b"], "more": 1},
        {"kind": "amounts", "means": [1.0, 2.0], "scales": [1.0], "single": False},
        {"kind": "amounts", "means": [1.0, 2.0], "scales": [1.0, 1.0], "single": True},
        {"kind": "amounts", "means": [1.0], "scales": [0.0], "single": True},
        {"kind": "other"},
    ],
)
def test_what_cannot_be_meant_is_refused(wrong):
    with pytest.raises(ValidationError):
        TypeAdapter(Meaning).validate_python(wrong)
