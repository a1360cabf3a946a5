import numpy as np
import pytest

from lfds.data import DataError
from lfds.data.readers.csv_targets import column_targets


def cells(*texts):
    return list(enumerate(texts, start=2))


@pytest.mark.parametrize(
    ("texts", "kind", "values"),
    [
        (["1", "-0", "+7"], "i", [1, 0, 7]),
        (["1", "2.5", ".5", "1e3", "5."], "f", [1.0, 2.5, 0.5, 1000.0, 5.0]),
        (["yes", "no", "1_0"], "U", ["yes", "no", "1_0"]),
        (["-9223372036854775808", "0" * 5000 + "1"], "i", [-(2**63), 1]),
    ],
)
def test_whole_numbers_and_names_are_classes_and_others_quantities(texts, kind, values):
    found = np.asarray(column_targets(cells(*texts), "m.csv"))
    assert found.dtype.kind == kind
    assert found.tolist() == values


@pytest.mark.parametrize(
    ("texts", "line", "message"),
    [
        (["0.53", "-1.25", "NA"], 4, "'NA' is no number, unlike '0.53' in line 2; .*fill it in"),
        (["0.53", "nan"], 3, "'nan' is no number"),
        (["1", "1_0"], 3, "'1_0' is no number"),
        (["1", "\u0661"], 3, "is no number"),
        (["yes", "1", "no"], 3, "'1' is a number, unlike 'yes' in line 2"),
        (["1.5", "1e300"], 3, "needs a finite number below 3.4e38"),
        (["1", "9223372036854775808"], 3, "a class needs a whole number from"),
        (["9" * 5000, "1"], 2, "a class needs a whole number from"),
    ],
)
def test_the_first_line_that_differs_is_named(texts, line, message):
    with pytest.raises(DataError, match=message) as caught:
        column_targets(cells(*texts), "m.csv")
    assert str(caught.value).startswith(f"m.csv, line {line}: ")
