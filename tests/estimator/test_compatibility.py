from dataclasses import replace

import pytest
import torch

from lfds.data.encodings.encoder import Encoder, EncodingSettings
from lfds.data.errors import DataError
from lfds.estimator.compatibility import check_widths, unseen_labels
from tests.estimator.small import graphs


def test_graphs_of_another_width_are_refused_by_name():
    encoder = Encoder().fit(graphs())
    check_widths(graphs(), encoder)
    wider = replace(graphs(), attributes=torch.ones(graphs().num_nodes, 3))
    with pytest.raises(
        DataError, match=r"node attributes: the model was fitted on 1 .* these graphs have 3"
    ):
        check_widths(wider, encoder)
    bare = replace(graphs(), labels=graphs().labels[:, :0], label_values=())
    with pytest.raises(DataError, match=r"node labels: .* on 1 .* have 0"):
        check_widths(bare, encoder)


def test_what_the_encoder_does_not_read_may_have_any_width():
    encoder = Encoder(EncodingSettings(attributes=False)).fit(graphs())
    check_widths(replace(graphs(), attributes=torch.ones(graphs().num_nodes, 3)), encoder)


def test_new_labels_are_counted_and_named():
    known = graphs()
    encoder = Encoder().fit(known)
    assert unseen_labels(known, encoder) == ""
    labels = known.labels.clone()
    labels[:3, 0] = torch.tensor([77, 78, 77])
    told = unseen_labels(replace(known, labels=labels), encoder)
    assert told.startswith(
        "3 nodes have a label that was never seen in training (column 0: 77, 78)"
    )
    many = replace(known, labels=known.labels + 100)
    assert ", ...)" in unseen_labels(many, encoder)
