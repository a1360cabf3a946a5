import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lfds.data import DataError
from lfds.data.readers import tables as module
from lfds.data.readers.tables import float_table, int_table, targets_of_column

integers = st.integers(-(2**63), 2**63 - 1)
blanks = st.sampled_from(["", " ", "  ", "\t"])


@st.composite
def tables(draw, cells):
    columns = draw(st.integers(1, 4))
    return draw(
        st.lists(st.lists(cells, min_size=columns, max_size=columns), min_size=1, max_size=9)
    )


def spelled(table, before, after, newline):
    return newline.join(",".join(f"{before}{v}{after}" for v in row) for row in table).encode()


@given(tables(integers), blanks, blanks, st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_integers_are_read_with_any_spacing(table, before, after, newline, ended):
    text = spelled(table, before, after, newline) + (newline.encode() if ended else b"")
    assert int_table(text, columns=None, source="t").tolist() == table


@given(tables(st.floats(width=32, allow_nan=False, allow_infinity=False)), blanks)
def test_floats_are_read_exactly(table, before):
    found = float_table(spelled(table, before, "", "\n"), columns=None, source="t")
    assert found.tolist() == table


@given(
    text=st.lists(
        st.sampled_from(
            [
                b"1",
                b"23",
                b",",
                b"\n",
                b" ",
                b"-",
                b".5",
                b"x",
                b"\r",
                b"nan",
                b"1e999",
                b"\0",
                b"_",
                b"\xff",
            ]
        ),
        max_size=12,
    ).map(b"".join),
    columns=st.sampled_from([None, 1, 2]),
    read=st.sampled_from([int_table, float_table]),
)
@settings(max_examples=500)
def test_fast_and_slow_reading_agree(text, columns, read):
    def attempt():
        try:
            return read(text, columns=columns, source="t").tolist()
        except DataError as error:
            return str(error)

    both = attempt()
    fast, module._read_fast = module._read_fast, lambda *_: None
    try:
        assert both == attempt()
    finally:
        module._read_fast = fast


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (b"1, 2\n3\n", 2, "has 1 column.* where 2 are needed: '3'"),
        (b"1, 2\n3, 4, 5\n6\n", 2, "has 3 column"),
        (b"1 2,\n3, 4", 1, "needs whole numbers, not '1 2,'"),
        (b"1, 2\n\n3, 4\n", 2, "has 1 column"),
        (b"1, x\n", 1, "needs whole numbers, not '1, x'"),
        (b"1, 2.5\n", 1, "needs whole numbers"),
        (b"1, 9999999999999999999\n", 1, "needs whole numbers"),
        (b"1, \xff\x00\n", 1, "needs whole numbers"),
        (b"1, 1_0\n", 1, "needs whole numbers"),
    ],
)
def test_invalid_content_is_named_by_line(text, line, message):
    with pytest.raises(DataError, match=message) as caught:
        int_table(text, columns=2, source="file.txt")
    assert caught.value.line == line
    assert str(caught.value).startswith(f"file.txt, line {line}: ")


@pytest.mark.parametrize("cell", [b"nan", b"inf", b"-inf", b"1e39", b"", b"one", b"1_0"])
def test_floats_must_be_finite_in_single_precision(cell):
    with pytest.raises(DataError, match="needs finite numbers") as caught:
        float_table(b"1.5\n" + cell + b"\n2\n", columns=1, source="file.txt")
    assert caught.value.line == 2


def test_a_byte_order_mark_is_ignored():
    assert int_table(b"\xef\xbb\xbf7\n", columns=1, source="t").tolist() == [[7]]


@pytest.mark.parametrize("columns", [1, 2, None])
def test_an_empty_text_is_a_table_without_rows(columns):
    assert int_table(b"\n", columns=columns, source="t").shape == (0, columns or 0)
    assert float_table(b"", columns=columns, source="t").shape == (0, columns or 0)


def test_large_tables_are_read_fast(monkeypatch):
    monkeypatch.setattr(module, "_read_by_line", lambda *_: pytest.fail("read by line"))
    table = np.arange(20000).reshape(-1, 2)
    text = "\n".join(f"{a}, {b}" for a, b in table).encode()
    assert (int_table(text, columns=2, source="t") == table).all()
    assert math.isclose(float_table(b"0.1, 1e-3", columns=2, source="t").sum(), 0.101)


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
def test_integers_and_names_are_classes_and_floats_regression_targets(texts, kind, values):
    found = np.asarray(targets_of_column(cells(*texts), "m.csv"))
    assert found.dtype.kind == kind
    assert found.tolist() == values


@pytest.mark.parametrize(
    ("texts", "line", "message"),
    [
        (["0.53", "-1.25", "NA"], 4, "'NA' is no number, unlike '0.53' in line 2; .*fill it in"),
        (["0.53", "nan"], 3, "'nan' is no number"),
        (["1", "1_0"], 3, "'1_0' is no number"),
        (["1", "\u0661"], 3, "is no number"),
        (["yes", "1", "no"], 3, "'1' is a number, unlike 'yes' in line 2; .*name it, as 'class 1'"),
        (["1.5", "1e300"], 3, "needs a finite number below 3.4e38"),
        (["1", "9223372036854775808"], 3, "a class needs a whole number from"),
        (["9" * 5000, "1"], 2, "a class needs a whole number from"),
    ],
)
def test_the_first_line_that_differs_is_named(texts, line, message):
    with pytest.raises(DataError, match=message) as caught:
        targets_of_column(cells(*texts), "m.csv")
    assert str(caught.value).startswith(f"m.csv, line {line}: ")
