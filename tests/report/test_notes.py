from lfds.report.notes import headline, settings_table, state_of, versions_table
from lfds.report.report import make_report
from tests.report.runs import record, records, settings, wish, write


def made(tmp_path, *run):
    return make_report([write(tmp_path / "run", *run)])


def test_headlines_count_rows_and_columns(tmp_path):
    assert headline(made(tmp_path, records())) == "3 poolings on 2 datasets"
    assert headline(made(tmp_path, records(["max"], ["A"]))) == "1 pooling on A"


def test_headlines_count_what_either_protocol_has(tmp_path):
    both = [*records(["max", "loop"], ["A"]), *records(["max"], ["A", "B"], protocol="paper")]
    assert headline(made(tmp_path, both)) == "2 poolings on 2 datasets"


def test_the_state_counts_every_fold_once(tmp_path):
    assert state_of(made(tmp_path, records())) == "All 30 folds ended well."
    part = [*records(["max"], ["A"]), record("loop", "A", 0, failed=True)]
    assert state_of(made(tmp_path, part, wish(["max", "loop"], ["A"]))) == (
        "5 of 10 folds ended well, 1 failed, 4 have not been run."
    )


def test_settings_are_shared_or_said_where_they_hold(tmp_path):
    few = [record("loop", "B", fold, told=settings("loop", slots=16)) for fold in range(5)]
    both = [*records(["max", "loop"], ["A"]), *few]
    shared, apart, others = settings_table(made(tmp_path, both))
    assert apart == ["slots"]
    assert "slots" not in shared
    assert (shared["epochs"], shared["protocol"], shared["seeds"]) == ("4", "fair", "0")
    assert others == [("all poolings on A", ["64"]), ("loop on B", ["16"])]


def test_the_seeds_of_a_network_are_not_those_of_the_run(tmp_path):
    some = [record("gmt", "A", fold, told=settings("gmt", seeds=64)) for fold in range(5)]
    shared, apart, _ = settings_table(made(tmp_path, some))
    assert (shared["seeds"], shared["network seeds"], apart) == ("0", "64", [])


def test_settings_of_a_ragged_group_are_spelt_out(tmp_path):
    few = [record("loop", "B", told=settings("loop", slots=16))]
    some = [record("max", "A"), record("loop", "A"), record("max", "B"), *few]
    _, _, others = settings_table(made(tmp_path, some))
    assert others[0][0] == "max on A, loop on A, max on B"


def test_versions_are_counted_by_fold(tmp_path):
    some = records(["max"], ["A"])
    some[0] = some[0].model_copy(update={"versions": {"lfds": "0.2.0"}})
    some[1] = some[1].model_copy(update={"versions": {}})
    found = versions_table(made(tmp_path, some))
    assert sorted(found) == [("lfds", "0.1.0", 3), ("lfds", "0.2.0", 1), ("torch", "2.13.0", 3)]
