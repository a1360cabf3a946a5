from lfds.explain.errors import ExplainError


def test_whoever_catches_wrong_values_catches_it():
    assert issubclass(ExplainError, ValueError)
