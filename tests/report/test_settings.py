import pytest

from lfds.report.settings import differing, settings_of
from tests.report.runs import record, settings


def test_settings_are_flat_and_leave_out_what_names_row_and_column():
    flat = settings_of(record("max", "A"))
    assert flat == {
        "folds": "5", "validation": "0.1", "epochs": "4", "learning_rate": "0.005", "keep": "best",
        "slots": "64", "node_norm": "false", "pooled_layers": "last",
    }  # fmt: skip


def test_candidates_give_all_values_they_chose_from():
    told = settings("max")
    other = {"training": {"epochs": 9, "learning_rate": 0.005}, "network": {"slots": 64}}
    told["candidates"].append(other)
    flat = settings_of(record("max", "A", told=told))
    assert (flat["epochs"], flat["slots"]) == ("4 or 9", "64")


@pytest.mark.parametrize(
    ("protocol", "trained", "said"),
    [
        ("fair", {}, "best"),
        ("fair", {"keep": "best"}, "best"),
        ("fair", {"keep": "last"}, "last"),
        ("paper", {}, None),
    ],
)
def test_which_epoch_was_kept_is_said_where_one_was(protocol, trained, said):
    told = settings("max")
    told["candidates"][0]["training"] |= trained
    flat = settings_of(record("max", "A", protocol=protocol, told=told))
    assert flat.get("keep") == said


def test_structured_and_missing_settings_are_text():
    flat = settings_of(record("max", "A", told={"encoding": {"labels": True}}))
    assert flat == {"folds": "5", "encoding": '{"labels": true}'}


def test_only_what_differs_tells_apart():
    assert differing([{"a": "1", "b": "2"}, {"a": "1", "b": "3"}]) == ["b"]
    assert differing([{"a": "1"}, {"a": "1", "b": "3"}]) == ["b"]
    assert differing([{"a": "1"}]) == differing([]) == []


def test_nodes_that_nothing_is_said_of_are_said_not_to_be_normed():
    told = [settings_of(record(pool, "A", told=settings(pool))) for pool in ("loop", "max")]
    assert [flat["node_norm"] for flat in told] == ["false", "false"]
