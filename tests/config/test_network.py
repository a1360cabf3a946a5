import pytest
from pydantic import ValidationError

from lfds.nn import NetworkSettings


def test_the_paper_to_the_letter():
    paper = NetworkSettings.paper("loop")
    told = {
        "width": 64, "layers": 3, "node_dropout": 0.2, "head_dropout": 0.5, "slots": 64,
        "slot_dropout": 0.4, "blend": True, "reduction": "sum", "anchors": "fixed",
        "normalized_adjacency": False, "clusters": 64, "ratio": 0.5, "sorted_nodes": 30,
    }  # fmt: skip
    assert {name: getattr(paper, name) for name in told} == told


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"pool": "lop"}, "did you mean 'loop'"),
        ({"pool": 3}, "pool must be one of max"),
        ({"pool": "max", "widht": 3}, "widht"),
        ({"pool": "image", "slots": 60}, "square number, got 60; use 49 or 64"),
        ({"pool": "gmt", "width": 30}, "width must be a multiple of heads"),
        ({"pool": "sort", "sorted_nodes": 9}, "sorted_nodes"),
        ({"pool": "max", "node_dropout": 1.0}, "node_dropout"),
        ({"pool": "topk", "ratio": 0.0}, "ratio"),
        ({"pool": "loop+lop"}, "got 'lop'; did you mean 'loop'"),
        ({"pool": "loop+max"}, "only latent structures are joined"),
        ({"pool": "loop+loop"}, "names a structure twice"),
        ({"pool": "loop+image", "slots": 10}, "square number"),
    ],
)
def test_what_cannot_be_is_refused(options, words):
    with pytest.raises(ValidationError, match=words):
        NetworkSettings(**options)


def test_settings_do_not_change():
    with pytest.raises(ValidationError, match="frozen"):
        NetworkSettings(pool="max").width = 3


def test_structures_of_a_pooling():
    assert NetworkSettings(pool="loop+image").structures == ("loop", "image")
    assert NetworkSettings(pool="loop").structures == ("loop",)
    assert NetworkSettings(pool="max+mean").structures == ()
