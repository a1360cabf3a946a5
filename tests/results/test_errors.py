from lfds.results.errors import IncompleteRunError, ResultsError


def test_a_message_is_one_line_that_says_where():
    assert str(ResultsError("is\nbroken", source="RUN", line=3)) == "RUN, line 3: is broken"
    assert str(IncompleteRunError("half")) == "half"
