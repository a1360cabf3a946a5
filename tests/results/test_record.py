import pytest
from pydantic import ValidationError

from lfds.results.record import RULES, Curve, Outcome, Record, key_of, rule_in_words
from tests.results.records import failed_record, fair_record, fold, paper_record


@pytest.mark.parametrize("record", [fair_record(1 / 3), paper_record([0.1, 0.7]), failed_record()])
def test_a_record_survives_json_bit_for_bit(record):
    assert Record.model_validate_json(record.model_dump_json()) == record


@pytest.mark.parametrize(
    ("rule", "kept", "said"),
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
def test_a_rule_says_which_epochs_were_kept(rule, kept, said):
    assert rule_in_words(rule, kept).startswith(said)


def test_records_from_before_memory_was_measured_are_read():
    old = fair_record(0.5).model_dump(mode="json")
    del old["outcome"]["peak_memory"]
    assert Record.model_validate(old).outcome.peak_memory is None


def test_the_key_names_everything_and_nothing_else():
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


def test_the_two_protocols_never_mix():
    peeking = Outcome(curve=Curve(test=(0.5,)), epoch=0, accuracy=0.5, parameters=1, tested=1)
    with pytest.raises(ValidationError, match="no curve"):
        Record(key="k", fold=fold(), settings={}, outcome=peeking)
    with pytest.raises(ValidationError, match="is a curve"):
        Record(key="k", fold=fold(protocol="paper"), settings={}, outcome=peeking)


def test_a_fold_ends_in_one_way():
    with pytest.raises(ValidationError, match="either an outcome or a failure"):
        Record(key="k", fold=fold(), settings={})


def test_no_accuracy_beyond_all_and_no_loss_that_is_no_number():
    with pytest.raises(ValidationError):
        Curve(test=(1.5,))
    with pytest.raises(ValidationError):
        Curve(loss=(float("nan"),))


def test_records_from_before_versions_were_kept_are_read():
    told = fair_record(0.5).model_dump(mode="json")
    del told["versions"]
    assert Record.model_validate(told) == fair_record(0.5)
    named = Record.model_validate(told | {"versions": {"torch": "2.13.0"}})
    assert named.key == fair_record(0.5).key
