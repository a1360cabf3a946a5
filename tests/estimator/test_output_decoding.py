import numpy as np
import pytest
import torch
from pydantic import TypeAdapter, ValidationError
from scipy.special import softmax

from lfds.data.errors import DataError
from lfds.estimator.output_decoding import (
    ClassDecoder,
    StoredDecoder,
    ValueDecoder,
    fit_temperature,
)


@pytest.mark.parametrize("names", [("a", "b"), (-1, 1), (False, True), (1.0, 2.0), ("1", "2")])
def test_class_names_keep_their_type_in_json(names):
    decoder = ClassDecoder(names=names, temperature=1.7)
    again = TypeAdapter(StoredDecoder).validate_json(decoder.model_dump_json())
    assert again == decoder
    assert [type(name) for name in again.names] == [type(name) for name in names]
    assert again.labels.tolist() == list(names)
    assert again.outputs == 2


@pytest.mark.parametrize("shape", [(50,), (50, 1), (50, 3)])
def test_values_are_standardized_and_restored(shape):
    values = np.random.default_rng(0).normal(5, 20, size=shape)
    decoder = ValueDecoder.fit(values)
    table = decoder.standardize(values)
    assert torch.allclose(table.mean(dim=0), torch.zeros(1), atol=1e-6)
    assert torch.allclose(table.std(dim=0, unbiased=False), torch.ones(1), atol=1e-6)
    assert table.dtype == torch.float32
    restored = decoder.values(table.numpy())
    assert restored.shape == values.shape
    assert np.allclose(restored, values, rtol=1e-5)
    assert TypeAdapter(StoredDecoder).validate_json(decoder.model_dump_json()) == decoder


def test_a_constant_target_is_centred_and_not_scaled():
    decoder = ValueDecoder.fit(np.full(4, 3.0))
    assert decoder.scales == (1.0,)
    assert decoder.standardize(np.full(4, 3.0)).tolist() == [[0.0]] * 4


def test_a_spread_that_underflows_is_refused():
    with pytest.raises(DataError, match=r"y: the targets differ by too little"):
        ValueDecoder.fit(np.arange(4) * 1e-200)


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
def test_invalid_stored_decoders_are_refused(wrong):
    with pytest.raises(ValidationError):
        TypeAdapter(StoredDecoder).validate_python(wrong)


def drawn(scale, graphs=4000):
    """Classes drawn from the softmax of logits, and the logits times ``scale``."""
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(graphs, 3)) * 2
    probabilities = softmax(logits, axis=1)
    y = (probabilities.cumsum(axis=1) < rng.random((graphs, 1))).sum(axis=1)
    return logits * scale, y


@pytest.mark.parametrize("scale", [0.25, 1.0, 5.0])
def test_the_temperature_undoes_a_scale_of_the_logits(scale):
    assert fit_temperature(*drawn(scale)) == pytest.approx(scale, rel=0.1)


def test_the_temperature_minimizes_its_cost():
    logits, y = drawn(3.0, graphs=30)

    def cost(t):
        likelihood = np.log(softmax(logits / t, axis=1))[np.arange(len(y)), y]
        return -likelihood.sum() + np.log(t) ** 2 / 2

    found = fit_temperature(logits, y)
    assert cost(found) <= min(cost(t) for t in np.geomspace(0.05, 50, 400)) + 1e-6


def test_a_few_correct_predictions_do_not_make_probabilities_certain():
    logits = np.array([[3.0, 0.0], [0.0, 3.0]])
    found = fit_temperature(logits, np.array([0, 1]))
    assert 0.3 < found < 1
    assert fit_temperature(np.zeros((0, 2)), np.zeros(0, dtype=int)) == 1.0


def test_probabilities_sum_to_one_and_keep_the_order():
    logits, _ = drawn(1.0, graphs=50)
    decoder = ClassDecoder(names=("a", "b", "c"), temperature=2.0)
    probabilities = decoder.probabilities(logits.astype(np.float32))
    assert np.allclose(probabilities.sum(axis=1), 1)
    assert (probabilities.argmax(axis=1) == logits.argmax(axis=1)).all()
    assert np.allclose(probabilities, softmax(logits / 2, axis=1), atol=1e-6)
