import pytest
from pydantic import ValidationError

from lfds.estimator.model_card import DataMark, ModelCard, library_versions
from tests.estimator.small import graphs


def test_a_mark_knows_its_graphs():
    mark = DataMark.of(graphs())
    assert (mark.name, mark.graphs) == ("drawn", 24)
    assert mark.fingerprint != DataMark.of(graphs()[:23]).fingerprint
    assert mark == DataMark.of(graphs()[list(range(24))])


def test_versions_name_what_a_model_is_made_by():
    assert {"lfds", "python", "torch", "numpy"} <= set(library_versions())


def test_a_card_of_other_things_is_refused():
    with pytest.raises(ValidationError):
        ModelCard.model_validate({})
