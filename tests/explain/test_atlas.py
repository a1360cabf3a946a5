import html
import re

import networkx as nx
import numpy as np
import pytest
import torch
from sklearn.exceptions import NotFittedError

import lfds
from lfds.data import DataError
from lfds.estimator import UnseenLabelsWarning
from lfds.explain import ExplainError
from tests.explain.models import clouds, fitted


def test_a_notebook_shows_the_page():
    made = lfds.atlas(fitted(), clouds(), show=2)
    shown = made._repr_html_()
    framed = re.search(r'srcdoc="(.*?)"></iframe>$', shown, flags=re.DOTALL).group(1)
    assert html.unescape(framed) == made.html
    assert "<script" not in shown
    assert repr(made) == (
        "Atlas('pc-graphs', Loop of 9 slots, 16 graphs, 2 shown; .save('atlas.html'))"
    )


def test_the_page_is_saved(tmp_path):
    made = lfds.atlas(fitted(), clouds(), show=2)
    made.save(tmp_path / "new" / "atlas.html")
    assert (tmp_path / "new" / "atlas.html").read_text(encoding="utf-8") == made.html
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["atlas.html"]


def test_the_graphs_to_show_can_be_chosen():
    shown = lfds.atlas(fitted(), clouds(), show=[7, 3, 3]).numbers.graphs
    assert [view.number for view in shown] == [7, 3, 3]
    assert len(lfds.atlas(fitted(), clouds(), show=8).numbers.graphs) == 8
    assert len(lfds.atlas(fitted(), clouds()).numbers.graphs) == 16


def test_a_saved_model_gives_the_same_atlas(tmp_path):
    fitted().save(tmp_path / "model")
    again = lfds.atlas(lfds.load(tmp_path / "model"), clouds(), show=1)
    assert again.html == lfds.atlas(fitted(), clouds(), show=1).html


def test_points_and_networkx_graphs_are_drawn():
    points = [np.random.default_rng(k).normal(size=(6, 2)) for k in range(12)]
    model = lfds.LFDSClassifier(slots=4, epochs=1, options={"width": 8})
    model.fit(points, ["a", "b"] * 6)
    view = lfds.atlas(model, points, show=[0]).numbers.graphs[0]
    assert view.has_coordinates  # points in two dimensions are drawn where they are
    ratio = np.ptp(view.positions, axis=0) / np.ptp(points[0], axis=0)
    assert ratio[0] == pytest.approx(ratio[1], rel=1e-5)
    graphs = [nx.path_graph(k + 2) for k in range(12)]
    model = lfds.LFDSClassifier(slots=4, epochs=1, options={"width": 8}).fit(graphs, ["a", "b"] * 6)
    assert not lfds.atlas(model, graphs, show=1).numbers.graphs[0].has_coordinates


def test_true_classes_can_be_passed():
    points = [np.random.default_rng(k).normal(size=(6, 2)) for k in range(12)]
    model = lfds.LFDSClassifier(slots=4, epochs=1, options={"width": 8})
    model.fit(points, ["a", "b"] * 6)
    assert lfds.atlas(model, points).numbers.target.tolist() == [-1] * 12
    assert lfds.atlas(model, points, ["b", "a"] * 6).numbers.target.tolist() == [1, 0] * 6
    with pytest.raises(DataError, match="label 'c' is none of the classes a, b"):
        lfds.atlas(model, points, ["b", "c"] * 6)
    with pytest.raises(DataError, match="one label for each of 12 graphs"):
        lfds.atlas(model, points, ["a"])


def test_an_atlas_of_a_regressor():
    points = [np.random.default_rng(k).normal(size=(6, 2)) for k in range(12)]
    model = lfds.LFDSRegressor(slots=4, epochs=1, options={"width": 8})
    numbers = lfds.atlas(model.fit(points, np.arange(12.0)), points, show=2).numbers
    np.testing.assert_allclose(numbers.values[:, 0], model.predict(points), rtol=1e-5)
    assert numbers.classes == ()
    assert np.isnan(numbers.true_values).all()


@pytest.mark.parametrize(
    ("show", "message"),
    [
        (0, "show: needs at least 1 graph, not 0"),
        ([], "show: needs at least 1 graph, and the list is empty"),
        ([16], "there is no graph 16; they are numbered 0 to 15"),
        ([-1], "there is no graph -1; they are numbered 0 to 15"),
    ],
)
def test_graphs_that_do_not_exist_are_refused(show, message):
    with pytest.raises(ExplainError, match=re.escape(message)):
        lfds.atlas(fitted(), clouds(), show=show)


def test_other_objects_and_unfitted_models_are_refused():
    assert issubclass(ExplainError, ValueError)
    with pytest.raises(ExplainError, match=r"^model: needs a fitted LFDSClassifier .* not Loop"):
        lfds.atlas(lfds.Loop(4), clouds())
    with pytest.raises(NotFittedError):
        lfds.atlas(lfds.LFDSClassifier(), clouds())


def test_other_node_data_are_refused_and_unseen_labels_give_a_warning():
    labelled = lfds.GraphSet.from_arrays([2] * 8, [[], []], ["a", "b"] * 4, labels=[1, 2] * 8)
    with pytest.raises(DataError, match="node labels"):
        lfds.atlas(fitted(), labelled)
    model = lfds.LFDSClassifier(slots=4, epochs=1, options={"width": 8}).fit(labelled)
    new = lfds.GraphSet.from_arrays([2], [[], []], labels=[1, 9])
    with pytest.warns(UnseenLabelsWarning, match="never seen") as caught:
        lfds.atlas(model, new)
    assert [one.filename for one in caught] == [__file__]


@pytest.mark.parametrize(
    ("show", "shown"),
    [
        (np.int64(3), 3),
        (np.array(3), 3),
        (np.array([3, 5]), 2),
        (torch.tensor([3]), 1),
        (range(2, 6), 4),
    ],
)
def test_numpy_and_torch_integers_choose_graphs(show, shown):
    numbers = lfds.atlas(fitted(), clouds(), show=show).numbers
    assert len(numbers.graphs) == shown


@pytest.mark.parametrize("show", ["3", 3.5, None, [1.5], [[1], [2, 3]]])
def test_an_invalid_choice_of_graphs_is_one_line(show):
    with pytest.raises(
        ExplainError, match=r"^show: needs the number of graphs, .*or a list of which"
    ):
        lfds.atlas(fitted(), clouds(), show=show)
