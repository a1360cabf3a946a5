import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import lfds
from tests.estimator.small import FAST, amounts, classifier, graphs, regressor


def test_a_loaded_classifier_predicts_the_same_bits(tmp_path):
    classifier().save(tmp_path / "model")
    again = lfds.load(tmp_path / "model")
    assert isinstance(again, lfds.LFDSClassifier)
    expected = classifier().predict_proba(graphs())
    assert np.array_equal(again.predict_proba(graphs()), expected)
    assert again.classes_.tolist() == classifier().classes_.tolist()
    assert again.history_ == classifier().history_
    assert again.training_data_ == classifier().training_data_
    told = classifier().get_params() | {"node_attributes": []}
    assert again.get_params() == told


def test_and_so_it_does_in_another_process(tmp_path):
    classifier().save(tmp_path / "model")
    graphs().save(tmp_path / "graphs")
    code = (
        "import sys, lfds, torch; torch.set_num_threads(1)\n"
        "graphs = lfds.GraphSet.load(sys.argv[1] + '/graphs', mmap=False)\n"
        "print(lfds.load(sys.argv[1] + '/model').predict_proba(graphs).tobytes().hex())"
    )
    command = [sys.executable, "-W", "ignore", "-c", code, str(tmp_path)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    assert told == classifier().predict_proba(graphs()).tobytes().hex()


@pytest.mark.parametrize("columns", [None, 2])
def test_a_loaded_regressor_predicts_the_same_bits(columns, tmp_path):
    made = regressor()
    if columns:
        made = lfds.LFDSRegressor(**FAST).fit(graphs(), np.stack([amounts()] * columns, axis=1))
    made.save(tmp_path / "model")
    again = lfds.load(tmp_path / "model")
    assert isinstance(again, lfds.LFDSRegressor)
    assert np.array_equal(again.predict(graphs()), made.predict(graphs()))


def test_a_loaded_model_learns_on(tmp_path):
    classifier().save(tmp_path / "model")
    again = lfds.load(tmp_path / "model").set_params(warm_start=True)
    again.fit(graphs())
    again.partial_fit(graphs())
    assert again.n_iter_ == FAST["epochs"] + 1


@pytest.mark.parametrize(
    "structure", ["image", "learned-spatial", "learned-spectral", ["loop", "image"]]
)
def test_every_structure_comes_back(structure, tmp_path):
    made = lfds.LFDSClassifier(structure, **{**FAST, "epochs": 1}).fit(graphs())
    made.save(tmp_path / "model")
    again = lfds.load(tmp_path / "model")
    assert np.array_equal(again.predict_proba(graphs()), made.predict_proba(graphs()))


def test_structural_encodings_come_back(tmp_path):
    known = graphs()
    bare = replace(
        known,
        attributes=known.x[:, :0],
        x=known.x[:, :0],
        labels=known.labels[:, :0],
        label_values=(),
    )
    made = lfds.LFDSClassifier(**FAST).fit(bare)
    assert made.encoder_.names[0] == "rwse0"
    made.save(tmp_path / "model")
    assert np.array_equal(
        lfds.load(tmp_path / "model").predict_proba(bare), made.predict_proba(bare)
    )


def test_a_loaded_model_learns_with_fresh_moments(tmp_path):
    """As the docs say: the optimiser is not saved, and everything else is."""
    made = lfds.LFDSRegressor(**FAST)
    made.partial_fit(graphs(), amounts())
    made.save(tmp_path / "model")
    again = lfds.load(tmp_path / "model")
    forgetful = lfds.load(tmp_path / "model")
    for model in (made, again, forgetful):
        model.partial_fit(graphs(), amounts())
    assert np.array_equal(again.predict(graphs()), forgetful.predict(graphs()))
    assert not np.array_equal(again.predict(graphs()), made.predict(graphs()))
