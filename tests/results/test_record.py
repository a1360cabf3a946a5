from pathlib import Path

import pytest
from pydantic import ValidationError

from lfds.config.migrations import SCHEMA_VERSION
from lfds.results.record import RULES, Confusion, Curve, Outcome, Record, key_of, rule_in_words
from lfds.results.store import read_records
from tests.results.records import failed_record, fair_record, fold, paper_record


@pytest.mark.parametrize("record", [fair_record(1 / 3), paper_record([0.1, 0.7]), failed_record()])
def test_record_survives_json_bit_for_bit(record):
    assert Record.model_validate_json(record.model_dump_json()) == record


@pytest.mark.parametrize(
    ("rule", "kept", "text"),
    [
        ("fair", {"best"}, RULES["fair"]),
        ("fair", {None}, RULES["fair"]),
        ("fair", {"last"}, "the last epoch, test graphs used once"),
        (
            "fair",
            {"best", "last"},
            "epoch chosen on validation graphs or, where a row says so, the ",
        ),
        ("fold-best", {"last"}, RULES["fold-best"]),
    ],
)
def test_description_of_a_rule_names_the_kept_epochs(rule, kept, text):
    assert rule_in_words(rule, kept).startswith(text)


def test_records_without_peak_memory_are_read():
    old = fair_record(0.5).model_dump(mode="json")
    del old["outcome"]["peak_memory"]
    assert Record.model_validate(old).outcome.peak_memory is None


def test_key_depends_on_fold_and_settings_only():
    key = key_of(fold(), {"a": 1, "b": 2})
    assert key == key_of(fold(), {"b": 2, "a": 1})
    others = [
        key_of(fold(), {"a": 1, "b": 3}),
        key_of(fold(1), {"a": 1, "b": 2}),
        key_of(fold(seed=1), {"a": 1, "b": 2}),
        key_of(fold(pool="loop"), {"a": 1, "b": 2}),
        key_of(fold(protocol="paper"), {"a": 1, "b": 2}),
        key_of(fold(dataset="OTHER"), {"a": 1, "b": 2}),
        key_of(fold(folds=3), {"a": 1, "b": 2}),
    ]
    assert len({key, *others}) == 8


def test_outcome_must_fit_the_protocol():
    mixed = Outcome(curve=Curve(test=(0.5,)), epoch=0, accuracy=0.5, parameters=1, tested=1)
    with pytest.raises(ValidationError, match="no curve"):
        Record(key="k", fold=fold(), settings={}, outcome=mixed)
    with pytest.raises(ValidationError, match="is a curve"):
        Record(key="k", fold=fold(protocol="paper"), settings={}, outcome=mixed)


def test_record_needs_an_outcome_or_a_failure():
    with pytest.raises(ValidationError, match="either an outcome or a failure"):
        Record(key="k", fold=fold(), settings={})


def test_accuracy_above_1_and_nan_loss_are_refused():
    with pytest.raises(ValidationError):
        Curve(test=(1.5,))
    with pytest.raises(ValidationError):
        Curve(loss=(float("nan"),))


def test_records_without_versions_are_read():
    stored = fair_record(0.5).model_dump(mode="json")
    del stored["versions"]
    assert Record.model_validate(stored) == fair_record(0.5)
    named = Record.model_validate(stored | {"versions": {"torch": "2.13.0"}})
    assert named.key == fair_record(0.5).key


def test_new_records_have_the_current_schema_version():
    assert fair_record(0.5).model_dump(mode="json")["schema_version"] == SCHEMA_VERSION


def test_stored_records_without_a_schema_version_are_of_version_1():
    stored = fair_record(0.5).model_dump(mode="json")
    del stored["schema_version"]
    record = Record.from_stored(stored)
    assert record.schema_version == 1
    assert record == fair_record(0.5).model_copy(update={"schema_version": 1})


@pytest.mark.parametrize("version", [0, SCHEMA_VERSION + 1, "2", None, True])
def test_other_schema_versions_are_refused(version):
    stored = fair_record(0.5).model_dump(mode="json") | {"schema_version": version}
    with pytest.raises(ValueError, match="schema_version"):
        Record.from_stored(stored)


def test_key_does_not_depend_on_the_schema_version():
    # The key of this fold before records had a schema version.
    assert key_of(fold(), {"epochs": 1}) == fair_record(0.5).key == "733aa5df040560a6ba02f3a7"


@pytest.mark.parametrize("name", ["tests/results/version_1.jsonl", "results/must-win"])
def test_published_records_are_read_and_keep_their_keys(name):
    published = read_records(Path(__file__).parents[2] / name).records
    assert len(published) > 1
    assert [one.key for one in published] == [key_of(one.fold, one.settings) for one in published]


def test_records_of_version_1_say_so():
    old = read_records(Path(__file__).with_name("version_1.jsonl")).records
    assert [(one.fold.protocol, one.schema_version) for one in old] == [("paper", 1), ("fair", 1)]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"fold": {"folds": 10**9}}, "folds"),
        ({"fold": {"fold": 7}}, "fold 7 is none of 2 folds"),
        ({"settings": {"candidates": 5}}, "settings.candidates: needs a list"),
        ({"settings": {"candidates": [7]}}, "needs settings by name"),
        ({"settings": {"candidates": [{"network": []}]}}, "needs settings by name"),
        ({"outcome": {"curve": {"loss": [1.0], "train": [0.5, 0.5]}}}, "loss 1, train 2"),
    ],
)
def test_stored_records_of_other_types_or_sizes_are_refused(change, problem):
    stored = fair_record(0.5).model_dump(mode="json")
    for part, values in change.items():
        stored[part] |= values
    with pytest.raises(ValueError, match=problem):
        Record.from_stored(stored)


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        (((3, 1),), "2 rows of 2 numbers"),
        (((3, 1), (0, 0, 1)), "2 rows of 2 numbers"),
        (((3, 1), (0, 2)), "5 test graphs, not 6"),
        (((2, 2), (0, 1)), "of accuracy 0.8"),
        (((5, -1), (0, 1)), "greater than or equal to 0"),
    ],
)
def test_confusion_matrix_must_agree_with_the_outcome(counts, message):
    some = {"curve": Curve(), "epoch": 0, "accuracy": 0.8, "parameters": 1, "tested": 5}
    fitting = Confusion(classes=("a", "b"), counts=((3, 1), (0, 1)))
    assert Outcome(**some, confusion=fitting).confusion.correct == 4
    with pytest.raises(ValidationError, match=message):
        Outcome(**some, confusion={"classes": ("a", "b"), "counts": counts})
