import pytest

from lfds.config.strict_json import strict_json


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"a": 1, "a": 1}', "the key 'a' occurs twice"),
        ('[{"b": {"a": 1, "\\u0061": 1}}]', "the key 'a' occurs twice"),
        ('{"a": "\\ud800"}', "half of a character"),
        (b"\xff", "decode"),
        ("{", "Expecting"),
    ],
)
def test_what_means_more_than_one_thing_is_refused(text, problem):
    with pytest.raises(ValueError, match=problem):
        strict_json(text)


def test_everything_else_is_read():
    assert strict_json(b'{"a": ["\\ud83d\\ude00", 1.5, null]}') == {"a": ["\U0001f600", 1.5, None]}
