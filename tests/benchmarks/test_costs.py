from benchmarks.table1.costs import cost_cell, costs, first_folds

from tests.benchmarks.runs import one, report_of


def made(folder):
    peaks = [90e6, 20e6, 30e6]  # the first fold of a process pays for what it loads
    some = [
        one(pool, "DD", fold, seconds=10.0**fold, memory=int(peaks[fold] if pool == "max" else 7e6))
        for pool in ("max", "loop")
        for fold in range(3)
    ]
    return report_of(folder, (some,), ([one("max", "MUTAG", 0, memory=int(5e6))],))


def test_medians_leave_the_first_fold_of_a_run_out_of_memory_alone(tmp_path):
    report = made(tmp_path)
    first = first_folds(report.sources)
    assert len(first) == 2
    cells = {(s.row, s.column): cost_cell([s], first) for s in report.series}
    assert cells["max", "DD"] == "10 s, 25 MB"
    assert cells["loop", "DD"] == "10 s, 7 MB"
    assert cells["max", "MUTAG"] == "1 s, -"
    assert cost_cell([], first) == "not run"


def test_every_row_has_a_line_and_protocols_are_apart(tmp_path):
    text = costs(made(tmp_path), {"costs": "On one core."})
    assert "### Protocol `paper`" in text
    assert "### Protocol `fair`" not in text
    assert "| `max` | 10 s, 25 MB | 1 s, - |" in text
    assert "| `topk` | not run | not run |" in text
    assert text.endswith("On one core.")
