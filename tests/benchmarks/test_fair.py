import numpy as np
import pytest
from benchmarks.table1.fair import fair, gain_lines, gains_on, sign_flips

from lfds.results.statistics import compare, holm
from tests.benchmarks.runs import fair_run, one, report_of

MAX = [0.50, 0.61, 0.55]
LOOP = [0.72, 0.80, 0.76]
SORT = [0.49, 0.63, 0.52]


def standing_of(folder, *datasets, **rows):
    some = [r for name in datasets for r in fair_run({"max": MAX, **rows}, name)]
    return report_of(folder, (some,))


def test_gains_are_over_max_on_the_same_folds_and_corrected_for_the_rows(tmp_path):
    standing = standing_of(tmp_path, "DD", loop=LOOP, sort=SORT).by("fair")
    found = gains_on(standing, "DD")
    alone = [compare(np.array([row]), np.array([MAX]), "fair") for row in (LOOP, SORT)]
    assert list(found) == ["loop", "sort"]
    assert [outcome.difference for outcome, _ in found.values()] == pytest.approx(
        [np.mean(LOOP) - np.mean(MAX), np.mean(SORT) - np.mean(MAX)]
    )
    assert [p for _, p in found.values()] == pytest.approx(holm([one.p for one in alone]))


def test_a_row_is_held_against_max_of_its_own_settings(tmp_path):
    longer = [one("max", "DD", f, fair=a + 0.2, epochs=9) for f, a in enumerate(MAX)]
    longer += [one("loop", "DD", f, fair=a, epochs=9) for f, a in enumerate(LOOP)]
    made = report_of(tmp_path, ([*fair_run({"max": MAX, "loop": LOOP}, "DD"), *longer],))
    found = gains_on(made.by("fair"), "DD")
    short, long = (found[f"loop (epochs {epochs})"][0].difference for epochs in (3, 9))
    assert short == pytest.approx(long + 0.2)


def test_without_max_in_full_there_is_no_gain(tmp_path):
    some = [*fair_run({"max": MAX[:2], "loop": LOOP}, "DD")]
    assert gains_on(report_of(tmp_path, (some,)).by("fair"), "DD") == {}


def test_over_datasets_signs_are_turned():
    assert sign_flips([1.0] * 6) == 2 / 64
    assert sign_flips([1.0, -1.0]) == 1.0
    assert sign_flips([3.0, 1.0, -1.0]) == 6 / 8
    assert sign_flips([0.1]) == 1.0


def test_six_clear_gains_count_over_datasets_and_two_do_not(tmp_path):
    names = ["DD", "ENZYMES", "PROTEINS", "SYNTHETIC", "Synthie", "clouds"]
    for count, sure in ((6, True), (2, False)):
        made = standing_of(tmp_path / str(count), *names[:count], loop=LOOP, sort=SORT)
        gains = {name: gains_on(made.by("fair"), name) for name in names[:count]}
        (row, *_, mean, p, corrected), _ = gain_lines(["max", "loop", "sort"], gains)
        assert (row, mean) == ("`loop`", f"+20.7 on {count}")
        assert p == ("0.031" if sure else "0.500")
        assert corrected == ("0.062" if sure else "1")  # two rows were tried
        ((*_, corrected),) = gain_lines(["loop"], gains)
        assert corrected == ("**0.031**" if sure else "0.500")


def test_a_row_on_one_dataset_has_no_p_over_datasets(tmp_path):
    made = standing_of(tmp_path, "DD", loop=LOOP)
    ((*_, mean, p, corrected),) = gain_lines(["loop"], {"DD": gains_on(made.by("fair"), "DD")})
    assert (mean, p, corrected) == ("+20.7 on 1", "-", "-")


def test_the_part_has_accuracies_gains_settings_and_the_note(tmp_path):
    made = standing_of(tmp_path, "DD", "clouds", loop=LOOP, sort=SORT[:2])
    text = fair(made, "A note.")
    assert "| pooling | DD | clouds |\n" in text
    assert "| `max` | 55.3 ± 5.5 | 55.3 ± 5.5 |" in text
    assert "| `sort` | 2 of 3 folds | 2 of 3 folds |" in text
    assert "| `image` | not run | not run |" in text
    assert "- DD: 60 graphs, 3 folds" in text
    assert "- Not run: ENZYMES, PROTEINS" in text
    assert "| `loop` | **+20.7 (p " in text
    assert "| `sort` | -" not in text
    assert text.endswith("A note.")


def test_without_fair_records_it_says_so(tmp_path):
    made = report_of(tmp_path, ([one("max", "DD", fold) for fold in range(3)],))
    assert fair(made, "") == "Not run."
